import { expect, test } from "vitest";
import type { Part } from "@/api/types";
import { sentencesEnd } from "./announcer";
import { argumentLine, blocksOf, oneLine, plainName, tokensIn } from "./blocks";

const call = (id: string): Part => ({ type: "tool_call", id, name: "now", arguments: {} });
const result = (id: string, is_error = false): Part => ({
  type: "tool_result",
  call: id,
  content: [{ type: "text", text: "22:30" }],
  is_error,
});
const POST = { answer: null, toolMs: null, calling: false };

test("steps that follow each other are one timeline, with their results", () => {
  const blocks = blocksOf(
    [call("a"), call("b"), result("b", true), result("a"), { type: "text", text: "so" }],
    POST,
  );
  expect(blocks.map((block) => block.kind)).toEqual(["steps", "text"]);
  expect(blocks[0]).toMatchObject({ steps: [{ state: "done" }, { state: "failed" }] });
});

test("in a post a step without a result was cut off", () => {
  expect(blocksOf([call("a")], POST)[0]).toMatchObject({ steps: [{ state: "cut" }] });
});

test("empty text and empty thoughts are not shown", () => {
  expect(
    blocksOf(
      [
        { type: "thinking", text: " " },
        { type: "text", text: "\n" },
      ],
      POST,
    ),
  ).toEqual([]);
});

test("arguments fit in a line", () => {
  expect(argumentLine({})).toBe("");
  expect(argumentLine({ path: "报价.pdf" })).toBe("报价.pdf");
  expect(argumentLine({ a: 1, b: ["x"] })).toBe('a: 1, b: ["x"]');
});

test("a Chinese character is about a token, four letters are one", () => {
  expect(tokensIn("你好茶馆")).toBe(4);
  expect(tokensIn("teahouse")).toBe(2);
});

test("a preview is one line without signs", () => {
  expect(oneLine("# 茶馆\n\nSome **bold** and *slanted* `code`\n\n- a\n- b")).toBe(
    "茶馆 Some bold and slanted code a b",
  );
});

test("names cannot turn the line around", () => {
  expect(plainName("a\u202egpj.exe")).toBe("agpj.exe");
});

test("only whole sentences are read aloud", () => {
  expect(sentencesEnd("你好。今天")).toBe(3);
  expect(sentencesEnd("Version 1.2 is")).toBe(0);
  expect(sentencesEnd("Yes. And then")).toBe(4);
});
