/** A provider as it is being entered: what it becomes, and what is still missing. */
import type { ProviderDraft } from "@/api/types";
import type { PageKey } from "@/i18n";
import { NAME, OWN, rowOf, type Vendor, type Wire } from "./vendors";

export interface Draft {
  vendor: string;
  name: string;
  /** The dialect of an own server; a vendor's is known. */
  wire: Wire;
  url: string;
  key: string;
  model: string;
}

export function draftOf(vendor: Vendor): Draft {
  return {
    vendor: vendor.id,
    name: vendor === OWN ? "" : vendor.id,
    wire: "openai_chat",
    url: rowOf(vendor.id).url,
    key: "",
    model: vendor.model,
  };
}

export type Faults = Partial<Record<"name" | "url" | "key" | "model", PageKey>>;

export const isOwn = (draft: Draft) => draft.vendor === OWN.id;

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
  // Without an address a vendor is where it always is.
  const url = draft.url.trim();
  if ((isOwn(draft) || url) && !isAddress(url)) faults.url = "models.fault.url";
  if (keyNeeded && !draft.key.trim()) faults.key = "models.fault.key";
  if (!draft.model.trim()) faults.model = "models.model.hint";
  return faults;
}

/** The part of a model's id that the provider itself knows: what stands behind the first slash. */
export const modelOf = (id: string) => id.slice(id.indexOf("/") + 1);

export const modelId = (draft: Draft) => `${draft.name}/${draft.model.trim()}`;

export function providerOf(draft: Draft): ProviderDraft {
  const key = draft.key.trim();
  const url = draft.url.trim().replace(/\/+$/, "");
  const moved = url && url !== rowOf(draft.vendor).url;
  return {
    name: draft.name,
    ...(isOwn(draft)
      ? { vendor: "custom", wire: draft.wire, base_url: url }
      : { vendor: draft.vendor, ...(moved ? { base_url: url } : {}) }),
    ...(key ? { api_key: key } : {}),
  };
}

/**
 * The change of settings that keeps the provider and makes its model the usual one. What is left
 * to the vendor's row takes the place of what an earlier provider of this name had.
 */
export function settingsOf(draft: Draft, asDefault: boolean): Record<string, unknown> {
  const { name, ...provider } = providerOf(draft);
  return {
    providers: {
      [name]: { wire: null, base_url: null, ...provider, models: [draft.model.trim()] },
    },
    ...(asDefault ? { default_model: modelId(draft) } : {}),
  };
}
