/** The one WebSocket of the page: subscriptions that survive it, and its return after a break. */
import type { Envelope, Problem } from "@/api/types";

export const LOGIN_AGAIN = 4401;
export const TOO_SLOW = 4409;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 15_000;
const PING_EVERY_MS = 25_000;
const PONG_WITHIN_MS = 8_000;

/** The outside of the socket, so that a test can stand in for it. */
export interface Wiring {
  open: () => WebSocket;
  /** The `seq` after which to resume a conversation; null asks for its present state. */
  after: (conversation: string) => number | null;
  envelopes: (batch: Envelope[]) => void;
  refused: (conversation: string, problem: Problem) => void;
  found: () => void;
  /** Gone; tries again in so many milliseconds. */
  lost: (retryMs: number) => void;
  /** Nobody is logged in any more. */
  loggedOut: () => void;
  random?: () => number;
}

type Incoming =
  | Envelope
  | { type: "pong" }
  | { v: number; event: { type: "error"; problem: Problem; ref?: string } };

export class Socket {
  private socket: WebSocket | null = null;
  private wanted = new Set<string>();
  private failures = 0;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private pingTimer: ReturnType<typeof setInterval> | undefined;
  private pongTimer: ReturnType<typeof setTimeout> | undefined;
  private batch: Envelope[] = [];
  private flushing = false;

  constructor(private readonly wiring: Wiring) {}

  start(): void {
    if (this.socket || this.retryTimer) return;
    this.connect();
  }

  stop(): void {
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
    const socket = this.socket;
    this.forget();
    socket?.close(1000);
  }

  subscribe(conversation: string): void {
    if (this.wanted.has(conversation)) return;
    this.wanted.add(conversation);
    this.ask(conversation);
  }

  unsubscribe(conversation: string): void {
    if (this.wanted.delete(conversation)) this.send({ type: "unsubscribe", conversation });
  }

  /** Tries at once instead of waiting. */
  retry(): void {
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
    if (this.socket) this.ping();
    else this.connect();
  }

  /** Finds out whether the connection still stands; a silent one is given up. */
  ping(): void {
    if (this.socket?.readyState !== WebSocket.OPEN || this.pongTimer) return;
    this.send({ type: "ping" });
    this.pongTimer = setTimeout(() => this.broken(), PONG_WITHIN_MS);
  }

  private connect(): void {
    const socket = this.wiring.open();
    this.socket = socket;
    socket.onopen = () => {
      this.failures = 0;
      this.pingTimer = setInterval(() => this.ping(), PING_EVERY_MS);
      for (const conversation of this.wanted) this.ask(conversation);
      this.wiring.found();
    };
    socket.onmessage = ({ data }) => this.hear(JSON.parse(String(data)) as Incoming);
    socket.onclose = ({ code }) => {
      if (socket === this.socket) this.closed(code);
    };
  }

  private closed(code: number): void {
    this.forget();
    if (code === LOGIN_AGAIN) this.wiring.loggedOut();
    else if (code === TOO_SLOW) this.connect();
    else this.connectLater();
  }

  private connectLater(): void {
    const whole = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.failures);
    this.failures += 1;
    const retryMs = whole * (0.5 + (this.wiring.random ?? Math.random)() / 2);
    this.retryTimer = setTimeout(() => {
      this.retryTimer = undefined;
      this.connect();
    }, retryMs);
    this.wiring.lost(retryMs);
  }

  /** A connection that died without a word: the browser may take minutes to notice. */
  private broken(): void {
    const socket = this.socket;
    this.closed(1006);
    socket?.close();
  }

  private forget(): void {
    clearInterval(this.pingTimer);
    clearTimeout(this.pongTimer);
    this.pongTimer = undefined;
    this.socket = null;
    this.flush();
  }

  private ask(conversation: string): void {
    const after = this.wiring.after(conversation);
    const ref = conversation;
    this.send({ type: "subscribe", conversation, ref, ...(after === null ? {} : { after }) });
  }

  private send(frame: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  private hear(frame: Incoming): void {
    clearTimeout(this.pongTimer);
    this.pongTimer = undefined;
    if ("type" in frame) return;
    if ("seq" in frame) {
      this.batch.push(frame);
      this.flushSoon();
      return;
    }
    const { problem, ref } = frame.event;
    if (ref && this.wanted.delete(ref)) this.wiring.refused(ref, problem);
  }

  /** Tokens come faster than a screen can show them: one state change for each frame. */
  private flushSoon(): void {
    if (this.flushing) return;
    this.flushing = true;
    const flush = () => this.flush();
    // A hidden page gets no animation frames.
    if (document.hidden) setTimeout(flush, 50);
    else requestAnimationFrame(flush);
  }

  private flush(): void {
    this.flushing = false;
    if (this.batch.length === 0) return;
    const batch = this.batch;
    this.batch = [];
    this.wiring.envelopes(batch);
  }
}
