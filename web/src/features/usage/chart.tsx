/** Spend over time in stacked bars, each a button that tells its parts; or the same as a table. */
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { useT } from "@/i18n";
import { compact, money } from "@/i18n/format";
import { cx } from "@/ui";
import { amount } from "./amount";
import { type Bar, type Measure, marksFor, type Series, type Sum, sizeOf } from "./sums";

interface Props {
  series: readonly Series[];
  bars: readonly Bar[];
  measure: Measure;
  nameOf: (series: Series) => string;
  /** The whole word of a slot, and the few letters under its bar. */
  slotName: (slot: string) => string;
  slotMark: (slot: string) => string;
  label: string;
}

export function useSize(measure: Measure) {
  const t = useT();
  return (sum: Sum) =>
    measure === "cost"
      ? amount(t, sum)
      : t("usage.of_tokens", { count: compact(sizeOf(sum, measure)) });
}

const STEPS: Record<string, (at: number, last: number) => number> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_, last) => last,
};

export function Chart({ series, bars, measure, nameOf, slotName, slotMark, label }: Props) {
  const size = useSize(measure);
  const [pointed, setPointed] = useState<number | null>(null);
  const [stop, setStop] = useState(bars.length - 1);
  const row = useRef<HTMLDivElement>(null);
  const tip = useId();
  const last = bars.length - 1;
  const marks = marksFor(Math.max(...bars.map((bar) => sizeOf(bar.sum, measure))));
  const top = marks.at(-1) || 1;
  const mark = (value: number) => (measure === "cost" ? money(value) : compact(value));

  function pressed(event: KeyboardEvent, at: number) {
    if (event.key === "Escape") setPointed(null);
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const next = Math.min(last, Math.max(0, step(at, last)));
    const button = row.current?.querySelectorAll("button")[next];
    button?.focus();
  }
  const shown = pointed === null ? undefined : bars[pointed];

  return (
    <div className="chart">
      <div className="chart-y" aria-hidden>
        {marks.map((value) => (
          <span key={value} style={{ bottom: `${(value / top) * 100}%` }}>
            {mark(value)}
          </span>
        ))}
      </div>
      <div className="chart-p" onPointerLeave={() => setPointed(null)}>
        {marks.map((value) => (
          <i key={value} className="chart-g" style={{ bottom: `${(value / top) * 100}%` }} />
        ))}
        {/* biome-ignore lint/a11y/useSemanticElements: it is no fieldset, nothing is entered */}
        <div className="chart-b" role="group" aria-label={label} ref={row}>
          {bars.map((bar, at) => (
            <button
              key={bar.slot}
              type="button"
              className={cx(pointed !== null && pointed !== at && "dim")}
              tabIndex={at === Math.min(stop, last) ? 0 : -1}
              aria-label={told(bar)}
              onPointerEnter={() => setPointed(at)}
              onFocus={() => {
                setStop(at);
                setPointed(at);
              }}
              onBlur={() => setPointed(null)}
              onClick={() => setPointed(at)}
              onKeyDown={(event) => pressed(event, at)}
            >
              <span style={{ height: `${(sizeOf(bar.sum, measure) / top) * 100}%` }}>
                {bar.parts.map((part, index) => (
                  <i
                    key={series[index]?.id ?? index}
                    className={`c${index + 1}`}
                    style={{
                      height: `${(sizeOf(part, measure) / (sizeOf(bar.sum, measure) || 1)) * 100}%`,
                    }}
                  />
                ))}
              </span>
            </button>
          ))}
        </div>
        {shown && pointed !== null && (
          <div id={tip} className="pop chart-tip" style={beside(pointed, bars.length)} aria-hidden>
            <div className="semi">
              <span>{slotName(shown.slot)}</span>
              <span className="num">{size(shown.sum)}</span>
            </div>
            {series.map((one, index) => {
              const part = shown.parts[index];
              return part?.calls ? (
                <div key={one.id ?? index}>
                  <span className="k2 row row-1">
                    <i className={`key c${index + 1}`} />
                    <span className="ell">{nameOf(one)}</span>
                  </span>
                  <span className="num">{size(part)}</span>
                </div>
              ) : null;
            })}
          </div>
        )}
      </div>
      <div className="chart-x" aria-hidden>
        {bars.map((bar, at) => (
          <span key={bar.slot} className={cx(isMarked(at, bars.length) && "on")}>
            {isMarked(at, bars.length) && <b>{slotMark(bar.slot)}</b>}
          </span>
        ))}
      </div>
    </div>
  );

  function told(bar: Bar): string {
    const parts = series.flatMap((one, index) => {
      const part = bar.parts[index];
      return part?.calls ? [`${nameOf(one)} ${size(part)}`] : [];
    });
    return [`${slotName(bar.slot)}: ${size(bar.sum)}`, ...parts].join(", ");
  }
}

/** On that side of a bar where there is more room. */
function beside(at: number, count: number) {
  return at > (count - 1) / 2
    ? { insetInlineEnd: `${(1 - at / count) * 100}%` }
    : { insetInlineStart: `${((at + 1) / count) * 100}%` };
}

/** All of a few; of many each seventh, as weeks go. */
const isMarked = (at: number, count: number) => count <= 12 || at % 7 === 0;

export function ChartTable({ series, bars, measure, nameOf, slotName, label }: Props) {
  const t = useT();
  const size = useSize(measure);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="scroll-x chart-t" aria-label={label} tabIndex={0}>
      <table className="tbl">
        <thead>
          <tr>
            <th scope="col">{t("usage.day")}</th>
            {series.map((one, index) => (
              <th scope="col" className="r" key={one.id ?? index}>
                {nameOf(one)}
              </th>
            ))}
            <th scope="col" className="r">
              {t("usage.all")}
            </th>
          </tr>
        </thead>
        <tbody>
          {bars
            .filter((bar) => bar.sum.calls > 0)
            .map((bar) => (
              <tr key={bar.slot}>
                <th scope="row">{slotName(bar.slot)}</th>
                {bar.parts.map((part, index) => (
                  <td className="r" key={series[index]?.id ?? index}>
                    {part.calls > 0 && size(part)}
                  </td>
                ))}
                <td className="r semi">{size(bar.sum)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  );
}
