/** Whom people commonly have a key for, or run themselves; the rest is known of the vendor's row. */
import { VENDOR_ROWS, type WIRES } from "@/api/generated/vendors";
import type { PageKey } from "@/i18n";

export type Wire = (typeof WIRES)[number];

export interface Vendor {
  /** The row's name, in the settings the provider's own, and the first half of a model's id. */
  id: keyof typeof VENDOR_ROWS | "own";
  /** As the vendor writes itself, or our own words, into which its name may go. */
  name: string | { key: PageKey; name?: string };
  /** A model that is likely to be there. */
  model: string;
}

const here = (name: string) => ({ key: "models.vendor.here", name }) as const;

export const OWN: Vendor = { id: "own", name: { key: "models.vendor.own" }, model: "" };

export const VENDORS: readonly [Vendor, ...Vendor[]] = [
  { id: "deepseek", name: "DeepSeek", model: "deepseek-chat" },
  { id: "openai", name: "OpenAI", model: "gpt-4.1-mini" },
  { id: "azure", name: "Azure OpenAI", model: "" },
  { id: "anthropic", name: "Claude (Anthropic)", model: "claude-sonnet-4-5" },
  { id: "gemini", name: "Gemini (Google)", model: "gemini-2.5-flash" },
  { id: "moonshot", name: "Kimi (Moonshot)", model: "kimi-latest" },
  { id: "dashscope", name: { key: "models.vendor.dashscope" }, model: "qwen-plus" },
  { id: "zhipu", name: { key: "models.vendor.zhipu" }, model: "glm-4.5-flash" },
  { id: "siliconflow", name: { key: "models.vendor.siliconflow" }, model: "Qwen/Qwen3-8B" },
  { id: "groq", name: "Groq", model: "llama-3.3-70b-versatile" },
  { id: "mistral", name: "Mistral", model: "mistral-small-latest" },
  { id: "openrouter", name: "OpenRouter", model: "openrouter/auto" },
  { id: "xai", name: "Grok (xAI)", model: "grok-4" },
  { id: "together", name: "Together", model: "meta-llama/Llama-3.3-70B-Instruct-Turbo" },
  { id: "ollama", name: here("Ollama"), model: "qwen3:4b" },
  { id: "lmstudio", name: here("LM Studio"), model: "" },
  { id: "vllm", name: here("vLLM"), model: "" },
  { id: "llamacpp", name: here("llama.cpp"), model: "" },
  OWN,
];

interface Dialect {
  wire: Wire;
  /** As those call it who made it. */
  name: string;
  /** What an address looks like. */
  url: string;
}

export const DIALECTS: readonly Dialect[] = [
  { wire: "openai_chat", name: "OpenAI Chat Completions", url: "https://example.com/v1" },
  { wire: "openai_responses", name: "OpenAI Responses", url: "https://example.com/v1" },
  { wire: "anthropic", name: "Anthropic Messages", url: "https://example.com/v1" },
  { wire: "gemini", name: "Gemini", url: "https://example.com/v1beta" },
  { wire: "ollama", name: "Ollama", url: "http://127.0.0.1:11434" },
];

/** A provider's name is written in settings and model ids: letters, digits, `-` and `_`. */
export const NAME = /^[a-z][a-z0-9_-]{0,31}$/;

export function vendorOf(id: string): Vendor | undefined {
  return VENDORS.find((vendor) => vendor.id === id);
}

/** What the server knows of a vendor; an own server has nothing of this. */
export function rowOf(id: string): { url: string; key: boolean } {
  const row = Object.entries(VENDOR_ROWS).find(([name]) => name === id)?.[1];
  return { url: row?.url ?? "", key: row?.key ?? false };
}

/** Where a kept provider is; one that is called like a vendor is that vendor's. */
export function addressOf(name: string, vendor: string, url: string | null): string {
  return url || rowOf(vendor === "custom" ? name : vendor).url;
}
