/** The log: messages in their order, the end kept in sight, older ones fetched on the way up. */
import { ArrowDown, LoaderCircle } from "lucide-react";
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useRef,
  useState,
} from "react";
import type { Post } from "@/api/types";
import { inTextField } from "@/app/shortcuts";
import { useT } from "@/i18n";
import { day } from "@/i18n/format";
import { readOlder } from "@/live/live";
import { complete, type Thread } from "@/live/reduce";
import { Button } from "@/ui";
import type { Item } from "./arrange";
import { AnswerMessage } from "./message-answer";
import { MineMessage, PendingMessage } from "./message-mine";
import { useStick } from "./use-stick";

interface Props {
  id: string;
  thread: Thread;
  items: readonly Item[];
  onQuote: (post: Post) => void;
  onContinue: () => void;
  onAgain: () => void;
  /** Stands in the middle while there is nothing to read. */
  empty: ReactNode;
}

const OLDER_WITHIN_PX = 400;

export function MessageLog({ id, thread, items, onQuote, onContinue, onAgain, empty }: Props) {
  const t = useT();
  const messages = items.filter((item) => item.kind !== "day");
  const { box, content, atEnd, toEnd } = useStick(id, messages[0]?.key);
  const older = useOlder(id, thread);
  const unseen = useUnseen(messages, atEnd);
  const own = messages.filter((item) => item.kind === "pending").length;
  useEffect(() => {
    if (own > 0) toEnd();
  }, [own, toEnd]);
  const last = messages.at(-1);
  const { posts } = thread;
  return (
    <div className="log-w">
      <div
        className="log scroll"
        ref={box}
        role="log"
        aria-label={t("chat.log")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls needs the keyboard
        tabIndex={0}
        onScroll={({ currentTarget }) => {
          if (currentTarget.scrollTop < OLDER_WITHIN_PX) older.read();
        }}
        onKeyDown={(event) => walk(event)}
      >
        <div className="log-in" ref={content}>
          {older.state === "reading" && (
            <div className="fold" role="status">
              <LoaderCircle className="i spin" size={14} aria-hidden />
              {t("chat.older.reading")}
            </div>
          )}
          {older.state === "failed" && (
            <div className="fold" role="alert">
              {t("chat.older.failed")}
              <Button size="sm" onClick={older.again}>
                {t("ui.retry")}
              </Button>
            </div>
          )}
          {messages.length === 0 && empty}
          {items.map((item) => {
            switch (item.kind) {
              case "day":
                return (
                  <div className="day" key={item.key}>
                    <time dateTime={item.at}>{day(item.at)}</time>
                  </div>
                );
              case "mine":
                return (
                  <MineMessage
                    key={item.key}
                    post={item.post}
                    waits={item.waits}
                    quoted={item.post.reply_to ? posts.get(item.post.reply_to) : undefined}
                    onQuote={onQuote}
                  />
                );
              case "answer":
                return (
                  <AnswerMessage
                    key={item.key}
                    author={item.author}
                    post={item.post}
                    answer={item.answer}
                    toolMs={item.post?.run ? thread.toolMs.get(item.post.run) : undefined}
                    last={item === last}
                    onQuote={onQuote}
                    onContinue={onContinue}
                    onAgain={onAgain}
                  />
                );
              default:
                return (
                  <PendingMessage
                    key={item.key}
                    out={item.out}
                    place={item.place}
                    quoted={item.out.replyTo ? posts.get(item.out.replyTo) : undefined}
                  />
                );
            }
          })}
        </div>
      </div>
      {!atEnd && (
        <Button
          className="to-end"
          size="sm"
          onClick={toEnd}
          icon={<ArrowDown className="i" size={14} aria-hidden />}
        >
          {unseen > 0 ? t("chat.new", { count: unseen }) : t("chat.to_end")}
        </Button>
      )}
    </div>
  );
}

/** How many messages have come since the reader left the end. */
function useUnseen(messages: readonly Item[], atEnd: boolean): number {
  const seen = useRef<string | undefined>(undefined);
  const lastKey = messages.at(-1)?.key;
  if (atEnd) seen.current = lastKey;
  const place = messages.findIndex((item) => item.key === seen.current);
  return place < 0 ? 0 : messages.length - 1 - place;
}

type Older = "idle" | "reading" | "failed";

function useOlder(id: string, thread: Thread) {
  const [state, setState] = useState<Older>("idle");
  const more = !complete(thread);
  const busy = useRef(false);
  const read = useCallback(() => {
    if (!more || busy.current) return;
    busy.current = true;
    setState("reading");
    readOlder(id)
      .then(() => setState("idle"))
      .catch(() => setState("failed"))
      .finally(() => {
        busy.current = false;
      });
  }, [id, more]);
  return { state, read: state === "failed" ? () => undefined : read, again: read };
}

/** `J K` walk through the messages, `C` copies and `Q` quotes the one with the focus. */
function walk(event: KeyboardEvent<HTMLDivElement>): void {
  if (event.ctrlKey || event.metaKey || event.altKey || inTextField(event.target)) return;
  const messages = [...event.currentTarget.querySelectorAll<HTMLElement>("article.m")];
  const at = messages.findIndex((message) => message.contains(document.activeElement));
  const key = event.key.toLowerCase();
  if (key === "j" || key === "k") {
    const next = at < 0 ? messages.at(-1) : messages[at + (key === "j" ? 1 : -1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  } else if (key === "c" || key === "q") {
    const name = key === "c" ? "copy" : "quote";
    messages[at]?.querySelector<HTMLElement>(`[data-action=${name}]`)?.click();
  } else return;
  event.preventDefault();
}
