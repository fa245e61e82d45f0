/** An answer while it is being made: the twin of `core.events.fold` and `unfinished`. */
import type { Approval, Part, Problem, RunEvent } from "@/api/types";

export type DeltaKind = "text" | "thinking" | "tool_call";
/** A part of the present reply: whole, or still coming in deltas. */
export type Piece = { part: Part } | { kind: DeltaKind; text: string };

export interface ToolRun {
  name: string;
  arguments: Record<string, unknown>;
  /** When it began, in the server's clock. */
  at: string;
  elapsedMs: number | null;
}

export interface Answer {
  run: string;
  author: string;
  attempt: number;
  at: string;
  /** Parts of the replies and tool results before the present reply. */
  done: readonly Part[];
  /** The present reply, by index. */
  reply: ReadonlyMap<number, Piece>;
  tools: ReadonlyMap<string, ToolRun>;
  /** What a person was asked about, by call: the newest word of each. */
  approvals: ReadonlyMap<string, Approval>;
  problem: Problem | null;
}

export function begin(run: string, author: string, attempt: number, at: string): Answer {
  return {
    run,
    author,
    attempt,
    at,
    done: [],
    reply: new Map(),
    tools: new Map(),
    approvals: new Map(),
    problem: null,
  };
}

export function advance(answer: Answer, event: RunEvent, at: string): Answer {
  switch (event.type) {
    case "stream_start":
      return begin(answer.run, event.author, event.attempt, at);
    case "stream_chunk": {
      const before = answer.reply.get(event.index);
      if (before && "part" in before) return answer;
      const text = (before?.text ?? "") + event.delta;
      return withPiece(answer, event.index, { kind: event.kind, text });
    }
    case "part":
      return withPiece(answer, event.index, { part: event.part });
    case "reply_done":
      return {
        ...answer,
        done: [...answer.done, ...closed(answer)],
        reply: new Map(),
      };
    case "tool_call": {
      const { name, arguments: given } = event;
      return withTool(answer, event.call, { name, arguments: given, at, elapsedMs: null });
    }
    case "tool_result": {
      const tool = answer.tools.get(event.result.call);
      const done = [...answer.done, event.result];
      if (!tool) return { ...answer, done };
      const elapsedMs = event.elapsed_ms ?? 0;
      return { ...withTool(answer, event.result.call, { ...tool, elapsedMs }), done };
    }
    case "approval":
      return { ...answer, approvals: new Map(answer.approvals).set(event.call, event) };
    case "error":
      return { ...answer, problem: event.problem };
    default:
      return answer;
  }
}

/** The parts that stand: `core.events.fold`. */
export function parts(answer: Answer): Part[] {
  return [...answer.done, ...closed(answer)];
}

/** Also what has come of open parts, but no half tool call: `core.events.unfinished`. */
export function unfinished(answer: Answer): Part[] {
  const open = [...answer.reply.values()].flatMap((piece): Part[] =>
    "part" in piece || piece.kind === "tool_call" ? [] : [{ type: piece.kind, text: piece.text }],
  );
  return [...parts(answer), ...open];
}

/** What an eye sees now: every part in its place, the open ones among them. */
export function visible(answer: Answer): { parts: Part[]; calling: boolean } {
  let calling = false;
  const now = inOrder(answer).flatMap((piece): Part[] => {
    if ("part" in piece) return [piece.part];
    if (piece.kind === "tool_call") {
      calling = true;
      return [];
    }
    return [{ type: piece.kind, text: piece.text }];
  });
  return { parts: [...answer.done, ...now], calling };
}

function inOrder(answer: Answer): Piece[] {
  return [...answer.reply].sort(([a], [b]) => a - b).map(([, piece]) => piece);
}

const closed = (answer: Answer): Part[] =>
  inOrder(answer).flatMap((piece) => ("part" in piece ? [piece.part] : []));

function withPiece(answer: Answer, index: number, piece: Piece): Answer {
  return { ...answer, reply: new Map(answer.reply).set(index, piece) };
}

function withTool(answer: Answer, call: string, tool: ToolRun): Answer {
  return { ...answer, tools: new Map(answer.tools).set(call, tool) };
}
