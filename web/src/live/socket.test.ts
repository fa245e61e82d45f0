import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Socket, type Wiring } from "./socket";

/** A socket whose other end is the test. */
class Line {
  static all: Line[] = [];
  readyState: number = WebSocket.CONNECTING;
  sent: Record<string, unknown>[] = [];
  onopen: (() => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  constructor() {
    Line.all.push(this);
  }
  send(data: string) {
    this.sent.push(JSON.parse(data));
  }
  close() {
    this.readyState = WebSocket.CLOSED;
  }
  accept() {
    this.readyState = WebSocket.OPEN;
    this.onopen?.();
  }
  say(frame: object) {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  end(code: number) {
    this.readyState = WebSocket.CLOSED;
    this.onclose?.({ code });
  }
}

const last = () => {
  const line = Line.all.at(-1);
  if (!line) throw new Error("no connection was opened");
  return line;
};

function wired() {
  const wiring = {
    open: () => new Line() as unknown as WebSocket,
    after: vi.fn<Wiring["after"]>(() => null),
    envelopes: vi.fn<Wiring["envelopes"]>(),
    refused: vi.fn<Wiring["refused"]>(),
    found: vi.fn<Wiring["found"]>(),
    lost: vi.fn<Wiring["lost"]>(),
    loggedOut: vi.fn<Wiring["loggedOut"]>(),
    random: () => 1,
  };
  return { wiring, socket: new Socket(wiring) };
}
const post = (seq: number) => ({ v: 1, seq, conversation: "c_1", event: { type: "resync" } });

beforeEach(() => {
  Line.all = [];
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

test("it subscribes when the line opens, and again after what it has seen", () => {
  const { wiring, socket } = wired();
  socket.start();
  socket.subscribe("c_1");
  expect(last().sent).toEqual([]);
  last().accept();
  expect(last().sent).toEqual([{ type: "subscribe", conversation: "c_1", ref: "c_1" }]);

  wiring.after.mockReturnValue(118);
  last().end(1006);
  expect(wiring.lost).toHaveBeenCalledWith(500);
  vi.advanceTimersByTime(500);
  last().accept();
  expect(last().sent).toEqual([{ type: "subscribe", conversation: "c_1", ref: "c_1", after: 118 }]);
  expect(wiring.found).toHaveBeenCalledTimes(2);
});

test("it waits longer after each failure, but not for ever", () => {
  const { wiring, socket } = wired();
  socket.start();
  for (let attempt = 0; attempt < 8; attempt += 1) {
    last().end(1006);
    vi.advanceTimersByTime(20_000);
  }
  const waits = wiring.lost.mock.calls.map(([ms]) => ms);
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
});

test("a reader that was too slow comes back at once", () => {
  const { wiring, socket } = wired();
  socket.start();
  last().accept();
  last().end(4409);
  expect(Line.all).toHaveLength(2);
  expect(wiring.lost).not.toHaveBeenCalled();
});

test("a login that ended is not tried again", () => {
  const { wiring, socket } = wired();
  socket.start();
  last().accept();
  last().end(4401);
  vi.advanceTimersByTime(60_000);
  expect(Line.all).toHaveLength(1);
  expect(wiring.loggedOut).toHaveBeenCalled();
});

test("a line that answers no ping is given up", () => {
  const { wiring, socket } = wired();
  socket.start();
  last().accept();
  vi.advanceTimersByTime(25_000);
  expect(last().sent).toEqual([{ type: "ping" }]);
  last().say({ type: "pong" });
  vi.advanceTimersByTime(8_000);
  expect(wiring.lost).not.toHaveBeenCalled();
  vi.advanceTimersByTime(17_000 + 8_000);
  expect(wiring.lost).toHaveBeenCalledTimes(1);
});

test("events that arrive together are applied together", () => {
  const { wiring, socket } = wired();
  socket.start();
  last().accept();
  last().say(post(1));
  last().say(post(2));
  expect(wiring.envelopes).not.toHaveBeenCalled();
  vi.advanceTimersByTime(100);
  const batches = wiring.envelopes.mock.calls.map(([batch]) => batch.length);
  expect(batches).toEqual([2]);
});

test("what had come is applied before the line is taken up again", () => {
  const { wiring, socket } = wired();
  socket.start();
  last().accept();
  last().say(post(1));
  last().end(4409);
  expect(wiring.envelopes).toHaveBeenCalledTimes(1);
});

test("a refused conversation is told and not asked for again", () => {
  const { wiring, socket } = wired();
  socket.start();
  socket.subscribe("c_1");
  last().accept();
  const problem = { code: "no_such_conversation", message: "" };
  last().say({ v: 1, event: { type: "error", problem, ref: "c_1" } });
  expect(wiring.refused).toHaveBeenCalledWith("c_1", problem);
  last().end(4409);
  last().accept();
  expect(last().sent).toEqual([]);
});

test("retrying by hand does not wait", () => {
  const { socket } = wired();
  socket.start();
  last().end(1006);
  socket.retry();
  expect(Line.all).toHaveLength(2);
});
