import { describe, expect, it } from "vitest";
import type { UsageRow } from "@/api/usage";
import { slotOf, spanOf } from "./period";
import { add, chartOf, csvOf, marksFor } from "./sums";

const row = (day: string, id: string | null, cost: number, more: Partial<UsageRow> = {}) => ({
  id,
  name: id,
  day,
  calls: 1,
  replies: 1,
  failed: 0,
  stood_in: 0,
  input: 10,
  output: 5,
  cached: 0,
  written: 0,
  cost,
  unpriced: 0,
  estimated: 0,
  ...more,
});

describe("a period", () => {
  it("of a month has all its days, and is compared with as many of the month before", () => {
    const span = spanOf("month", "2026-03-31");
    expect(span.since).toBe("2026-03-01T00:00:00.000Z");
    expect(span.slots).toHaveLength(31);
    expect(span.before).toEqual({
      since: "2026-02-01T00:00:00.000Z",
      until: "2026-03-01T00:00:00.000Z", // February has no 31 days
    });
    expect(spanOf("month", "2026-01-05").before).toEqual({
      since: "2025-12-01T00:00:00.000Z",
      until: "2025-12-06T00:00:00.000Z",
    });
  });

  it("of seven days ends today, and one of a year has months", () => {
    const week = spanOf("week", "2026-03-02").slots;
    expect([week[0], week.at(-1), week.length]).toEqual(["2026-02-24", "2026-03-02", 7]);
    expect(spanOf("year", "2028-02-29").slots).toHaveLength(12);
    expect(slotOf("year", "2028-02-29")).toBe("2028-02");
  });
});

describe("the chart", () => {
  const day = (one: string) => one;

  it("gives the largest a colour, and the others one together", () => {
    const ids = ["a", "b", "c", "d", "e", "f"];
    const rows = ids.map((id, index) => row("2026-03-01", id, 10 - index));
    const { series, bars } = chartOf(rows, ["2026-03-01", "2026-03-02"], day, "cost");
    expect(series.map((one) => one.id)).toEqual(["a", "b", "c", "d", undefined]);
    expect(series.at(-1)?.sum.cost).toBe(6 + 5);
    expect(bars[0]?.parts.map((one) => one.cost)).toEqual([10, 9, 8, 7, 11]);
    expect(bars[1]?.sum.calls).toBe(0);
  });

  it("keeps what is nobody's apart from the others", () => {
    const { series } = chartOf([row("2026-03-01", null, 1)], ["2026-03-01"], day, "cost");
    expect(series.map((one) => one.id)).toEqual([null]);
  });

  it("has round marks up to the highest bar", () => {
    expect(marksFor(1.41)).toEqual([0, 0.5, 1, 1.5]);
    expect(marksFor(3)).toEqual([0, 1, 2, 3]);
    expect(marksFor(0)).toEqual([0]);
    expect(marksFor(0.00031).at(-1)).toBeGreaterThanOrEqual(0.00031);
  });
});

describe("the file", () => {
  it("writes no formula, quotes what must be, and leaves unknown prices empty", () => {
    const text = csvOf(
      [
        row("2026-03-01", "=cmd()", 0.5),
        row("2026-03-02", 'a "b", c', 0, { calls: 2, unpriced: 2 }),
      ],
      "agent",
    );
    const [head, first, second] = text.split("\r\n");
    expect(head?.startsWith("day,agent_id,agent,calls")).toBe(true);
    expect(first?.startsWith("2026-03-01,'=cmd(),'=cmd(),1,")).toBe(true);
    expect(first?.endsWith(",0.5")).toBe(true);
    expect(second).toContain('"a ""b"", c"');
    expect(second?.endsWith(",")).toBe(true);
  });
});

it("adds rows up", () => {
  const sum = add([row("2026-03-01", "a", 1), row("2026-03-01", "b", 2, { failed: 1 })]);
  expect([sum.calls, sum.cost, sum.failed, sum.input]).toEqual([2, 3, 1, 20]);
});
