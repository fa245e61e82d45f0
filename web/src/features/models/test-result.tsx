/** How a model did on a short question: how fast, or the exact refusal. */
import { CircleCheck, CircleX } from "lucide-react";
import type { ModelTest } from "@/api/types";
import { useT } from "@/i18n";
import { seconds } from "@/i18n/format";
import { explain } from "@/i18n/problem";

interface Props {
  result: ModelTest | undefined;
  error: unknown;
  /** Whether what was tried is in the settings already. */
  kept: boolean;
}

export function TestResult({ result, error, kept }: Props) {
  const t = useT();
  if (result?.ok) {
    const speed = {
      first: seconds(result.first_token_ms ?? result.total_ms ?? 0),
      total: seconds(result.total_ms ?? 0),
    };
    return (
      <div className="res" role="status">
        <CircleCheck className="i" size={16} aria-hidden />
        <div>
          <div className="semi">{t("models.test.ok", { model: result.model })}</div>
          <div className="k2 num">{t("models.test.speed", speed)}</div>
        </div>
      </div>
    );
  }
  const words = result
    ? { message: result.problem ?? t("models.test.silent"), hint: null }
    : error
      ? explain(error)
      : null;
  if (!words) return null;
  return (
    <div className="res bad" role="alert">
      <CircleX className="i" size={16} aria-hidden />
      <div>
        <div className="semi">{words.message}</div>
        <div className="k2">
          {words.hint} {!kept && t("models.test.not_kept")}
        </div>
      </div>
    </div>
  );
}
