/** Deleting an agent, with what goes and what stays said before. */
import { Check, X } from "lucide-react";
import { useLocation } from "wouter";
import { useConversations, useRemoveAgent } from "@/api/queries";
import type { Agent } from "@/api/types";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Banner, Button, Dialog, toast } from "@/ui";
import { useDrafts } from "./drafts";

interface Props {
  agent: Agent;
  open: boolean;
  onClose: () => void;
}

export function DeleteAgent({ agent, open, onClose }: Props) {
  const t = useT();
  const [, go] = useLocation();
  const remove = useRemoveAgent(agent.id);
  const conversations = useConversations();
  const count = conversations.data?.filter((one) => one.agents.includes(agent.id)).length ?? 0;

  function confirm() {
    remove.mutate(undefined, {
      onSuccess: () => {
        useDrafts.getState().drop(agent.id);
        onClose();
        go("/contacts");
        toast(t("agents.delete.done", { name: agent.name }));
      },
    });
  }

  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={t("agents.delete.title", { name: agent.name })}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button kind="danger-filled" busy={remove.isPending} onClick={confirm}>
            {t("agents.delete.confirm")}
          </Button>
        </>
      }
    >
      <ul className="eff">
        <li className="hot">
          <X className="i" size={16} aria-hidden />
          <span>{t("agents.delete.goes")}</span>
        </li>
        <li>
          <Check className="i" size={16} aria-hidden />
          <span>{t("agents.delete.stays", { number: count })}</span>
        </li>
      </ul>
      <p className="hint">{t("agents.delete.instead")}</p>
      {remove.error && (
        <Banner tone="error" box>
          {explain(remove.error).message}
        </Banner>
      )}
    </Dialog>
  );
}
