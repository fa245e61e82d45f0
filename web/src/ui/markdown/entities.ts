/** Character references in text (`&amp;`, `&#20013;`) as the characters that they stand for. */
const REFERENCE = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi;
const known = new Map<string, string>();

function character(reference: string): string {
  const before = known.get(reference);
  if (before !== undefined) return before;
  // The browser knows all two thousand names. Only a matched reference is parsed, never the text.
  const parsed = new DOMParser().parseFromString(reference, "text/html").body.textContent;
  known.set(reference, parsed);
  return parsed;
}

export const decode = (text: string): string =>
  text.includes("&") ? text.replace(REFERENCE, character) : text;
