/** The words for what the server speaks. All but the settings' tree is generated from its types. */
import type * as api from "./generated/api";

export type {
  Agent,
  AgentChanges,
  AgentDraft,
  Approval,
  ApprovalRecord,
  Conversation,
  Envelope,
  Inbound,
  Outbound,
  Page,
  Part,
  Post,
  Preview,
  Problem,
  ProviderDraft,
  Run,
  Status,
  ToolOfAgent,
} from "./generated/api";

export type TextPart = api.Text;
export type BlobPart = api.Blob;
export type ToolCallPart = api.ToolCall;
export type ToolResultPart = api.ToolResult;

export type Language = api.Status["language"];
export type Person = api.PersonView;
export type Role = Person["role"];
export type ConversationChanges = api.ConversationEdit;
export type MessageDraft = api.NewMessage;
export type Received = api.Accepted;
export type StoredFile = Omit<api.FileView, "created_at">;
export type Ending = NonNullable<api.Post["ending"]>;

export type Model = api.ModelEntry;
export type ModelTest = api.Trial;
export type LocalModel = api.LocalStatus;
export type ApiKey = api.KeyView;
export type NewApiKey = api.NewKeyView;
export type ApiKeyDraft = api.NewKey;
export type ApiKeyChanges = api.KeyChanges;

export type ApprovalAnswer = api.Answer;
export type Rule = api.ToolOfAgent["rule"];

export type ChatEvent = api.Event;
export type RunEvent = Exclude<ChatEvent, { type: "post" | "conversation" | "resync" }>;

/** The part of the settings that the page shows; keys are masked, `locked` names what is fixed. */
export interface Settings {
  language?: Language | null;
  default_model?: string | null;
  providers?: Record<string, ProviderSettings>;
  /** A model's, an alias's or an agent's: who is asked next, in order. */
  fallbacks?: Record<string, readonly string[]>;
  aliases?: Record<string, Record<string, number>>;
  budgets?: Budgets;
  locked?: string[];
}

/** In US dollars; null is no limit. */
export type Budgets = Record<BudgetScope, number | null> & { unpriced: "refuse" | "allow" };
export type BudgetScope = "day" | "agent" | "person" | "key" | "run";

export interface ProviderSettings {
  vendor: string;
  /** Null: the vendor's own. */
  wire: string | null;
  base_url: string | null;
  api_key?: string | null;
  headers?: Record<string, string>;
  models?: string[];
}
