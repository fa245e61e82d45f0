/** How much the house, an agent, a person, a key or a run may spend, and what is spent today. */
import { Pencil, Plus } from "lucide-react";
import { useState } from "react";
import { useAgents, useChangeSettings, useSettings } from "@/api/queries";
import type { BudgetScope, Budgets as Limits } from "@/api/types";
import { type UsageRow, useUsage } from "@/api/usage";
import { useT } from "@/i18n";
import { money } from "@/i18n/format";
import { explain } from "@/i18n/problem";
import { Avatar, Button, Field, IconButton, Select, toast } from "@/ui";
import { useAmount } from "./amount";
import { BudgetDialog, NAMES, SCOPES } from "./budget-dialog";
import { Meter } from "./meter";
import { today } from "./period";
import { add } from "./sums";

/** So many who have spent the most are shown. */
const SHOWN = 3;

export function Budgets() {
  const t = useT();
  const settings = useSettings();
  const [editing, setEditing] = useState<BudgetScope | "new" | null>(null);
  const limits = settings.data?.budgets;
  if (!limits) return null;
  const set = SCOPES.filter((scope) => limits[scope] !== null);
  const free = SCOPES.filter((scope) => limits[scope] === null);
  const locked = (scope: string) =>
    settings.data?.locked?.some((key) => key === "budgets" || key === `budgets.${scope}`) ?? false;

  return (
    <section className="card" aria-label={t("usage.budgets")}>
      <header className="card-h">
        <h2 className="grow">{t("usage.budgets")}</h2>
        {free.length > 0 && (
          <Button
            size="sm"
            kind="ghost"
            icon={<Plus className="i" size={14} aria-hidden />}
            onClick={() => setEditing("new")}
          >
            {t("usage.add")}
          </Button>
        )}
      </header>
      {set.length === 0 && <p className="hint bud">{t("usage.budgets.none")}</p>}
      {set.map((scope) => (
        <div className="bud-g" key={scope}>
          <div className="row bud-h">
            <h3 className="t12 med k3 grow">{t(NAMES[scope])}</h3>
            {scope === "run" && <b className="t13 semi num">{money(limits.run ?? 0)}</b>}
            <IconButton
              small
              disabled={locked(scope)}
              label={t("usage.budget.change", { name: t(NAMES[scope]) })}
              onClick={() => setEditing(scope)}
            >
              <Pencil className="i" size={14} aria-hidden />
            </IconButton>
          </div>
          {scope === "run" ? (
            <p className="hint bud">{t("usage.budget.run.about")}</p>
          ) : (
            <SpentToday scope={scope} limit={limits[scope] ?? 0} />
          )}
        </div>
      ))}
      {set.length > 0 && <Unpriced limits={limits} locked={locked("unpriced")} />}
      {editing && (
        <BudgetDialog
          scope={editing === "new" ? null : editing}
          free={free.filter((scope) => !locked(scope))}
          limits={limits}
          onClose={() => setEditing(null)}
        />
      )}
    </section>
  );
}

function SpentToday({ scope, limit }: { scope: Exclude<BudgetScope, "run">; limit: number }) {
  const t = useT();
  const amount = useAmount();
  const spent = useUsage({ by: scope, since: `${today()}T00:00:00Z` });
  const rows = spent.data ?? [];
  if (scope === "day") {
    const sum = add(rows);
    return <Meter name={t("usage.everything")} spent={sum.cost} limit={limit} said={amount(sum)} />;
  }
  const whose = rows.filter((row) => row.id !== null && row.calls > 0).slice(0, SHOWN);
  if (whose.length === 0) return <p className="hint bud">{t("usage.budget.untouched")}</p>;
  return whose.map((row) => (
    <Meter
      key={row.id}
      icon={<Whose scope={scope} row={row} />}
      name={row.name ?? ""}
      spent={row.cost}
      limit={limit}
      said={amount(row)}
    />
  ));
}

function Whose({ scope, row }: { scope: BudgetScope; row: UsageRow }) {
  const agent = useAgents().data?.find((one) => one.id === row.id);
  if (scope === "key") return null;
  return (
    <Avatar
      kind={scope === "agent" ? "agent" : "person"}
      name={row.name ?? ""}
      hue={agent?.hue}
      size={20}
    />
  );
}

function Unpriced({ limits, locked }: { limits: Limits; locked: boolean }) {
  const t = useT();
  const change = useChangeSettings();
  return (
    <div className="bud">
      <Field label={t("usage.budget.unpriced")}>
        {(wiring) => (
          <Select
            {...wiring}
            value={limits.unpriced}
            disabled={locked || change.isPending}
            onChange={(event) =>
              change.mutate(
                { budgets: { unpriced: event.target.value } },
                { onError: (error) => toast(explain(error).message) },
              )
            }
          >
            <option value="refuse">{t("usage.budget.refuse")}</option>
            <option value="allow">{t("usage.budget.allow")}</option>
          </Select>
        )}
      </Field>
    </div>
  );
}
