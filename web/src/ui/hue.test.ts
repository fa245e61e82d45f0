import { describe, expect, it } from "vitest";
import { fnv1a32, hueOf, lettersOf } from "./hue";

describe("the colour of a name", () => {
  it("is FNV-1a over UTF-8, as published", () => {
    expect(fnv1a32("")).toBe(0x811c9dc5);
    expect(fnv1a32("a")).toBe(0xe40c292c);
    expect(fnv1a32("foobar")).toBe(0xbf9cf968);
  });

  it("does not depend on how a letter was composed", () => {
    expect(hueOf("Zoe\u0308")).toBe(hueOf("Zoë"));
  });

  it("is one of ten", () => {
    for (const name of ["掌柜", "书童", "Code Reviewer", ""]) {
      expect(hueOf(name)).toBeGreaterThanOrEqual(0);
      expect(hueOf(name)).toBeLessThan(10);
    }
  });
});

describe("the letters of an avatar", () => {
  it("are the first character of a Chinese agent and the last of a Chinese person", () => {
    expect(lettersOf("书童", "agent")).toBe("书");
    expect(lettersOf("林小满", "person")).toBe("满");
  });

  it("are two initials in Latin script", () => {
    expect(lettersOf("Code Reviewer", "agent")).toBe("CR");
    expect(lettersOf("maya", "person")).toBe("MA");
    expect(lettersOf("  ", "person")).toBe("");
  });

  it("never cut a character in two", () => {
    expect(lettersOf("𠮷野家", "agent")).toBe("𠮷");
    expect(lettersOf("😀 Bot", "agent")).toBe("😀B");
  });
});
