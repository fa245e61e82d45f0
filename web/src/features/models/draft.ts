/** A provider as it is being entered: what it becomes, and what is still missing. */
import type { ProviderDraft } from "@/api/types";
import type { PageKey } from "@/i18n";
import { NAME, type Vendor, WIRE } from "./vendors";

export interface Draft {
  vendor: string;
  name: string;
  url: string;
  key: string;
  model: string;
}

export function draftOf(vendor: Vendor): Draft {
  return {
    vendor: vendor.id,
    name: vendor.id === "own" ? "" : vendor.id,
    url: vendor.url,
    key: "",
    model: vendor.model,
  };
}

export type Faults = Partial<Record<"name" | "url" | "key" | "model", PageKey>>;

function isAddress(text: string): boolean {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:";
  } catch {
    return false;
  }
}

export function faultsOf(draft: Draft, keyNeeded: boolean): Faults {
  const faults: Faults = {};
  if (!NAME.test(draft.name)) faults.name = "models.fault.name";
  if (!isAddress(draft.url.trim())) faults.url = "models.fault.url";
  if (keyNeeded && !draft.key.trim()) faults.key = "models.fault.key";
  if (!draft.model.trim()) faults.model = "models.model.hint";
  return faults;
}

/** The part of a model's id that the provider itself knows: what stands behind the first slash. */
export const modelOf = (id: string) => id.slice(id.indexOf("/") + 1);

export const modelId = (draft: Draft) => `${draft.name}/${draft.model.trim()}`;

export function providerOf(draft: Draft): ProviderDraft {
  const key = draft.key.trim();
  return {
    name: draft.name,
    wire: WIRE,
    base_url: draft.url.trim().replace(/\/+$/, ""),
    ...(key ? { api_key: key } : {}),
  };
}

/** The change of settings that keeps the provider and makes its model the usual one. */
export function settingsOf(draft: Draft, asDefault: boolean): Record<string, unknown> {
  const { name, ...provider } = providerOf(draft);
  return {
    providers: { [name]: { ...provider, models: [draft.model.trim()] } },
    ...(asDefault ? { default_model: modelId(draft) } : {}),
  };
}
