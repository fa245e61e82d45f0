/** Rows of the ledger, added up for the figures, the chart and the file. */
import type { UsageRow } from "@/api/usage";

const COUNTED = [
  "calls",
  "replies",
  "failed",
  "stood_in",
  "input",
  "output",
  "cached",
  "cost",
  "unpriced",
  "estimated",
] as const;

export type Sum = Record<(typeof COUNTED)[number], number>;

export function add(rows: readonly Sum[]): Sum {
  const sum = Object.fromEntries(COUNTED.map((name) => [name, 0])) as Sum;
  for (const row of rows) for (const name of COUNTED) sum[name] += row[name];
  return sum;
}

/** What a bar's height says: money, or tokens where no call has cost any. */
export type Measure = "cost" | "tokens";

export const sizeOf = (sum: Sum, measure: Measure) =>
  measure === "cost" ? sum.cost : sum.input + sum.output;

export interface Series {
  /** Null where the calls were nobody's; undefined for all that are too small for their own. */
  id: string | null | undefined;
  name: string | null;
  sum: Sum;
}

export interface Bar {
  slot: string;
  sum: Sum;
  /** In the order of the series. */
  parts: readonly Sum[];
}

export const SERIES = 5;

/** The largest get a colour of their own, the others share the last one. */
export function chartOf(
  rows: readonly UsageRow[],
  slots: readonly string[],
  slot: (day: string) => string,
  measure: Measure,
): { series: Series[]; bars: Bar[] } {
  const groups = [...Map.groupBy(rows, (row) => row.id)]
    .map(([id, own]) => ({ id, name: own[0]?.name ?? null, sum: add(own) }))
    .sort((a, b) => sizeOf(b.sum, measure) - sizeOf(a.sum, measure));
  const large = groups.length > SERIES ? groups.slice(0, SERIES - 1) : groups;
  const rest = groups.slice(large.length);
  const series: Series[] = rest.length
    ? [...large, { id: undefined, name: null, sum: add(rest.map((one) => one.sum)) }]
    : large;
  const own = new Set(large.map((one) => one.id));
  const bySlot = Map.groupBy(rows, (row) => slot(row.day ?? ""));
  const bars = slots.map((one) => {
    const here = bySlot.get(one) ?? [];
    const parts = series.map(({ id }) =>
      add(here.filter((row) => (id === undefined ? !own.has(row.id) : row.id === id))),
    );
    return { slot: one, sum: add(here), parts };
  });
  return { series, bars };
}

/** Round marks for an axis that reaches `most`, the last at or above it. */
export function marksFor(most: number): number[] {
  if (!(most > 0)) return [0];
  const rough = most / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((one) => one * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, index) => index * step);
}

const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number): string {
  // A name that a spreadsheet would take for a formula is only text.
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One line for each day and group; a cost of which nothing is known is left empty. */
export function csvOf(rows: readonly UsageRow[], by: string): string {
  const head = ["day", `${by}_id`, by, ...COUNTED.filter((name) => name !== "cost"), "cost_usd"];
  const lines = rows.map((row) => [
    row.day ?? "",
    row.id ?? "",
    row.name ?? "",
    ...COUNTED.filter((name) => name !== "cost").map((name) => row[name]),
    row.cost === 0 && row.unpriced > 0 ? "" : row.cost,
  ]);
  return [head, ...lines].map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}
