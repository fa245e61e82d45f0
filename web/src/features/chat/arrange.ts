/** Which messages stand in the log, in which order, and the days between them. */
import type { Post } from "@/api/types";
import type { Answer } from "@/live/answer";
import type { Outgoing } from "@/live/outbox";
import type { Thread } from "@/live/reduce";

export type Item =
  | { kind: "day"; key: string; at: string }
  | { kind: "mine"; key: string; post: Post; waits: boolean }
  | { kind: "answer"; key: string; author: string; post: Post | null; answer: Answer | null }
  /** `place` counts those that wait for a way out; 0 is on its way. */
  | { kind: "pending"; key: string; out: Outgoing; place: number };

interface Question {
  post: Post;
  answers: (Post | Answer)[];
}

/**
 * A question asked during an answer is stored before that answer. Each question wakes one run and
 * runs end in the order of their questions, so each answer is shown under its own question.
 */
export function pair(
  posts: readonly Post[],
  running: readonly Answer[],
): (Question | Post | Answer)[] {
  const log: (Question | Post | Answer)[] = [];
  const open: Question[] = [];
  for (const said of [...posts, ...running]) {
    if (isPost(said) && !said.run && said.author.startsWith("u_")) {
      const question = { post: said, answers: [] };
      log.push(question);
      open.push(question);
      continue;
    }
    const question = open.shift();
    if (question) question.answers.push(said);
    else log.push(said);
  }
  return log;
}

/** The items of the log. `direct`: one agent answers, so that answers belong to questions. */
export function arrange(
  thread: Thread,
  outgoing: readonly Outgoing[],
  { agent, online }: { agent: string | null; online: boolean },
): Item[] {
  const posts = thread.order.flatMap((id) => thread.posts.get(id) ?? []);
  const running = [...thread.running.values()];
  const log = agent === null ? [...posts, ...running] : pair(posts, running);
  const items: Item[] = [];
  let called = false;
  for (const one of log) {
    if (!("answers" in one)) {
      items.push(single(one));
      continue;
    }
    const unanswered = agent !== null && one.answers.length === 0 && thread.ready;
    const waits = unanswered && (called || running.length > 0);
    items.push({ kind: "mine", key: keyOfMine(one.post), post: one.post, waits });
    items.push(...one.answers.map(single));
    if (unanswered && !waits && agent !== null) {
      called = true;
      // Its key changes when the run is known; nothing is lost with it.
      items.push({
        kind: "answer",
        key: `${one.post.id}/next`,
        author: agent,
        post: null,
        answer: null,
      });
    }
  }
  const acknowledged = new Set(posts.map((post) => post.client_id));
  const held = !online || outgoing.some((out) => out.state !== "failed" && out.tries > 0);
  let place = 0;
  for (const out of outgoing) {
    if (acknowledged.has(out.clientId)) continue;
    if (held && out.state !== "failed") place += 1;
    items.push({ kind: "pending", key: out.clientId, out, place });
  }
  return withDays(items);
}

/** A message keeps its element from the moment it was sent, an answer from its first word. */
const keyOfMine = (post: Post) => post.client_id ?? post.id;

function single(said: Post | Answer): Item {
  if (!isPost(said)) {
    return { kind: "answer", key: said.run, author: said.author, post: null, answer: said };
  }
  if (said.author.startsWith("u_")) {
    return { kind: "mine", key: keyOfMine(said), post: said, waits: false };
  }
  return {
    kind: "answer",
    key: said.run ?? said.id,
    author: said.author,
    post: said,
    answer: null,
  };
}

const isPost = (said: Post | Answer): said is Post => "id" in said;

function timeOf(item: Item): string | null {
  switch (item.kind) {
    case "mine":
      return item.post.at;
    case "answer":
      return item.post?.at ?? item.answer?.at ?? null;
    case "pending":
      return item.out.at;
    default:
      return null;
  }
}

function withDays(items: readonly Item[]): Item[] {
  let day = "";
  return items.flatMap((item) => {
    const at = timeOf(item);
    const its = at ? new Date(at).toDateString() : day;
    if (its === day || !at) return [item];
    day = its;
    return [{ kind: "day", key: `day ${its}`, at }, item];
  });
}
