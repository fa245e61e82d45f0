/** An agent's answer: while it is being made, and what it has become. */
import { Copy, Quote } from "lucide-react";
import { Fragment, memo, useMemo } from "react";
import type { Post } from "@/api/types";
import { useT } from "@/i18n";
import { clock } from "@/i18n/format";
import { type Answer, visible } from "@/live/answer";
import { Avatar, cx } from "@/ui";
import { Markdown } from "@/ui/markdown";
import { Action, copyAction } from "./actions";
import { ApprovalCard } from "./approval-card";
import { blocksOf, type ShownBlock, textOf } from "./blocks";
import { Ending } from "./ending";
import { Files } from "./files";
import { useAgentOf, useNameOf } from "./names";
import { ProblemLine } from "./problem-line";
import { Progress } from "./progress";
import { Thinking } from "./thinking";
import { Timeline } from "./timeline";

interface Props {
  author: string;
  /** Neither, when it has not begun. */
  post: Post | null;
  answer: Answer | null;
  toolMs: ReadonlyMap<string, number> | undefined;
  last: boolean;
  onQuote: (post: Post) => void;
  onContinue: () => void;
  onAgain: () => void;
}

export const AnswerMessage = memo((props: Props) => {
  const { author, post, answer, toolMs, last, onQuote, onContinue, onAgain } = props;
  const t = useT();
  const agent = useAgentOf(author);
  const name = useNameOf(author);
  const live = post === null;
  const blocks = useMemo(() => {
    if (post) {
      return blocksOf(post.parts, { answer: null, toolMs: toolMs ?? null, calling: false });
    }
    if (!answer) return [];
    const { parts, calling } = visible(answer);
    return blocksOf(parts, { answer, toolMs: null, calling });
  }, [post, answer, toolMs]);
  const text = post ? textOf(post.parts).trim() : "";
  const wide = blocks.some((block) => block.kind === "steps");
  return (
    <article
      className={cx("m", last && !live && "show")}
      tabIndex={-1}
      aria-busy={live || undefined}
      // Told sentence by sentence elsewhere.
      aria-live="off"
      data-post={post?.id}
    >
      <Avatar kind="agent" name={name} hue={agent?.hue} presence={live ? "busy" : undefined} />
      <header className="m-who">
        <b>{name}</b>
      </header>
      {(blocks.length > 0 || live) && (
        <div className={cx("bub", wide && "fill")}>
          <Blocks blocks={blocks} live={live} run={post?.run ?? answer?.run ?? null} />
        </div>
      )}
      {post?.problem && <ProblemLine problem={post.problem} onAgain={onAgain} last={last} />}
      <footer className="m-foot">
        {post ? (
          <>
            {text || !post.problem ? <time dateTime={post.at}>{clock(post.at)}</time> : null}
            <Ending post={post} last={last} onContinue={onContinue} />
            {text && (
              <span className="acts">
                <Action
                  label={t("ui.copy")}
                  name="copy"
                  Icon={Copy}
                  onClick={() => copyAction(text)}
                />
                <Action
                  label={t("chat.quote")}
                  name="quote"
                  Icon={Quote}
                  onClick={() => onQuote(post)}
                />
              </span>
            )}
          </>
        ) : (
          <Progress answer={answer} blocks={blocks} />
        )}
      </footer>
    </article>
  );
});

interface BlocksProps {
  blocks: readonly ShownBlock[];
  live: boolean;
  run: string | null;
}

function Blocks({ blocks, live, run }: BlocksProps) {
  const last = blocks.at(-1);
  const writing = live && (!last || last.kind === "steps");
  return (
    <>
      {blocks.map((block, place) => {
        const growing = live && block === last;
        switch (block.kind) {
          case "text":
            return <Markdown key={place} text={block.text} growing={growing} />;
          case "thinking":
            return <Thinking key={place} text={block.text} open={block.open} />;
          case "steps":
            return (
              <Fragment key={place}>
                <Timeline steps={block.steps} writing={block.writing} live={growing} run={run} />
                {block.steps.map(
                  ({ approval }) =>
                    approval && <ApprovalCard key={approval.id} approval={approval} />,
                )}
              </Fragment>
            );
          default:
            return <Files key={place} files={[block.file]} />;
        }
      })}
      {writing && (
        <p className="wait" aria-hidden>
          <span className="caret" />
        </p>
      )}
    </>
  );
}
