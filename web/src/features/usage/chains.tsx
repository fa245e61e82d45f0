/** Who is asked next when a model fails, and the names that stand for several models. */
import { Pencil, Plus } from "lucide-react";
import { useState } from "react";
import { useAgents, useSettings } from "@/api/queries";
import { useUsage } from "@/api/usage";
import { useT } from "@/i18n";
import { number, percent } from "@/i18n/format";
import { Button, IconButton } from "@/ui";
import { AliasDialog } from "./alias-dialog";
import { ChainDialog } from "./chain-dialog";

type Open = { kind: "chain" | "alias"; name: string | null } | null;

export function Chains({ since }: { since: string }) {
  const t = useT();
  const settings = useSettings();
  const agents = useAgents();
  const used = useUsage({ by: "model", since });
  const [open, setOpen] = useState<Open>(null);
  if (!settings.data) return null;
  const fallbacks = Object.entries(settings.data.fallbacks ?? {}).filter(([, to]) => to.length);
  const aliases = Object.entries(settings.data.aliases ?? {});
  const locked = (key: string) =>
    settings.data?.locked?.some((one) => one === key || one.startsWith(`${key}.`)) ?? false;
  const replies = (used.data ?? []).reduce((sum, row) => sum + row.replies, 0);
  /** The share of all replies that a model gave. */
  const share = (model: string) => {
    const row = used.data?.find((one) => one.id === model);
    return row?.replies ? percent(row.replies / replies) : null;
  };
  const nameOf = (id: string) => agents.data?.find((one) => one.id === id)?.name ?? id;

  return (
    <>
      <section className="card" aria-label={t("usage.fallbacks")}>
        <header className="card-h">
          <h2 className="grow">{t("usage.fallbacks")}</h2>
          <Button
            size="sm"
            kind="ghost"
            disabled={locked("fallbacks")}
            icon={<Plus className="i" size={14} aria-hidden />}
            onClick={() => setOpen({ kind: "chain", name: null })}
          >
            {t("usage.add")}
          </Button>
        </header>
        {fallbacks.map(([name, next]) => (
          <div className="chain" key={name}>
            <div className="row">
              <span className="ell grow med">{nameOf(name)}</span>
              <span className="t12 k3 num">{share(name)}</span>
              <IconButton
                small
                disabled={locked("fallbacks")}
                label={t("usage.fallback.change", { name: nameOf(name) })}
                onClick={() => setOpen({ kind: "chain", name })}
              >
                <Pencil className="i" size={14} aria-hidden />
              </IconButton>
            </div>
            <ol>
              {next.map((model) => (
                <li key={model}>
                  <span className="ell">{model}</span>
                  <span className="t12 k3 num end">{share(model)}</span>
                </li>
              ))}
            </ol>
          </div>
        ))}
        <p className="hint bud">
          {fallbacks.length ? t("usage.fallbacks.about") : t("usage.fallbacks.none")}
        </p>
      </section>
      <section className="card" aria-label={t("usage.aliases")}>
        <header className="card-h">
          <h2 className="grow">{t("usage.aliases")}</h2>
          <Button
            size="sm"
            kind="ghost"
            disabled={locked("aliases")}
            icon={<Plus className="i" size={14} aria-hidden />}
            onClick={() => setOpen({ kind: "alias", name: null })}
          >
            {t("usage.add")}
          </Button>
        </header>
        {aliases.map(([name, models]) => (
          <div className="chain" key={name}>
            <div className="row">
              <span className="ell grow med">{name}</span>
              <IconButton
                small
                disabled={locked(`aliases.${name}`)}
                label={t("usage.alias.change", { name })}
                onClick={() => setOpen({ kind: "alias", name })}
              >
                <Pencil className="i" size={14} aria-hidden />
              </IconButton>
            </div>
            <ul>
              {Object.entries(models).map(([model, weight]) => (
                <li key={model}>
                  <span className="ell">{model}</span>
                  <span className="t12 k3 num end">{number(weight, 2)}</span>
                </li>
              ))}
            </ul>
          </div>
        ))}
        {aliases.length === 0 && <p className="hint bud">{t("usage.aliases.none")}</p>}
      </section>
      {open?.kind === "chain" && <ChainDialog name={open.name} onClose={() => setOpen(null)} />}
      {open?.kind === "alias" && <AliasDialog name={open.name} onClose={() => setOpen(null)} />}
    </>
  );
}
