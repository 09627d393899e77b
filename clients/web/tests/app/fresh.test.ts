// Servers that ask for the password: decisions use a session of a few minutes, kept only in memory.
import { afterEach, expect, test, vi } from "vitest";
import { type Me, Session, isNotProved } from "../../src/app/session/session.ts";

interface Asked {
  path: string;
  token: string | null;
  body: unknown;
}

afterEach(() => void vi.unstubAllGlobals());

test("a decision goes with the fresh session, which is asked for again when its time is over", async () => {
  const asked: Asked[] = [];
  const until = Date.now() + 900_000;
  vi.stubGlobal("location", new URL("http://127.0.0.1:8787/"));
  const stored = vi.fn();
  vi.stubGlobal("sessionStorage", { setItem: stored });
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    const token = new Headers(init.headers).get("authorization");
    asked.push({ path, token, body: JSON.parse(String(init.body)) as unknown });
    return Promise.resolve(new Response(JSON.stringify({ token: "fresh", expires_at: until })));
  });
  const me = { name: "Ann", scopes: ["read"], asks_again: true, user: { login: "ann", has_password: true } } as unknown as Me;
  const session = new Session("kept", me);
  expect(session.asksAgain).toBe(true);

  await expect(session.deciding()).rejects.toThrow("no password entered");
  const prove = vi.fn(() => session.signInAfresh("correct horse").then(() => true));
  session.proveBy(prove);
  // Two concurrent decisions ask once.
  const [rest] = await Promise.all([session.deciding(), session.deciding()]);
  expect(prove).toHaveBeenCalledTimes(1);
  expect(session.asksAgain).toBe(false);
  await rest.json("POST", "/api/notebooks/n/commands", { body: { DenyToolCall: { call_id: "c" } } });
  expect(asked).toEqual([
    {
      path: "/api/session",
      token: null,
      body: { login: "ann", password: "correct horse", label: "browser, password asked", fresh: true },
    },
    { path: "/api/notebooks/n/commands", token: "Bearer fresh", body: { body: { DenyToolCall: { call_id: "c" } } } },
  ]);
  expect(session.token).toBe("kept");
  expect(stored).not.toHaveBeenCalled();

  vi.useFakeTimers({ now: until + 1 });
  expect(session.asksAgain).toBe(true);
  session.proveBy(() => Promise.resolve(false));
  await expect(session.deciding()).rejects.toSatisfy(isNotProved);
  vi.useRealTimers();
});

test("where the server asks for nothing, no page does", async () => {
  vi.stubGlobal("location", new URL("http://127.0.0.1:8787/"));
  const me = { name: "Ann", scopes: ["read", "confirm"] } as unknown as Me;
  const session = new Session("kept", me);
  expect(session.asksAgain).toBe(false);
  expect(await session.deciding()).toBe(session.rest);
});
