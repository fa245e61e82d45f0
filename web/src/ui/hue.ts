/** Which of the ten avatar colours a name gets, and which letters stand in the avatar. */

/** FNV-1a, 32 bit, over the UTF-8 of the NFC form. */
export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text.normalize("NFC"))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash;
}

export const HUES = 10;

export const hueOf = (name: string): number => fnv1a32(name) % HUES;

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Chinese agent: first character; Chinese person: last; Latin: two initials. */
export function lettersOf(name: string, kind: "agent" | "person"): string {
  const trimmed = name.trim();
  const characters = [...trimmed].filter((one) => CJK.test(one));
  if (characters.length > 0 && CJK.test([...trimmed][0] ?? "")) {
    return (kind === "agent" ? characters[0] : characters.at(-1)) ?? "";
  }
  const words = trimmed.split(/[\s_-]+/).filter(Boolean);
  const letters =
    words.length > 1
      ? words.slice(0, 2).map((word) => [...word][0] ?? "")
      : [...(words[0] ?? "")].slice(0, 2);
  return letters.join("").toUpperCase();
}
