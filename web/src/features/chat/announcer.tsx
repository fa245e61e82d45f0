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
    const begins = told.current.run !== answer.run;
    if (begins) told.current = { run: answer.run, length: 0 };
    const text = textOf(visible(answer).parts);
    const end = sentencesEnd(text);
    const fresh = text.slice(told.current.length, end);
    if (begins || fresh) say((begins ? `${t("chat.announce.begins", { name })} ` : "") + fresh);
    told.current.length = Math.max(end, told.current.length);
  }, [answer, name, t]);
  return (
    <div className="sr" aria-live="polite">
      {said}
    </div>
  );
}
