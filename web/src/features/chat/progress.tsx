/** What an agent is doing right now, with a number. */
import { LoaderCircle } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useT } from "@/i18n";
import { number } from "@/i18n/format";
import type { Answer } from "@/live/answer";
import { type ShownBlock, tokensIn } from "./blocks";

const WINDOW_MS = 3_000;
const SAMPLE_MS = 500;

/** Tokens per second over the last moments, or null before there is enough to tell. */
function useRate(text: string): number | null {
  const samples = useRef<{ at: number; tokens: number }[]>([]);
  const newest = useRef(text);
  newest.current = text;
  const [rate, setRate] = useState<number | null>(null);
  useEffect(() => {
    const timer = setInterval(() => {
      const now = performance.now();
      const recent = samples.current.filter((sample) => now - sample.at <= WINDOW_MS);
      samples.current = [...recent, { at: now, tokens: tokensIn(newest.current) }];
      const first = samples.current[0];
      const last = samples.current.at(-1);
      if (!first || !last || last.at - first.at < SAMPLE_MS * 1.5) return;
      setRate((last.tokens - first.tokens) / ((last.at - first.at) / 1000));
    }, SAMPLE_MS);
    return () => clearInterval(timer);
  }, []);
  return rate;
}

/** Seconds since `phase` began, as this page saw it. */
function useSeconds(phase: string): number {
  const [seconds, setSeconds] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the clock starts anew with each phase
  useEffect(() => {
    const began = performance.now();
    setSeconds(0);
    const timer = setInterval(
      () => setSeconds(Math.floor((performance.now() - began) / 1000)),
      500,
    );
    return () => clearInterval(timer);
  }, [phase]);
  return seconds;
}

interface Props {
  answer: Answer | null;
  blocks: readonly ShownBlock[];
}

const WORDS = {
  queued: "chat.doing.queued",
  reading: "chat.doing.reading",
  thinking: "chat.doing.thinking",
  tools: "chat.doing.tools",
  waiting: "chat.doing.waiting",
  writing: "chat.doing.writing",
} as const;

export function Progress({ answer, blocks }: Props) {
  const t = useT();
  const last = blocks.at(-1);
  const phase = phaseOf(answer, last);
  const seconds = useSeconds(phase);
  const rate = useRate(last && "text" in last ? last.text : "");
  const rated = phase === "writing" || phase === "thinking";
  return (
    <>
      <span className="st run progress">
        <LoaderCircle className="i spin" size={14} aria-hidden />
        {t(WORDS[phase])}
      </span>
      {!rated && seconds > 0 && <span>{t("chat.seconds", { seconds: number(seconds) })}</span>}
      {rated && rate !== null && rate >= 0.5 && (
        <span>{t("chat.rate", { rate: number(rate, rate < 10 ? 1 : 0) })}</span>
      )}
      {answer && answer.attempt > 1 && (
        <span>{t("chat.attempt", { attempt: number(answer.attempt) })}</span>
      )}
    </>
  );
}

function phaseOf(answer: Answer | null, last: ShownBlock | undefined): keyof typeof WORDS {
  if (!answer) return "queued";
  if (!last) return "reading";
  if (last.kind === "thinking") return "thinking";
  if (last.kind !== "steps") return "writing";
  if (last.steps.some((step) => step.state === "waiting")) return "waiting";
  return last.writing || last.steps.some((step) => step.state === "running") ? "tools" : "reading";
}
