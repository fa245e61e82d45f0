/** The list pane of the chats; `conversationId` is the open one. */
import { Archive, ArrowLeft, MessageCircle } from "lucide-react";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { useAgents, useConversations } from "@/api/queries";
import type { Conversation } from "@/api/types";
import { type PageKey, useT } from "@/i18n";
import { daysAgo } from "@/i18n/format";
import { useConnected } from "@/live/live";
import { Button, ButtonLink, Empty, Failure, IconButton, Skeleton } from "@/ui";
import { plainName } from "./blocks";
import { ConversationRow } from "./conversation-row";
import { useFreshLists } from "./fresh";
import { NewChat } from "./new-chat";
import "./chat.css";

export function ConversationList({ conversationId }: { conversationId: string | null }) {
  const t = useT();
  const [archived, setArchived] = useState(false);
  const list = useConversations(archived);
  useConnected();
  useFreshLists();
  useWalk(list.data ?? [], conversationId);
  return (
    <section className="pane list" aria-label={t("shell.chats")}>
      <header className="pane-h">
        {archived && (
          <IconButton label={t("ui.back")} onClick={() => setArchived(false)}>
            <ArrowLeft className="i" size={18} aria-hidden />
          </IconButton>
        )}
        <h1 className="grow">{archived ? t("chat.archived") : t("shell.chats")}</h1>
        <NewChat />
      </header>
      <div className="scroll list-b">
        {list.isPending && <Skeleton rows={5} />}
        {list.isError && !list.data && (
          <Failure error={list.error} retry={() => void list.refetch()} />
        )}
        {list.data?.length === 0 && (archived ? <NoneArchived /> : <None />)}
        {list.data &&
          grouped(list.data).map(({ name, rows }) => (
            <section key={name} aria-label={t(name)}>
              <h2 className="lh">{t(name)}</h2>
              {rows.map((one) => (
                <ConversationRow key={one.id} conversation={one} open={one.id === conversationId} />
              ))}
            </section>
          ))}
        {list.hasNextPage && (
          <div className="list-more">
            <Button
              size="sm"
              busy={list.isFetchingNextPage}
              onClick={() => void list.fetchNextPage()}
            >
              {t("chat.more_chats")}
            </Button>
          </div>
        )}
        {!archived && list.data && (
          <button type="button" className="lr to-archive" onClick={() => setArchived(true)}>
            <Archive className="i" size={16} aria-hidden />
            {t("chat.archived")}
          </button>
        )}
      </div>
    </section>
  );
}

function None() {
  const t = useT();
  const agents = useAgents();
  const first = agents.data?.[0];
  return (
    <Empty
      icon={<MessageCircle className="i" size={22} aria-hidden />}
      title={t("chat.none")}
      actions={
        first && (
          <ButtonLink kind="primary" to={`/chats/${first.id}`}>
            {t("chat.talk_to", { name: plainName(first.name) })}
          </ButtonLink>
        )
      }
    >
      {first && t("chat.none.hint", { name: plainName(first.name) })}
    </Empty>
  );
}

function NoneArchived() {
  const t = useT();
  return (
    <Empty icon={<Archive className="i" size={22} aria-hidden />} title={t("chat.archived.none")}>
      {t("chat.archived.none.hint")}
    </Empty>
  );
}

interface Group {
  name: PageKey;
  rows: Conversation[];
}

function grouped(list: readonly Conversation[]): Group[] {
  const groups: Group[] = [];
  for (const one of list) {
    const days = daysAgo(new Date(one.updated_at));
    const name = one.pinned
      ? "chat.group.pinned"
      : days <= 0
        ? "chat.group.today"
        : days < 7
          ? "chat.group.week"
          : "chat.group.earlier";
    const last = groups.at(-1);
    if (last?.name === name) last.rows.push(one);
    else groups.push({ name, rows: [one] });
  }
  return groups;
}

/** `Alt ↑ ↓` opens the conversation before or after the open one. */
function useWalk(list: readonly Conversation[], open: string | null): void {
  const [, go] = useLocation();
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
      if (step === 0) return;
      const next = list[list.findIndex((one) => one.id === open) + step];
      if (!next) return;
      event.preventDefault();
      go(`/chats/${next.id}`);
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [list, open, go]);
}
