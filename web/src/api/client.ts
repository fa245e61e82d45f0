/** The one door to the server: JSON in, JSON out, every failure an `ApiError` with a code. */
import type { Problem } from "./types";

export class ApiError extends Error {
  readonly status: number;
  readonly problem: Problem;

  constructor(status: number, problem: Problem) {
    super(problem.message);
    this.name = "ApiError";
    this.status = status;
    this.problem = problem;
  }

  get code(): string {
    return this.problem.code;
  }

  /** Nobody answered at all, in contrast to an answer that refuses. */
  get offline(): boolean {
    return this.status === 0;
  }
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Query = Record<string, string | number | boolean | null | undefined>;

interface Options {
  query?: Query;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

let language = "en-US";
const onUnauthenticated = new Set<() => void>();

/** The language in which the server is asked to word its errors. */
export function speak(next: string): void {
  language = next;
}

/** Called when the server no longer knows who we are. */
export function whenLoggedOut(listener: () => void): () => void {
  onUnauthenticated.add(listener);
  return () => onUnauthenticated.delete(listener);
}

export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

export async function request<T>(
  method: Method,
  path: string,
  body?: unknown,
  options: Options = {},
): Promise<T> {
  const headers: Record<string, string> = { "Accept-Language": language, ...options.headers };
  const init: RequestInit = { method, headers, credentials: "same-origin" };
  if (options.signal) init.signal = options.signal;
  if (body instanceof FormData) init.body = body;
  else if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  let response: Response;
  try {
    response = await fetch(address(path, options.query), init);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, { code: "offline", message: "The server cannot be reached." });
  }
  if (response.ok) return (response.status === 204 ? undefined : await json(response)) as T;
  const problem = await problemOf(response);
  if (response.status === 401 && path !== "/api/login" && path !== "/api/me/password") {
    for (const listener of onUnauthenticated) listener();
  }
  throw new ApiError(response.status, problem);
}

async function json(response: Response): Promise<unknown> {
  const text = await response.text();
  return text ? JSON.parse(text) : undefined;
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = (await response.json()) as { error?: Partial<Problem> };
    if (body.error?.code) return { message: "", ...body.error, code: body.error.code };
  } catch {
    // Not JSON: a proxy in between, or a server that broke.
  }
  return { code: "http_status", message: "", values: { status: String(response.status) } };
}

export const get = <T>(path: string, options?: Options) =>
  request<T>("GET", path, undefined, options);
export const post = <T>(path: string, body?: unknown, options?: Options) =>
  request<T>("POST", path, body, options);
export const put = <T>(path: string, body: unknown, options?: Options) =>
  request<T>("PUT", path, body, options);
export const patch = <T>(path: string, body: unknown, options?: Options) =>
  request<T>("PATCH", path, body, options);
export const remove = (path: string, options?: Options) =>
  request<void>("DELETE", path, undefined, options);
