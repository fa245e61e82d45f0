/** Who one is here, a new password, the way out. */
import { LogOut } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { useChangePassword, useLogout, useMe } from "@/api/queries";
import type { Role } from "@/api/types";
import { type PageKey, useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Avatar, Button, Dialog, Field, Password, toast } from "@/ui";
import { Head, Line } from "./section";

const ROLES: Record<Role, PageKey> = {
  owner: "settings.role.owner",
  admin: "settings.role.admin",
  member: "settings.role.member",
  guest: "settings.role.guest",
};
const LEAST = 8;

export function Account() {
  const t = useT();
  const me = useMe();
  const logout = useLogout();
  const [changing, setChanging] = useState(false);
  if (!me.data) return null;
  return (
    <>
      <Head title={t("settings.account")} />
      <div className="card">
        <div className="set set-me">
          <Avatar kind="person" name={me.data.name} size={32} />
          <div className="grow">
            <b>{me.data.name}</b>
          </div>
          <span className="chip">{t(ROLES[me.data.role])}</span>
        </div>
        <Line title={t("settings.password")} about={t("settings.password.about")}>
          <Button size="sm" onClick={() => setChanging(true)}>
            {t("settings.password.change")}
          </Button>
        </Line>
        <Line title={t("shell.logout")} about={t("settings.logout.about")}>
          <Button
            size="sm"
            busy={logout.isPending}
            icon={<LogOut className="i" size={14} aria-hidden />}
            onClick={() => logout.mutate()}
          >
            {t("shell.logout")}
          </Button>
        </Line>
      </div>
      {changing && <NewPassword onClose={() => setChanging(false)} />}
    </>
  );
}

function NewPassword({ onClose }: { onClose: () => void }) {
  const t = useT();
  const change = useChangePassword();
  const form = useId();
  const [old, setOld] = useState("");
  const [next, setNext] = useState("");
  const [short, setShort] = useState(false);
  const length = [...next].length;

  function submit(event: FormEvent) {
    event.preventDefault();
    if (length < LEAST) {
      setShort(true);
      return;
    }
    change.mutate(
      { old, new: next },
      {
        onSuccess: () => {
          onClose();
          toast(t("settings.password.done"));
        },
      },
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t("settings.password.change")}
      actions={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button
            kind="primary"
            type="submit"
            form={form}
            busy={change.isPending}
            disabled={!old || !next}
          >
            {t("settings.password.change")}
          </Button>
        </>
      }
    >
      <form id={form} className="form" onSubmit={submit}>
        <Field
          label={t("settings.password.old")}
          error={change.error && explain(change.error).message}
        >
          {(wiring) => (
            <Password
              {...wiring}
              show={t("ui.show_password")}
              hide={t("ui.hide_password")}
              autoComplete="current-password"
              value={old}
              onChange={(event) => {
                setOld(event.target.value);
                change.reset();
              }}
            />
          )}
        </Field>
        <Field
          label={t("settings.password.new")}
          hint={t("setup.password.least", { least: LEAST })}
          error={short ? t("setup.password.short", { least: LEAST, length }) : undefined}
        >
          {(wiring) => (
            <Password
              {...wiring}
              show={t("ui.show_password")}
              hide={t("ui.hide_password")}
              autoComplete="new-password"
              value={next}
              onChange={(event) => {
                setNext(event.target.value);
                setShort(false);
              }}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
