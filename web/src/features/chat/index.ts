export { ChatPage } from "./chat-page";
export { ConversationList } from "./conversation-list";
