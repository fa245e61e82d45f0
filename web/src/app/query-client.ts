/** One cache of what the server holds. Refusals are not asked again; silence is, three times. */
import { QueryClient } from "@tanstack/react-query";
import { ApiError, whenLoggedOut } from "@/api/client";
import { keys } from "@/api/queries";
import type { Status } from "@/api/types";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      retry: (failures, error) =>
        failures < 3 && error instanceof ApiError && (error.offline || error.status >= 502),
      // The server is on this machine or in this house: "offline" is found out by asking it.
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

whenLoggedOut(() => {
  queryClient.setQueryData<Status>(keys.status, (old) =>
    old ? { ...old, logged_in: false } : old,
  );
});
