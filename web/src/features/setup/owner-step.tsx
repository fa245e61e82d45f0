/** The owner's name and password: the first account of the house. */
import { CircleAlert, CircleCheck } from "lucide-react";
import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/client";
import { useSetUp } from "@/api/queries";
import { useLanguage, useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Button, Field, Input, Password } from "@/ui";
import { Step } from "./step";

const LEAST = 8;

/** The console prints a link that carries the code (`/#setup=…`); by hand it is typed in. */
const tokenInAddress = () => new URLSearchParams(location.hash.slice(1)).get("setup") ?? "";

export function OwnerStep({ done, onDone }: { done: boolean; onDone: () => void }) {
  const t = useT();
  const language = useLanguage();
  const setUp = useSetUp();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [token, setToken] = useState(tokenInAddress);
  const [short, setShort] = useState(false);
  const error = setUp.error ? explain(setUp.error) : null;
  const wantsToken =
    token !== "" || (setUp.error instanceof ApiError && setUp.error.status === 403);

  if (done) {
    return (
      <Step state="done" number={2} title={t("setup.owner")}>
        <span className="k2 t13">{name || t("setup.owner.set")}</span>
      </Step>
    );
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    if ([...password].length < LEAST) {
      setShort(true);
      return;
    }
    setUp.mutate(
      { password, name: name.trim(), language, token: token.trim() },
      { onSuccess: onDone },
    );
  }

  return (
    <Step state="current" number={2} title={t("setup.owner")} below>
      <form className="form" onSubmit={submit}>
        <div className="pair">
          <Field label={t("setup.name")}>
            {(wiring) => (
              <Input
                {...wiring}
                large
                autoComplete="nickname"
                maxLength={64}
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
                aria-describedby="password-about"
                aria-invalid={short ? true : undefined}
                show={t("ui.show_password")}
                hide={t("ui.hide_password")}
                autoComplete="new-password"
                value={password}
                onChange={(event) => {
                  setPassword(event.target.value);
                  setShort(false);
                }}
              />
            )}
          </Field>
        </div>
        <Strength password={password} short={short} />
        {wantsToken && (
          <Field label={t("setup.token")} hint={t("setup.token.hint")}>
            {(wiring) => (
              <Input
                {...wiring}
                large
                className="mono"
                spellCheck={false}
                value={token}
                onChange={(event) => setToken(event.target.value)}
              />
            )}
          </Field>
        )}
        {error && (
          <div className="res bad" role="alert">
            <CircleAlert className="i" size={16} aria-hidden />
            <div>
              <div className="semi">{error.message}</div>
              {error.hint && <div className="k2">{error.hint}</div>}
            </div>
          </div>
        )}
        <div>
          <Button type="submit" kind="primary" size="lg" busy={setUp.isPending}>
            {t("setup.owner.go")}
          </Button>
        </div>
      </form>
    </Step>
  );
}

function Strength({ password, short }: { password: string; short: boolean }) {
  const t = useT();
  const length = [...password].length;
  if (short) {
    return (
      <p className="msg-err" id="password-about" role="alert">
        <CircleAlert className="i" size={14} aria-hidden />
        <span>{t("setup.password.short", { least: LEAST, length })}</span>
      </p>
    );
  }
  return (
    <p className="hint row" id="password-about">
      {length >= LEAST && (
        <span className="st ok">
          <CircleCheck className="i" size={14} aria-hidden />
          {t("setup.password.enough")}
        </span>
      )}
      <span>
        {length >= LEAST
          ? t("setup.password.length", { length })
          : t("setup.password.least", { least: LEAST })}
        {t("setup.password.lost")}
      </span>
    </p>
  );
}
