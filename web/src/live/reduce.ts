/** A conversation as this page knows it: one pure reducer over envelopes and pages of posts. */
import type { Envelope, Post, Problem } from "@/api/types";
import { type Answer, advance, begin } from "./answer";

export interface Thread {
  /** The newest event that was applied; a reader resumes after it. */
  seq: number | null;
  posts: ReadonlyMap<string, Post>;
  /** Post ids in the order of the log. */
  order: readonly string[];
  running: ReadonlyMap<string, Answer>;
  /** How long the tools of runs took that ended before our eyes: by run, by call. */
  toolMs: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The server has said what there is. */
  ready: boolean;
  /** A post came whose forerunner is unknown: the newest page is to be read again. */
  gap: boolean;
  /** Why the server refuses to show it. */
  refused: Problem | null;
}

export const EMPTY: Thread = {
  seq: null,
  posts: new Map(),
  order: [],
  running: new Map(),
  toolMs: new Map(),
  ready: false,
  gap: false,
  refused: null,
};

/** The twin of what the server does to its readers: see "Reader's law" in the socket's docs. */
export function reduce(thread: Thread, envelope: Envelope): Thread {
  const { event, run, at, seq } = envelope;
  if (event.type === "resync") {
    return { ...thread, seq, running: new Map(), ready: true, refused: null };
  }
  if (thread.seq !== null && seq <= thread.seq) return thread;
  const next = { ...thread, seq };
  if (event.type === "post") return settle(addPost(next, event.post), event.post.run ?? null);
  if (event.type === "conversation" || run === null) return next;
  if (event.type === "stream_end") return settle(next, run);
  const answer =
    event.type === "stream_start"
      ? begin(run, event.author, event.attempt, at)
      : thread.running.get(run);
  if (!answer) return next;
  return { ...next, running: new Map(thread.running).set(run, advance(answer, event, at)) };
}

/** Add a post, or replace the one of the same id. Its parent is the post before it in the log. */
export function addPost(thread: Thread, post: Post): Thread {
  const known = thread.posts.has(post.id);
  const posts = new Map(thread.posts).set(post.id, post);
  if (known) return { ...thread, posts };
  const before = post.parent === null ? -1 : thread.order.indexOf(post.parent);
  const lost = thread.order.length > 0 && before < 0;
  const place = before < 0 ? thread.order.length : before + 1;
  const order = thread.order.toSpliced(place, 0, post.id);
  return { ...thread, posts, order, gap: thread.gap || lost };
}

/** Put a page of older posts, which ends right before the first one known, in front. */
export function addOlder(thread: Thread, page: readonly Post[]): Thread {
  const fresh = page.filter((post) => !thread.posts.has(post.id));
  return {
    ...thread,
    posts: new Map([...thread.posts, ...page.map((post) => [post.id, post] as const)]),
    order: [...fresh.map((post) => post.id), ...thread.order],
  };
}

/** Take the newest page as the truth of the log's end; what came in meanwhile stays behind it. */
export function addNewest(thread: Thread, page: readonly Post[]): Thread {
  const ids = page.map((post) => post.id);
  const listed = new Set(ids);
  const first = thread.order.findIndex((id) => listed.has(id));
  const before = first < 0 ? [] : thread.order.slice(0, first);
  // Older posts stay only when they join without a hole.
  const older = page[0] && page[0].parent === before.at(-1) ? before : [];
  const last = thread.order.findLastIndex((id) => listed.has(id));
  const newer = thread.order.slice(last + 1).filter((id) => !listed.has(id) && after(id, ids));
  const order = [...older, ...ids, ...newer];
  const posts = new Map(page.map((post) => [post.id, post]));
  for (const id of order) {
    const post = thread.posts.get(id);
    if (post && !posts.has(id)) posts.set(id, post);
  }
  return { ...thread, posts, order, gap: false, ready: true };
}

/** True when the first post of the log is known, so that there is nothing older. */
export function complete(thread: Thread): boolean {
  const first = thread.order[0];
  if (first === undefined) return true;
  return thread.posts.get(first)?.parent === null;
}

/** Ids are time-ordered. */
const after = (id: string, ids: readonly string[]) => id > (ids.at(-1) ?? "");

function settle(thread: Thread, run: string | null): Thread {
  const answer = run === null ? undefined : thread.running.get(run);
  if (run === null || !answer) return thread;
  const took = [...answer.tools].flatMap(([call, tool]) =>
    tool.elapsedMs === null ? [] : [[call, tool.elapsedMs] as const],
  );
  const toolMs = new Map(thread.toolMs).set(run, new Map(took));
  const running = new Map(thread.running);
  running.delete(run);
  return { ...thread, running, toolMs };
}
