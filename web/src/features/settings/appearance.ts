/** How the page looks on this device. `public/theme.js` reads the same before the first paint. */
import { create } from "zustand";

export type Theme = "light" | "dark" | "system";
export type TextSize = "14" | "15" | "16" | "18";

interface Appearance {
  theme: Theme;
  text: TextSize;
  lessMotion: boolean;
}

const root = document.documentElement;

function read(): Appearance {
  const { theme, text, motion } = root.dataset;
  return {
    theme: theme === "light" || theme === "dark" ? theme : "system",
    text: text === "14" || text === "16" || text === "18" ? text : "15",
    lessMotion: motion === "less",
  };
}

function keep(name: string, value: string | null): void {
  if (value === null) delete root.dataset[name];
  else root.dataset[name] = value;
  try {
    if (value === null) localStorage.removeItem(`teahouse.${name}`);
    else localStorage.setItem(`teahouse.${name}`, value);
  } catch {
    // Storage is forbidden: the choice lasts as long as the page.
  }
}

export const useAppearance = create<Appearance>(read);

export function setTheme(theme: Theme): void {
  keep("theme", theme === "system" ? null : theme);
  useAppearance.setState({ theme });
}

export function setTextSize(text: TextSize): void {
  keep("text", text === "15" ? null : text);
  useAppearance.setState({ text });
}

export function setLessMotion(lessMotion: boolean): void {
  keep("motion", lessMotion ? "less" : null);
  useAppearance.setState({ lessMotion });
}
