/** What was spent on models, and how their providers do, as queries. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { get } from "./client";
import type * as api from "./generated/api";

export type UsageRow = api.UsageRow;
export type ProviderState = api.ProviderState;
export type Grouping = NonNullable<api.Routes["GET /api/usage"]["query"]["by"]>;

export const USAGE = ["usage"] as const;

interface Asked {
  by: Grouping;
  since: string;
  until?: string;
  daily?: boolean;
}

export const useUsage = (asked: Asked, enabled = true) =>
  useQuery({
    enabled,
    queryKey: [...USAGE, asked],
    queryFn: ({ signal }) => get<api.PageOfUsageRow>("/api/usage", { signal, query: { ...asked } }),
    select: (page) => page.items,
    staleTime: 0, // every answer adds to it
    placeholderData: keepPreviousData,
  });

/** Only owners and admins may ask. */
export const useProviderStates = (since: string, enabled: boolean) =>
  useQuery({
    enabled,
    queryKey: [...USAGE, "providers", since],
    queryFn: ({ signal }) =>
      get<api.PageOfProviderState>("/api/usage/providers", { signal, query: { since } }),
    select: (page) => page.items,
    staleTime: 0,
  });
