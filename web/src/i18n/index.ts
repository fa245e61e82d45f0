/** Every text a person reads comes from the locale files that page, CLI and server share. */
import type enPage from "@locales/en-US/page.json";
import i18next from "i18next";
import { initReactI18next, useTranslation } from "react-i18next";
import { speak } from "@/api/client";
import type { Language } from "@/api/types";

export type PageKey = keyof typeof enPage;
export type Values = Record<string, string | number>;

export const LANGUAGES: readonly Language[] = ["zh-CN", "zh-HK", "en-US"];
/** A language is named in itself, whatever language the page is in. */
export const LANGUAGE_NAMES: Record<Language, string> = {
  "zh-CN": "简体中文",
  "zh-HK": "繁體中文",
  "en-US": "English",
};

const CHAINS: Record<Language, Language[]> = {
  "en-US": ["en-US"],
  "zh-CN": ["zh-CN", "en-US"],
  "zh-HK": ["zh-HK", "zh-CN", "en-US"],
};
const STORED = "teahouse.language";
const files = import.meta.glob<Record<string, string>>(
  ["../../../src/teahouse/locales/*/page.json", "../../../src/teahouse/locales/*/errors.json"],
  { import: "default" },
);

/** Find which of our languages a locale name (`zh-Hant-HK`, `en`) means. */
export function match(tag: string): Language | null {
  const [first, ...rest] = tag.replace("_", "-").toLowerCase().split("-");
  if (first === "en") return "en-US";
  if (first !== "zh") return null;
  return rest.some((part) => ["hk", "tw", "mo", "hant"].includes(part)) ? "zh-HK" : "zh-CN";
}

export function storedLanguage(): Language | null {
  try {
    return match(localStorage.getItem(STORED) ?? "");
  } catch {
    return null;
  }
}

export function browserLanguage(): Language | null {
  for (const tag of navigator.languages) {
    const found = match(tag);
    if (found) return found;
  }
  return null;
}

async function load(language: Language): Promise<void> {
  const wanted = CHAINS[language].filter((one) => !i18next.hasResourceBundle(one, "page"));
  await Promise.all(
    wanted.flatMap((one) =>
      (["page", "errors"] as const).map(async (area) => {
        const read = files[`../../../src/teahouse/locales/${one}/${area}.json`];
        if (read) i18next.addResourceBundle(one, area, await read());
      }),
    ),
  );
}

export async function start(language: Language): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: Object.fromEntries(
      Object.entries(CHAINS).map(([one, chain]) => [one, chain.slice(1)]),
    ),
    ns: ["page", "errors"],
    defaultNS: "page",
    resources: {},
    keySeparator: false,
    nsSeparator: false,
    interpolation: { prefix: "{", suffix: "}", escapeValue: false },
    react: { useSuspense: false },
  });
  await setLanguage(language);
}

export async function setLanguage(language: Language): Promise<void> {
  await load(language);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
  speak(language);
  try {
    localStorage.setItem(STORED, language);
  } catch {
    // Storage is forbidden: the choice lasts as long as the page.
  }
}

export type Translate = (key: PageKey, values?: Values) => string;

/** Outside of components; inside, `useT` follows a change of language. */
export const text: Translate = (key, values) => i18next.t(key, values ?? {});

export function useT(): Translate {
  useTranslation("page");
  return text;
}

export function useLanguage(): Language {
  const { i18n } = useTranslation("page");
  return i18n.language as Language;
}

const HOLE = /\{(\w+)\}/g;

/** An error's words by its code; null when the page does not know the code, or lacks a value. */
export function errorText(code: string, values: Record<string, string> = {}): string | null {
  if (!i18next.exists(code, { ns: "errors" })) return null;
  const template = i18next.t(code, { ns: "errors", skipInterpolation: true });
  const holes = [...template.matchAll(HOLE)].map((found) => found[1] ?? "");
  if (holes.some((name) => !(name in values))) return null;
  return i18next.t(code, { ns: "errors", ...values }).trim();
}
