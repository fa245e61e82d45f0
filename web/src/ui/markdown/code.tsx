/** A block of code: its language, a button to copy it, and colours once it stands. */
import { Check, Copy } from "lucide-react";
import { Fragment, useEffect, useState } from "react";
import { useT } from "@/i18n";
import { Button } from "../button";
import { cx } from "../cx";
import { colour, type Line, painted } from "./highlight";

interface Props {
  source: string;
  language: string;
  settled: boolean;
}

const COPIED_MS = 2000;

export function CodeBlock({ source, language, settled }: Props) {
  const t = useT();
  const name = language.split(/[\s,{]/)[0]?.toLowerCase() ?? "";
  const lines = useColours(source, name, settled);
  return (
    <div className="code">
      <div className="code-h">
        <span className="ell">{name || t("chat.code")}</span>
        <span className="end" />
        <CopyButton source={source} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls needs the keyboard */}
      <pre tabIndex={0} data-language={name || undefined}>
        <code>{lines ? <Coloured lines={lines} /> : source}</code>
      </pre>
    </div>
  );
}

function CopyButton({ source }: { source: string }) {
  const t = useT();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const Icon = copied ? Check : Copy;
  return (
    <Button
      kind="ghost"
      size="sm"
      className={cx(copied && "kj")}
      icon={<Icon className="i" size={14} aria-hidden />}
      onClick={() => void copyText(source).then(setCopied)}
    >
      {copied ? t("ui.copied") : t("ui.copy")}
    </Button>
  );
}

/** The clipboard is closed to pages that came over plain HTTP; the old way still works there. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function Coloured({ lines }: { lines: readonly Line[] }) {
  return lines.map((line, number) => (
    <Fragment key={number}>
      {number > 0 && "\n"}
      {line.map((piece, place) =>
        piece.kind ? (
          <span key={place} className={piece.kind}>
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </Fragment>
  ));
}

/** The colours when they are there; the highlighter itself is fetched for the first block. */
function useColours(source: string, language: string, settled: boolean): readonly Line[] | null {
  const [, redraw] = useState(0);
  const lines = settled ? painted(source, language) : null;
  useEffect(() => {
    if (!settled || lines) return;
    let wanted = true;
    void colour(source, language).then((done) => {
      if (done && wanted) redraw((count) => count + 1);
    });
    return () => {
      wanted = false;
    };
  }, [source, language, settled, lines]);
  return lines;
}
