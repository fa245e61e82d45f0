/** Who may come in: first the guide, then the login, then the house. */
import { lazy, Suspense, useEffect, useState } from "react";
import { Redirect, Route, Switch } from "wouter";
import { useStatus } from "@/api/queries";
import { browserLanguage, setLanguage, storedLanguage } from "@/i18n";
import { Failure, Skeleton } from "@/ui";
import { Routes } from "./routes";

const SetupPage = lazy(() => import("@/features/setup"));
const LoginPage = lazy(() => import("@/features/login"));

export function Gate() {
  const status = useStatus();
  // The guide makes the owner half-way and goes on; it says itself when it is done.
  const [guiding, setGuiding] = useState(false);
  const language = status.data?.language;
  const setUp = status.data?.set_up;

  useEffect(() => {
    if (setUp === false) setGuiding(true);
  }, [setUp]);

  // A choice made on this device wins, then the house's setting, then the browser's wish.
  useEffect(() => {
    if (!language || storedLanguage()) return;
    void setLanguage(setUp ? language : (browserLanguage() ?? language));
  }, [language, setUp]);

  if (status.isPending) {
    return (
      <main className="center">
        <Skeleton rows={3} />
      </main>
    );
  }
  if (status.isError && !status.data) {
    return (
      <main className="center">
        <Failure error={status.error} retry={() => void status.refetch()} />
      </main>
    );
  }
  return (
    <Suspense fallback={null}>
      {guiding || !status.data.set_up ? (
        <SetupPage
          status={status.data}
          onDone={() => {
            setGuiding(false);
            void status.refetch();
          }}
        />
      ) : status.data.logged_in ? (
        <Switch>
          <Route path="/login">
            <Redirect to="/chats" replace />
          </Route>
          <Route>
            <Routes />
          </Route>
        </Switch>
      ) : (
        <LoginPage status={status.data} />
      )}
    </Suspense>
  );
}
