import { useT } from "@/i18n";

/** The list pane of the chats; `conversationId` is the open one. */
export function ConversationList({ conversationId }: { conversationId: string | null }) {
  const t = useT();
  return (
    <section className="pane list" aria-label={t("shell.chats")}>
      <header className="pane-h">
        <h1 className="grow">{t("shell.chats")}</h1>
      </header>
      {conversationId}
    </section>
  );
}
