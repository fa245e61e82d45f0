import { describe, expect, it } from "vitest";
import { WIRES } from "@/api/generated/vendors";
import { draftOf, faultsOf, modelId, modelOf, providerOf, settingsOf } from "./draft";
import { addressOf, DIALECTS, NAME, OWN, rowOf, VENDORS, type Vendor, vendorOf } from "./vendors";

const deepseek = vendorOf("deepseek") as Vendor;
const mine = { ...draftOf(OWN), name: "mine", url: "http://10.0.0.2:8000/v1", model: "big" };

describe("a provider's draft", () => {
  it("of a known vendor lacks nothing but the key", () => {
    for (const vendor of VENDORS.filter((one) => one.model)) {
      const { key } = rowOf(vendor.id);
      expect(Object.keys(faultsOf(draftOf(vendor), key))).toEqual(key ? ["key"] : []);
    }
  });

  it("says which fields are wrong", () => {
    const draft = { ...mine, name: "My Own", url: "ftp://x", model: " " };
    expect(Object.keys(faultsOf(draft, true)).sort()).toEqual(["key", "model", "name", "url"]);
  });

  it("needs an address of an own server only", () => {
    expect(faultsOf({ ...mine, url: "" }, false)).toHaveProperty("url");
    expect(faultsOf({ ...draftOf(deepseek), url: " " }, false)).toEqual({});
    expect(faultsOf({ ...draftOf(deepseek), url: "x" }, false)).toHaveProperty("url");
  });

  it("becomes settings without stray blanks and slashes, and without an empty key", () => {
    const draft = { ...draftOf(deepseek), url: " https://api.deepseek.com/v1/ ", key: " sk-1 " };
    expect(settingsOf(draft, true)).toEqual({
      providers: {
        deepseek: {
          vendor: "deepseek",
          wire: null,
          base_url: null,
          api_key: "sk-1",
          models: ["deepseek-chat"],
        },
      },
      default_model: "deepseek/deepseek-chat",
    });
    expect(settingsOf(draft, false)).not.toHaveProperty("default_model");
    expect(providerOf({ ...draft, key: " " })).not.toHaveProperty("api_key");
  });

  it("leaves address and dialect to the vendor, unless the address is another", () => {
    const draft = draftOf(deepseek);
    for (const url of ["https://api.deepseek.com/v1/", ""]) {
      expect(providerOf({ ...draft, url })).toEqual({ name: "deepseek", vendor: "deepseek" });
    }
    expect(providerOf({ ...draft, url: "https://proxy.example.com/v1" })).toEqual({
      name: "deepseek",
      vendor: "deepseek",
      base_url: "https://proxy.example.com/v1",
    });
  });

  it("of an own server says its dialect", () => {
    for (const { wire } of DIALECTS) {
      expect(providerOf({ ...mine, wire })).toEqual({
        name: "mine",
        vendor: "custom",
        wire,
        base_url: "http://10.0.0.2:8000/v1",
      });
    }
  });

  it("names its model by the first slash alone", () => {
    const draft = { ...draftOf(deepseek), name: "openrouter", model: "openrouter/auto" };
    expect(modelId(draft)).toBe("openrouter/openrouter/auto");
    expect(modelOf(modelId(draft))).toBe("openrouter/auto");
  });

  it("offers vendors whose names the settings take", () => {
    for (const vendor of VENDORS) expect(vendor.id).toMatch(NAME);
  });

  it("offers every dialect once", () => {
    expect(DIALECTS.map((one) => one.wire)).toEqual(WIRES);
  });

  it("knows where a kept provider is", () => {
    expect(addressOf("work", "anthropic", null)).toBe("https://api.anthropic.com/v1");
    expect(addressOf("deepseek", "custom", null)).toBe("https://api.deepseek.com/v1");
    expect(addressOf("mine", "custom", "http://10.0.0.2/v1")).toBe("http://10.0.0.2/v1");
    expect(addressOf("mine", "custom", null)).toBe("");
  });
});
