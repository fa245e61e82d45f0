/** A contact's page: who the agent is, and which model speaks for it. */
import "./agents.css";
import { Archive, ArchiveRestore, ArrowLeft, Ellipsis, MessageCircle, Trash2 } from "lucide-react";
import { Tabs } from "radix-ui";
import { useCallback, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { useAgent, useChangeAgent, useConversations, useOpenConversation } from "@/api/queries";
import type { Agent } from "@/api/types";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import {
  Avatar,
  Banner,
  Button,
  Failure,
  IconButton,
  Menu,
  MenuItem,
  MenuSeparator,
  Skeleton,
  toast,
} from "@/ui";
import { DeleteAgent } from "./delete-agent";
import { useDraft } from "./drafts";
import { IdentityTab } from "./identity-tab";
import { ModelTab } from "./model-tab";
import { ToolsTab } from "./tools-tab";

export default function AgentPage({ id }: { id: string }) {
  const agent = useAgent(id);
  return (
    <main className="main agent" id="content" tabIndex={-1}>
      {agent.isPending && <Skeleton />}
      {agent.isError && !agent.data && (
        <Failure error={agent.error} retry={() => void agent.refetch()} />
      )}
      {agent.data && <Contact agent={agent.data} />}
    </main>
  );
}

function Contact({ agent }: { agent: Agent }) {
  const t = useT();
  const draft = useDraft(agent);
  const change = useChangeAgent(agent.id);
  const { changes, count, drop } = draft;
  const { mutate, isPending } = change;

  const save = useCallback(() => {
    if (count === 0 || isPending) return;
    const sent = Object.keys(changes) as (keyof typeof draft.value)[];
    mutate(changes, {
      onSuccess: () => {
        drop(sent);
        toast(t("ui.saved"));
      },
    });
  }, [changes, count, drop, isPending, mutate, t]);

  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "s") {
        event.preventDefault();
        save();
      }
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [save]);

  const bar = { count, busy: isPending, save, discard: () => drop() };
  return (
    <>
      <Header agent={agent} name={agent.name} />
      <Tabs.Root defaultValue="identity" className="agent-tabs">
        <Tabs.List className="tabs" aria-label={agent.name}>
          <Tabs.Trigger className="tab" value="identity">
            {t("agents.identity")}
          </Tabs.Trigger>
          <Tabs.Trigger className="tab" value="model">
            {t("agents.model")}
          </Tabs.Trigger>
          <Tabs.Trigger className="tab" value="tools">
            {t("agents.tools")}
          </Tabs.Trigger>
        </Tabs.List>
        <div className="scroll">
          {change.error && (
            <Banner tone="error">
              {explain(change.error).message} {explain(change.error).hint}
            </Banner>
          )}
          {agent.archived && <Banner tone="info">{t("agents.archived.hint")}</Banner>}
          <Tabs.Content value="identity" className="tab-p" tabIndex={-1}>
            <IdentityTab draft={draft} bar={bar} />
          </Tabs.Content>
          <Tabs.Content value="model" className="tab-p" tabIndex={-1}>
            <ModelTab draft={draft} bar={bar} />
          </Tabs.Content>
          <Tabs.Content value="tools" className="tab-p" tabIndex={-1}>
            <ToolsTab agent={agent} />
          </Tabs.Content>
        </div>
      </Tabs.Root>
    </>
  );
}

function Header({ agent, name }: { agent: Agent; name: string }) {
  const t = useT();
  const [, go] = useLocation();
  const conversations = useConversations();
  const opening = useOpenConversation();
  const change = useChangeAgent(agent.id);
  const [deleting, setDeleting] = useState(false);

  function talk() {
    const last = conversations.data?.find(
      (one) => one.kind === "direct" && one.agents.length === 1 && one.agents[0] === agent.id,
    );
    if (last) go(`/chats/${last.id}`);
    else {
      opening.mutate(agent.id, {
        onSuccess: (conversation) => go(`/chats/${conversation.id}`),
        onError: (error) => toast(explain(error).message),
      });
    }
  }
  function setArchived(archived: boolean) {
    change.mutate(
      { archived },
      {
        onSuccess: () =>
          toast(
            archived ? t("agents.archive.done", { name }) : t("agents.restore.done", { name }),
            {
              label: t("ui.undo"),
              run: () => change.mutate({ archived: !archived }),
            },
          ),
        onError: (error) => toast(explain(error).message),
      },
    );
  }

  return (
    <header className="who">
      <IconButton className="narrow-only" label={t("ui.back")} onClick={() => go("/contacts")}>
        <ArrowLeft className="i" size={20} aria-hidden />
      </IconButton>
      <Avatar kind="agent" name={name} hue={agent.hue} size={56} />
      <div className="grow">
        <h1 className="t22 ell">{name}</h1>
        <p className="t13 k2 ell">{agent.description || t("agents.no_description")}</p>
      </div>
      <Button
        kind="primary"
        onClick={talk}
        busy={opening.isPending}
        disabled={agent.archived}
        icon={<MessageCircle className="i" size={16} aria-hidden />}
      >
        {t("agents.talk")}
      </Button>
      <Menu
        trigger={
          <IconButton label={t("ui.more")} tip={false}>
            <Ellipsis className="i" size={18} aria-hidden />
          </IconButton>
        }
      >
        {agent.archived ? (
          <MenuItem
            icon={<ArchiveRestore className="i" size={16} aria-hidden />}
            onSelect={() => setArchived(false)}
          >
            {t("agents.restore")}
          </MenuItem>
        ) : (
          <MenuItem
            icon={<Archive className="i" size={16} aria-hidden />}
            onSelect={() => setArchived(true)}
          >
            {t("agents.archive")}
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem
          danger
          icon={<Trash2 className="i" size={16} aria-hidden />}
          onSelect={() => setDeleting(true)}
        >
          {t("agents.delete")}
        </MenuItem>
      </Menu>
      <DeleteAgent agent={agent} open={deleting} onClose={() => setDeleting(false)} />
    </header>
  );
}
