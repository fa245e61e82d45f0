/** One numbered step of the guide, joined to the next by a line. */
import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { cx } from "@/ui";

export type StepState = "done" | "current" | "ahead";

interface Props {
  state: StepState;
  number: number;
  title: string;
  aside?: string | undefined;
  children?: ReactNode;
  /** Below the title instead of beside it. */
  below?: boolean;
}

export function Step({ state, number, title, aside, children, below }: Props) {
  const t = useT();
  return (
    <section
      className={cx("stp", state === "done" && "done", state === "current" && "cur")}
      aria-label={title}
      {...(state === "current" ? { "aria-current": "step" as const } : {})}
    >
      <span className="no">
        {state === "done" ? (
          <Check className="i" size={16} aria-label={t("setup.step.done")} role="img" />
        ) : (
          number
        )}
      </span>
      <div className={below ? "col col-3" : "row wrap"}>
        <h2 className="grow">
          {title}
          {aside && (
            <span className="k3 t13" lang="en">
              {" "}
              {aside}
            </span>
          )}
        </h2>
        {children}
      </div>
    </section>
  );
}
