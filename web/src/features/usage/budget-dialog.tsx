/** One limit: for what, how much, and the way to lift it. */
import { type FormEvent, useId, useState } from "react";
import { useChangeSettings } from "@/api/queries";
import type { BudgetScope, Budgets as Limits } from "@/api/types";
import { type PageKey, useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Button, Dialog, Field, Input, Select } from "@/ui";

export const SCOPES: readonly BudgetScope[] = ["day", "agent", "person", "key", "run"];
export const NAMES: Record<BudgetScope, PageKey> = {
  day: "usage.budget.day",
  agent: "usage.budget.agent",
  person: "usage.budget.person",
  key: "usage.budget.key",
  run: "usage.budget.run",
};
interface DialogProps {
  /** Null: one that is not there yet. */
  scope: BudgetScope | null;
  free: readonly BudgetScope[];
  limits: Limits;
  onClose: () => void;
}

export function BudgetDialog({ scope, free, limits, onClose }: DialogProps) {
  const t = useT();
  const change = useChangeSettings();
  const form = useId();
  const [chosen, setChosen] = useState<BudgetScope | undefined>(scope ?? free[0]);
  const [text, setText] = useState(scope ? String(limits[scope]) : "");
  const value = Number(text.replace(",", "."));
  const valid = text.trim() !== "" && Number.isFinite(value) && value >= 0;

  function keep(limit: number | null) {
    if (!chosen) return;
    const done = { onSuccess: onClose };
    change.mutate({ budgets: { [chosen]: limit } }, done);
  }
  function submit(event: FormEvent) {
    event.preventDefault();
    if (valid) keep(value);
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={scope ? t("usage.budget.change", { name: t(NAMES[scope]) }) : t("usage.budget.new")}
      description={t("usage.budget.about")}
      actions={
        <>
          {scope && (
            <Button kind="danger" disabled={change.isPending} onClick={() => keep(null)}>
              {t("usage.budget.remove")}
            </Button>
          )}
          <span className="grow" />
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button
            kind="primary"
            type="submit"
            form={form}
            busy={change.isPending}
            disabled={!valid || !chosen}
          >
            {t("ui.save")}
          </Button>
        </>
      }
    >
      <form id={form} className="form" onSubmit={submit}>
        {!scope && (
          <Field label={t("usage.budget.for")}>
            {(wiring) => (
              <Select
                {...wiring}
                value={chosen}
                onChange={(event) => setChosen(SCOPES.find((one) => one === event.target.value))}
              >
                {free.map((one) => (
                  <option key={one} value={one}>
                    {t(NAMES[one])}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        <Field
          label={t("usage.budget.dollars")}
          error={change.error && explain(change.error).message}
        >
          {(wiring) => (
            <Input
              {...wiring}
              autoFocus
              inputMode="decimal"
              placeholder="5"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
