/** Says that nobody can answer yet, why, and where that is changed. */
import { Link } from "wouter";
import { useLocalModel, useManages, useModels } from "@/api/queries";
import { useT } from "@/i18n";
import { number } from "@/i18n/format";
import { Banner } from "@/ui";

export function ModelBanner() {
  const t = useT();
  const models = useModels();
  const local = useLocalModel();
  const manages = useManages();
  if (!models.data || !local.data || models.data.some((model) => model.ready)) return null;
  const { state, progress } = local.data;
  if (state === "ready" || state === "running" || state === "starting") return null;
  if (state === "pulling") {
    return (
      <Banner tone="info">
        <span className="num">
          {t("shell.model.pulling", { percent: number(Math.floor((progress ?? 0) * 100)) })}
        </span>
      </Banner>
    );
  }
  return (
    <Banner
      tone="warning"
      action={
        manages && (
          <Link href="/settings/models" className="btn btn-sm">
            {t("shell.model.connect")}
          </Link>
        )
      }
    >
      <b className="semi">{t("shell.model.none")}</b>{" "}
      {local.data.problem ?? t("shell.model.none.hint")}
    </Banner>
  );
}
