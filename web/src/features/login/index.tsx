/** The door: a password, and a name where more than one person lives here. */
import "@/features/setup/setup.css";
import { CircleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useLogin } from "@/api/queries";
import type { Status } from "@/api/types";
import { Cover } from "@/features/setup/cover";
import { LANGUAGE_NAMES, LANGUAGES, setLanguage, useLanguage, useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Button, Field, Input, Password, Segmented } from "@/ui";

export default function LoginPage({ status }: { status: Status }) {
  const t = useT();
  const language = useLanguage();
  const login = useLogin();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const error = login.error ? explain(login.error) : null;

  function submit(event: FormEvent) {
    event.preventDefault();
    if (!password) return;
    const who = name.trim();
    login.mutate(who ? { password, name: who } : { password });
  }

  return (
    <div className="fr">
      <Cover version={status.version} title={t("login.title")} />
      <main className="fr-r" id="content">
        <form className="fr-f door" onSubmit={submit}>
          <h2 className="t22">{t("login.heading")}</h2>
          <div className="form">
            <Field label={t("login.name")} hint={t("login.name.hint")}>
              {(wiring) => (
                <Input
                  {...wiring}
                  large
                  autoComplete="username"
                  value={name}
                  onChange={(event) => setName(event.target.value)}
                />
              )}
            </Field>
            <Field label={t("setup.password")}>
              {(wiring) => (
                <Password
                  {...wiring}
                  large
                  autoFocus
                  show={t("ui.show_password")}
                  hide={t("ui.hide_password")}
                  autoComplete="current-password"
                  value={password}
                  onChange={(event) => setPassword(event.target.value)}
                />
              )}
            </Field>
            {error && (
              <div className="res bad" role="alert">
                <CircleAlert className="i" size={16} aria-hidden />
                <div>
                  <b className="semi">{error.message}</b> <span className="k2">{error.hint}</span>
                </div>
              </div>
            )}
          </div>
          <Button
            type="submit"
            kind="primary"
            size="lg"
            busy={login.isPending}
            disabled={!password}
          >
            {t("login.go")}
          </Button>
          <div className="row">
            <Segmented
              label={t("setup.language")}
              value={language}
              onChange={(next) => void setLanguage(next)}
              choices={LANGUAGES.map((one) => ({
                value: one,
                label: LANGUAGE_NAMES[one],
                lang: one,
              }))}
            />
          </div>
        </form>
      </main>
    </div>
  );
}
