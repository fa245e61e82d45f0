/** The button that starts a conversation: with whom is the only question. */
import { Plus } from "lucide-react";
import { useLocation } from "wouter";
import { useAgents } from "@/api/queries";
import { useT } from "@/i18n";
import { Avatar, IconButton, Menu, MenuItem, MenuLabel } from "@/ui";
import { plainName } from "./blocks";

export function NewChat() {
  const t = useT();
  const [, go] = useLocation();
  const agents = useAgents();
  return (
    <Menu
      trigger={
        <IconButton label={t("chat.new_chat")}>
          <Plus className="i" size={18} aria-hidden />
        </IconButton>
      }
    >
      <MenuLabel>{t("chat.new_chat.with")}</MenuLabel>
      {agents.data?.map((agent) => (
        <MenuItem
          key={agent.id}
          icon={<Avatar kind="agent" name={agent.name} hue={agent.hue} size={24} />}
          hint={agent.description && <span className="mi-hint ell">{agent.description}</span>}
          onSelect={() => go(`/chats/${agent.id}`)}
        >
          {plainName(agent.name)}
        </MenuItem>
      ))}
    </Menu>
  );
}
