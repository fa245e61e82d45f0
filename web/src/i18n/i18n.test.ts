import { beforeAll, describe, expect, it } from "vitest";
import { ApiError } from "@/api/client";
import { errorText, match, setLanguage, start, text } from ".";
import { daysAgo, seconds, when } from "./format";
import { explain, wordsOf } from "./problem";

beforeAll(() => start("en-US"));

describe("languages", () => {
  it("are found by the names that browsers and systems use", () => {
    expect(match("zh-Hant-TW")).toBe("zh-HK");
    expect(match("zh-HK")).toBe("zh-HK");
    expect(match("zh")).toBe("zh-CN");
    expect(match("en-GB")).toBe("en-US");
    expect(match("fr-FR")).toBeNull();
  });

  it("change the words and the document's language at once", async () => {
    await setLanguage("zh-HK");
    expect(text("shell.settings")).toBe("設定");
    expect(document.documentElement.lang).toBe("zh-HK");
    await setLanguage("en-US");
    expect(text("shell.settings")).toBe("Settings");
  });

  it("fill the holes of a text as they are, without escaping", () => {
    expect(text("agents.archive.done", { name: "<b>&" })).toBe("Archived <b>&");
  });
});

describe("an error", () => {
  it("is worded by its code and values in the reader's language", () => {
    const problem = {
      code: "provider_authentication",
      message: "as the server said it",
      values: { provider: "DeepSeek", detail: "" },
    };
    expect(wordsOf(problem).message).toContain("DeepSeek");
    expect(wordsOf(problem).message).not.toContain("{");
    expect(wordsOf(problem).hint).toBeTruthy();
  });

  it("keeps the server's words where the values are not told", () => {
    expect(errorText("provider_authentication")).toBeNull();
    const problem = { code: "provider_authentication", message: "DeepSeek refused the key (401)." };
    expect(wordsOf(problem).message).toBe("DeepSeek refused the key (401).");
  });

  it("of an unknown code is still told", () => {
    expect(wordsOf({ code: "from_the_future", message: "New words." }).message).toBe("New words.");
    expect(wordsOf({ code: "from_the_future", message: "" }).message).toBe("from_the_future");
  });

  it("of silence says that nobody can be reached", () => {
    const error = new ApiError(0, { code: "offline", message: "" });
    expect(explain(error)).toEqual({ message: text("ui.offline"), hint: text("ui.offline.hint") });
  });
});

describe("times", () => {
  const now = new Date(2026, 10, 30, 14, 32);

  it("count midnights, not spans of 24 hours", () => {
    expect(daysAgo(new Date(2026, 10, 29, 23, 59), now)).toBe(1);
    expect(daysAgo(new Date(2026, 10, 30, 0, 1), now)).toBe(0);
  });

  it("grow shorter the older they are", () => {
    expect(when(new Date(2026, 10, 30, 9, 5), now)).toBe("09:05");
    expect(when(new Date(2026, 10, 27, 9, 5), now)).toBe("Fri");
    expect(when(new Date(2026, 10, 1), now)).toBe("11/1");
    expect(when(new Date(2025, 10, 1), now)).toBe("11/1/2025");
  });

  it("measured are never told as nothing", () => {
    expect(seconds(620)).toBe("0.62");
    expect(seconds(1)).toBe("0.01");
    expect(seconds(12_340)).toBe("12.3");
  });
});
