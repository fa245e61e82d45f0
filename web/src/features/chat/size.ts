/** Sizes of files and lengths of time, as exact as one cares to read. */
import { megabytes, number } from "@/i18n/format";

export function fileSize(bytes: number): string {
  if (bytes < 1_000) return `${number(bytes)} B`;
  if (bytes < 1_000_000) return `${number(bytes / 1_000)} KB`;
  return megabytes(bytes);
}

/** Seconds, to a tenth below ten; nothing takes no time. */
export const duration = (ms: number): string =>
  number(Math.max(0.1, ms / 1000), ms < 10_000 ? 1 : 0);
