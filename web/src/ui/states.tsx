/** What stands in a pane that has nothing to show: empty, loading, or refused. */
import { CircleAlert } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Button } from "./button";
import { cx } from "./cx";

interface EmptyProps {
  icon: ReactNode;
  title: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
  tone?: "plain" | "error";
}

export function Empty({ icon, title, children, actions, tone = "plain" }: EmptyProps) {
  return (
    <div className="empty" role={tone === "error" ? "alert" : undefined}>
      <span className={cx("art", tone === "error" && "art-r")}>{icon}</span>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {actions && <div className="row">{actions}</div>}
    </div>
  );
}

/** What could not be read, and the way to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useT();
  const { message, hint } = explain(error);
  return (
    <Empty
      tone="error"
      icon={<CircleAlert className="i" size={22} aria-hidden />}
      title={message}
      actions={retry && <Button onClick={retry}>{t("ui.retry")}</Button>}
    >
      {hint}
    </Empty>
  );
}

const SHOWS_AFTER_MS = 300;
const EXPLAINS_AFTER_MS = 8000;

function useLater(ms: number): boolean {
  const [passed, setPassed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return passed;
}

/** Rows of the real height, after a moment; after a long moment it says what is being waited for. */
export function Skeleton({ rows = 3, height = 56 }: { rows?: number; height?: number }) {
  const t = useT();
  const shown = useLater(SHOWS_AFTER_MS);
  const long = useLater(EXPLAINS_AFTER_MS);
  if (!shown) return null;
  return (
    <div role="status" aria-busy="true">
      <span className="sr">{t("ui.loading")}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="skel-row" style={{ height }} aria-hidden>
          <span className="skel skel-av" />
          <div className="col grow">
            <span className="skel" style={{ width: `${36 + ((row * 17) % 20)}%` }} />
            <span className="skel" style={{ width: `${58 + ((row * 23) % 26)}%` }} />
          </div>
        </div>
      ))}
      {long && <p className="hint pad">{t("ui.loading.long")}</p>}
    </div>
  );
}
