/** One conversation, or the beginning of one with an agent. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useShallow } from "zustand/react/shallow";
import { post as call } from "@/api/client";
import type { Agent, Conversation, Person, Post, StoredFile } from "@/api/types";
import { useConnection } from "@/app/connection";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { useThread } from "@/live/live";
import { send, useOutbox } from "@/live/outbox";
import { Avatar, Button, Skeleton, toast } from "@/ui";
import { Announcer } from "./announcer";
import { arrange } from "./arrange";
import { plainName, textOf } from "./blocks";
import { Composer } from "./composer";
import { ChatHeader } from "./header";
import { MessageLog } from "./message-log";
import { useNameOf } from "./names";

interface Props {
  /** A conversation (`c_…`), or an agent (`a_…`) with whom one begins at the first message. */
  to: string;
  me: Person;
  agent: Agent | null | undefined;
  conversation: Conversation | undefined;
}

export function ConversationView({ to, me, agent, conversation }: Props) {
  const t = useT();
  const begins = to.startsWith("a_");
  const thread = useThread(begins ? null : to);
  const outgoing = useOutbox(
    useShallow((box) => box.items.filter((item) => item.to === to && item.person === me.id)),
  );
  const online = useConnection((state) => state.online);
  const [quoted, quote] = useState<Post | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const direct = conversation ? conversation.kind === "direct" : begins;
  const agentId = direct ? (agent?.id ?? conversation?.agents[0] ?? null) : null;
  const items = useMemo(
    () => arrange(thread, outgoing, { agent: agentId, online }),
    [thread, outgoing, agentId, online],
  );
  const running = [...thread.running.values()];
  const name = useNameOf(agent?.id ?? conversation?.agents[0]);
  const write = useOpened(to, me);

  const say = useCallback(
    (text: string, files: StoredFile[] = []) => {
      write(text, files, quoted?.id ?? null);
      quote(null);
    },
    [write, quoted],
  );
  const onQuote = useCallback((post: Post) => {
    quote(post);
    field.current?.focus();
  }, []);
  const onContinue = useCallback(() => write(t("chat.continue.text"), [], null), [write, t]);
  const question = useMemo(
    () => lastQuestion(thread.order.flatMap((id) => thread.posts.get(id) ?? [])),
    [thread.order, thread.posts],
  );
  const onAgain = useCallback(() => {
    if (question) write(textOf(question.parts), filesOf(question), question.reply_to ?? null);
  }, [question, write]);
  const stop = () => {
    for (const { run } of running) {
      call(`/api/runs/${run}/stop`).catch((error: unknown) => toast(explain(error).message));
    }
    field.current?.focus();
  };

  // Where there is a keyboard, one can write at once.
  // biome-ignore lint/correctness/useExhaustiveDependencies: also when another conversation opens
  useEffect(() => {
    if (matchMedia("(hover: hover) and (pointer: fine)").matches) field.current?.focus();
  }, [to]);

  const loading = !begins && (!thread.ready || (conversation?.posts ?? 0) > 0);
  return (
    <main className="main chat" id="content" tabIndex={-1}>
      <ChatHeader
        agent={agent}
        name={name}
        conversation={conversation}
        running={running.length > 0}
      />
      <MessageLog
        id={to}
        thread={thread}
        items={items}
        onQuote={onQuote}
        onContinue={onContinue}
        onAgain={onAgain}
        empty={loading ? <Skeleton rows={4} height={72} /> : <Start agent={agent} onSay={say} />}
      />
      <Announcer answer={running[0] ?? null} name={name} />
      <Composer
        key={to}
        to={to}
        name={name}
        field={field}
        quoted={quoted}
        onUnquote={() => quote(null)}
        running={running.length > 0}
        onStop={stop}
        onSend={say}
      />
    </main>
  );
}

/** Sends; the first message to an agent opens a conversation, and the page goes there. */
function useOpened(to: string, me: Person) {
  const [, go] = useLocation();
  // Also one that was written before a reload and has not left yet.
  const [first, setFirst] = useState(() => waiting(to, me));
  const opened = useOutbox((box) => (first ? box.opened[first] : undefined));
  useEffect(() => {
    if (opened) go(`/chats/${opened}`, { replace: true });
  }, [opened, go]);
  return useCallback(
    (text: string, files: StoredFile[], replyTo: string | null) => {
      const clientId = send({ person: me.id, to, text, files, replyTo });
      if (to.startsWith("a_")) setFirst((before) => before ?? clientId);
    },
    [me.id, to],
  );
}

function waiting(to: string, me: Person): string | null {
  if (!to.startsWith("a_")) return null;
  const { items } = useOutbox.getState();
  return items.find((item) => item.to === to && item.person === me.id)?.clientId ?? null;
}

const lastQuestion = (posts: readonly Post[]) =>
  posts.findLast((post) => post.author.startsWith("u_"));

const filesOf = (post: Post): StoredFile[] =>
  post.parts.flatMap((part) =>
    part.type === "blob"
      ? [{ id: part.file, name: part.name, media_type: part.media_type, size: part.size }]
      : [],
  );

function Start({
  agent,
  onSay,
}: {
  agent: Agent | null | undefined;
  onSay: (text: string) => void;
}) {
  const t = useT();
  if (!agent) return null;
  const name = plainName(agent.name);
  return (
    <div className="start">
      <Avatar kind="agent" name={name} hue={agent.hue} size={72} />
      <h2 className="t18">{name}</h2>
      {agent.description && <p className="k2">{agent.description}</p>}
      <div className="row wrap">
        {(["chat.start.able", "chat.start.time"] as const).map((key) => (
          <Button key={key} onClick={() => onSay(t(key))}>
            {t(key)}
          </Button>
        ))}
      </div>
    </div>
  );
}
