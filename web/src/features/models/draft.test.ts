import { describe, expect, it } from "vitest";
import { draftOf, faultsOf, modelId, modelOf, providerOf, settingsOf } from "./draft";
import { NAME, VENDORS, type Vendor } from "./vendors";

const deepseek = VENDORS.find((vendor) => vendor.id === "deepseek") as Vendor;

describe("a provider's draft", () => {
  it("of a known vendor lacks nothing but the key", () => {
    for (const vendor of VENDORS.filter((one) => one.model)) {
      const faults = Object.keys(faultsOf(draftOf(vendor), vendor.key));
      expect(faults).toEqual(vendor.key ? ["key"] : []);
    }
  });

  it("says which fields are wrong", () => {
    const draft = { vendor: "own", name: "My Own", url: "ftp://x", key: "", model: " " };
    expect(Object.keys(faultsOf(draft, true)).sort()).toEqual(["key", "model", "name", "url"]);
  });

  it("becomes settings without stray blanks and slashes, and without an empty key", () => {
    const draft = { ...draftOf(deepseek), url: " https://api.deepseek.com/v1/ ", key: " sk-1 " };
    expect(settingsOf(draft, true)).toEqual({
      providers: {
        deepseek: {
          wire: "openai_chat",
          base_url: "https://api.deepseek.com/v1",
          api_key: "sk-1",
          models: ["deepseek-chat"],
        },
      },
      default_model: "deepseek/deepseek-chat",
    });
    expect(settingsOf(draft, false)).not.toHaveProperty("default_model");
    expect(providerOf({ ...draft, key: " " })).not.toHaveProperty("api_key");
  });

  it("names its model by the first slash alone", () => {
    const draft = { ...draftOf(deepseek), name: "openrouter", model: "openrouter/auto" };
    expect(modelId(draft)).toBe("openrouter/openrouter/auto");
    expect(modelOf(modelId(draft))).toBe("openrouter/auto");
  });

  it("offers vendors whose names the settings take", () => {
    for (const vendor of VENDORS) expect(vendor.id).toMatch(NAME);
  });
});
