/** Keys with which one's own programs may speak to the house. */
import { Ellipsis, KeyRound, Plus, SlidersHorizontal, Trash2 } from "lucide-react";
import { useState } from "react";
import { useApiKeys, useRemoveApiKey } from "@/api/queries";
import type { ApiKey } from "@/api/types";
import { useT } from "@/i18n";
import { date, money, number } from "@/i18n/format";
import { explain } from "@/i18n/problem";
import { Button, cx, Dialog, Failure, IconButton, Menu, MenuItem, Skeleton, toast } from "@/ui";
import { KeyLimits, NewKey } from "./key-dialog";
import { useScopeName } from "./key-scopes";
import { Head } from "./section";

export function ApiKeys() {
  const t = useT();
  const keys = useApiKeys();
  const [creating, setCreating] = useState(false);
  return (
    <>
      <Head
        title={t("settings.keys")}
        about={t("settings.keys.about")}
        action={
          <Button
            size="sm"
            icon={<Plus className="i" size={14} aria-hidden />}
            onClick={() => setCreating(true)}
          >
            {t("settings.keys.new")}
          </Button>
        }
      />
      <div className="card">
        {keys.isPending && <Skeleton rows={1} />}
        {keys.isError && <Failure error={keys.error} retry={() => void keys.refetch()} />}
        {keys.data?.length === 0 && (
          <div className="set k3 t13">
            <div>{t("settings.keys.none")}</div>
          </div>
        )}
        {keys.data?.map((key) => (
          <Row key={key.id} of={key} />
        ))}
      </div>
      {creating && <NewKey onClose={() => setCreating(false)} />}
    </>
  );
}

function Row({ of: key }: { of: ApiKey }) {
  const t = useT();
  const remove = useRemoveApiKey();
  const scopeName = useScopeName();
  const [dialog, setDialog] = useState<"limits" | "remove" | null>(null);
  const close = () => setDialog(null);
  const spentUp = key.budget !== null && key.spent >= key.budget;
  const spent =
    key.budget === null
      ? t("settings.keys.spent", { spent: money(key.spent) })
      : t("settings.keys.spent_of", { spent: money(key.spent), budget: money(key.budget) });
  return (
    <div className="set set-key">
      <div className="set-key-w">
        <KeyRound className="i k3" size={16} aria-hidden />
        <div className="grow">
          <b>{key.name}</b>
          <ul className="scopes" aria-label={t("settings.keys.scopes")}>
            {(key.scopes.length ? key.scopes : [""]).map((scope) => (
              <li key={scope} className="chip">
                <span className="ell">{scopeName(scope)}</span>
              </li>
            ))}
          </ul>
          <small className="num">
            <span className={cx(spentUp && "kr semi")}>
              {spent}
              {spentUp && ` (${t("usage.budget.spent")})`}
            </span>
            {key.rate !== null && ` · ${t("settings.keys.rate", { count: number(key.rate) })}`}
            {key.concurrent !== null &&
              ` · ${t("settings.keys.concurrent", { count: number(key.concurrent) })}`}
          </small>
          <small>
            {t("settings.keys.made", { date: date(key.created_at) })}
            {" · "}
            {key.last_used_at
              ? t("settings.keys.used", { date: date(key.last_used_at) })
              : t("settings.keys.unused")}
          </small>
        </div>
      </div>
      <Menu
        trigger={
          <IconButton label={t("settings.provider.more", { name: key.name })} tip={false}>
            <Ellipsis className="i" size={16} aria-hidden />
          </IconButton>
        }
      >
        <MenuItem
          icon={<SlidersHorizontal className="i" size={16} aria-hidden />}
          onSelect={() => setDialog("limits")}
        >
          {t("settings.keys.change")}
        </MenuItem>
        <MenuItem
          danger
          icon={<Trash2 className="i" size={16} aria-hidden />}
          onSelect={() => setDialog("remove")}
        >
          {t("settings.keys.remove")}
        </MenuItem>
      </Menu>
      {dialog === "limits" && <KeyLimits of={key} onClose={close} />}
      <Dialog
        open={dialog === "remove"}
        onClose={close}
        title={t("settings.keys.remove.title", { name: key.name })}
        description={t("settings.keys.remove.about")}
        actions={
          <>
            <Button onClick={close}>{t("ui.cancel")}</Button>
            <Button
              kind="danger-filled"
              busy={remove.isPending}
              onClick={() =>
                remove.mutate(key.id, { onError: (error) => toast(explain(error).message) })
              }
            >
              {t("settings.keys.remove")}
            </Button>
          </>
        }
      />
    </div>
  );
}
