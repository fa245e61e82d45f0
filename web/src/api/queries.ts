/** What the server holds, as queries and mutations. Components never fetch by themselves. */
import {
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { get, patch, post, remove } from "./client";
import type {
  Agent,
  AgentChanges,
  AgentDraft,
  ApiKey,
  ApiKeyChanges,
  ApiKeyDraft,
  Conversation,
  ConversationChanges,
  LocalModel,
  Model,
  ModelTest,
  NewApiKey,
  Page,
  Person,
  ProviderDraft,
  Settings,
  Status,
} from "./types";

const LOOK_AGAIN_MS = 4_000;

export const keys = {
  status: ["status"] as const,
  me: ["me"] as const,
  agents: ["agents"] as const,
  agent: (id: string) => ["agents", id] as const,
  conversations: ["conversations"] as const,
  conversation: (id: string) => ["conversations", id] as const,
  settings: ["settings"] as const,
  models: ["models"] as const,
  local: ["models", "local"] as const,
  apiKeys: ["keys"] as const,
};

// Who is here

export const useStatus = () =>
  useQuery({
    queryKey: keys.status,
    queryFn: ({ signal }) => get<Status>("/api/status", { signal }),
  });

export const useMe = () =>
  useQuery({ queryKey: keys.me, queryFn: ({ signal }) => get<Person>("/api/me", { signal }) });

/** Whether the reader may change what belongs to the whole house. */
export function useManages(): boolean {
  const role = useMe().data?.role;
  return role === "owner" || role === "admin";
}

function arrived(client: QueryClient, person: Person) {
  client.setQueryData(keys.me, person);
  client.setQueryData<Status>(keys.status, (old) =>
    old ? { ...old, set_up: true, logged_in: true } : old,
  );
}

export function useLogin() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { password: string; name?: string }) => post<Person>("/api/login", body),
    onSuccess: (person) => arrived(client, person),
  });
}

export function useSetUp() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({
      token,
      ...body
    }: {
      password: string;
      name?: string;
      language?: string;
      token?: string;
    }) => post<Person>("/api/setup", body, token ? { headers: { "X-Setup-Token": token } } : {}),
    onSuccess: (person) => client.setQueryData(keys.me, person),
  });
}

export function useLogout() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => post<void>("/api/logout"),
    onSuccess: () => {
      client.removeQueries({ predicate: (query) => query.queryKey[0] !== "status" });
      client.setQueryData<Status>(keys.status, (old) => (old ? { ...old, logged_in: false } : old));
    },
  });
}

export const useChangePassword = () =>
  useMutation({
    mutationFn: (body: { old: string; new: string }) => post<void>("/api/me/password", body),
  });

// Agents

export const useAgents = () =>
  useQuery({
    queryKey: keys.agents,
    queryFn: ({ signal }) => get<Page<Agent>>("/api/agents", { signal }),
    select: (page) => page.items,
  });

export const useArchivedAgents = () =>
  useQuery({
    queryKey: [...keys.agents, { archived: true }],
    queryFn: ({ signal }) => get<Page<Agent>>("/api/agents", { signal, query: { archived: true } }),
    select: (page) => page.items.filter((agent) => agent.archived),
  });

export const useAgent = (id: string) =>
  useQuery({
    queryKey: keys.agent(id),
    queryFn: ({ signal }) => get<Agent>(`/api/agents/${id}`, { signal }),
    staleTime: 0, // its SOUL.md may have been changed by an editor, while the page was out of sight
  });

export function useCreateAgent() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (draft: AgentDraft) => post<Agent>("/api/agents", draft),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.agents }),
  });
}

export function useChangeAgent(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (changes: AgentChanges) => patch<Agent>(`/api/agents/${id}`, changes),
    onSuccess: (agent) => {
      client.setQueryData<Agent>(keys.agent(id), (old) => ({ ...old, ...agent }));
      return client.invalidateQueries({ queryKey: keys.agents });
    },
  });
}

export function useRemoveAgent(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => remove(`/api/agents/${id}`),
    onSuccess: () => {
      client.removeQueries({ queryKey: keys.agent(id) });
      void client.invalidateQueries({ queryKey: keys.conversations });
      return client.invalidateQueries({ queryKey: keys.agents });
    },
  });
}

// Conversations

export const useConversations = (archived = false) =>
  useInfiniteQuery({
    queryKey: [...keys.conversations, { archived }],
    queryFn: ({ pageParam, signal }) =>
      get<Page<Conversation>>("/api/conversations", {
        signal,
        query: { before: pageParam, archived: archived || undefined },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    // Of a conversation that nobody follows here no event tells the end of its runs.
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.items.some((one) => one.open_runs.length > 0))
        ? LOOK_AGAIN_MS
        : false,
    select: (data) => data.pages.flatMap((page) => page.items),
  });

export const useConversation = (id: string) =>
  useQuery({
    queryKey: keys.conversation(id),
    queryFn: ({ signal }) => get<Conversation>(`/api/conversations/${id}`, { signal }),
  });

export function useOpenConversation() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (agent: string) => post<Conversation>("/api/conversations", { agent }),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.conversations }),
  });
}

export function useChangeConversation(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (changes: ConversationChanges) =>
      patch<Conversation>(`/api/conversations/${id}`, changes),
    onSuccess: (conversation) => {
      client.setQueryData(keys.conversation(id), conversation);
      return client.invalidateQueries({ queryKey: keys.conversations });
    },
  });
}

export function useRemoveConversation(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => remove(`/api/conversations/${id}`),
    onSuccess: () => {
      client.removeQueries({ queryKey: keys.conversation(id) });
      return client.invalidateQueries({ queryKey: keys.conversations });
    },
  });
}

// Settings and models

/** Only owners and admins may read them. */
export const useSettings = (enabled = true) =>
  useQuery({
    enabled,
    queryKey: keys.settings,
    queryFn: ({ signal }) => get<Settings>("/api/settings", { signal }),
  });

export function useChangeSettings() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (changes: Record<string, unknown>) => patch<Settings>("/api/settings", changes),
    onSuccess: (settings) => {
      client.setQueryData(keys.settings, settings);
      return client.invalidateQueries({ queryKey: keys.models });
    },
  });
}

export const useModels = () =>
  useQuery({
    queryKey: keys.models,
    queryFn: ({ signal }) => get<Page<Model>>("/api/models", { signal }),
    select: (page) => page.items,
  });

export const useTestModel = () =>
  useMutation({
    mutationFn: (body: { model?: string; provider?: ProviderDraft }) =>
      post<ModelTest>("/api/models/test", body),
  });

/** The local model's state, asked again each second while it changes by itself. */
export const useLocalModel = () =>
  useQuery({
    queryKey: keys.local,
    queryFn: ({ signal }) => get<LocalModel>("/api/models/local", { signal }),
    refetchInterval: (query) =>
      query.state.data?.state === "pulling" || query.state.data?.state === "starting"
        ? 1000
        : false,
  });

export function usePullModel() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => post<void>("/api/models/pull", {}),
    onSettled: () => client.invalidateQueries({ queryKey: keys.local }),
  });
}

// Keys for programs

export const useApiKeys = () =>
  useQuery({
    queryKey: keys.apiKeys,
    queryFn: ({ signal }) => get<Page<ApiKey>>("/api/keys", { signal }),
    select: (page) => page.items,
  });

export function useCreateApiKey() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (draft: ApiKeyDraft) => post<NewApiKey>("/api/keys", draft),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.apiKeys }),
  });
}

export function useChangeApiKey(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (changes: ApiKeyChanges) => patch<ApiKey>(`/api/keys/${id}`, changes),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.apiKeys }),
  });
}

export function useRemoveApiKey() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => remove(`/api/keys/${id}`),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.apiKeys }),
  });
}
