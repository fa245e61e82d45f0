/** Tools of the house by a name that people read; others by their own. */
import type { Translate } from "@/i18n";

const NAMES = { now: "chat.tool.now", session_title: "chat.tool.session_title" } as const;

export const toolName = (t: Translate, name: string): string =>
  name in NAMES ? t(NAMES[name as keyof typeof NAMES]) : name;
