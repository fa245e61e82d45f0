/** A call that waits for a yes: all that it would do, and the ways to answer. */
import { CircleCheck, CircleX, Hand, Hourglass, TriangleAlert } from "lucide-react";
import { type KeyboardEvent, useEffect, useState } from "react";
import { useAnswerApproval } from "@/api/approvals";
import type { Approval } from "@/api/types";
import { type PageKey, useT } from "@/i18n";
import { number } from "@/i18n/format";
import { explain } from "@/i18n/problem";
import { Banner, Button, cx } from "@/ui";
import { toolName } from "./tool-name";
import { shownArguments, visible } from "./visible";

const EFFECTS: Record<Approval["effect"], PageKey> = {
  read: "approval.effect.read",
  write: "approval.effect.write",
  external: "approval.effect.external",
};
const REASONS: Record<string, PageKey> = {
  command: "approval.reason.command",
  external: "approval.reason.external",
  undeclared: "approval.reason.undeclared",
  rule: "approval.reason.rule",
  foreign: "approval.reason.foreign",
};
const DECIDED = {
  granted: { Icon: CircleCheck, tone: "ok", word: "approval.granted" },
  denied: { Icon: CircleX, tone: "bad", word: "approval.denied" },
  expired: { Icon: Hourglass, tone: "off", word: "approval.expired" },
} as const;

/** Whole seconds until then, counted down. */
function useSecondsTo(instant: string): number {
  const left = () => Math.max(0, Math.ceil((Date.parse(instant) - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `left` is of the same instant
  useEffect(() => {
    const timer = setInterval(() => setSeconds(left()), 1000);
    return () => clearInterval(timer);
  }, [instant]);
  return seconds;
}

export function ApprovalCard({ approval }: { approval: Approval }) {
  return approval.state === "asked" ? (
    <Open approval={approval} />
  ) : (
    <Decided approval={approval} state={approval.state} />
  );
}

interface DecidedProps {
  approval: Pick<Approval, "tool" | "arguments">;
  state: keyof typeof DECIDED;
}

export function Decided({ approval, state }: DecidedProps) {
  const t = useT();
  const { Icon, tone, word } = DECIDED[state];
  return (
    <p className="appr-done">
      <span className={`st ${tone}`}>
        <Icon className="i" size={16} aria-hidden />
      </span>
      <b className="med">{t(word)}</b>
      <code className="k2 ell">
        {visible(toolName(t, approval.tool))} {visible(JSON.stringify(approval.arguments))}
      </code>
    </p>
  );
}

function Open({ approval }: { approval: Approval }) {
  const t = useT();
  const [choosing, setChoosing] = useState(false);
  const seconds = useSecondsTo(approval.expires_at);
  const answer = useAnswerApproval(approval.id);
  const busy = answer.isPending || answer.isSuccess;
  const { words } = approval;
  // Of a command without words only the very same call can be allowed for longer.
  const pattern = !words ? ["*"] : words.length > 0 ? [...words.slice(0, 2), "*"] : null;
  const tool = visible(toolName(t, approval.tool));
  const like = words && pattern ? visible(pattern.join(" ")) : tool;
  const reason = REASONS[approval.reason];

  function pressed(event: KeyboardEvent<HTMLElement>) {
    if (busy || event.target !== event.currentTarget || event.ctrlKey || event.metaKey) return;
    if (event.key === "a") answer.mutate({ decision: "once" });
    else if (event.key === "d") answer.mutate({ decision: "deny" });
  }

  return (
    <section
      className="appr"
      aria-label={t("approval.title", { tool })}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: A and D work while it has the focus
      tabIndex={0}
      onKeyDown={pressed}
    >
      <header className="appr-h">
        <Hand className="i" size={16} aria-hidden />
        <b>{t("approval.title", { tool })}</b>
        <span className="end t12 k2 num" role="timer">
          {t("approval.left", {
            minutes: number(Math.floor(seconds / 60)),
            seconds: String(seconds % 60).padStart(2, "0"),
          })}
        </span>
      </header>
      <div className="appr-b">
        <div className="cmd" data-approval={approval.id}>
          {shownArguments(approval.arguments) || t("approval.no_arguments")}
        </div>
        <ul className="eff">
          <li className={cx(approval.effect === "external" && "hot")}>
            <TriangleAlert className="i" size={14} aria-hidden />
            <span>{t(EFFECTS[approval.effect])}</span>
          </li>
          <li>
            <Hand className="i" size={14} aria-hidden />
            <span>
              {reason ? t(reason) : t("approval.reason.other", { reason: approval.reason })}
            </span>
          </li>
        </ul>
        {answer.error && <Banner tone="error">{explain(answer.error).message}</Banner>}
      </div>
      {choosing ? (
        <footer className="appr-f">
          <Button
            kind="primary"
            disabled={busy}
            onClick={() => answer.mutate({ decision: "always" })}
          >
            {t("approval.always.exact")}
          </Button>
          {pattern && (
            <Button disabled={busy} onClick={() => answer.mutate({ decision: "always", pattern })}>
              {t("approval.always.like", { like })}
            </Button>
          )}
          <Button kind="ghost" onClick={() => setChoosing(false)}>
            {t("ui.back")}
          </Button>
          <span className="hint">{t("approval.always.hint")}</span>
        </footer>
      ) : (
        <footer className="appr-f">
          <Button
            kind="primary"
            disabled={busy}
            onClick={() => answer.mutate({ decision: "once" })}
          >
            {t("approval.once")}
          </Button>
          <Button disabled={busy} onClick={() => setChoosing(true)}>
            {t("approval.always")}
          </Button>
          <Button kind="danger" disabled={busy} onClick={() => answer.mutate({ decision: "deny" })}>
            {t("approval.deny")}
          </Button>
        </footer>
      )}
    </section>
  );
}
