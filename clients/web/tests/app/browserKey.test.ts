// Browser session: bound to a key, token in memory, renewed when the server forgets it.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Session, TOLD, exchange, isLinkEnded, resume as resumed, signIn } from "../../src/app/session/session.ts";

const kept = new Map<string, unknown>();
vi.mock("idb-keyval", () => ({
  get: (place: string) => Promise.resolve(kept.get(place)),
  set: (place: string, value: unknown) => Promise.resolve(void kept.set(place, value)),
  del: (place: string) => Promise.resolve(void kept.delete(place)),
}));

const tab = new Map<string, string>();
/** State of the fake server. */
const server = { point: "", tokens: new Set<string>(), isEnded: false, isForProgram: false, proofs: 0, opened: new Set<string>() };

/** Socket that never opens. */
class FakeSocket {
  onclose = null;
  isClosed = false;
  constructor() {
    sockets.push(this);
  }
  close() {
    this.isClosed = true;
  }
}
let sockets: FakeSocket[] = [];

/** Opens a page and resumes its session. */
async function resume(): Promise<Session | undefined> {
  const session = await resumed();
  if (session === TOLD) throw new Error("nobody was to be told");
  return session;
}

beforeEach(() => {
  kept.clear();
  tab.clear();
  sockets = [];
  Object.assign(server, { point: "", tokens: new Set(), isEnded: false, isForProgram: false, proofs: 0, opened: new Set() });
  vi.stubGlobal("location", new URL("http://127.0.0.1:8787/"));
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => tab.get(key) ?? null,
    setItem: (key: string, value: string) => void tab.set(key, value),
    removeItem: (key: string) => void tab.delete(key),
  });
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => answer(path, init));
});
afterEach(() => void vi.unstubAllGlobals());

async function answer(path: string, init: RequestInit): Promise<Response> {
  const body = init.body ? (JSON.parse(String(init.body)) as Record<string, string>) : {};
  if (path === "/api/session") {
    const { token = "" } = body;
    if (token.startsWith("nt_link_") && server.opened.has(token)) return linkEnded();
    server.opened.add(token);
    server.point = body.key ?? "";
    return opened();
  }
  if (path === "/api/session/browser") {
    server.point = body.key ?? "";
    return opened();
  }
  if (path === "/api/session/challenge") return Response.json({ challenge: `of ${body.session ?? ""}` });
  if (path === "/api/session/resume") return (await isProved(body)) ? opened() : refused();
  const token = new Headers(init.headers).get("authorization")?.slice("Bearer ".length) ?? "";
  if (!server.tokens.has(token)) return refused();
  if (init.method === "DELETE") return new Response(null, { status: 204 });
  return Response.json({
    name: "Ann",
    scopes: ["read"],
    actor: { kind: "user", id: "ann" },
    token_id: "s1",
    kind: server.isForProgram ? "api" : "session",
  });
}

function opened(): Response {
  const token = `page ${String(server.tokens.size + 1)}`;
  server.tokens.add(token);
  return Response.json({ token, session: "s1" }, { status: 201 });
}

const refused = () => Response.json({ code: "unauthenticated", detail: "no token of this server" }, { status: 401 });

const linkEnded = () => Response.json({ code: "link_ended", detail: "this link was opened before" }, { status: 401 });

async function isProved({ session, key, challenge, signature }: Record<string, string>): Promise<boolean> {
  server.proofs += 1;
  const curve = { name: "ECDSA", namedCurve: "P-256" };
  const point = await crypto.subtle.importKey("raw", bytes(key), curve, true, ["verify"]);
  const text = new TextEncoder().encode(`notarium-session\n${session ?? ""}\n${challenge ?? ""}`);
  const isSigned = await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, point, bytes(signature), text);
  return isSigned && key === server.point && challenge === "of s1" && !server.isEnded;
}

const bytes = (text = "") => Uint8Array.from(Buffer.from(text, "base64url"));

test("a page that opens later is signed in by the key, and no token is kept", async () => {
  const first = await exchange({ token: "nt_owner_x_y" });
  expect(first.token).toBe("page 1");
  const [{ privateKey }] = [...kept.values()] as [{ privateKey: CryptoKey }];
  expect(privateKey.extractable).toBe(false);
  expect(tab.size).toBe(0);
  const second = await resume();
  expect(second?.token).toBe("page 2");
  expect(tab.size).toBe(0);
});

test("a notebook’s page connects its socket while the server says who the person is, the list of notebooks does not", async () => {
  await exchange({ token: "nt_owner_x_y" });
  expect((await resume())?.connection.state.name).toBe("idle");
  expect(sockets).toEqual([]);
  vi.stubGlobal("location", new URL("http://127.0.0.1:8787/#/n/nb"));
  const atMe: number[] = [];
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    if (path === "/api/me") atMe.push(sockets.length);
    return answer(path, init);
  });
  const session = await resume();
  expect(atMe).toEqual([1]);
  expect(session?.connection.state.name).toBe("connecting");
  expect(sockets).toMatchObject([{ isClosed: false }]);
  session?.connection.stop();
});

test("a socket that connected ahead is closed if the server does not say who the person is", async () => {
  await exchange({ token: "nt_owner_x_y" });
  vi.stubGlobal("location", new URL("http://127.0.0.1:8787/#/n/nb"));
  const fails = Response.json({ code: "internal", detail: "no disk" }, { status: 500 });
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => (path === "/api/me" ? Promise.resolve(fails) : answer(path, init)));
  await expect(resume()).rejects.toThrow();
  expect(sockets).toMatchObject([{ isClosed: true }]);
});

test("a page that was opened with a session gets one of its own", async () => {
  server.tokens.add("nt_session_x_y");
  const session = await signIn("nt_session_x_y");
  expect(session.token).toBe("page 2");
  expect(tab.size).toBe(0);
  expect((await resume())?.token).toBe("page 3");
});

/** Opens a page with the address of a link. */
function openLink(): Promise<Session | undefined> {
  vi.stubGlobal("location", new URL("http://127.0.0.1:8787/#token=nt_link_s1_00"));
  const replaced = vi.fn();
  vi.stubGlobal("history", { replaceState: replaced });
  return resume().finally(() => expect(replaced).toHaveBeenCalledWith(null, "", "/"));
}

test("a link opens this browser once, and its other tabs need none", async () => {
  expect((await openLink())?.token).toBe("page 1");
  expect(tab.size).toBe(0);
  vi.stubGlobal("location", new URL("http://127.0.0.1:8787/"));
  expect((await resume())?.token).toBe("page 2");
  // The same link again in this browser: the person stays signed in and sees a notice.
  const again = await openLink();
  expect(again?.token).toBe("page 3");
  expect(again?.arrival?.text).toBe("This link was already used. You’re signed in as Ann.");
});

test("a link that was opened elsewhere says so", async () => {
  server.opened.add("nt_link_s1_00");
  await expect(openLink()).rejects.toSatisfy(isLinkEnded);
  server.isEnded = true;
  kept.set("notarium.session", { session: "s1", point: "AA", privateKey: {} });
  await expect(openLink()).rejects.toSatisfy(isLinkEnded);
});

test("what the server has forgotten is asked for again, once for all that wait", async () => {
  const session = await exchange({ token: "nt_owner_x_y" });
  server.tokens.clear();
  const [me] = await Promise.all([session.rest.get<{ name: string }>("/api/me"), session.rest.get("/api/notebooks")]);
  expect(me.name).toBe("Ann");
  expect(server.proofs).toBe(1);
});

test("another person who has signed in since is not taken for this one", async () => {
  const session = await exchange({ token: "nt_owner_x_y" });
  server.tokens.clear();
  const [place, of] = [...kept.entries()][0] as [string, object];
  kept.set(place, { ...of, session: "s2" });
  await expect(session.rest.get("/api/me")).rejects.toThrow("You’re signed out");
  expect(server.proofs).toBe(0);
});

test("a session that has ended says so", async () => {
  await exchange({ token: "nt_owner_x_y" });
  server.isEnded = true;
  await expect(resume()).rejects.toThrow("Your session has ended");
});

test("a token that somebody brought ends without the browser's own session", async () => {
  await exchange({ token: "nt_owner_x_y" });
  tab.set("notarium.session", "nt_share_gone_z");
  await expect(resume()).rejects.toThrow("It was revoked or has expired");
  expect(tab.size).toBe(0);
  expect((await resume())?.token).toBe("page 2");
});

test("signing out of a brought session leaves the browser's own", async () => {
  await exchange({ token: "nt_owner_x_y" });
  const own = [...kept.entries()][0] as [string, object];
  kept.set(own[0], { ...own[1], session: "s2" });
  tab.set("notarium.session", "page 1");
  server.isForProgram = true;
  await (await resume())?.signOut();
  expect(kept.size).toBe(1);
  expect(tab.size).toBe(0);
});

test("a session that has ended is forgotten", async () => {
  const session = await exchange({ token: "nt_owner_x_y" });
  await session.signOut();
  expect(kept.size).toBe(0);
});

test("a browser without keys keeps the token for the tab", async () => {
  vi.stubGlobal("crypto", {});
  await exchange({ login: "ann", password: "a cow in the harbour" });
  expect([...tab.values()]).toEqual(["page 1"]);
  expect(kept.size).toBe(0);
});
