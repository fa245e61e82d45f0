/** Which address shows what. Only areas that work have one. */
import { lazy } from "react";
import { Redirect, Route, Switch } from "wouter";
import { NotFound } from "./not-found";
import { Shell } from "./shell";

const ChatPage = lazy(() => import("@/features/chat").then((it) => ({ default: it.ChatPage })));
const ConversationList = lazy(() =>
  import("@/features/chat").then((it) => ({ default: it.ConversationList })),
);
const ContactList = lazy(() => import("@/features/agents/contact-list"));
const AgentPage = lazy(() => import("@/features/agents/agent-page"));
const NoContact = lazy(() => import("@/features/agents/no-contact"));
const UsagePage = lazy(() => import("@/features/usage"));
const SettingsNav = lazy(() => import("@/features/settings/settings-nav"));
const SettingsPage = lazy(() => import("@/features/settings"));

export function Routes() {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/chats" replace />
      </Route>
      <Route path="/chats/:id?">
        {({ id }) => (
          <Shell
            area="chats"
            inner={Boolean(id)}
            list={<ConversationList conversationId={id ?? null} />}
            main={<ChatPage conversationId={id ?? null} />}
          />
        )}
      </Route>
      <Route path="/contacts/:id?">
        {({ id }) => (
          <Shell
            area="contacts"
            inner={Boolean(id)}
            list={<ContactList open={id ?? null} />}
            main={id ? <AgentPage key={id} id={id} /> : <NoContact />}
          />
        )}
      </Route>
      <Route path="/usage">
        <Shell area="usage" inner={false} main={<UsagePage />} />
      </Route>
      <Route path="/settings/:section?">
        {({ section }) => (
          <Shell
            area="settings"
            inner={Boolean(section)}
            list={<SettingsNav open={section ?? null} />}
            main={<SettingsPage section={section ?? null} />}
          />
        )}
      </Route>
      <Route>
        <Shell area={null} inner={false} main={<NotFound />} />
      </Route>
    </Switch>
  );
}
