/** Whether the server can be reached. The socket reports it, and so does any request that fails. */
import { create } from "zustand";

interface Connection {
  online: boolean;
  /** When the next attempt is made, in the page's own clock (`performance.now`). */
  retryAt: number | null;
  /** Tries at once; set by whoever holds the connection. */
  retry: (() => void) | null;
  lost: (retryAt: number | null, retry: (() => void) | null) => void;
  found: () => void;
}

export const useConnection = create<Connection>((set) => ({
  online: true,
  retryAt: null,
  retry: null,
  lost: (retryAt, retry) => set({ online: false, retryAt, retry }),
  found: () => set({ online: true, retryAt: null, retry: null }),
}));
