import { beforeEach, describe, expect, it } from "vitest";
import type { Agent } from "@/api/types";
import { isDirty, useDrafts } from "./drafts";
import { estimateTokens } from "./tokens";

const agent: Agent = {
  id: "a_1",
  name: "书童",
  description: "查资料",
  workspace: "shutong",
  hue: 7,
  model: null,
  temperature: null,
  shared: true,
  archived: false,
  owner: "u_1",
  created_at: "2026-11-30T00:00:00Z",
  permissions: {},
  updated_at: "2026-11-30T00:00:00Z",
  soul: "# 书童",
};
const state = () => useDrafts.getState();

describe("what is typed about an agent", () => {
  beforeEach(() => useDrafts.setState({ of: {} }));

  it("is unsaved until it is as it was", () => {
    state().set("a_1", agent, { name: "老书童" });
    expect(isDirty(state(), "a_1")).toBe(true);
    state().set("a_1", agent, { name: "书童" });
    expect(isDirty(state(), "a_1")).toBe(false);
  });

  it("of one agent does not touch another's", () => {
    state().set("a_1", agent, { soul: "" });
    expect(isDirty(state(), "a_2")).toBe(false);
  });

  it("while a save was under way stays unsaved", () => {
    state().set("a_1", agent, { name: "老书童" });
    state().set("a_1", agent, { soul: "# 老书童" });
    state().drop("a_1", ["name"]);
    expect(state().of.a_1).toEqual({ soul: "# 老书童" });
  });

  it("keeps the browser from closing the page without asking", () => {
    const quiet = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(quiet);
    expect(quiet.defaultPrevented).toBe(false);
    state().set("a_1", agent, { name: "老书童" });
    const asked = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(asked);
    expect(asked.defaultPrevented).toBe(true);
  });
});

describe("the estimate of tokens", () => {
  it("counts a CJK character as one and four others as one", () => {
    expect(estimateTokens("")).toBe(0);
    expect(estimateTokens("书童")).toBe(2);
    expect(estimateTokens("abcde")).toBe(2);
    expect(estimateTokens("书 ab")).toBe(2);
  });
});
