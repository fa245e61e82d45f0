/** From Markdown to tokens: block by block, so that a growing text is not read again as a whole. */
import { Marked, type Token, type TokenizerAndRendererExtension } from "marked";
import remend from "remend";

/**
 * CommonMark takes `**注意：**请` for no emphasis, since a full-width colon is punctuation and no
 * space follows. Chinese is written that way, and models write it in every second answer.
 */
const strongBesidePunctuation: TokenizerAndRendererExtension = {
  name: "strong",
  level: "inline",
  start: (text) => text.indexOf("**"),
  tokenizer(text) {
    const found = /^\*\*(?![\s*])([^*\n]*[^\s*])\*\*(?!\*)/.exec(text);
    if (!found?.[1]) return undefined;
    const inner = found[1];
    return { type: "strong", raw: found[0], text: inner, tokens: this.lexer.inlineTokens(inner) };
  },
};

/** `$…$` with no space at its inner edges and no digit behind, so that prices stay prices. */
const inlineMath: TokenizerAndRendererExtension = {
  name: "math",
  level: "inline",
  start: (text) => text.search(/\$|\\\(/),
  tokenizer(text) {
    const found =
      /^\$(?![\s$])((?:\\.|[^$\\\n])*?[^\s$\\])\$(?![\d$])/.exec(text) ??
      /^\\\(((?:(?!\\\)).)+)\\\)/.exec(text);
    return found?.[1] ? { type: "math", raw: found[0], text: found[1] } : undefined;
  },
};

const blockMath: TokenizerAndRendererExtension = {
  name: "math_block",
  level: "block",
  start: (text) => text.search(/(?:^|\n)(?:\$\$|\\\[)/),
  tokenizer(text) {
    const found =
      /^\$\$\s*([^$]+?)\s*\$\$[ \t]*(?:\n+|$)/.exec(text) ??
      /^\\\[\s*((?:(?!\\\]).)+?)\s*\\\][ \t]*(?:\n+|$)/s.exec(text);
    return found?.[1] ? { type: "math_block", raw: found[0], text: found[1] } : undefined;
  },
};

const marked = new Marked({
  gfm: true,
  extensions: [strongBesidePunctuation, inlineMath, blockMath],
});

export const lex = (text: string): Token[] => marked.lexer(text);

/** Closes what is still open at the end of a text that grows: `**bold` is bold at once. */
const close = (text: string) =>
  remend(text, { linkMode: "text-only", htmlTags: false, inlineKatex: false });

export interface Lexed {
  text: string;
  /** Settled tokens, and the length of text that they stand for. */
  settled: readonly Token[];
  length: number;
  tokens: readonly Token[];
}

export const NOTHING: Lexed = { text: "", settled: [], length: 0, tokens: [] };

/**
 * Read `text`, using what was read of its beginning. The last block may still change, and with it
 * the blank lines behind it: a list goes on after them.
 */
export function grow(before: Lexed, text: string): Lexed {
  const start = text.startsWith(before.text) ? before : NOTHING;
  const rest = lex(text.slice(start.length));
  const whole = [...start.settled, ...rest];
  let keep = whole.length;
  while (keep > 0 && whole[keep - 1]?.type === "space") keep -= 1;
  const settled = whole.slice(0, Math.max(0, keep - 1));
  const length = settled.reduce((sum, token) => sum + token.raw.length, 0);
  const open = text.slice(length);
  return { text, settled, length, tokens: [...settled, ...lex(close(open))] };
}
