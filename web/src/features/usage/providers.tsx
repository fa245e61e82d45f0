/** Each provider: its key, how its last call went, how soon it begins, and what it has cost. */

import { useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CircleDashed, CircleX, LoaderCircle, RefreshCw } from "lucide-react";
import { useState } from "react";
import { post } from "@/api/client";
import { useLocalModel, useModels, useSettings } from "@/api/queries";
import type { Model, ModelTest, ProviderSettings } from "@/api/types";
import { type ProviderState, USAGE, type UsageRow, useProviderStates, useUsage } from "@/api/usage";
import { isUsable } from "@/features/models/local-model";
import { ProviderRow } from "@/features/models/provider-row";
import { useVendorName } from "@/features/models/vendor-name";
import { OWN, vendorOf } from "@/features/models/vendors";
import { type PageKey, useT } from "@/i18n";
import { ago, money, number, seconds } from "@/i18n/format";
import { explain } from "@/i18n/problem";
import { Button, Failure, Sheet, Skeleton } from "@/ui";
import { useAmount } from "./amount";
import type { Period, Span } from "./period";

const LOCAL = "local";

const COLUMN: Record<Period, PageKey> = {
  week: "usage.period.week",
  month: "usage.period.month",
  year: "usage.period.year",
};

const SAID: Record<string, PageKey> = {
  provider_authentication: "usage.code.key",
  provider_busy: "usage.code.busy",
  provider_content_filtered: "usage.code.content",
  provider_context_too_long: "usage.code.long",
  provider_malformed: "usage.code.malformed",
  provider_overloaded: "usage.code.overloaded",
  provider_quota: "usage.code.quota",
  provider_rate_limited: "usage.code.rate",
  provider_refused: "usage.code.refused",
  provider_stream_cut: "usage.code.cut",
  provider_timed_out: "usage.code.time",
  provider_unreachable: "usage.code.unreachable",
};

/** What a test has just said: newer than anything in the ledger. */
type Tried = "now" | { ok: boolean; problem: string | null; first: number | null };

interface StatusProps {
  state: ProviderState | undefined;
  tried: Tried | undefined;
}

interface Line {
  name: string;
  title: string;
  settings: ProviderSettings | undefined;
  models: readonly Model[];
  /** One of its models, to be asked for a test. */
  model: string | null;
  state: ProviderState | undefined;
  sum: UsageRow | undefined;
}

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
  const [tried, setTried] = useState<Record<string, Tried>>({});
  const note = (name: string, one: Tried) => setTried((old) => ({ ...old, [name]: one }));
  async function test({ name, model }: Line) {
    if (!model) return;
    note(name, "now");
    try {
      const result = await post<ModelTest>("/api/models/test", { model });
      const { ok, problem, first_token_ms } = result;
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

function FirstToken({ state, tried }: StatusProps) {
  const t = useT();
  const ms =
    state?.first_token_ms ?? (tried !== undefined && tried !== "now" ? tried.first : undefined);
  return ms === undefined || ms === null ? (
    <span className="k3">{t("usage.no_figure")}</span>
  ) : (
    t("usage.seconds", { seconds: seconds(ms) })
  );
}

function Status({ state, tried }: StatusProps) {
  const t = useT();
  if (tried === "now") {
    return (
      <span className="st run" role="status">
        <LoaderCircle className="i spin" size={14} aria-hidden />
        {t("models.testing")}
      </span>
    );
  }
  if (tried) {
    const Icon = tried.ok ? CircleCheck : CircleX;
    return (
      <span className={tried.ok ? "st ok" : "st bad"} role="status">
        <Icon className="i" size={14} aria-hidden />
        {tried.ok ? t("usage.ok_now") : t("usage.test_failed")}
      </span>
    );
  }
  if (!state) {
    return (
      <span className="st off">
        <CircleDashed className="i" size={14} aria-hidden />
        {t("usage.not_called")}
      </span>
    );
  }
  const when = ago(state.at);
  if (state.outcome === "failed") {
    const known = SAID[state.code ?? ""];
    const said = known ? t(known) : t("usage.code.other", { code: state.code ?? "?" });
    return (
      <span className="st bad">
        <CircleX className="i" size={14} aria-hidden />
        <span>{t("usage.said_when", { said, when })}</span>
      </span>
    );
  }
  return (
    <span className={state.outcome === "answered" ? "st ok" : "st"}>
      <CircleCheck className="i" size={14} aria-hidden />
      {t("usage.said_when", {
        said: state.outcome === "answered" ? t("usage.ok") : t("usage.stopped"),
        when,
      })}
    </span>
  );
}

interface DetailsProps {
  line: Line;
  tried: Tried | undefined;
  locked: boolean;
}

function Details({ line, tried, locked }: DetailsProps) {
  const t = useT();
  const price = (value: number | null) => (value === null ? t("usage.unknown") : money(value));
  return (
    <div className="prov-d">
      {line.settings && (
        <div className="card">
          <ProviderRow
            name={line.name}
            provider={line.settings}
            model={line.model}
            locked={locked}
          />
        </div>
      )}
      <div className="col">
        <Status state={line.state} tried={tried} />
        {tried && tried !== "now" && !tried.ok && (
          <p className="hint wrap-any">{tried.problem ?? t("models.test.silent")}</p>
        )}
      </div>
      {line.models.length > 0 && (
        <table className="tbl">
          <caption className="hint">{t("usage.prices")}</caption>
          <thead>
            <tr>
              <th scope="col">{t("models.model")}</th>
              <th scope="col" className="r">
                {t("usage.price.in")}
              </th>
              <th scope="col" className="r">
                {t("usage.price.out")}
              </th>
            </tr>
          </thead>
          <tbody>
            {line.models.map((model) => (
              <tr key={model.id}>
                <th scope="row" className="mono t12 wrap-any">
                  {model.id.slice(line.name.length + 1)}
                </th>
                <td className="r">{price(model.input_price)}</td>
                <td className="r">{price(model.output_price)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
