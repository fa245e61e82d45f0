/**
 * Markdown without a way in for HTML: the lexer makes tokens, React makes elements of them and
 * escapes all text. Of a text that grows only the last block is read and drawn again.
 */
import { useMemo, useRef } from "react";
import { cx } from "../cx";
import { Block } from "./blocks";
import { grow, type Lexed, lex, NOTHING } from "./lex";
import "./markdown.css";

interface Props {
  text: string;
  /** More is to come: what is open is closed for the eye, and a caret marks the end. */
  growing?: boolean;
}

export function Markdown({ text, growing = false }: Props) {
  return growing ? <Growing text={text} /> : <Whole text={text} />;
}

function Whole({ text }: { text: string }) {
  const tokens = useMemo(() => lex(text), [text]);
  return <Body tokens={tokens} />;
}

function Growing({ text }: { text: string }) {
  const lexed = useRef<Lexed>(NOTHING);
  if (lexed.current.text !== text) lexed.current = grow(lexed.current, text);
  return <Body tokens={lexed.current.tokens} growing />;
}

function Body({
  tokens,
  growing,
}: {
  tokens: readonly Lexed["tokens"][number][];
  growing?: boolean;
}) {
  return (
    <div className={cx("md-body", growing && "writing")}>
      {tokens.map((token, place) => (
        <Block key={place} token={token} settled={!growing || place < tokens.length - 1} />
      ))}
    </div>
  );
}
