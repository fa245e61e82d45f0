/** How much of a limit is spent: figure, bar and word, so that colour is never alone. */
import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { money, percent } from "@/i18n/format";
import { cx } from "@/ui";

const NEAR = 0.8;

interface Props {
  icon?: ReactNode;
  name: string;
  spent: number;
  /** Null: there is none, and no bar. */
  limit: number | null;
  said: string;
  children?: ReactNode;
}

export function Meter({ icon, name, spent, limit, said, children }: Props) {
  const t = useT();
  const share = limit === null ? 0 : limit > 0 ? Math.min(1, spent / limit) : 1;
  const tone = share >= 1 ? "bad" : share >= NEAR ? "wait" : "";
  return (
    <div className="bud">
      <div className="row">
        {icon}
        <span className="med ell">{name}</span>
        <span className="end num nowrap">
          <b className={cx("semi", tone === "bad" && "kr", tone === "wait" && "kt")}>{said}</b>
          {limit !== null && (
            <span className="k3"> {t("usage.budget.of", { limit: money(limit) })}</span>
          )}
        </span>
      </div>
      {limit !== null && (
        <>
          {/* biome-ignore lint/a11y/useSemanticElements: browsers paint a meter in their own colours */}
          <div
            className={cx("bar lg", tone)}
            role="meter"
            aria-label={name}
            aria-valuenow={Math.round(share * 100)}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuetext={percent(share)}
          >
            <i style={{ width: `${share * 100}%` }} />
          </div>
          {tone && (
            <p className="hint">
              {tone === "bad"
                ? t("usage.budget.spent")
                : t("usage.budget.near", { share: percent(share) })}
            </p>
          )}
        </>
      )}
      {children}
    </div>
  );
}
