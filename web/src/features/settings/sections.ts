/** The parts of the settings, in their order. */
import { Info, KeyRound, Languages, type LucideIcon, Plug, Sun, UserRound } from "lucide-react";
import type { PageKey } from "@/i18n";

export type SectionId = "look" | "language" | "models" | "account" | "keys" | "about";

export interface SectionEntry {
  id: SectionId;
  name: PageKey;
  Icon: LucideIcon;
  /** Belongs to the house, so only owner and admins see it. */
  managers?: boolean;
  /** Words by which it is found besides its name. */
  about: PageKey;
}

export const SECTIONS: readonly SectionEntry[] = [
  { id: "look", name: "settings.look", Icon: Sun, about: "settings.theme" },
  { id: "language", name: "settings.language", Icon: Languages, about: "settings.language.page" },
  {
    id: "models",
    name: "settings.models",
    Icon: Plug,
    managers: true,
    about: "settings.models.default",
  },
  { id: "account", name: "settings.account", Icon: UserRound, about: "settings.password" },
  { id: "keys", name: "settings.keys", Icon: KeyRound, about: "settings.keys.about" },
  { id: "about", name: "settings.about", Icon: Info, about: "settings.about.licence" },
];
