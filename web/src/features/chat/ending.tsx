/** How an answer ended, when not by itself, and how to go on. */
import { Square } from "lucide-react";
import type { Post } from "@/api/types";
import { useT } from "@/i18n";
import { number } from "@/i18n/format";
import { Button } from "@/ui";
import { duration } from "./size";

const WORDS = {
  stopped: "chat.ended.stopped",
  length: "chat.ended.length",
  limit: "chat.ended.limit",
  filtered: "chat.ended.filtered",
} as const;

interface Props {
  post: Post;
  last: boolean;
  onContinue: () => void;
}

export function Ending({ post, last, onContinue }: Props) {
  const t = useT();
  const { ending, usage, elapsed_ms: ms = null } = post;
  const cut = ending && ending in WORDS ? WORDS[ending as keyof typeof WORDS] : null;
  const tokens = usage?.output ?? 0;
  return (
    <>
      {ms !== null && !cut && ending !== "failed" && (
        <span>{t("chat.seconds", { seconds: duration(ms) })}</span>
      )}
      {tokens > 0 && !cut && (
        <span className="desk-only">
          {t(usage?.estimated ? "chat.tokens.about" : "chat.tokens", {
            count: number(tokens),
          })}
        </span>
      )}
      {cut && (
        <span className="row row-1">
          <Square className="i" size={12} aria-hidden />
          {t(cut)}
        </span>
      )}
      {cut && last && ending !== "filtered" && (
        <Button kind="ghost" size="sm" onClick={onContinue}>
          {t("chat.continue")}
        </Button>
      )}
    </>
  );
}
