import { describe, expect, it } from "vitest";

const texts = import.meta.glob<Record<string, string>>(
  "../../../src/teahouse/locales/*/page.json",
  { import: "default", eager: true },
);
const sources = import.meta.glob<string>(["../**/*.{ts,tsx}", "!../**/*.test.*"], {
  query: "?raw",
  import: "default",
  eager: true,
});

const byLanguage = Object.fromEntries(
  Object.entries(texts).map(([path, read]) => [path.split("/").at(-2) ?? "", read]),
);
const english = byLanguage["en-US"] ?? {};
const code = Object.values(sources).join("\n");
const holes = (one: string) => [...one.matchAll(/\{\w+\}/g)].map((found) => found[0]).sort();

describe("the page's texts", () => {
  it("are written in all three languages", () => {
    for (const language of ["en-US", "zh-CN", "zh-HK"]) {
      expect(Object.keys(byLanguage[language] ?? {}).sort()).toEqual(Object.keys(english).sort());
    }
  });

  it("have the same holes in every language", () => {
    for (const [key, one] of Object.entries(english)) {
      for (const language of ["zh-CN", "zh-HK"]) {
        expect(holes(byLanguage[language]?.[key] ?? ""), `${language} ${key}`).toEqual(holes(one));
      }
    }
  });

  it("are all used, each by its whole key", () => {
    const unused = Object.keys(english).filter((key) => !code.includes(`"${key}"`));
    expect(unused).toEqual([]);
  });
});
