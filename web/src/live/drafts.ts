/** Words not yet sent, for each conversation, kept over reloads. */
import { create } from "zustand";

const STORED = "teahouse.drafts";
const KEEP = 200;

function stored(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}

export const useDrafts = create<Record<string, string>>(() => stored());

export function setDraft(conversation: string, text: string): void {
  // Another tab may have written others meanwhile.
  const { [conversation]: _, ...others } = { ...useDrafts.getState(), ...stored() };
  const drafts = text ? { ...others, [conversation]: text } : others;
  useDrafts.setState(drafts, true);
  try {
    const newest = Object.fromEntries(Object.entries(drafts).slice(-KEEP));
    localStorage.setItem(STORED, JSON.stringify(newest));
  } catch {
    // Storage is forbidden or full: the draft lasts as long as the page.
  }
}
