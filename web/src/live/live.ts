/** Live state of the open conversations: the store over the reducer, and the socket that feeds it. */
import { useEffect } from "react";
import { create } from "zustand";
import { get } from "@/api/client";
import type { Envelope, Page, Post } from "@/api/types";
import { useConnection } from "@/app/connection";
import { addNewest, addOlder, addPost, EMPTY, reduce, type Thread } from "./reduce";
import { Socket } from "./socket";

/** So many conversations are followed at once: the open one and those read before it. */
const FOLLOWED = 8;

interface Live {
  threads: Readonly<Record<string, Thread>>;
}

export const useLive = create<Live>(() => ({ threads: {} }));

const listeners = new Set<(batch: readonly Envelope[]) => void>();

/** Hear of every batch of events after it was applied. */
export function whenEvents(listener: (batch: readonly Envelope[]) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const threadOf = (conversation: string): Thread =>
  useLive.getState().threads[conversation] ?? EMPTY;

function change(conversation: string, how: (thread: Thread) => Thread): void {
  useLive.setState(({ threads }) => ({
    threads: { ...threads, [conversation]: how(threads[conversation] ?? EMPTY) },
  }));
}

export const learn = (post: Post) => change(post.conversation, (thread) => addPost(thread, post));

const page = (conversation: string, before?: string) =>
  get<Page<Post>>("/api/messages", { query: { conversation, before } });

/** Read the page before the first post known; at the beginning of the log it does nothing. */
export async function readOlder(conversation: string): Promise<void> {
  const first = threadOf(conversation).order[0];
  if (first === undefined) return;
  const older = await page(conversation, first);
  change(conversation, (thread) =>
    thread.order[0] === first ? addOlder(thread, older.items) : thread,
  );
}

const healing = new Set<string>();

async function heal(conversation: string): Promise<void> {
  if (healing.has(conversation)) return;
  healing.add(conversation);
  try {
    const newest = await page(conversation);
    change(conversation, (thread) => addNewest(thread, newest.items));
  } catch {
    // The next event, or the next connection, finds the gap again.
  } finally {
    healing.delete(conversation);
  }
}

function apply(batch: Envelope[]): void {
  useLive.setState(({ threads }) => {
    const next = { ...threads };
    for (const envelope of batch) {
      const { conversation } = envelope;
      next[conversation] = reduce(next[conversation] ?? EMPTY, envelope);
    }
    return { threads: next };
  });
  for (const conversation of new Set(batch.map((one) => one.conversation))) {
    if (threadOf(conversation).gap) void heal(conversation);
  }
  for (const listener of listeners) listener(batch);
}

const address = () => `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`;
/** Asking who we are tells a lost login from a lost server; the client spreads the news. */
const probe = () => void get("/api/me").catch(() => undefined);

const socket = new Socket({
  open: () => new WebSocket(address()),
  after: (conversation) => threadOf(conversation).seq,
  envelopes: apply,
  refused: (conversation, problem) =>
    change(conversation, (thread) => ({ ...thread, refused: problem })),
  found: () => useConnection.getState().found(),
  lost: (retryMs) => {
    useConnection.getState().lost(performance.now() + retryMs, () => socket.retry());
    probe();
  },
  loggedOut: () => {
    forgetAll();
    probe();
  },
});

let users = 0;
const recent: string[] = [];

let owner: string | null = null;

function forgetAll(): void {
  for (const conversation of [...recent]) forget(conversation);
}

/** Say whose page this is; what another person saw is forgotten. */
export function belongTo(person: string): void {
  if (owner !== null && owner !== person) forgetAll();
  owner = person;
}

function follow(conversation: string): void {
  const place = recent.indexOf(conversation);
  if (place >= 0) recent.splice(place, 1);
  recent.push(conversation);
  socket.subscribe(conversation);
  while (recent.length > FOLLOWED) {
    const old = recent.shift();
    if (old) forget(old);
  }
}

/** Drop a conversation: it was deleted, or was not looked at for long. */
export function forget(conversation: string): void {
  socket.unsubscribe(conversation);
  const place = recent.indexOf(conversation);
  if (place >= 0) recent.splice(place, 1);
  useLive.setState(({ threads: { [conversation]: _, ...threads } }) => ({ threads }));
}

const retry = () => socket.retry();
const check = () => socket.ping();

/** Keeps the connection while a component that needs it is shown. */
export function useConnected(): void {
  useEffect(() => {
    users += 1;
    if (users === 1) {
      socket.start();
      window.addEventListener("online", retry);
      window.addEventListener("offline", check);
    }
    return () => {
      users -= 1;
      // The next page may need it at once.
      setTimeout(() => {
        if (users > 0) return;
        window.removeEventListener("online", retry);
        window.removeEventListener("offline", check);
        socket.stop();
      }, 0);
    };
  }, []);
}

export function useThread(conversation: string | null): Thread {
  useConnected();
  useEffect(() => {
    if (conversation) follow(conversation);
  }, [conversation]);
  return useLive((state) => (conversation && state.threads[conversation]) || EMPTY);
}
