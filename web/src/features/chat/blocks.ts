/** The parts of an answer as what is shown: text, thinking, files, and steps grouped in a timeline. */
import type { Approval, BlobPart, Part, TextPart, ToolCallPart } from "@/api/types";
import type { Answer } from "@/live/answer";

export type StepState = "running" | "waiting" | "done" | "failed" | "cut";

export interface ToolStep {
  call: ToolCallPart;
  state: StepState;
  output: (TextPart | BlobPart)[];
  ms: number | null;
  /** What a person was asked about it, as far as this page saw it. */
  approval: Approval | null;
}

export type ShownBlock =
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string; open: boolean }
  | { kind: "file"; file: BlobPart }
  | { kind: "steps"; steps: ToolStep[]; writing: boolean };

interface Known {
  answer: Answer | null;
  /** How long steps took, where that was seen. */
  toolMs: ReadonlyMap<string, number> | null;
  /** A step of the run's model is being written. */
  calling: boolean;
}

export function blocksOf(parts: readonly Part[], { answer, toolMs, calling }: Known): ShownBlock[] {
  const results = new Map(
    parts.flatMap((part) => (part.type === "tool_result" ? [[part.call, part] as const] : [])),
  );
  const stepOf = (call: ToolCallPart): ToolStep => {
    const result = results.get(call.id);
    const tool = answer?.tools.get(call.id);
    const approval = answer?.approvals.get(call.id) ?? null;
    const open = approval?.state === "asked" ? "waiting" : "running";
    const state = result ? (result.is_error ? "failed" : "done") : answer ? open : "cut";
    const ms = toolMs?.get(call.id) ?? tool?.elapsedMs ?? null;
    return { call, state, output: result?.content ?? [], ms, approval };
  };
  const blocks: ShownBlock[] = [];
  for (const part of parts) {
    const last = blocks.at(-1);
    switch (part.type) {
      case "text":
        if (last?.kind === "text") last.text += part.text;
        else if (part.text.trim()) blocks.push({ kind: "text", text: part.text });
        break;
      case "thinking":
        if (last?.kind === "thinking") last.text += `\n\n${part.text}`;
        else if (part.text.trim()) blocks.push({ kind: "thinking", text: part.text, open: false });
        break;
      case "blob":
        blocks.push({ kind: "file", file: part });
        break;
      case "tool_call":
        if (last?.kind === "steps") last.steps.push(stepOf(part));
        else blocks.push({ kind: "steps", steps: [stepOf(part)], writing: false });
        break;
      default:
        break;
    }
  }
  const last = blocks.at(-1);
  if (answer && last?.kind === "thinking") last.open = true;
  if (calling && last?.kind === "steps") last.writing = true;
  else if (calling) blocks.push({ kind: "steps", steps: [], writing: true });
  return blocks;
}

/** The arguments of a call in one line: a lone value by itself, several by name. */
export function argumentLine(given: Record<string, unknown>): string {
  const entries = Object.entries(given);
  const show = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const [only, ...others] = entries;
  if (!only) return "";
  if (others.length === 0) return show(only[1]);
  return entries.map(([name, value]) => `${name}: ${show(value)}`).join(", ");
}

/** About how many tokens a text has: a CJK character one, four others one. */
export function tokensIn(text: string): number {
  const wide = text.match(/[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/g)?.length ?? 0;
  return wide + (text.length - wide) / 4;
}

export const textOf = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");

/** Names are shown as they are, but without the characters that turn the direction of a line. */
export const plainName = (name: string): string =>
  name.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

/** The words of a Markdown text in one line, without its signs. */
export const oneLine = (text: string): string =>
  text
    .replace(/^\s*(?:#{1,6}\s|>\s?|[-*+]\s|```\w*)/gm, "")
    .replace(/\*+(\S)/g, "$1")
    .replace(/(\S)\*+/g, "$1")
    .replace(/`+|\|[\s:|-]*\|?/g, " ")
    .replace(/\s+/g, " ")
    .trim();
