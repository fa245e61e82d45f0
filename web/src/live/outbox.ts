/** What has been written and is not yet acknowledged: kept over reloads, sent in order, never twice. */
import { create } from "zustand";
import { ApiError, post } from "@/api/client";
import type { MessageDraft, Problem, Received, StoredFile } from "@/api/types";
import { useConnection } from "@/app/connection";
import { learn } from "./live";

export interface Outgoing {
  /** The same at each attempt, so that the server makes one post of all of them. */
  clientId: string;
  person: string;
  /** A conversation, or the agent (`a_…`) with whom one is to be opened. */
  to: string;
  text: string;
  files: StoredFile[];
  replyTo: string | null;
  at: string;
  state: "sending" | "waiting" | "failed";
  /** How often nobody answered. */
  tries: number;
  problem: Problem | null;
}

interface Outbox {
  items: readonly Outgoing[];
  /** The conversation that came of a message to an agent, by client id. */
  opened: Readonly<Record<string, string>>;
}

const STORED = "teahouse.outbox";
const RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 15_000;

function stored(): Outgoing[] {
  try {
    const items = JSON.parse(localStorage.getItem(STORED) ?? "[]") as Outgoing[];
    return items.map((item) => (item.state === "sending" ? { ...item, state: "waiting" } : item));
  } catch {
    return [];
  }
}

export const useOutbox = create<Outbox>(() => ({ items: stored(), opened: {} }));

/** Every message that this page has held; what else is stored belongs to another tab. */
const held = new Set(useOutbox.getState().items.map((item) => item.clientId));

function keep(items: readonly Outgoing[]): void {
  for (const item of items) held.add(item.clientId);
  const others = stored().filter((item) => !held.has(item.clientId));
  useOutbox.setState({ items });
  try {
    localStorage.setItem(STORED, JSON.stringify([...others, ...items]));
  } catch {
    // Storage is forbidden or full: the message waits in this page alone.
  }
}

const items = () => useOutbox.getState().items;
const change = (clientId: string, changes: Partial<Outgoing>) =>
  keep(items().map((item) => (item.clientId === clientId ? { ...item, ...changes } : item)));

export type Writing = Pick<Outgoing, "person" | "to" | "text" | "files" | "replyTo">;

export function send(writing: Writing): string {
  const clientId = newClientId();
  const at = new Date().toISOString();
  keep([...items(), { ...writing, clientId, at, state: "waiting", tries: 0, problem: null }]);
  void deliver();
  return clientId;
}

/** 128 random bits; `crypto.randomUUID` is missing where the page came over plain HTTP. */
function newClientId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Try a refused message again; it is still the same message. */
export function resend(clientId: string): void {
  change(clientId, { state: "waiting", problem: null });
  void deliver();
}

/** Take a message back that has not left yet. */
export function withdraw(clientId: string): void {
  keep(items().filter((item) => item.clientId !== clientId));
}

let person: string | null = null;
let delivering = false;
let retryMs = RETRY_MS;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Send what waits, one after the other, as it was written. */
export async function deliver(): Promise<void> {
  if (delivering) return;
  delivering = true;
  clearTimeout(timer);
  try {
    for (let item = next(); item; item = next()) await deliverOne(item);
    retryMs = RETRY_MS;
  } catch {
    timer = setTimeout(() => void deliver(), retryMs);
    retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2);
  } finally {
    delivering = false;
  }
}

const next = () => items().find((item) => item.state === "waiting" && item.person === person);

/** Throws when nobody answers; a refusal marks the message and lets the others go on. */
async function deliverOne(item: Outgoing): Promise<void> {
  change(item.clientId, { state: "sending" });
  const draft: MessageDraft = {
    ...(item.to.startsWith("a_") ? { agent: item.to } : { conversation: item.to }),
    text: item.text,
    client_id: item.clientId,
    ...(item.files.length > 0 && { files: item.files.map((file) => file.id) }),
    ...(item.replyTo && { reply_to: item.replyTo }),
  };
  try {
    const received = await post<Received>("/api/messages", draft);
    learn(received.post);
    useOutbox.setState(({ opened }) => ({
      opened: { ...opened, [item.clientId]: received.post.conversation },
    }));
    redirect(item, received.post.conversation);
    withdraw(item.clientId);
  } catch (error) {
    if (error instanceof ApiError && !error.offline && error.status < 502) {
      const waits = error.status === 401;
      change(item.clientId, { state: waits ? "waiting" : "failed", problem: error.problem });
      if (waits) throw error;
      return;
    }
    change(item.clientId, { state: "waiting", tries: item.tries + 1 });
    throw error;
  }
}

/** What was written after the first message to an agent belongs to the same conversation. */
function redirect(sent: Outgoing, conversation: string): void {
  if (!sent.to.startsWith("a_")) return;
  keep(items().map((item) => (item.to === sent.to ? { ...item, to: conversation } : item)));
}

/** Messages of this person that wait are sent as soon as there is a way. */
export function deliverFor(who: string): () => void {
  person = who;
  const now = () => {
    retryMs = RETRY_MS;
    void deliver();
  };
  window.addEventListener("online", now);
  const stop = useConnection.subscribe((state, before) => {
    if (state.online && !before.online) now();
  });
  now();
  return () => {
    person = null;
    window.removeEventListener("online", now);
    stop();
  };
}
