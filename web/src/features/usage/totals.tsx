/** The four figures of a period. */
import { ArrowDown, ArrowUp } from "lucide-react";
import type { ReactNode } from "react";
import { type PageKey, useT } from "@/i18n";
import { compact, money, number, percent } from "@/i18n/format";
import { cx } from "@/ui";
import { isUnknown, known } from "./amount";
import type { Period } from "./period";
import type { Sum } from "./sums";

const BEFORE: Record<Period, PageKey> = {
  week: "usage.before.week",
  month: "usage.before.month",
  year: "usage.before.year",
};

interface Props {
  sum: Sum;
  before: Sum | undefined;
  period: Period;
}

export function Totals({ sum, before, period }: Props) {
  const t = useT();
  const priced = sum.cost > 0 && sum.replies > 0;
  return (
    <section className="card kpi" aria-label={t("usage.totals")}>
      <Figure name={t("usage.spend")} value={isUnknown(sum) ? t("usage.unknown") : known(sum)}>
        {sum.unpriced > 0 ? (
          <span className="kt">{t("usage.unpriced", { count: number(sum.unpriced) })}</span>
        ) : (
          <Change now={sum.cost} before={before?.cost ?? 0} words={t(BEFORE[period])} />
        )}
      </Figure>
      <Figure name={t("usage.replies")} value={number(sum.replies)}>
        {priced && t("usage.each", { cost: money(sum.cost / sum.replies) })}
      </Figure>
      <Figure name={t("usage.tokens")} value={compact(sum.input + sum.output)}>
        {sum.input > 0 && t("usage.cached", { share: percent(sum.cached / sum.input) })}
      </Figure>
      <Figure name={t("usage.stood_in")} value={number(sum.stood_in)}>
        {t("usage.failed", { count: number(sum.failed) })}
      </Figure>
    </section>
  );
}

function Figure({ name, value, children }: { name: string; value: string; children: ReactNode }) {
  return (
    <div>
      <span className="t12 k3">{name}</span>
      <b>{value}</b>
      <span className="t12 k3">{children}</span>
    </div>
  );
}

function Change({ now, before, words }: { now: number; before: number; words: string }) {
  if (!(before > 0)) return null;
  const change = now / before - 1;
  const Icon = change > 0 ? ArrowUp : ArrowDown;
  return (
    <span className={cx(change <= 0 && "kj")}>
      <Icon className="i" size={12} aria-hidden /> {change > 0 ? "+" : "−"}
      {percent(Math.abs(change))} {words}
    </span>
  );
}
