/** The head of a conversation: with whom, on which model, and what can be done with it. */
import { ArrowLeft } from "lucide-react";
import { useLocation } from "wouter";
import { useSettings } from "@/api/queries";
import type { Agent, Conversation } from "@/api/types";
import { useT } from "@/i18n";
import { Avatar, IconButton } from "@/ui";
import { plainName } from "./blocks";
import { ConversationMenu } from "./conversation-menu";

interface Props {
  agent: Agent | null | undefined;
  name: string;
  conversation: Conversation | undefined;
  running: boolean;
}

export function ChatHeader({ agent, name, conversation, running }: Props) {
  const t = useT();
  const [, go] = useLocation();
  const settings = useSettings();
  const title = plainName(conversation?.title ?? "");
  const model = agent && (agent.model ?? settings.data?.default_model);
  const about = [title && name, agent?.description].filter(Boolean).join(t("chat.about.comma"));
  return (
    <header className="bar-h">
      <IconButton
        className="narrow-only"
        label={t("ui.back")}
        tip={false}
        onClick={() => go("/chats")}
      >
        <ArrowLeft className="i" size={20} aria-hidden />
      </IconButton>
      <Avatar kind="agent" name={name} hue={agent?.hue} presence={running ? "busy" : undefined} />
      <div className="grow">
        <div className="row">
          <h1 className="t15 ell">{title || name}</h1>
          {model && (
            <span className="chip desk-only" title={model}>
              {model.slice(model.indexOf("/") + 1)}
            </span>
          )}
        </div>
        {about && <p className="t12 k3 ell">{about}</p>}
      </div>
      {conversation && <ConversationMenu conversation={conversation} open />}
    </header>
  );
}
