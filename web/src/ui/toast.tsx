/** What has just happened, with a way back. Six seconds, waiting while one looks at it. */
import { useEffect, useRef, useState } from "react";
import { create } from "zustand";

const LASTS_MS = 6000;

interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void };
}

interface Toasts {
  shown: Toast[];
  show: (toast: Omit<Toast, "id">) => void;
  hide: (id: number) => void;
}

let last = 0;

const useToasts = create<Toasts>((set) => ({
  shown: [],
  show: (toast) => {
    last += 1;
    const id = last;
    set((state) => ({ shown: [...state.shown.slice(-2), { ...toast, id }] }));
  },
  hide: (id) => set((state) => ({ shown: state.shown.filter((one) => one.id !== id) })),
}));

/** Show a line at the foot of the page, with an action such as undo where there is one. */
export function toast(text: string, action?: Toast["action"]): void {
  useToasts.getState().show(action ? { text, action } : { text });
}

function One({ id, text, action }: Toast) {
  const hide = useToasts((state) => state.hide);
  const [held, setHeld] = useState(false);
  const left = useRef(LASTS_MS);
  useEffect(() => {
    if (held) return;
    const began = performance.now();
    const timer = setTimeout(() => hide(id), left.current);
    return () => {
      clearTimeout(timer);
      left.current = Math.max(1000, left.current - (performance.now() - began));
    };
  }, [held, hide, id]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only stops the clock
    <div
      className="toast"
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span>{text}</span>
      {action && (
        <button
          type="button"
          onClick={() => {
            action.run();
            hide(id);
          }}
        >
          {action.label}
        </button>
      )}
    </div>
  );
}

export function Toaster() {
  const shown = useToasts((state) => state.shown);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((one) => (
        <One key={one.id} {...one} />
      ))}
    </div>
  );
}
