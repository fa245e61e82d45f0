import { expect, test } from "vitest";
import type { Post } from "@/api/types";
import { begin } from "@/live/answer";
import type { Outgoing } from "@/live/outbox";
import { addPost, EMPTY, type Thread } from "@/live/reduce";
import { arrange, type Item } from "./arrange";

const AT = "2026-11-30T14:30:00Z";
const DIRECT = { agent: "a_1", online: true };

function post(id: string, parent: string | null, run: string | null = null): Post {
  const author = run ? "a_1" : "u_1";
  return {
    id,
    conversation: "c_1",
    parent,
    author,
    run,
    parts: [],
    at: AT,
    client_id: run ? null : `x${id}`,
  };
}
const log = (...posts: Post[]): Thread => ({ ...posts.reduce(addPost, EMPTY), ready: true });
const running = (thread: Thread, ...runs: string[]): Thread => ({
  ...thread,
  running: new Map(runs.map((run) => [run, begin(run, "a_1", 1, AT)])),
});
function out(clientId: string, state: Outgoing["state"] = "waiting"): Outgoing {
  return {
    clientId,
    state,
    tries: 0,
    person: "u_1",
    to: "c_1",
    text: "",
    files: [],
    replyTo: null,
    at: AT,
    problem: null,
  };
}
const keys = (items: Item[]) => items.filter((item) => item.kind !== "day").map((item) => item.key);

test("each answer stands under its own question", () => {
  const thread = log(
    post("p1", null),
    post("p2", "p1"),
    post("p3", "p2", "r1"),
    post("p4", "p3", "r2"),
  );
  expect(keys(arrange(thread, [], DIRECT))).toEqual(["xp1", "r1", "xp2", "r2"]);
});

test("the running answer belongs to the oldest open question, the next one waits", () => {
  const thread = running(log(post("p1", null), post("p2", "p1")), "r1");
  const items = arrange(thread, [], DIRECT);
  expect(keys(items)).toEqual(["xp1", "r1", "xp2"]);
  expect(items.map((item) => item.kind === "mine" && item.waits)).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

test("a question nobody works on yet is being taken up", () => {
  const items = arrange(log(post("p1", null), post("p2", "p1")), [], DIRECT);
  expect(keys(items)).toEqual(["xp1", "p1/next", "xp2"]);
});

test("an answer keeps its key when it becomes a post, a message when it is acknowledged", () => {
  const asked = log(post("p1", null));
  expect(keys(arrange(running(asked, "r1"), [], DIRECT))).toEqual(["xp1", "r1"]);
  expect(keys(arrange(addPost(asked, post("p2", "p1", "r1")), [], DIRECT))).toEqual(["xp1", "r1"]);
  expect(keys(arrange({ ...EMPTY, ready: true }, [out("xp1")], DIRECT))).toEqual(["xp1"]);
});

test("a message that has arrived is not shown a second time as pending", () => {
  expect(keys(arrange(log(post("p1", null)), [out("xp1", "sending")], DIRECT))).toEqual([
    "xp1",
    "p1/next",
  ]);
});

test("offline messages are numbered in the order in which they will go", () => {
  const items = arrange(EMPTY, [out("a"), out("b", "failed"), out("c")], {
    ...DIRECT,
    online: false,
  });
  expect(items.map((item) => item.kind === "pending" && item.place)).toEqual([false, 1, 1, 2]);
});

test("a window that begins with an answer shows it in its place", () => {
  const thread = log(post("p2", "p1", "r1"), post("p3", "p2"), post("p4", "p3", "r2"));
  expect(keys(arrange(thread, [], DIRECT))).toEqual(["r1", "xp3", "r2"]);
});

test("each day begins with a line", () => {
  const yesterday = { ...post("p1", null), at: "2026-11-28T14:30:00Z" };
  const thread = log(yesterday, post("p2", "p1", "r1"));
  expect(arrange(thread, [], DIRECT).map((item) => item.kind)).toEqual([
    "day",
    "mine",
    "day",
    "answer",
  ]);
});
