/** How a provider did at last, in plain words, and how soon its answers begin. */
import { CircleCheck, CircleDashed, CircleX, LoaderCircle } from "lucide-react";
import type { ProviderState } from "@/api/usage";
import { type PageKey, useT } from "@/i18n";
import { ago, seconds } from "@/i18n/format";

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
export type Tried = "now" | { ok: boolean; problem: string | null; first: number | null };

interface StatusProps {
  state: ProviderState | undefined;
  tried: Tried | undefined;
}

export function FirstToken({ state, tried }: StatusProps) {
  const t = useT();
  const ms =
    state?.first_token_ms ?? (tried !== undefined && tried !== "now" ? tried.first : undefined);
  return ms === undefined || ms === null ? (
    <span className="k3">{t("usage.no_figure")}</span>
  ) : (
    t("usage.seconds", { seconds: seconds(ms) })
  );
}

export function Status({ state, tried }: StatusProps) {
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
