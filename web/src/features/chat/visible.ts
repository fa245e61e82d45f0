/** The twin of `core.visible`: what could hide or disguise something is spelled out. */

const PUNCTUATION = "，。、：；？！（）《》〈〉「」『』【】〔〕“”‘’…—·～￥";
const CJK = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]$/u;
const FILLERS = /^[\u115f\u1160\u3164\uffa0]$/;
const LATIN = /^[\u00c0-\u017f]$/;

function isPlain(letter: string): boolean {
  const code = letter.codePointAt(0) ?? 0;
  if (code < 0x80) return code >= 0x20 && code !== 0x7f;
  if (/^\p{So}$/u.test(letter)) return code >= 0x1f300;
  if (!/^\p{L}$/u.test(letter)) return PUNCTUATION.includes(letter);
  return (CJK.test(letter) && !FILLERS.test(letter)) || LATIN.test(letter);
}

export const visible = (text: string): string =>
  [...text]
    .map((letter) =>
      isPlain(letter)
        ? letter
        : `\\u{${(letter.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}}`,
    )
    .join("");

/** The arguments of a call, each in one line; strings are quoted, so that nothing breaks out. */
export const shownArguments = (given: Record<string, unknown>): string =>
  Object.entries(given)
    .map(([name, value]) => `${visible(name)}: ${visible(JSON.stringify(value))}`)
    .join("\n");
