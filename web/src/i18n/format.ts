/** Dates and numbers in the reader's zone and form. */
import i18next from "i18next";

const lang = () => i18next.language || "en-US";
const DAY = 86_400_000;

const startOfDay = (date: Date) =>
  new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();

/** How many midnights lie between a moment and now. */
export function daysAgo(at: Date, now = new Date()): number {
  return Math.round((startOfDay(now) - startOfDay(at)) / DAY);
}

export function clock(at: string | Date): string {
  return new Intl.DateTimeFormat(lang(), {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).format(new Date(at));
}

/** The short time of a list row: 14:32, Fri, 11/24, 2025/11/24. */
export function when(at: string | Date, now = new Date()): string {
  const date = new Date(at);
  const days = daysAgo(date, now);
  if (days <= 0) return clock(date);
  if (days < 7) return new Intl.DateTimeFormat(lang(), { weekday: "short" }).format(date);
  const sameYear = date.getFullYear() === now.getFullYear();
  return new Intl.DateTimeFormat(lang(), {
    month: "numeric",
    day: "numeric",
    ...(sameYear ? {} : { year: "numeric" }),
  }).format(date);
}

/** The line between two days of a log. */
export function day(at: string | Date, now = new Date()): string {
  const date = new Date(at);
  return new Intl.DateTimeFormat(lang(), {
    month: "long",
    day: "numeric",
    weekday: "short",
    ...(date.getFullYear() === now.getFullYear() ? {} : { year: "numeric" }),
  }).format(date);
}

export function date(at: string | Date): string {
  return new Intl.DateTimeFormat(lang(), { dateStyle: "medium" }).format(new Date(at));
}

export function number(value: number, digits = 0): string {
  return new Intl.NumberFormat(lang(), { maximumFractionDigits: digits }).format(value);
}

export function megabytes(bytes: number): string {
  return `${number(bytes / 1_000_000, bytes < 10_000_000 ? 1 : 0)} MB`;
}

export function seconds(ms: number): string {
  return number(Math.max(ms, 10) / 1000, ms < 10_000 ? 2 : 1);
}

/** US dollars, as models are billed: $18.42, $40, and as much of small change as says something. */
export function money(value: number): string {
  const small = value > 0 && value < 0.1;
  return new Intl.NumberFormat(lang(), {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    trailingZeroDisplay: "stripIfInteger",
    ...(small ? { maximumSignificantDigits: 2 } : {}),
  }).format(value);
}

/** The platform writes 2小时前 and 980万; here a space stands between figures and Chinese words. */
const apart = (text: string) => text.replace(/(\d)(?=\p{Script=Han})/gu, "$1 ");

/** 9.8M, 980 万 */
export function compact(value: number): string {
  const form = new Intl.NumberFormat(lang(), {
    notation: "compact",
    maximumFractionDigits: value < 1000 ? 0 : 1,
  });
  return apart(form.format(value));
}

export function percent(share: number): string {
  return new Intl.NumberFormat(lang(), { style: "percent" }).format(share);
}

const MINUTE = 60_000;

/** 2 min. ago, 3 hr. ago, and beyond a day the date. */
export function ago(at: string | Date, now = new Date()): string {
  const minutes = Math.max(0, Math.round((now.getTime() - new Date(at).getTime()) / MINUTE));
  const words = new Intl.RelativeTimeFormat(lang(), { numeric: "auto", style: "short" });
  if (minutes < 1) return words.format(0, "second");
  if (minutes < 60) return apart(words.format(-minutes, "minute"));
  if (minutes < 60 * 24) return apart(words.format(-Math.round(minutes / 60), "hour"));
  return date(at);
}
