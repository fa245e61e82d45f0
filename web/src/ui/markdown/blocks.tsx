/** Paragraphs, lists, tables and code, as React elements. Raw HTML is shown, never made. */
import type { Token, Tokens } from "marked";
import { createElement, memo, type ReactNode } from "react";
import { text } from "@/i18n";
import { cx } from "../cx";
import { CodeBlock } from "./code";
import { inline, inlines } from "./inline";
import { Maths } from "./maths";

interface Props {
  token: Token;
  /** Its end has come; until then code is not coloured. */
  settled: boolean;
}

/** A block is drawn again only when its source changes. */
export const Block = memo(
  ({ token, settled }: Props) => <>{block(token, settled)}</>,
  (before, after) => before.token.raw === after.token.raw && before.settled === after.settled,
);

const blocks = (tokens: readonly Token[] = [], settled: boolean): ReactNode =>
  tokens.map((token, place) => <Block key={place} token={token} settled={settled} />);

function block(token: Token, settled: boolean): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
    case "checkbox":
      return null;
    case "paragraph":
      return <p>{inlines(token.tokens)}</p>;
    case "heading": {
      const { depth } = token as Tokens.Heading;
      // The page has its own first two levels.
      const level = Math.min(6, depth + 2);
      return createElement(`h${level}`, { className: `md-h${depth}` }, inlines(token.tokens));
    }
    case "code": {
      const { lang, text: source } = token as Tokens.Code;
      return <CodeBlock source={source} language={lang ?? ""} settled={settled} />;
    }
    case "blockquote":
      return <blockquote className="md-q">{blocks(token.tokens, settled)}</blockquote>;
    case "hr":
      return <hr />;
    case "list":
      return list(token as Tokens.List, settled);
    case "table":
      return table(token as Tokens.Table);
    case "math_block":
      return <Maths source={token.text ?? ""} display />;
    case "html":
      return <p className="md-raw">{token.raw.trimEnd()}</p>;
    default:
      return inline(token);
  }
}

function list({ ordered, start, items }: Tokens.List, settled: boolean): ReactNode {
  const tasks = items.some((item) => item.task);
  const children = items.map((item, place) => (
    <li key={place} className={cx(item.task && "task")}>
      {item.task && (
        <input
          type="checkbox"
          checked={item.checked ?? false}
          disabled
          aria-label={text(item.checked ? "chat.task.done" : "chat.task.open")}
        />
      )}
      {item.task ? <div>{blocks(item.tokens, settled)}</div> : blocks(item.tokens, settled)}
    </li>
  ));
  const className = cx("md", tasks && "tasks");
  return ordered ? (
    <ol className={className} start={start === "" ? 1 : start}>
      {children}
    </ol>
  ) : (
    <ul className={className}>{children}</ul>
  );
}

function table({ header, rows, align }: Tokens.Table): ReactNode {
  const side = (column: number) =>
    align[column] === "right" ? "r" : align[column] === "center" ? "c" : undefined;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls needs the keyboard
    <section className="tbl-box" tabIndex={0} aria-label={text("chat.table")}>
      <table className="tbl">
        <thead>
          <tr>
            {header.map((cell, column) => (
              <th key={column} scope="col" className={side(column)}>
                {inlines(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              {row.map((cell, column) => (
                <td key={column} className={side(column)}>
                  {inlines(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
