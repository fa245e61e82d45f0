/** Which model speaks for the agent, how freely, and whether it answers. */
import { Plug } from "lucide-react";
import { Link } from "wouter";
import { useManages, useModels, useSettings, useTestModel } from "@/api/queries";
import { TestResult } from "@/features/models/test-result";
import { useT } from "@/i18n";
import { number } from "@/i18n/format";
import { Button, Field, Select, Switch } from "@/ui";
import type { AgentDraftState } from "./drafts";
import { SaveBar, type SaveBarState } from "./save-bar";

interface Props {
  draft: AgentDraftState;
  bar: SaveBarState;
}

const USUAL_TEMPERATURE = 0.7;

export function ModelTab({ draft, bar }: Props) {
  const t = useT();
  const { value, set } = draft;
  const models = useModels();
  const manages = useManages();
  const settings = useSettings(manages);
  const test = useTestModel();
  const usual = settings.data?.default_model;
  const known = models.data ?? [];
  const strange = value.model && !known.some((model) => model.id === value.model);
  const chosen = value.model ?? usual ?? undefined;
  const note = known.find((model) => model.id === chosen)?.note;

  return (
    <div className="narrow-col col col-4">
      <Field label={t("agents.model")} hint={note ?? t("agents.model.hint")}>
        {(wiring) => (
          <div className="row top">
            <Select
              {...wiring}
              className="grow"
              value={value.model ?? ""}
              onChange={(event) => {
                test.reset();
                set({ model: event.target.value || null });
              }}
            >
              <option value="">
                {usual ? t("agents.model.usual", { model: usual }) : t("agents.model.usual_none")}
              </option>
              {known.map((model) => (
                <option key={model.id} value={model.id}>
                  {model.id}
                  {model.ready ? "" : ` · ${model.note ?? t("agents.model.not_ready")}`}
                </option>
              ))}
              {strange && (
                <option value={value.model ?? ""}>
                  {t("agents.model.unknown", { model: value.model ?? "" })}
                </option>
              )}
            </Select>
            {manages && (
              <Button
                busy={test.isPending}
                onClick={() => test.mutate(chosen ? { model: chosen } : {})}
                icon={<Plug className="i" size={16} aria-hidden />}
              >
                {test.isPending ? t("models.testing") : t("models.test")}
              </Button>
            )}
          </div>
        )}
      </Field>
      <TestResult result={test.data} error={test.error} kept />
      {manages && (
        <p className="hint">
          <Link href="/settings/models">{t("agents.model.more")}</Link>
        </p>
      )}
      <div className="card">
        <div className="set">
          <div>
            <b>{t("agents.temperature.own")}</b>
            <small>{t("agents.temperature.own.hint")}</small>
          </div>
          <Switch
            label={t("agents.temperature.own")}
            checked={value.temperature !== null}
            onChange={(own) => set({ temperature: own ? USUAL_TEMPERATURE : null })}
          />
        </div>
        {value.temperature !== null && (
          <div className="set">
            <div>
              <b id="temperature">{t("agents.temperature")}</b>
              <small>{t("agents.temperature.hint")}</small>
            </div>
            <span className="row range-row">
              <input
                type="range"
                className="range"
                aria-labelledby="temperature"
                min={0}
                max={2}
                step={0.1}
                value={value.temperature}
                onChange={(event) => set({ temperature: Number(event.target.value) })}
              />
              <span className="num t13 med">{number(value.temperature, 1)}</span>
            </span>
          </div>
        )}
        <SaveBar bar={bar} />
      </div>
    </div>
  );
}
