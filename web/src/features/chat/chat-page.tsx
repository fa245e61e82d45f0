import "./chat.css";

/** The main pane of the chats; without an id nothing is chosen yet. */
export function ChatPage({ conversationId }: { conversationId: string | null }) {
  return (
    <main className="main" id="content" tabIndex={-1}>
      {conversationId}
    </main>
  );
}
