/** Who stands behind an author's id. */
import { useAgents, useArchivedAgents, useMe } from "@/api/queries";
import type { Agent } from "@/api/types";
import { useT } from "@/i18n";
import { plainName } from "./blocks";

/**
 * One of the agents that can be talked to, or one that was put away since. `null`: there is none
 * any more; `undefined`: not known yet.
 */
export function useAgentOf(id: string | null | undefined): Agent | null | undefined {
  const agents = useAgents();
  const away = useArchivedAgents();
  if (!id) return null;
  const found = [...(agents.data ?? []), ...(away.data ?? [])].find((agent) => agent.id === id);
  return found ?? (agents.data && away.data ? null : undefined);
}

/** The name to show; empty while it is not known. */
export function useNameOf(author: string | null | undefined): string {
  const t = useT();
  const agent = useAgentOf(author);
  const me = useMe();
  if (!author) return "";
  if (agent) return plainName(agent.name);
  if (!author.startsWith("a_")) {
    return me.data?.id === author
      ? plainName(me.data?.name ?? "") || t("chat.you")
      : t("chat.somebody");
  }
  return agent === null ? t("chat.former_agent") : "";
}
