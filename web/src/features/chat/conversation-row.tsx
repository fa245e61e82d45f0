/** One conversation in the list: with whom, about what, and what is happening in it. */
import { CircleAlert, Hand, LoaderCircle } from "lucide-react";
import { Link } from "wouter";
import { useOpenApprovals } from "@/api/approvals";
import type { Conversation } from "@/api/types";
import { useT } from "@/i18n";
import { when } from "@/i18n/format";
import { wordsOf } from "@/i18n/problem";
import { useDrafts } from "@/live/drafts";
import { useLive } from "@/live/live";
import { useOutbox } from "@/live/outbox";
import { Avatar, cx } from "@/ui";
import { oneLine, plainName } from "./blocks";
import { ConversationMenu } from "./conversation-menu";
import { useAgentOf, useNameOf } from "./names";
import { toolName } from "./tool-name";

export function ConversationRow({
  conversation,
  open,
}: {
  conversation: Conversation;
  open: boolean;
}) {
  const agent = useAgentOf(conversation.agents[0]);
  const name = useNameOf(conversation.agents[0]);
  const running = useRunning(conversation);
  return (
    <div className={cx("lr-w", open && "on")}>
      <Link
        href={`/chats/${conversation.id}`}
        className={cx("lr", open && "on")}
        data-conversation={conversation.id}
        {...(open ? { "aria-current": "page" as const } : {})}
      >
        <Avatar
          kind="agent"
          name={name}
          hue={agent?.hue}
          size={40}
          presence={running ? "busy" : undefined}
        />
        <div>
          <div className="l1">
            <b className="ell">{plainName(conversation.title) || name}</b>
            <time dateTime={conversation.updated_at}>{when(conversation.updated_at)}</time>
          </div>
          <div className="l2">
            <SecondLine conversation={conversation} open={open} name={name} />
          </div>
        </div>
      </Link>
      <ConversationMenu conversation={conversation} open={open} small />
    </div>
  );
}

/** What we follow ourselves we know at once; of the others we know what the list last said. */
function useRunning({ id, open_runs }: Conversation): boolean {
  return useLive(({ threads: { [id]: thread } }) =>
    thread?.ready ? thread.running.size > 0 : open_runs.length > 0,
  );
}

/** What is asked there: of what we follow we hear it, of the others the list says it. */
function useWaiting({ id, open_runs }: Conversation): { tool: string } | undefined {
  const thread = useLive(({ threads }) => threads[id]);
  const listed = useOpenApprovals(open_runs.length > 0 && !thread?.ready);
  if (!thread?.ready) return listed.data?.find((one) => one.conversation === id);
  for (const answer of thread.running.values()) {
    for (const approval of answer.approvals.values()) {
      if (approval.state === "asked") return approval;
    }
  }
  return undefined;
}

interface LineProps {
  conversation: Conversation;
  open: boolean;
  name: string;
}

function SecondLine({ conversation, open, name }: LineProps) {
  const t = useT();
  const { id, last } = conversation;
  const draft = useDrafts((drafts) => drafts[id]);
  const unsent = useOutbox((box) =>
    box.items.some((item) => item.to === id && item.state === "failed"),
  );
  const running = useRunning(conversation);
  const waits = useWaiting(conversation);
  const problem = useLive((state) => {
    const thread = state.threads[id];
    return thread?.posts.get(thread.order.at(-1) ?? "")?.problem ?? null;
  });
  if (unsent || (problem && !running)) {
    return (
      <span className="st bad ell">
        <CircleAlert className="i" size={14} aria-hidden />
        <span className="ell">
          {unsent || !problem ? t("chat.row.unsent") : wordsOf(problem).message}
        </span>
      </span>
    );
  }
  if (running && waits) {
    return (
      <span className="st wait ell">
        <Hand className="i" size={14} aria-hidden />
        <span className="ell">{t("chat.row.waiting", { tool: toolName(t, waits.tool) })}</span>
      </span>
    );
  }
  if (running) {
    return (
      <span className="st run ell">
        <LoaderCircle className="i spin" size={14} aria-hidden />
        <span className="ell">{t("chat.row.running", { name })}</span>
      </span>
    );
  }
  if (draft?.trim() && !open) {
    return (
      <span className="ell">
        <span className="draft">{t("chat.draft")}</span> {draft.trim().slice(0, 120)}
      </span>
    );
  }
  const words = oneLine(last?.text ?? "");
  if (!last) return <span className="ell k3">{t("chat.row.empty", { name })}</span>;
  return <span className="ell">{words || t("chat.row.no_text", { name })}</span>;
}
