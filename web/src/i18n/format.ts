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
