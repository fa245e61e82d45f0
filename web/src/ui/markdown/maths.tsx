/** Formulas as MathML, which browsers draw themselves. The translator is fetched for the first one. */
import { createElement, Fragment, type ReactNode, useEffect, useState } from "react";

interface Props {
  source: string;
  display?: boolean;
}

type Translate = (source: string, display: boolean) => string;

let translate: Translate | null = null;
let coming: Promise<void> | null = null;

function fetchTranslator(): Promise<void> {
  coming ??= import("temml").then(({ default: temml }) => {
    translate = (source, display) =>
      temml.renderToString(source, {
        displayMode: display,
        throwOnError: true,
        trust: false,
        maxExpand: 500,
        maxSize: [20, 20],
      });
  });
  return coming;
}

const MAX_LENGTH = 5_000;

export function Maths({ source, display = false }: Props) {
  const [, redraw] = useState(0);
  useEffect(() => {
    if (translate) return;
    let wanted = true;
    void fetchTranslator().then(() => wanted && redraw((count) => count + 1));
    return () => {
      wanted = false;
    };
  }, []);
  const formula = elements(source, display);
  if (!display) return formula ?? <code>{source}</code>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls needs the keyboard
    <div className="math" tabIndex={0}>
      {formula ?? <code>{source}</code>}
    </div>
  );
}

/** The formula, or null while the translator is away and for what it does not understand. */
function elements(source: string, display: boolean): ReactNode {
  if (!translate || source.length > MAX_LENGTH) return null;
  try {
    const { body } = new DOMParser().parseFromString(translate(source, display), "text/html");
    return [...body.childNodes].map((node, place) => element(node, place));
  } catch {
    return null;
  }
}

const TAGS = new Set(
  (
    "math mrow mi mo mn ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover " +
    "mtable mtr mtd mpadded mphantom menclose mstyle mmultiscripts mprescripts none"
  ).split(" "),
);
const ATTRIBUTES = new Set(
  (
    "display mathvariant stretchy fence form separator lspace rspace width height depth voffset " +
    "scriptlevel displaystyle columnalign rowspacing columnspacing movablelimits accent accentunder " +
    "linethickness largeop symmetric minsize maxsize notation columnlines rowlines frame"
  ).split(" "),
);

/** Only elements and attributes that can draw; no link, style or handler gets through. */
function element(node: Node, place: number): ReactNode {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent;
  const tag = node.nodeName.toLowerCase();
  const children = [...node.childNodes].map((child, index) => element(child, index));
  if (!(node instanceof Element) || !TAGS.has(tag)) {
    return createElement(Fragment, { key: place }, children);
  }
  const attributes = [...node.attributes].flatMap(({ name, value }) =>
    ATTRIBUTES.has(name) ? [[name, value] as const] : [],
  );
  return createElement(tag, { key: place, ...Object.fromEntries(attributes) }, ...children);
}
