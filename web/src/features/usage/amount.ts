/** What something has cost, in words: unknown is never nothing, and an estimate says so. */
import { type Translate, useT } from "@/i18n";
import { money } from "@/i18n/format";
import type { Sum } from "./sums";

type Spent = Pick<Sum, "cost" | "unpriced" | "estimated">;

export function amount(t: Translate, sum: Spent): string {
  if (isUnknown(sum)) return t("usage.unknown");
  return sum.unpriced > 0 ? t("usage.part_unknown", { cost: known(sum) }) : known(sum);
}

/** Nothing is known of what it has cost, except that it may have. */
export const isUnknown = ({ cost, unpriced }: Omit<Spent, "estimated">) =>
  cost === 0 && unpriced > 0;

export const known = ({ cost, estimated }: Omit<Spent, "unpriced">) =>
  `${estimated > 0 && cost > 0 ? "~" : ""}${money(cost)}`;

export function useAmount(): (sum: Spent) => string {
  const t = useT();
  return (sum) => amount(t, sum);
}
