import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Envelope, Part, Post, RunEvent } from "@/api/types";
import { type Answer, advance, begin, parts, unfinished, visible } from "./answer";
import { addNewest, addOlder, addPost, complete, EMPTY, reduce, type Thread } from "./reduce";

// The same recordings that the server's `fold` is held to: tests/core/test_events_spec.py.
const SPEC = `${import.meta.dirname}/../../../tests/spec/events`;
interface Meaning {
  parts: Part[];
  unfinished: Part[];
  compact: RunEvent[];
}
const EXPECTED = JSON.parse(readFileSync(`${SPEC}/expected.json`, "utf8")) as Record<
  string,
  Meaning
>;
const recorded = (name: string) =>
  readFileSync(`${SPEC}/${name}.jsonl`, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Envelope);

const foldEvents = (events: RunEvent[]): Answer =>
  events.reduce(
    (answer, event) => advance(answer, event, "2026-11-30T14:30:00Z"),
    begin("r_1", "a_1", 1, "2026-11-30T14:30:00Z"),
  );

for (const [name, meaning] of Object.entries(EXPECTED)) {
  test(`${name}: a recorded stream means here what it means on the server`, () => {
    const answer = foldEvents(recorded(name).map((one) => one.event as RunEvent));
    expect(parts(answer)).toEqual(meaning.parts);
    expect(unfinished(answer)).toEqual(meaning.unfinished);
  });

  test(`${name}: a late reader comes to the same`, () => {
    const late = foldEvents(meaning.compact);
    const early = foldEvents(recorded(name).map((one) => one.event as RunEvent));
    expect(unfinished(late)).toEqual(meaning.unfinished);
    expect(visible(late)).toEqual(visible(early));
  });

  test(`${name}: the reducer shows the run until its end`, () => {
    const stream = recorded(name);
    const thread = stream.reduce(reduce, EMPTY);
    const ended = stream.at(-1)?.event.type === "stream_end";
    expect(thread.running.has("r_1")).toBe(!ended);
    expect(thread.seq).toBe(stream.at(-1)?.seq);
  });
}

const post = (id: string, parent: string | null, more: Partial<Post> = {}): Post => ({
  id,
  conversation: "c_1",
  parent,
  author: "u_1",
  parts: [{ type: "text", text: id }],
  at: "2026-11-30T14:30:00Z",
  ...more,
});
const envelope = (seq: number, event: Envelope["event"], run: string | null = null): Envelope => ({
  v: 1,
  seq,
  conversation: "c_1",
  run,
  at: "2026-11-30T14:30:02Z",
  event,
});
const said = (...posts: Post[]): Thread => posts.reduce(addPost, EMPTY);

test("an answer gives way to its post, and how long its tools took is remembered", () => {
  const events: Envelope[] = [
    envelope(1, { type: "resync" }),
    envelope(2, { type: "post", post: post("p_1", null) }),
    {
      ...envelope(3, { type: "stream_start", author: "a_1", attempt: 1 }, "r_1"),
      at: "2026-11-30T14:30:00Z",
    },
    envelope(4, { type: "stream_chunk", index: 0, kind: "text", delta: "hi" }, "r_1"),
    envelope(5, { type: "tool_call", call: "k_1", name: "now", arguments: {} }, "r_1"),
    envelope(
      6,
      {
        type: "tool_result",
        result: { type: "tool_result", call: "k_1", content: [] },
        elapsed_ms: 7,
      },
      "r_1",
    ),
    envelope(7, { type: "post", post: post("p_2", "p_1", { run: "r_1", author: "a_1" }) }, "r_1"),
    envelope(
      8,
      { type: "stream_end", post_id: "p_2", reason: "stop", usage: { output: 9 } },
      "r_1",
    ),
  ];
  expect(events.slice(0, 4).reduce(reduce, EMPTY).running.size).toBe(1);
  const thread = events.reduce(reduce, EMPTY);
  expect(thread.running.size).toBe(0);
  expect(thread.order).toEqual(["p_1", "p_2"]);
  expect(thread.toolMs.get("r_1")?.get("k_1")).toBe(7);
});

test("events that were seen before change nothing", () => {
  const thread = reduce(EMPTY, envelope(5, { type: "post", post: post("p_1", null) }));
  expect(reduce(thread, envelope(5, { type: "post", post: post("p_1", null) }))).toBe(thread);
});

test("a resync keeps the posts and drops what was running", () => {
  const before = [
    envelope(1, { type: "post", post: post("p_1", null) }),
    envelope(2, { type: "stream_start", author: "a_1", attempt: 1 }, "r_1"),
  ].reduce(reduce, EMPTY);
  const after = reduce(before, envelope(9, { type: "resync" }));
  expect(after.running.size).toBe(0);
  expect(after.order).toEqual(["p_1"]);
  expect(after.ready).toBe(true);
});

test("a second attempt after a crash makes one answer, not two", () => {
  const chunk = (seq: number, delta: string) =>
    envelope(seq, { type: "stream_chunk", index: 0, kind: "text", delta }, "r_1");
  const start = (seq: number, attempt: number) =>
    envelope(seq, { type: "stream_start", author: "a_1", attempt }, "r_1");
  const thread = [
    start(1, 1),
    chunk(2, "first ha"),
    envelope(1 << 20, { type: "resync" }),
    start((1 << 20) + 1, 2),
    chunk((1 << 20) + 2, "whole"),
  ].reduce(reduce, EMPTY);
  expect([...thread.running.values()].map((one) => visible(one).parts)).toEqual([
    [{ type: "text", text: "whole" }],
  ]);
});

test("a post changed later keeps its place", () => {
  const thread = addPost(said(post("p_1", null), post("p_2", "p_1")), {
    ...post("p_1", null),
    parts: [{ type: "text", text: "edited" }],
  });
  expect(thread.order).toEqual(["p_1", "p_2"]);
  expect(thread.posts.get("p_1")?.parts).toEqual([{ type: "text", text: "edited" }]);
});

test("two posts told in the wrong order stand in the right one", () => {
  const thread = said(post("p_1", null), post("p_3", "p_2"), post("p_2", "p_1"));
  expect(thread.order).toEqual(["p_1", "p_2", "p_3"]);
});

test("older pages go in front, without those already there", () => {
  const thread = addOlder(said(post("p_3", "p_2")), [post("p_2", "p_1"), post("p_3", "p_2")]);
  expect(thread.order).toEqual(["p_2", "p_3"]);
  expect(complete(thread)).toBe(false);
  expect(complete(addOlder(thread, [post("p_1", null), post("p_2", "p_1")]))).toBe(true);
});

test("posts that do not join mark a gap, and the newest page closes it", () => {
  const away = said(post("p_1", null), post("p_8", "p_7"), post("p_9", "p_8"));
  expect(away.gap).toBe(true);
  const joined = addNewest(away, [post("p_7", "p_6"), post("p_8", "p_7"), post("p_9", "p_8")]);
  expect(joined.order).toEqual(["p_7", "p_8", "p_9"]);
  expect(joined.gap).toBe(false);
});

test("the newest page keeps older posts that join it, and newer ones that came meanwhile", () => {
  const thread = said(
    post("p_1", null),
    post("p_2", "p_1"),
    post("p_3", "p_2"),
    post("p_4", "p_3"),
  );
  const after = addNewest(thread, [post("p_2", "p_1"), post("p_3", "p_2")]);
  expect(after.order).toEqual(["p_1", "p_2", "p_3", "p_4"]);
});
