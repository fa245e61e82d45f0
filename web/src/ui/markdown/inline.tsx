/** The tokens within a line, as React elements. */
import type { Token, Tokens } from "marked";
import { Fragment, type ReactNode } from "react";
import { decode } from "./entities";
import { PictureLink, SafeLink } from "./link";
import { Maths } from "./maths";

export const inlines = (tokens: readonly Token[] = []): ReactNode =>
  tokens.map((token, place) => <Fragment key={place}>{inline(token)}</Fragment>);

export function inline(token: Token): ReactNode {
  switch (token.type) {
    case "text":
      return token.tokens ? inlines(token.tokens) : decode((token as Tokens.Text).text);
    case "escape":
      return (token as Tokens.Escape).text;
    case "strong":
      return <strong>{inlines(token.tokens)}</strong>;
    case "em":
      return <em>{inlines(token.tokens)}</em>;
    case "del":
      return <del>{inlines(token.tokens)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return link(token as Tokens.Link & { autolink?: boolean });
    case "image":
      return <PictureLink to={(token as Tokens.Image).href} alt={decode(token.text ?? "")} />;
    case "math":
      return <Maths source={token.text ?? ""} />;
    case "html":
      // Models write this one in tables, where Markdown has no line break. The rest is only text.
      return /^<br\s*\/?>$/i.test(token.raw.trim()) ? <br /> : token.raw;
    case "checkbox":
      return null;
    default:
      return token.raw;
  }
}

/** A bare address ends where Chinese punctuation begins, which no space sets apart. */
const BARE_END = /[，。；：！？、（）【】《》「」『』“”‘’]/;

function link(token: Tokens.Link & { autolink?: boolean }): ReactNode {
  const end = token.autolink ? token.raw.search(BARE_END) : -1;
  if (end <= 0) return <SafeLink to={token.href}>{inlines(token.tokens)}</SafeLink>;
  const bare = token.raw.slice(0, end);
  return (
    <>
      <SafeLink to={bare}>{bare}</SafeLink>
      {token.raw.slice(end)}
    </>
  );
}
