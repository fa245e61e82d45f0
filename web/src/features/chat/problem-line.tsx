/** What went wrong in an answer, what to do about it, and asking again. */
import { CircleAlert } from "lucide-react";
import type { Problem } from "@/api/types";
import { useT } from "@/i18n";
import { wordsOf } from "@/i18n/problem";
import { Button, ButtonLink } from "@/ui";

/** Problems that are mended in the settings. */
const IN_SETTINGS = new Set([
  "provider_authentication",
  "provider_quota",
  "provider_refused",
  "provider_malformed",
  "provider_unreachable",
  "local_model_absent",
  "local_model_failed",
  "local_model_not_installed",
  "model_file_damaged",
  "model_file_unreachable",
  "no_model",
  "no_such_model",
]);

interface Props {
  problem: Problem;
  onAgain: () => void;
  last: boolean;
}

export function ProblemLine({ problem, onAgain, last }: Props) {
  const t = useT();
  const { message, hint } = wordsOf(problem);
  return (
    <div className="ban r box problem" role="alert">
      <CircleAlert className="i" size={16} aria-hidden />
      <div className="grow">
        {message} {hint && <span className="k2">{hint}</span>}
      </div>
      <span className="row">
        {IN_SETTINGS.has(problem.code) && (
          <ButtonLink size="sm" to="/settings/models">
            {t("chat.to_settings")}
          </ButtonLink>
        )}
        {last && (
          <Button size="sm" onClick={onAgain}>
            {t("chat.again")}
          </Button>
        )}
      </span>
    </div>
  );
}
