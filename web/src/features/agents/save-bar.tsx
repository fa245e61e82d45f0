/** What is not saved yet, and the two ways out of that. */
import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { Button } from "@/ui";

export interface SaveBarState {
  count: number;
  busy: boolean;
  save: () => void;
  discard: () => void;
}

const isMac = /Mac|iP(hone|ad)/.test(navigator.userAgent);

export function SaveBar({ bar, children }: { bar: SaveBarState; children?: ReactNode }) {
  const t = useT();
  const dirty = bar.count > 0;
  return (
    <div className="save-bar">
      <span className="t12 k3 num grow">{children}</span>
      <span className="t12 kt" role="status">
        {dirty && t("agents.unsaved", { number: bar.count })}
      </span>
      {dirty && (
        <Button kind="ghost" size="sm" onClick={bar.discard}>
          {t("agents.discard")}
        </Button>
      )}
      <Button kind="primary" size="sm" disabled={!dirty} busy={bar.busy} onClick={bar.save}>
        {t("ui.save")} <span className="keys-hint desk-only">{isMac ? "⌘S" : "Ctrl S"}</span>
      </Button>
    </div>
  );
}
