/** Each provider: its key, how its last call went, how soon it begins, and what it has cost. */
import { useQueryClient } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import { useState } from "react";
import { useLocalModel, useModels, useSettings, useTestModel } from "@/api/queries";
import { USAGE, useProviderStates, useUsage } from "@/api/usage";
import { isUsable } from "@/features/models/local-model";
import { useVendorName } from "@/features/models/vendor-name";
import { OWN, vendorOf } from "@/features/models/vendors";
import { type PageKey, useT } from "@/i18n";
import { money, number } from "@/i18n/format";
import { explain } from "@/i18n/problem";
import { Button, Failure, Sheet, Skeleton } from "@/ui";
import { useAmount } from "./amount";
import type { Period, Span } from "./period";
import { Details, type Line } from "./provider-details";
import { FirstToken, Status, type Tried } from "./provider-status";

const LOCAL = "local";

const COLUMN: Record<Period, PageKey> = {
  week: "usage.period.week",
  month: "usage.period.month",
  year: "usage.period.year",
};

function useLines(since: string): Line[] | undefined {
  const t = useT();
  const nameOf = useVendorName();
  const settings = useSettings();
  const models = useModels();
  const local = useLocalModel();
  const states = useProviderStates(since, true);
  const sums = useUsage({ by: "provider", since });
  if (!settings.data || !models.data || !states.data || !sums.data) return undefined;
  const providers = settings.data.providers ?? {};
  const names = Object.keys(providers).filter((name) => name !== LOCAL);
  const here = isUsable(local.data) || sums.data.some((row) => row.id === LOCAL);
  return [...names, ...(here ? [LOCAL] : [])].map((name) => {
    const own = models.data.filter((model) => model.provider === name);
    const vendor = vendorOf(name);
    const first = providers[name]?.models?.[0];
    return {
      name,
      title: name === LOCAL ? t("usage.local") : vendor && vendor !== OWN ? nameOf(vendor) : name,
      settings: providers[name],
      models: own,
      model: own[0]?.id ?? (first ? `${name}/${first}` : null),
      state: states.data.find((one) => one.provider === name),
      sum: sums.data.find((one) => one.id === name),
    };
  });
}

/** One test for each provider, alone or all at once; afterwards the figures are read anew. */
function useTests() {
  const client = useQueryClient();
  const ask = useTestModel();
  const [tried, setTried] = useState<Record<string, Tried>>({});
  const note = (name: string, one: Tried) => setTried((old) => ({ ...old, [name]: one }));
  async function test({ name, model }: Line) {
    if (!model) return;
    note(name, "now");
    try {
      const { ok, problem, first_token_ms } = await ask.mutateAsync({ model });
      note(name, { ok, problem: problem ?? null, first: first_token_ms ?? null });
    } catch (error) {
      note(name, { ok: false, problem: explain(error).message, first: null });
    }
    void client.invalidateQueries({ queryKey: USAGE });
  }
  return { tried, test };
}

export function Providers({ span, period }: { span: Span; period: Period }) {
  const t = useT();
  const settings = useSettings();
  const lines = useLines(span.since);
  const { tried, test } = useTests();
  const [open, setOpen] = useState<string | null>(null);
  const amount = useAmount();
  const busy = Object.values(tried).includes("now");
  const opened = lines?.find((line) => line.name === open);

  return (
    <section className="card" aria-label={t("usage.providers")}>
      <header className="card-h">
        <h2 className="grow">{t("usage.providers")}</h2>
        <Button
          size="sm"
          kind="ghost"
          busy={busy}
          disabled={!lines?.some((line) => line.model)}
          icon={<RefreshCw className="i" size={14} aria-hidden />}
          onClick={() => lines?.forEach((line) => void test(line))}
        >
          {t("usage.test_all")}
        </Button>
      </header>
      {settings.isError && <Failure error={settings.error} retry={() => void settings.refetch()} />}
      {!lines && !settings.isError && <Skeleton rows={2} />}
      {lines?.length === 0 && <p className="hint bud">{t("usage.providers.none")}</p>}
      {lines && lines.length > 0 && (
        <table className="tbl prov">
          <thead>
            <tr>
              <th scope="col">{t("usage.provider")}</th>
              <th scope="col">{t("models.key")}</th>
              <th scope="col">{t("usage.status")}</th>
              <th scope="col" className="r">
                {t("usage.first_token")}
              </th>
              <th scope="col" className="r">
                {t(COLUMN[period])}
              </th>
              <th scope="col">
                <span className="sr">{t("usage.actions")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.name}>
                <th scope="row">
                  <b className="med">{line.title}</b>{" "}
                  <span className="k3">
                    {line.models.length === 1
                      ? line.models[0]?.id.slice(line.name.length + 1)
                      : line.models.length > 1 &&
                        t("usage.models", { count: number(line.models.length) })}
                  </span>
                </th>
                <td className="t12 nowrap" data-name={t("models.key")}>
                  {line.settings?.api_key ? (
                    <span className="mono k2">{line.settings.api_key}</span>
                  ) : (
                    <span className="k3">{t("settings.provider.no_key")}</span>
                  )}
                </td>
                <td>
                  <Status state={line.state} tried={tried[line.name]} />
                </td>
                <td className="r" data-name={t("usage.first_token")}>
                  <FirstToken state={line.state} tried={tried[line.name]} />
                </td>
                <td className="r" data-name={t(COLUMN[period])}>
                  {line.sum ? amount(line.sum) : money(0)}
                </td>
                <td className="r">
                  <span className="row row-1">
                    <Button
                      size="sm"
                      kind="ghost"
                      disabled={!line.model || tried[line.name] === "now"}
                      aria-label={t("usage.test_one", { name: line.title })}
                      onClick={() => void test(line)}
                    >
                      {t("models.test")}
                    </Button>
                    <Button
                      size="sm"
                      aria-label={t("usage.details_of", { name: line.title })}
                      onClick={() => setOpen(line.name)}
                    >
                      {t("usage.details")}
                    </Button>
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {opened && (
        <Sheet open onClose={() => setOpen(null)} title={opened.title}>
          <Details
            line={opened}
            tried={tried[opened.name]}
            locked={(settings.data?.locked ?? []).some((key) =>
              key.startsWith(`providers.${opened.name}`),
            )}
          />
        </Sheet>
      )}
    </section>
  );
}
