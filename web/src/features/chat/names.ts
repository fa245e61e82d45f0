/** Who stands behind an author's id. */
import { useAgents, useMe } from "@/api/queries";
import type { Agent } from "@/api/types";
import { useT } from "@/i18n";

export function useAgentOf(id: string | null | undefined): Agent | undefined {
  const agents = useAgents();
  return id ? agents.data?.find((agent) => agent.id === id) : undefined;
}

export function useNameOf(author: string): string {
  const t = useT();
  const agent = useAgentOf(author);
  const me = useMe();
  if (agent) return agent.name;
  if (me.data?.id === author) return me.data.name || t("chat.you");
  return t(author.startsWith("a_") ? "chat.former_agent" : "chat.somebody");
}
