/** The steps of an answer: in one line, and opened each with what went in and what came out. */
import {
  ChevronRight,
  CircleCheck,
  CircleDashed,
  CircleX,
  Hand,
  LoaderCircle,
  Square,
} from "lucide-react";
import { useState } from "react";
import { useApprovalsOf } from "@/api/approvals";
import type { ApprovalRecord } from "@/api/types";
import { useT } from "@/i18n";
import { number } from "@/i18n/format";
import { Decided } from "./approval-card";
import { argumentLine, type ToolStep } from "./blocks";
import { duration } from "./size";
import { useStepTimes } from "./step-times";
import { toolName } from "./tool-name";

interface Props {
  steps: readonly ToolStep[];
  /** The next step's arguments are still being written. */
  writing: boolean;
  live: boolean;
  run: string | null;
}

export function Timeline({ steps, writing, live, run }: Props) {
  const t = useT();
  const [open, setOpen] = useState(false);
  const known = steps.every((step) => step.ms !== null);
  const times = useStepTimes(run, open && !live && !known);
  const asked = useApprovalsOf(run, open && !live);
  const timed = steps.map((step) => ({ ...step, ms: step.ms ?? times.get(step.call.id) ?? null }));
  const total = timed.reduce((sum, step) => sum + (step.ms ?? 0), 0);
  const failed = steps.filter((step) => step.state === "failed").length;
  const cut = steps.some((step) => step.state === "cut");
  const running = steps.find((step) => step.state === "running" || step.state === "waiting");
  const names = [...new Set(steps.map((step) => toolName(t, step.call.name)))].join(
    t("chat.steps.comma"),
  );
  const state =
    running || writing
      ? (running?.state ?? "running")
      : failed === steps.length
        ? "failed"
        : cut
          ? "cut"
          : "done";
  return (
    <details className="tl" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ChevronRight className="i chev" size={14} aria-hidden />
        <StateIcon state={state} size={14} />
        {running ? (
          <>
            <span className="med">{toolName(t, running.call.name)}</span>
            <span className="k3 ell">
              {t("chat.steps.nth", { nth: number(steps.indexOf(running) + 1) })}
            </span>
          </>
        ) : writing ? (
          <span className="med">{t("chat.steps.writing")}</span>
        ) : (
          <>
            <span className="med">
              {steps.length === 1
                ? t("chat.steps.one")
                : t("chat.steps", { count: number(steps.length) })}
              {total > 0 && t("chat.steps.time", { seconds: duration(total) })}
            </span>
            <span className="k3 ell">
              {failed > 0 ? t("chat.steps.failed", { failed: number(failed), names }) : names}
            </span>
          </>
        )}
      </summary>
      <div className="tl-b">
        {timed.map((step) => (
          <Step
            key={step.call.id}
            step={step}
            asked={asked?.filter((one) => one.call === step.call.id) ?? []}
          />
        ))}
        {writing && (
          <div className="ti flat">
            <StateIcon state="queued" size={16} />
            <b>{t("chat.steps.writing")}</b>
          </div>
        )}
      </div>
    </details>
  );
}

function Step({ step, asked }: { step: ToolStep; asked: readonly ApprovalRecord[] }) {
  const t = useT();
  const { call, state, output, ms } = step;
  const said = output.map((part) => (part.type === "text" ? part.text : part.name)).join("\n");
  const given =
    Object.keys(call.arguments).length > 0 ? JSON.stringify(call.arguments, null, 2) : "";
  return (
    <details className="ti">
      <summary>
        <StateIcon state={state} size={16} />
        <b>{toolName(t, call.name)}</b>
        <span className="arg ell">{call.malformed ?? argumentLine(call.arguments)}</span>
        <span className="sec">
          {ms === null ? "" : t("chat.seconds", { seconds: duration(ms) })}
        </span>
        <ChevronRight className="i chev" size={14} aria-hidden />
      </summary>
      {given && <div className="out">{given}</div>}
      {asked.map(
        (one) => one.state !== "asked" && <Decided key={one.id} approval={one} state={one.state} />,
      )}
      {said && <div className={state === "failed" ? "out bad" : "out"}>{said}</div>}
      {state === "cut" && <div className="out">{t("chat.step.cut")}</div>}
    </details>
  );
}

const ICONS = {
  running: { Icon: LoaderCircle, tone: "run", word: "chat.step.running", spin: true },
  waiting: { Icon: Hand, tone: "wait", word: "chat.step.waiting", spin: false },
  done: { Icon: CircleCheck, tone: "ok", word: "chat.step.done", spin: false },
  failed: { Icon: CircleX, tone: "bad", word: "chat.step.failed", spin: false },
  cut: { Icon: Square, tone: "off", word: "chat.step.cut", spin: false },
  queued: { Icon: CircleDashed, tone: "off", word: "chat.step.queued", spin: false },
} as const;

function StateIcon({ state, size }: { state: keyof typeof ICONS; size: number }) {
  const t = useT();
  const { Icon, tone, word, spin } = ICONS[state];
  return (
    <span className={`st ${tone}`}>
      <Icon className={spin ? "i spin" : "i"} size={size} role="img" aria-label={t(word)} />
    </span>
  );
}
