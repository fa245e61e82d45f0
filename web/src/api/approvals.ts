/** What agents wait for, and what they may use. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { get, post } from "./client";
import { keys } from "./queries";
import type { ApprovalAnswer, ApprovalRecord, Page, ToolOfAgent } from "./types";

const LOOK_AGAIN_MS = 4_000;
const open = ["approvals"] as const;

/** Questions of conversations that nobody follows here: no event tells of them. */
export const useOpenApprovals = (enabled: boolean) =>
  useQuery({
    enabled,
    queryKey: open,
    queryFn: ({ signal }) =>
      get<Page<ApprovalRecord>>("/api/approvals", { signal, query: { state: "asked" } }),
    select: (page) => page.items,
    refetchInterval: LOOK_AGAIN_MS,
  });

/** What was asked in a run that has ended, by call. */
export function useApprovalsOf(run: string | null, wanted: boolean) {
  const found = useQuery({
    enabled: wanted && run !== null,
    queryKey: [...open, run],
    queryFn: ({ signal }) =>
      get<Page<ApprovalRecord>>("/api/approvals", { signal, query: { run: run ?? "" } }),
    staleTime: Number.POSITIVE_INFINITY,
    select: (page) => page.items,
  });
  return found.data;
}

export function useAnswerApproval(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (answer: ApprovalAnswer) => post<ApprovalRecord>(`/api/approvals/${id}`, answer),
    onSettled: () => client.invalidateQueries({ queryKey: open }),
  });
}

export const useToolsOf = (agent: string) =>
  useQuery({
    queryKey: [...keys.agent(agent), "tools"],
    queryFn: ({ signal }) => get<Page<ToolOfAgent>>(`/api/agents/${agent}/tools`, { signal }),
    select: (page) => page.items,
  });
