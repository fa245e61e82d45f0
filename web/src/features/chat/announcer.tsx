/** Tells a screen reader what is being written, sentence by sentence. */
import { useEffect, useRef, useState } from "react";
import { useT } from "@/i18n";
import { type Answer, visible } from "@/live/answer";
import { textOf } from "./blocks";

const SENTENCE_END = /[。！？!?\n]|[.](?=\s)/g;

/** How far into `text` its last whole sentence reaches. */
export function sentencesEnd(text: string): number {
  let end = 0;
  for (const found of text.matchAll(SENTENCE_END)) end = found.index + found[0].length;
  return end;
}

export function Announcer({ answer, name }: { answer: Answer | null; name: string }) {
  const t = useT();
  const [said, say] = useState("");
  const told = useRef({ run: "", length: 0 });
  useEffect(() => {
    if (!answer) {
      if (told.current.run) say(t("chat.announce.done", { name }));
      told.current = { run: "", length: 0 };
      return;
    }
    if (told.current.run !== answer.run) {
      told.current = { run: answer.run, length: 0 };
      say(t("chat.announce.begins", { name }));
    }
    const text = textOf(visible(answer).parts);
    const end = sentencesEnd(text);
    if (end > told.current.length) {
      say(text.slice(told.current.length, end));
      told.current.length = end;
    }
  }, [answer, name, t]);
  return (
    <div className="sr" aria-live="polite">
      {said}
    </div>
  );
}
