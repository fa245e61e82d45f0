/** The model that answers by default, the one on this machine, and the providers. */
import { Plus } from "lucide-react";
import { useState } from "react";
import { useChangeSettings, useModels, useSettings } from "@/api/queries";
import { AddProvider } from "@/features/models/add-provider";
import { LocalPull, LocalState } from "@/features/models/local-model";
import { ProviderRow } from "@/features/models/provider-row";
import { useT } from "@/i18n";
import { explain } from "@/i18n/problem";
import { Button, Failure, Select, Skeleton, toast } from "@/ui";
import { Head, Line } from "./section";

export function Models() {
  const t = useT();
  const settings = useSettings();
  const models = useModels();
  const change = useChangeSettings();
  const [adding, setAdding] = useState(false);
  const usual = settings.data?.default_model ?? "";
  const providers = Object.entries(settings.data?.providers ?? {});
  const locked = settings.data?.locked?.includes("default_model");
  const known = models.data ?? [];

  return (
    <>
      <Head
        title={t("settings.models")}
        action={
          <Button
            size="sm"
            icon={<Plus className="i" size={14} aria-hidden />}
            onClick={() => setAdding(true)}
          >
            {t("settings.models.add")}
          </Button>
        }
      />
      <div className="card">
        {settings.isPending && <Skeleton rows={2} />}
        {settings.isError && (
          <Failure error={settings.error} retry={() => void settings.refetch()} />
        )}
        {settings.data && (
          <Line
            title={t("settings.models.default")}
            about={locked ? t("settings.locked") : t("settings.models.default.about")}
          >
            <Select
              className="set-select"
              aria-label={t("settings.models.default")}
              value={usual}
              disabled={locked || change.isPending}
              onChange={(event) =>
                change.mutate(
                  { default_model: event.target.value },
                  {
                    onSuccess: () => toast(t("ui.saved")),
                    onError: (error) => toast(explain(error).message),
                  },
                )
              }
            >
              {!usual && <option value="">{t("settings.models.none")}</option>}
              {known.map((model) => (
                <option key={model.id} value={model.id}>
                  {model.id}
                </option>
              ))}
              {usual && !known.some((model) => model.id === usual) && (
                <option value={usual}>{usual}</option>
              )}
            </Select>
          </Line>
        )}
        <div className="set set-local">
          <div>
            <b>{t("models.local")}</b>
            <small>{t("models.local.about")}</small>
            <LocalPull />
          </div>
          <LocalState />
        </div>
        {providers.map(([name, provider]) => (
          <ProviderRow
            key={name}
            name={name}
            provider={provider}
            model={
              known.find((model) => model.provider === name)?.id ??
              (provider.models?.[0] ? `${name}/${provider.models[0]}` : null)
            }
            locked={(settings.data?.locked ?? []).some((key) =>
              key.startsWith(`providers.${name}`),
            )}
          />
        ))}
      </div>
      {adding && <AddProvider first={providers.length === 0} onClose={() => setAdding(false)} />}
    </>
  );
}
