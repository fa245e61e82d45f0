/** Turns whatever went wrong into words: what happened, and what to do. */
import { ApiError } from "@/api/client";
import type { Problem } from "@/api/types";
import { errorText, text } from ".";

export interface Words {
  message: string;
  hint: string | null;
}

/** The reader's language wins; the server's own words serve for a code that the page lacks. */
export function wordsOf(problem: Problem): Words {
  return {
    message: errorText(problem.code, problem.values) || problem.message || problem.code,
    hint: errorText(`${problem.code}.hint`, problem.values) ?? problem.hint ?? null,
  };
}

export function explain(error: unknown): Words {
  if (error instanceof ApiError) {
    if (error.offline) return { message: text("ui.offline"), hint: text("ui.offline.hint") };
    if (error.code === "http_status") {
      return { message: text("ui.odd_answer", { status: error.status }), hint: null };
    }
    return wordsOf(error.problem);
  }
  return { message: text("ui.page_fault"), hint: null };
}
