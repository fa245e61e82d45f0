/** Endpoints that speak the OpenAI dialect and that people commonly have a key for. */
import type { PageKey } from "@/i18n";

export interface Vendor {
  /** The provider's name in the settings, and the first half of a model's id. */
  id: string;
  /** As the vendor writes itself; our own words where there is no vendor. */
  name: string | { key: PageKey };
  url: string;
  /** A model that is likely to be there. */
  model: string;
  key: boolean;
}

export const VENDORS: readonly Vendor[] = [
  {
    id: "deepseek",
    name: "DeepSeek",
    url: "https://api.deepseek.com/v1",
    model: "deepseek-chat",
    key: true,
  },
  {
    id: "openai",
    name: "OpenAI",
    url: "https://api.openai.com/v1",
    model: "gpt-4.1-mini",
    key: true,
  },
  {
    id: "qwen",
    name: { key: "models.vendor.qwen" },
    url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
    model: "qwen-plus",
    key: true,
  },
  {
    id: "moonshot",
    name: "Kimi (Moonshot)",
    url: "https://api.moonshot.cn/v1",
    model: "kimi-latest",
    key: true,
  },
  {
    id: "zhipu",
    name: { key: "models.vendor.zhipu" },
    url: "https://open.bigmodel.cn/api/paas/v4",
    model: "glm-4.5-flash",
    key: true,
  },
  {
    id: "openrouter",
    name: "OpenRouter",
    url: "https://openrouter.ai/api/v1",
    model: "openrouter/auto",
    key: true,
  },
  {
    id: "ollama",
    name: { key: "models.vendor.ollama" },
    url: "http://127.0.0.1:11434/v1",
    model: "qwen3:4b",
    key: false,
  },
  {
    id: "lmstudio",
    name: { key: "models.vendor.lmstudio" },
    url: "http://127.0.0.1:1234/v1",
    model: "",
    key: false,
  },
  { id: "own", name: { key: "models.vendor.own" }, url: "", model: "", key: false },
];

export const WIRE = "openai_chat";

/** A provider's name is written in settings and model ids: letters, digits, `-` and `_`. */
export const NAME = /^[a-z][a-z0-9_-]{0,31}$/;

export function vendorOf(id: string): Vendor | undefined {
  return VENDORS.find((vendor) => vendor.id === id);
}
