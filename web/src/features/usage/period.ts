/** The times that the page speaks of. Days are those of UTC, as in the ledger and the budgets. */

export const PERIODS = ["week", "month", "year"] as const;
export type Period = (typeof PERIODS)[number];

export interface Span {
  since: string;
  /** As many days of the period before. */
  before: { since: string; until: string };
  /** What each bar stands for: days as `2026-11-30`, in a year months as `2026-11`. */
  slots: readonly string[];
}

const DAY = 86_400_000;
const midnight = (year: number, month: number, day: number) => Date.UTC(year, month, day);
const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10);
const instant = (at: number) => new Date(at).toISOString();

export function today(now = new Date()): string {
  return dateOf(now.getTime());
}

export function spanOf(period: Period, day: string): Span {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const tomorrow = midnight(year, month - 1, date) + DAY;
  const [since, before, end] = {
    week: [tomorrow - 7 * DAY, tomorrow - 14 * DAY, tomorrow],
    month: [midnight(year, month - 1, 1), midnight(year, month - 2, 1), midnight(year, month, 1)],
    year: [midnight(year, 0, 1), midnight(year - 1, 0, 1), midnight(year + 1, 0, 1)],
  }[period] as [number, number, number];
  const slots = Array.from({ length: Math.round((end - since) / DAY) }, (_, index) =>
    slotOf(period, dateOf(since + index * DAY)),
  );
  return {
    since: instant(since),
    before: {
      since: instant(before),
      until: instant(Math.min(before + tomorrow - since, since)),
    },
    slots: [...new Set(slots)],
  };
}

/** Which bar a day belongs to. */
export const slotOf = (period: Period, day: string) => (period === "year" ? day.slice(0, 7) : day);
