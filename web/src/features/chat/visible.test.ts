import { describe, expect, it } from "vitest";
import { shownArguments, visible } from "./visible";

describe("visible", () => {
  it("leaves plain English and Chinese as they are", () => {
    for (const text of ["git commit -m 'tea'", "写入 茶单.md，共 3 行。", "é 🍵"]) {
      expect(visible(text)).toBe(text);
    }
  });

  it("spells out what cannot be seen, turns the line, or looks like another letter", () => {
    expect(visible("a\u202eb")).toBe("a\\u{202e}b");
    expect(visible("\u001b[2J\u200b\u3164")).toBe("\\u{001b}[2J\\u{200b}\\u{3164}");
    expect(visible("с\uff41\u00a0\u0301")).toBe("\\u{0441}\\u{ff41}\\u{00a0}\\u{0301}");
  });

  it("keeps an argument in one line", () => {
    const shown = shownArguments({ command: "ls\nrm -rf x", count: 2 });
    expect(shown).toBe('command: "ls\\nrm -rf x"\ncount: 2');
  });
});
