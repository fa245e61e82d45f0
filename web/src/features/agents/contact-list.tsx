/** The list pane of the contacts: who can be talked to. */
import "./agents.css";
import { ChevronRight, Plus, UsersRound } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { useAgents, useArchivedAgents } from "@/api/queries";
import type { Agent } from "@/api/types";
import { useT } from "@/i18n";
import { Avatar, Button, cx, Empty, Failure, IconButton, SearchField, Skeleton } from "@/ui";
import { CreateAgent } from "./create-agent";
import { isDirty, useDrafts } from "./drafts";

export default function ContactList({ open }: { open: string | null }) {
  const t = useT();
  const agents = useAgents();
  const archived = useArchivedAgents();
  const [wanted, setWanted] = useState("");
  const [creating, setCreating] = useState(false);
  const [unfolded, setUnfolded] = useState(false);

  const folded = wanted.trim().toLocaleLowerCase();
  const matches = (agent: Agent) =>
    `${agent.name}\n${agent.description}`.toLocaleLowerCase().includes(folded);
  const found = agents.data?.filter(matches) ?? [];
  const old = archived.data?.filter(matches) ?? [];
  const showOld = unfolded || folded !== "" || old.some((agent) => agent.id === open);

  return (
    <section className="pane list" aria-label={t("shell.contacts")}>
      <header className="pane-h">
        <h1 className="grow">{t("shell.contacts")}</h1>
        <IconButton label={t("agents.new")} onClick={() => setCreating(true)}>
          <Plus className="i" size={18} aria-hidden />
        </IconButton>
      </header>
      <SearchField
        className="list-search"
        label={t("agents.find")}
        value={wanted}
        onChange={(event) => setWanted(event.target.value)}
      />
      <div className="scroll list-body">
        {agents.isPending && <Skeleton rows={4} />}
        {agents.isError && <Failure error={agents.error} retry={() => void agents.refetch()} />}
        {agents.data && (
          <>
            <div className="lh">
              {t("agents.agents")} <span className="num">{found.length}</span>
            </div>
            {found.map((agent) => (
              <Row key={agent.id} agent={agent} open={agent.id === open} />
            ))}
            {found.length === 0 && (
              <Empty
                icon={<UsersRound className="i" size={22} aria-hidden />}
                title={folded ? t("agents.none_found", { text: wanted.trim() }) : t("agents.none")}
                actions={
                  !folded && (
                    <Button kind="primary" onClick={() => setCreating(true)}>
                      {t("agents.new")}
                    </Button>
                  )
                }
              >
                {!folded && t("agents.none.hint")}
              </Empty>
            )}
          </>
        )}
        {old.length > 0 && (
          <>
            <button
              type="button"
              className="lh lh-b"
              aria-expanded={showOld}
              onClick={() => setUnfolded(!unfolded)}
            >
              <span className="row row-1">
                <ChevronRight
                  className={cx("i", "chev", showOld && "down")}
                  size={14}
                  aria-hidden
                />
                {t("agents.archived")}
              </span>
              <span className="num">{old.length}</span>
            </button>
            {showOld &&
              old.map((agent) => <Row key={agent.id} agent={agent} open={agent.id === open} />)}
          </>
        )}
      </div>
      <CreateAgent open={creating} onClose={() => setCreating(false)} />
    </section>
  );
}

function Row({ agent, open }: { agent: Agent; open: boolean }) {
  const t = useT();
  const dirty = useDrafts((state) => isDirty(state, agent.id));
  return (
    <Link
      href={`/contacts/${agent.id}`}
      className={cx("lr", open && "on")}
      {...(open ? { "aria-current": "page" as const } : {})}
    >
      <Avatar kind="agent" name={agent.name} hue={agent.hue} size={36} />
      <div>
        <div className="l1">
          <b className="ell">{agent.name}</b>
        </div>
        <div className="l2">
          <span className="ell">
            {dirty && <span className="draft">{t("agents.unsaved_mark")} </span>}
            {agent.description || t("agents.no_description")}
          </span>
        </div>
      </div>
    </Link>
  );
}
