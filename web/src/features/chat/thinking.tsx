/** What a model thought before it spoke: folded, since few want to read it. */
import { Brain, ChevronRight } from "lucide-react";
import { useT } from "@/i18n";
import { Markdown } from "@/ui/markdown";

export function Thinking({ text, open }: { text: string; open: boolean }) {
  const t = useT();
  return (
    <details className="tl think">
      <summary>
        <ChevronRight className="i chev" size={14} aria-hidden />
        <Brain className="i k3" size={14} aria-hidden />
        <span className="med">{t(open ? "chat.thinking" : "chat.thought")}</span>
        {open && <span className="ell k3">{text.trim().split("\n").at(-1)?.slice(-80)}</span>}
      </summary>
      <div className="tl-b think-b">
        <Markdown text={text} growing={open} />
      </div>
    </details>
  );
}
