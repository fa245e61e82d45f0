/** What can be done with a conversation: rename, pin, put away, take home, delete. */
import {
  Archive,
  ArchiveRestore,
  Download,
  Ellipsis,
  Pencil,
  Pin,
  PinOff,
  Trash2,
} from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { useChangeConversation, useRemoveConversation } from "@/api/queries";
import type { Conversation } from "@/api/types";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { forget } from "@/live/live";
import {
  Button,
  Dialog,
  Field,
  IconButton,
  Input,
  Menu,
  MenuItem,
  MenuSeparator,
  toast,
} from "@/ui";

interface Props {
  conversation: Conversation;
  /** It is the one that is open, so that deleting it leads away. */
  open: boolean;
  small?: boolean;
}

export function ConversationMenu({ conversation, open, small }: Props) {
  const t = useT();
  const [, go] = useLocation();
  const [asking, ask] = useState<"rename" | "delete" | null>(null);
  const change = useChangeConversation(conversation.id);
  const { pinned, archived, id } = conversation;
  const set = (changes: { pinned?: boolean; archived?: boolean }) =>
    change.mutate(changes, { onError: (error) => toast(explain(error).message) });
  const archive = () => {
    set({ archived: !archived });
    if (archived) return;
    toast(t("chat.archived_one"), { label: t("ui.undo"), run: () => set({ archived: false }) });
    if (open) go("/chats");
  };
  const icon = (Icon: typeof Pin) => <Icon className="i" size={16} aria-hidden />;
  return (
    <>
      <Menu
        trigger={
          <IconButton label={t("ui.more")} small={small ?? false} tip={false}>
            <Ellipsis className="i" size={small ? 16 : 18} aria-hidden />
          </IconButton>
        }
      >
        <MenuItem icon={icon(Pencil)} onSelect={() => ask("rename")}>
          {t("chat.rename")}
        </MenuItem>
        <MenuItem icon={icon(pinned ? PinOff : Pin)} onSelect={() => set({ pinned: !pinned })}>
          {t(pinned ? "chat.unpin" : "chat.pin")}
        </MenuItem>
        <MenuItem icon={icon(archived ? ArchiveRestore : Archive)} onSelect={archive}>
          {t(archived ? "chat.unarchive" : "chat.archive")}
        </MenuItem>
        <MenuItem
          icon={icon(Download)}
          onSelect={() => location.assign(`/api/conversations/${id}/export?format=markdown`)}
        >
          {t("chat.export")}
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon={icon(Trash2)} danger onSelect={() => ask("delete")}>
          {t("ui.delete")}
        </MenuItem>
      </Menu>
      {asking === "rename" && <Rename conversation={conversation} onClose={() => ask(null)} />}
      {asking === "delete" && (
        <Delete conversation={conversation} open={open} onClose={() => ask(null)} />
      )}
    </>
  );
}

function Rename({ conversation, onClose }: { conversation: Conversation; onClose: () => void }) {
  const t = useT();
  const [title, setTitle] = useState(conversation.title);
  const change = useChangeConversation(conversation.id);
  const save = () => change.mutate({ title }, { onSuccess: onClose });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t("chat.rename.title")}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button kind="primary" busy={change.isPending} disabled={!title.trim()} onClick={save}>
            {t("ui.save")}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (title.trim()) save();
        }}
      >
        <Field
          label={t("chat.rename.label")}
          error={change.error ? explain(change.error).message : undefined}
        >
          {(wiring) => (
            <Input
              {...wiring}
              value={title}
              maxLength={120}
              onChange={(event) => setTitle(event.target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}

interface DeleteProps {
  conversation: Conversation;
  open: boolean;
  onClose: () => void;
}

function Delete({ conversation, open, onClose }: DeleteProps) {
  const t = useT();
  const [, go] = useLocation();
  const remove = useRemoveConversation(conversation.id);
  const done = () => {
    onClose();
    forget(conversation.id);
    if (open) go("/chats");
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t("chat.delete.title")}
      description={t("chat.delete.what", {
        title: conversation.title || t("chat.untitled"),
        count: conversation.posts,
      })}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button
            kind="danger-filled"
            busy={remove.isPending}
            onClick={() => remove.mutate(undefined, { onSuccess: done })}
          >
            {t("ui.delete")}
          </Button>
        </>
      }
    >
      {remove.error && <p className="kr">{explain(remove.error).message}</p>}
    </Dialog>
  );
}
