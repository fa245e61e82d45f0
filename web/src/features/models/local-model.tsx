/** Where the local model stands, in words and a number, with the one thing to do about it. */
import { CircleAlert, CircleCheck, CircleDashed, Download, LoaderCircle } from "lucide-react";
import { useLocalModel, usePullModel } from "@/api/queries";
import type { LocalModel } from "@/api/types";
import { useT } from "@/i18n";
import { megabytes, number } from "@/i18n/format";
import { explain } from "@/i18n/problem";
import { Button } from "@/ui";

/** The size of the usual model, told before anything of it is here. */
const USUAL_BYTES = 491_400_064;

export const isUsable = (local: LocalModel | undefined) =>
  local !== undefined && ["ready", "starting", "running"].includes(local.state);

export function LocalState() {
  const t = useT();
  const local = useLocalModel();
  switch (local.data?.state) {
    case "ready":
    case "running":
      return (
        <span className="st ok">
          <CircleCheck className="i" size={14} aria-hidden />
          {t("models.local.ready")}
        </span>
      );
    case "starting":
      return (
        <span className="st run">
          <LoaderCircle className="i spin" size={14} aria-hidden />
          {t("models.local.starting")}
        </span>
      );
    case "pulling":
      return (
        <span className="st run num">
          <LoaderCircle className="i spin" size={14} aria-hidden />
          {t("models.local.pulling", {
            percent: number(Math.floor((local.data.progress ?? 0) * 100)),
          })}
        </span>
      );
    case "failed":
      return (
        <span className="st bad">
          <CircleAlert className="i" size={14} aria-hidden />
          {t("models.local.failed")}
        </span>
      );
    case "absent":
      return (
        <span className="st off">
          <CircleDashed className="i" size={14} aria-hidden />
          {t("models.local.absent")}
        </span>
      );
    default:
      return null;
  }
}

/** The progress of a download, its failure, or the button that begins it. */
export function LocalPull() {
  const t = useT();
  const local = useLocalModel();
  const pull = usePullModel();
  const state = local.data;
  if (!state || isUsable(state)) return null;
  if (state.state === "pulling") {
    const percent = Math.round((state.progress ?? 0) * 100);
    return (
      <div className="col">
        <div
          className="bar run lg"
          role="progressbar"
          aria-label={t("models.local")}
          aria-valuenow={percent}
          aria-valuemin={0}
          aria-valuemax={100}
        >
          <i style={{ width: `${percent}%` }} />
        </div>
        <span className="hint num">
          {t("models.local.bytes", {
            done: megabytes(state.bytes),
            total: megabytes(state.total || USUAL_BYTES),
          })}
        </span>
      </div>
    );
  }
  const problem = state.problem ?? (pull.error ? explain(pull.error).message : null);
  return (
    <div className="col">
      {problem && (
        <span className="msg-err" role="alert">
          <CircleAlert className="i" size={14} aria-hidden />
          <span>{problem}</span>
        </span>
      )}
      <div>
        <Button
          size="sm"
          busy={pull.isPending}
          onClick={() => pull.mutate()}
          icon={<Download className="i" size={14} aria-hidden />}
        >
          {state.state === "failed"
            ? t("ui.retry")
            : t("models.local.pull", { size: megabytes(USUAL_BYTES) })}
        </Button>
      </div>
    </div>
  );
}
