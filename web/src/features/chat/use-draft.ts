/** The words being written to `to`: at once in the field, a moment later in the store of drafts. */
import { useCallback, useEffect, useRef, useState } from "react";
import { setDraft, useDrafts } from "@/live/drafts";

const KEEP_AFTER_MS = 250;
/** A text this long is rather a file; storing it at each pause would make typing slow. */
const KEEP_CHARACTERS = 100_000;

export function useDraft(to: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => useDrafts.getState()[to] ?? "");
  const newest = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const keep = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = undefined;
    if (newest.current.length <= KEEP_CHARACTERS) setDraft(to, newest.current);
  }, [to]);

  useEffect(() => {
    const leave = () => timer.current !== undefined && keep();
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("pagehide", leave);
      leave();
    };
  }, [keep]);

  const write = useCallback(
    (next: string) => {
      newest.current = next;
      setText(next);
      clearTimeout(timer.current);
      if (next === "") keep();
      else timer.current = setTimeout(keep, KEEP_AFTER_MS);
    },
    [keep],
  );
  return [text, write];
}
