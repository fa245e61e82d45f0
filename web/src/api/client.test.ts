import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError, address, get, patch, post, whenLoggedOut } from "./client";

const answer = (status: number, body?: unknown) =>
  vi.fn<typeof fetch>(async () =>
    body === undefined
      ? new Response(null, { status })
      : new Response(typeof body === "string" ? body : JSON.stringify(body), { status }),
  );
const failing = async (made: Promise<unknown>): Promise<ApiError> => {
  const error = await made.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error("no ApiError came");
  return error;
};

afterEach(() => vi.unstubAllGlobals());

describe("the client", () => {
  it("leaves out what a query does not say", () => {
    expect(address("/api/x", { before: null, limit: 50, archived: undefined })).toBe(
      "/api/x?limit=50",
    );
    expect(address("/api/x")).toBe("/api/x");
  });

  it("sends JSON and reads JSON, and nothing from an empty answer", async () => {
    const fetching = answer(200, { id: "a_1" });
    vi.stubGlobal("fetch", fetching);
    expect(await patch("/api/agents/a_1", { name: "书童" })).toEqual({ id: "a_1" });
    const init = fetching.mock.calls[0]?.[1];
    expect(init?.method).toBe("PATCH");
    expect(init?.body).toBe('{"name":"书童"}');
    vi.stubGlobal("fetch", answer(204));
    expect(await post("/api/logout")).toBeUndefined();
  });

  it("turns a refusal into its code and values", async () => {
    const error = { code: "name_taken", message: "Taken.", values: { name: "x" } };
    vi.stubGlobal("fetch", answer(409, { error }));
    const caught = await failing(post("/api/agents", {}));
    expect([caught.status, caught.code, caught.problem.values]).toEqual([
      409,
      "name_taken",
      { name: "x" },
    ]);
  });

  it("says the status when a proxy answers in its own words", async () => {
    vi.stubGlobal("fetch", answer(502, "<html>Bad gateway</html>"));
    const caught = await failing(get("/api/me"));
    expect(caught.code).toBe("http_status");
    expect(caught.problem.values).toEqual({ status: "502" });
  });

  it("tells silence from a refusal", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed")));
    expect((await failing(get("/api/me"))).offline).toBe(true);
  });

  it("reports a lost login, but not a wrong password", async () => {
    const lost = vi.fn();
    const off = whenLoggedOut(lost);
    vi.stubGlobal("fetch", answer(401, { error: { code: "wrong_password", message: "" } }));
    await failing(post("/api/login", {}));
    expect(lost).not.toHaveBeenCalled();
    await failing(get("/api/agents"));
    expect(lost).toHaveBeenCalledOnce();
    off();
  });
});
