/** Colours for code: the highlighter and each grammar are fetched when first needed. */
import type { HighlighterCore } from "shiki/core";

/** A piece of one colour; `kind` is the class of `markdown.css`, "" for plain text. */
export interface Coloured {
  text: string;
  kind: string;
}
export type Line = Coloured[];

const MAX_LENGTH = 40_000;
const KEPT = 200;
/** The first line pays for making the grammar's expressions, so half a second is too little. */
const LINE_WITHIN_MS = 5_000;

type Grammar = () => Promise<unknown>;
const GRAMMARS: Record<string, Grammar> = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  ini: () => import("shiki/langs/ini.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  lua: () => import("shiki/langs/lua.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  xml: () => import("shiki/langs/xml.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
};
/** Also languages whose own grammar is heavy, by one that comes near. */
const ALIASES: Record<string, string> = {
  sh: "bash",
  shell: "bash",
  shellscript: "bash",
  zsh: "bash",
  console: "bash",
  h: "c",
  cs: "csharp",
  "c#": "csharp",
  dockerfile: "docker",
  golang: "go",
  htm: "html",
  vue: "html",
  svg: "xml",
  cpp: "c",
  "c++": "c",
  js: "typescript",
  javascript: "typescript",
  jsx: "tsx",
  mjs: "typescript",
  jsonc: "json",
  json5: "json",
  kt: "kotlin",
  md: "markdown",
  py: "python",
  python3: "python",
  rs: "rust",
  ts: "typescript",
  yml: "yaml",
};

const PREFIX = "--code-";
const KINDS: Record<string, string> = {
  keyword: "sk",
  string: "ss",
  "string-expression": "ss",
  constant: "sn",
  function: "sf",
  comment: "sc",
};

/** Blocks that were coloured before, so that a message scrolled back into sight does not flash. */
const done = new Map<string, readonly Line[]>();
const keyOf = (source: string, language: string) => `${language}\n${source}`;

export function painted(source: string, language: string): readonly Line[] | null {
  return done.get(keyOf(source, language)) ?? null;
}

/** Colour a block; false when its language is unknown or it is too long. */
export async function colour(source: string, language: string): Promise<boolean> {
  const name = ALIASES[language] ?? language;
  const grammar = GRAMMARS[name];
  if (!grammar || source.length > MAX_LENGTH) return false;
  const shiki = await highlighter();
  if (!shiki.getLoadedLanguages().includes(name)) {
    await shiki.loadLanguage((await grammar()) as never);
  }
  const { tokens } = shiki.codeToTokens(source, {
    lang: name,
    theme: "css-variables",
    tokenizeTimeLimit: LINE_WITHIN_MS,
  });
  const lines = tokens.map((line) =>
    line.map(({ content, color }) => ({ text: content, kind: kindOf(color) })),
  );
  done.set(keyOf(source, language), lines);
  const oldest = done.keys().next().value;
  if (done.size > KEPT && oldest !== undefined) done.delete(oldest);
  return true;
}

const kindOf = (color: string | undefined) =>
  KINDS[color?.match(/--code-token-([a-z-]+)/)?.[1] ?? ""] ?? "";

let made: Promise<HighlighterCore> | null = null;

function highlighter(): Promise<HighlighterCore> {
  made ??= make();
  return made;
}

/** Regular expressions of the browser instead of WebAssembly, which our policy forbids. */
async function make(): Promise<HighlighterCore> {
  const [{ createHighlighterCore, createCssVariablesTheme }, { createJavaScriptRegexEngine }] =
    await Promise.all([import("shiki/core"), import("shiki/engine/javascript")]);
  const theme = createCssVariablesTheme({ name: "css-variables", variablePrefix: PREFIX });
  return createHighlighterCore({
    themes: [theme],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
}
