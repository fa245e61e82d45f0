/** The main pane of the chats: a conversation, the beginning of one, or whom to talk to. */
import { MessageCircle } from "lucide-react";
import { useEffect } from "react";
import { Link } from "wouter";
import { ApiError } from "@/api/client";
import { useAgent, useAgents, useConversation, useMe } from "@/api/queries";
import { useT } from "@/i18n";
import { belongTo, useLive } from "@/live/live";
import { deliverFor } from "@/live/outbox";
import { Avatar, ButtonLink, Empty, Failure, Skeleton } from "@/ui";
import { plainName } from "./blocks";
import { ConversationView } from "./conversation-view";
import { useAgentOf } from "./names";
import "./chat.css";

export function ChatPage({ conversationId }: { conversationId: string | null }) {
  const me = useMe();
  const person = me.data?.id;
  useEffect(() => {
    if (!person) return;
    belongTo(person);
    return deliverFor(person);
  }, [person]);
  if (!me.data) return <Waiting error={me.error} retry={() => void me.refetch()} />;
  if (conversationId === null) return <Chosen />;
  if (conversationId.startsWith("a_"))
    return <Beginning key={conversationId} id={conversationId} />;
  return <Conversation key={conversationId} id={conversationId} />;
}

function Beginning({ id }: { id: string }) {
  const me = useMe();
  const agent = useAgent(id);
  if (!agent.data || !me.data) {
    return <Waiting error={agent.error} retry={() => void agent.refetch()} />;
  }
  return <ConversationView to={id} me={me.data} agent={agent.data} conversation={undefined} />;
}

function Conversation({ id }: { id: string }) {
  const me = useMe();
  const conversation = useConversation(id);
  const agent = useAgentOf(conversation.data?.agents[0]);
  const refused = useLive((state) => state.threads[id]?.refused ?? null);
  const gone = conversation.error instanceof ApiError && conversation.error.status === 404;
  if (gone || refused || !me.data || (conversation.isError && !conversation.data)) {
    const error = conversation.error ?? (refused && new ApiError(404, refused));
    return <Waiting error={error} retry={() => void conversation.refetch()} />;
  }
  return <ConversationView to={id} me={me.data} agent={agent} conversation={conversation.data} />;
}

function Waiting({ error, retry }: { error: unknown; retry: () => void }) {
  const t = useT();
  const gone = error instanceof ApiError && error.status === 404;
  return (
    <main className="main center" id="content" tabIndex={-1}>
      {gone ? (
        <Empty
          icon={<MessageCircle className="i" size={22} aria-hidden />}
          title={t("chat.gone")}
          actions={<ButtonLink to="/chats">{t("shell.home")}</ButtonLink>}
        >
          {t("chat.gone.hint")}
        </Empty>
      ) : error ? (
        <Failure error={error} retry={retry} />
      ) : (
        <Skeleton />
      )}
    </main>
  );
}

function Chosen() {
  const t = useT();
  const agents = useAgents();
  return (
    <main className="main" id="content" tabIndex={-1}>
      <div className="whom">
        <h2 className="t18">{t("chat.whom")}</h2>
        <p className="k3">{t("chat.whom.hint")}</p>
        <ul>
          {agents.data?.map((agent) => (
            <li key={agent.id}>
              <Link href={`/chats/${agent.id}`} className="card whom-c">
                <Avatar kind="agent" name={agent.name} hue={agent.hue} size={40} />
                <span className="col">
                  <b className="ell">{plainName(agent.name)}</b>
                  <span className="t13 k2">{agent.description}</span>
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </main>
  );
}
