/** What a person wrote, from the moment it was sent. */
import { Check, CircleAlert, Clock, Copy, LoaderCircle, Quote } from "lucide-react";
import { memo, useState } from "react";
import type { BlobPart, Post, StoredFile } from "@/api/types";
import { useT } from "@/i18n";
import { clock } from "@/i18n/format";
import { wordsOf } from "@/i18n/problem";
import { type Outgoing, resend, withdraw } from "@/live/outbox";
import { Button } from "@/ui";
import { Action, copyAction } from "./actions";
import { textOf } from "./blocks";
import { Files } from "./files";
import { PlainText } from "./plain-text";
import { QuoteLine } from "./quote-line";

interface MineProps {
  post: Post;
  /** An answer before it is still being made. */
  waits: boolean;
  quoted: Post | undefined;
  onQuote: (post: Post) => void;
}

export const MineMessage = memo(({ post, waits, quoted, onQuote }: MineProps) => {
  const t = useT();
  const text = textOf(post.parts);
  const files = post.parts.filter((part): part is BlobPart => part.type === "blob");
  return (
    <article className="m me" tabIndex={-1} data-post={post.id}>
      <Bubble text={text} files={files} quoted={quoted} />
      <footer className="m-foot">
        {waits ? (
          <>
            <Clock className="i" size={14} aria-hidden />
            <span>{t("chat.waits")}</span>
          </>
        ) : (
          <>
            <time dateTime={post.at}>{clock(post.at)}</time>
            <Check className="i" size={14} role="img" aria-label={t("chat.sent")} />
          </>
        )}
        <span className="acts">
          {text && (
            <Action label={t("ui.copy")} name="copy" Icon={Copy} onClick={() => copyAction(text)} />
          )}
          <Action label={t("chat.quote")} name="quote" Icon={Quote} onClick={() => onQuote(post)} />
        </span>
      </footer>
    </article>
  );
});

export function PendingMessage({
  out,
  place,
  quoted,
}: {
  out: Outgoing;
  place: number;
  quoted: Post | undefined;
}) {
  const t = useT();
  const failed = out.state === "failed";
  const offline = !failed && place > 0;
  return (
    <article className="m me" tabIndex={-1}>
      <Bubble text={out.text} files={out.files} quoted={quoted} />
      <footer className="m-foot" role={failed ? "alert" : undefined}>
        {failed && (
          <>
            <span className="kr row row-1">
              <CircleAlert className="i" size={14} aria-hidden />
              {t("chat.not_sent", { reason: out.problem ? wordsOf(out.problem).message : "" })}
            </span>
            <Button size="sm" onClick={() => resend(out.clientId)}>
              {t("chat.resend")}
            </Button>
            <Button size="sm" kind="ghost" onClick={() => withdraw(out.clientId)}>
              {t("chat.discard")}
            </Button>
          </>
        )}
        {offline && (
          <>
            <Clock className="i" size={14} aria-hidden />
            <span>{t("chat.offline", { place })}</span>
            <Button size="sm" kind="ghost" onClick={() => withdraw(out.clientId)}>
              {t("chat.withdraw")}
            </Button>
          </>
        )}
        {!failed && !offline && (
          <>
            <LoaderCircle className="i spin" size={14} aria-hidden />
            <span>{t("chat.sending")}</span>
          </>
        )}
      </footer>
    </article>
  );
}

interface BubbleProps {
  text: string;
  files: readonly (BlobPart | StoredFile)[];
  quoted: Post | undefined;
}

const LONG_CHARACTERS = 1_500;
const LONG_LINES = 24;

function Bubble({ text, files, quoted }: BubbleProps) {
  const t = useT();
  const [open, setOpen] = useState(false);
  const long =
    text.length > LONG_CHARACTERS || text.split("\n", LONG_LINES + 1).length > LONG_LINES;
  return (
    <div className="bub">
      {quoted && <QuoteLine post={quoted} />}
      {text && <PlainText text={text} folded={long && !open} />}
      {long && (
        <button type="button" className="more" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? t("chat.fold") : t("chat.unfold")}
        </button>
      )}
      {files.length > 0 && <Files files={files} />}
    </div>
  );
}
