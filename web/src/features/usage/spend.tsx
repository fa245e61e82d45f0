/** The card of the chart: by whom, its legend, and the way to the table. */
import { ChartColumn, Table2 } from "lucide-react";
import { useState } from "react";
import type { Grouping, UsageRow } from "@/api/usage";
import { type PageKey, useLanguage, useT } from "@/i18n";
import { IconButton, Segmented } from "@/ui";
import { Chart, ChartTable, useSize } from "./chart";
import { type Period, slotOf } from "./period";
import { add, chartOf, type Measure, type Series } from "./sums";

export type Whose = Extract<Grouping, "agent" | "model" | "person">;

const NOBODYS: Record<Whose, PageKey> = {
  agent: "usage.no_agent",
  model: "usage.unknown",
  person: "usage.no_person",
};

interface Props {
  rows: readonly UsageRow[];
  slots: readonly string[];
  period: Period;
  by: Whose;
  onBy: (by: Whose) => void;
  /** Whose calls it was is no question where all are the reader's own. */
  people: boolean;
}

export function Spend({ rows, slots, period, by, onBy, people }: Props) {
  const t = useT();
  const language = useLanguage();
  const [asTable, setAsTable] = useState(false);
  const measure: Measure = add(rows).cost > 0 ? "cost" : "tokens";
  const { series, bars } = chartOf(rows, slots, (day) => slotOf(period, day), measure);
  const size = useSize(measure);
  const titles: Record<Measure, [day: PageKey, month: PageKey]> = {
    cost: ["usage.per_day", "usage.per_month"],
    tokens: ["usage.tokens_per_day", "usage.tokens_per_month"],
  };
  const title = t(titles[measure][period === "year" ? 1 : 0]);
  const nameOf = ({ id, name }: Series) =>
    id === undefined ? t("usage.others") : id === null ? t(NOBODYS[by]) : (name ?? id);
  const words = (slot: string, form: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language, { timeZone: "UTC", ...form }).format(new Date(slot));
  const props = {
    series,
    bars,
    measure,
    nameOf,
    label: title,
    slotName: (slot: string) =>
      words(
        slot,
        period === "year"
          ? { year: "numeric", month: "long" }
          : { weekday: "short", month: "short", day: "numeric" },
      ),
    slotMark: (slot: string) =>
      period === "year"
        ? words(slot, { month: "narrow" })
        : words(slot, { month: "numeric", day: "numeric" }),
  };
  const choices = [
    { value: "agent", label: t("usage.by.agent") },
    { value: "model", label: t("usage.by.model") },
    ...(people ? [{ value: "person", label: t("usage.by.person") } as const] : []),
  ] as const;
  const Icon = asTable ? ChartColumn : Table2;

  return (
    <section className="card" aria-label={title}>
      <header className="card-h bare wrap">
        <h2 className="grow">{title}</h2>
        <Segmented label={t("usage.by")} value={by} choices={choices} onChange={onBy} />
        <IconButton
          label={asTable ? t("usage.as_chart") : t("usage.as_table")}
          onClick={() => setAsTable(!asTable)}
        >
          <Icon className="i" size={16} aria-hidden />
        </IconButton>
      </header>
      <ul className="legend">
        {series.map((one, index) => (
          <li key={one.id ?? index}>
            <i className={`key c${index + 1}`} />
            <span className="ell">{nameOf(one)}</span> <span className="num">{size(one.sum)}</span>
          </li>
        ))}
      </ul>
      {asTable ? <ChartTable {...props} /> : <Chart key={slots.length} {...props} />}
    </section>
  );
}
