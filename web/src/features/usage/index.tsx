/** What models have cost, how their providers do, and how far money may go. */
import "./usage.css";
import { ChartColumn, Download, Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { useManages, useSettings } from "@/api/queries";
import { useUsage } from "@/api/usage";
import { AddProvider } from "@/features/models/add-provider";
import { type PageKey, useLanguage, useT } from "@/i18n";
import { Button, ButtonLink, Empty, Failure, Segmented, Skeleton } from "@/ui";
import { Budgets } from "./budgets";
import { Chains } from "./chains";
import { KeysCard } from "./keys-card";
import { PERIODS, type Period, spanOf, today } from "./period";
import { Providers } from "./providers";
import { Spend, type Whose } from "./spend";
import { add, csvOf } from "./sums";
import { Totals } from "./totals";

const NAMES: Record<Period, PageKey> = {
  week: "usage.period.week",
  month: "usage.period.month",
  year: "usage.period.year",
};

export default function UsagePage() {
  const t = useT();
  const language = useLanguage();
  const manages = useManages();
  const settings = useSettings(manages);
  const [period, setPeriod] = useState<Period>("month");
  const [by, setBy] = useState<Whose>("agent");
  const [adding, setAdding] = useState(false);
  const day = today();
  const span = useMemo(() => spanOf(period, day), [period, day]);
  const rows = useUsage({ by, since: span.since, daily: true });
  const before = useUsage({ by: "day", ...span.before });
  const when =
    period === "week"
      ? t("usage.period.week")
      : new Intl.DateTimeFormat(language, {
          timeZone: "UTC",
          year: "numeric",
          ...(period === "month" ? { month: "long" } : {}),
        }).format(new Date(day));

  return (
    <main className="main" id="content" tabIndex={-1}>
      <header className="bar-h usage-h">
        <div className="grow">
          <h1 className="t15 ell">{t("usage.title")}</h1>
          <p className="t12 k3 ell desk-only">{t("usage.about", { when })}</p>
        </div>
        <Segmented
          label={t("usage.period")}
          value={period}
          choices={PERIODS.map((one) => ({ value: one, label: t(NAMES[one]) }))}
          onChange={setPeriod}
        />
        <Button
          aria-label={t("usage.csv")}
          disabled={!rows.data?.length}
          icon={<Download className="i" size={16} aria-hidden />}
          onClick={() => rows.data && save(csvOf(rows.data, by), `teahouse-${by}-${day}.csv`)}
        >
          <span className="desk-only">CSV</span>
        </Button>
        {manages && (
          <Button
            kind="primary"
            aria-label={t("settings.models.add")}
            icon={<Plus className="i" size={16} aria-hidden />}
            onClick={() => setAdding(true)}
          >
            <span className="desk-only">{t("usage.provider")}</span>
          </Button>
        )}
      </header>
      <div className="scroll">
        <div className="page">
          <div className={manages ? "ug" : undefined}>
            <div className="col col-4">
              {rows.isPending && <Skeleton rows={4} />}
              {rows.isError && <Failure error={rows.error} retry={() => void rows.refetch()} />}
              {rows.data && rows.data.length > 0 && (
                <>
                  <Totals
                    sum={add(rows.data)}
                    before={before.data && add(before.data)}
                    period={period}
                  />
                  <Spend
                    rows={rows.data}
                    slots={span.slots}
                    period={period}
                    by={by}
                    onBy={setBy}
                    people={manages}
                  />
                </>
              )}
              {rows.data?.length === 0 && <Nothing />}
              {manages && <Providers span={span} period={period} />}
            </div>
            <div className="col col-4">
              {manages && <Budgets />}
              {manages && <Chains since={span.since} />}
              <KeysCard />
            </div>
          </div>
        </div>
      </div>
      {adding && (
        <AddProvider
          first={Object.keys(settings.data?.providers ?? {}).length === 0}
          onClose={() => setAdding(false)}
        />
      )}
    </main>
  );
}

function Nothing() {
  const t = useT();
  return (
    <section className="card">
      <Empty
        icon={<ChartColumn className="i" size={22} aria-hidden />}
        title={t("usage.none")}
        actions={<ButtonLink to="/chats">{t("shell.home")}</ButtonLink>}
      >
        {t("usage.none.hint")}
      </Empty>
    </section>
  );
}

function save(text: string, name: string) {
  // With its mark, for spreadsheets that would else read another encoding.
  const url = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
