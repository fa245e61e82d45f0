/** The shapes that the server speaks. Mirrors of `core.messages`, `core.events` and `chat.ports`. */

export type Language = "zh-CN" | "zh-HK" | "en-US";
export type Role = "owner" | "admin" | "member" | "guest";

export interface Problem {
  code: string;
  message: string;
  hint?: string | null;
  values?: Record<string, string>;
}

export interface Page<T> {
  items: T[];
  next: string | null;
}

export interface Status {
  version: string;
  set_up: boolean;
  logged_in: boolean;
  language: Language;
  languages: Language[];
}

export interface Person {
  id: string;
  name: string;
  role: Role;
  created_at: string;
}

export interface Agent {
  id: string;
  name: string;
  description: string;
  hue: number;
  model: string | null;
  temperature: number | null;
  shared: boolean;
  archived: boolean;
  owner: string | null;
  created_at: string;
  updated_at: string;
  soul?: string | null;
}

export interface AgentDraft {
  name: string;
  description?: string;
  soul?: string;
  model?: string | null;
  temperature?: number | null;
  shared?: boolean;
}

export type AgentChanges = Partial<
  Pick<Agent, "name" | "description" | "model" | "temperature" | "shared" | "archived">
> & { soul?: string };

// Parts and posts

export interface TextPart {
  type: "text";
  text: string;
}
export interface ThinkingPart {
  type: "thinking";
  text: string;
}
export interface BlobPart {
  type: "blob";
  file: string;
  media_type: string;
  name: string;
  size: number;
}
export interface ToolCallPart {
  type: "tool_call";
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  malformed?: string | null;
}
export interface ToolResultPart {
  type: "tool_result";
  call: string;
  content: (TextPart | BlobPart)[];
  is_error?: boolean;
}
export type Part = TextPart | ThinkingPart | BlobPart | ToolCallPart | ToolResultPart;

export type Ending = "stop" | "length" | "filtered" | "stopped" | "limit" | "failed";

export interface Post {
  id: string;
  conversation: string;
  parent: string | null;
  author: string;
  parts: Part[];
  at: string;
  reply_to?: string | null;
  mentions?: string[];
  client_id?: string | null;
  run?: string | null;
  ending?: Ending | null;
  problem?: Problem | null;
}

export interface Preview {
  author: string;
  text: string;
  at: string;
}

export interface Conversation {
  id: string;
  kind: "direct" | "group" | "channel";
  title: string;
  title_by: "none" | "model" | "person";
  agents: string[];
  people: string[];
  head: string | null;
  last: Preview | null;
  pinned: boolean;
  archived: boolean;
  posts: number;
  created_at: string;
  updated_at: string;
}

export type ConversationChanges = Partial<Pick<Conversation, "title" | "pinned" | "archived">>;

export interface Usage {
  input?: number;
  output?: number;
  cached?: number;
  estimated?: boolean;
}

export type RunStatus = "queued" | "running" | "done" | "failed" | "stopped";

export interface Run {
  id: string;
  conversation: string;
  trigger: string;
  participant: string;
  person: string;
  model: string | null;
  status: RunStatus;
  attempt: number;
  stop_asked: boolean;
  post: string | null;
  usage: Usage;
  problem: Problem | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
}

export interface Received {
  post: Post;
  runs: Run[];
}

export interface MessageDraft {
  conversation?: string;
  agent?: string;
  text: string;
  client_id?: string;
  files?: string[];
  reply_to?: string;
}

export interface StoredFile {
  id: string;
  name: string;
  media_type: string;
  size: number;
}

// Settings and models

export interface ProviderSettings {
  wire: string;
  base_url: string | null;
  api_key?: string | null;
  headers?: Record<string, string>;
  models?: string[];
}

export interface Settings {
  language?: Language;
  default_model?: string | null;
  providers?: Record<string, ProviderSettings>;
  locked?: string[];
  [other: string]: unknown;
}

export interface Model {
  id: string;
  provider: string;
  context_window: number | null;
  vision: boolean | null;
  local: boolean;
  ready: boolean;
  note: string | null;
}

export interface ProviderDraft {
  name: string;
  wire: string;
  base_url: string;
  api_key?: string;
  headers?: Record<string, string>;
}

/** How a model did on one short question; `problem` says in the reader's words why not. */
export interface ModelTest {
  ok: boolean;
  model: string;
  first_token_ms: number | null;
  total_ms: number | null;
  text: string;
  problem: string | null;
}

export interface LocalModel {
  state: "absent" | "pulling" | "ready" | "starting" | "running" | "failed";
  progress: number | null;
  bytes: number;
  total: number;
  problem: string | null;
  file: string | null;
}

export interface ApiKey {
  id: string;
  name: string;
  created_at: string;
  last_used_at?: string | null;
}

export interface NewApiKey {
  id: string;
  name: string;
  key: string;
}

// What happens while a reply is made

export type RunEvent =
  | { type: "stream_start"; author: string; attempt: number }
  | { type: "stream_chunk"; index: number; kind: "text" | "thinking" | "tool_call"; delta: string }
  | { type: "part"; index: number; part: Part }
  | { type: "reply_done"; reason: string; usage?: Usage; problem?: string | null }
  | { type: "tool_call"; call: string; name: string; arguments: Record<string, unknown> }
  | { type: "tool_result"; result: ToolResultPart; elapsed_ms: number }
  | { type: "error"; problem: Problem; ref?: string | null }
  | { type: "stream_end"; post_id: string; reason: Ending; usage?: Usage };

export type ChatEvent =
  | RunEvent
  | { type: "post"; post: Post }
  | { type: "conversation"; title: string }
  | { type: "resync" };

export interface Envelope {
  v: number;
  seq: number;
  conversation: string;
  run: string | null;
  at: string;
  event: ChatEvent;
}
