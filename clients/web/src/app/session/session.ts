// The signed-in person or guest. A person's session is bound to a key of this browser (`browserKey.ts`), and its token stays in
// memory. Tokens of programs and share links are stored for the tab.
import type { Actor } from "../../protocol/messages.ts";
import type { Me, OneTimeUse } from "../../protocol/rest.ts";
import { type NewKey, type SignedIn, forgetKey, makeKey, proveKey } from "./browserKey.ts";
import { learn, serverNow } from "./clock.ts";
import type { Afresh, OidcOption, Return } from "./oidc.ts";
import { routeOf } from "./route.ts";
import { keepLogin } from "./signInWay.ts";
import { Connection, type ConnectionState } from "../../transport/connection.ts";
import { Problem, Rest } from "../../transport/rest.ts";

export type { Me };

const KEY = "notarium.session";
const NOT_PROVED = "not_proved";
const SHARE_ENDED = "share_ended";
/** Path to which an identity provider redirects. */
const CALLBACK = "/oidc/callback";
/** One-time tokens, exchanged for a session: the printed owner token, resets, invitations, and links for a browser. */
const ONE_TIME = /^nt_(owner|reset|link)_/;

/** A one-time token that needs a password, and a login if the account has none. */
export class Invitation extends Error {
  constructor(
    readonly token: string,
    readonly needs: OneTimeUse,
  ) {
    super("Choose a password.");
  }

  redeem(chosen: { password: string; login?: string; name?: string }): Promise<Session> {
    return exchange({ token: this.token, ...chosen });
  }
}

const anonymous = new Rest({ base: "", token: () => undefined });
let count = 0;

export class Session {
  readonly rest: Rest;
  #fresh: { token: string; until: number } | undefined;
  readonly #restAfresh = new Rest({ base: "", token: () => this.#fresh?.token });
  readonly #provers: (() => Promise<boolean>)[] = [];
  #proof: Promise<boolean> | undefined;
  readonly #names = new Map<string, Promise<string>>();
  #renewal: Promise<boolean> | undefined;
  /** Result of an action begun before the page loaded; displayed once. */
  arrival: { text: string; isBad: boolean } | undefined;
  /** Distinguishes two sign-ins of the same person. */
  readonly number = ++count;

  constructor(
    public token: string,
    public me: Me,
    readonly connection = newConnection(),
  ) {
    this.rest = new Rest({ base: "", token: () => this.token, renew: (refused) => this.#renewed(refused) });
    this.connection.changed.add((state) => this.#hear(state));
    this.#hear(this.connection.state);
  }

  #hear(state: ConnectionState): void {
    if (state.name === "refused" && state.code === "unauthenticated") void this.#renewed(this.token);
  }

  get userId(): string | undefined {
    return this.me.actor.kind === "user" ? this.me.actor.id : undefined;
  }

  /** Continues with a new token after the same person signed in again. */
  renew({ token, me }: Session): void {
    this.token = token;
    this.me = me;
    this.connection.refresh(token);
  }

  /** The server no longer knows this page's token (after a restart): proves the browser's key for a new one. */
  async #renewed(refused: string): Promise<boolean> {
    if (refused !== this.token) return true;
    this.#renewal ??= proveKey(anonymous, this.me.token_id)
      .then((answer) => {
        if (!answer) return false;
        this.token = answer.token;
        this.connection.refresh(answer.token);
        return true;
      })
      .catch(() => false)
      .finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }

  /** Name of a user; events contain only ids. */
  nameOf(userId: string): Promise<string> {
    return userId === this.userId ? Promise.resolve(this.me.name) : this.#nameAt(`/api/people/${userId}`);
  }

  /** Name of a user or guest; for an assistant, the name of its user. Undefined for other actors. */
  nameOfActor(actor: Actor): Promise<string> | undefined {
    if (actor.kind === "user") return this.nameOf(actor.id);
    if (actor.kind === "assistant") return this.nameOf(actor.for_user);
    return actor.kind === "guest" ? this.#nameAt(`/api/guests/${actor.share_link}`) : undefined;
  }

  /** True if the actor is the signed-in user. A guest is never recognised, because several guests may share a link. */
  isMe(actor: Actor): boolean {
    return actor.kind === "user" && actor.id === this.userId;
  }

  #nameAt(path: string): Promise<string> {
    const known = this.#names.get(path) ?? this.rest.get<{ name: string }>(path).then(({ name }) => name);
    this.#names.set(path, known);
    known.catch(() => this.#names.delete(path));
    return known;
  }

  /** True if confirming and sharing need the password first, because the stored token allows neither. */
  get asksAgain(): boolean {
    return this.me.asks_again === true && !(this.#fresh && serverNow() < this.#fresh.until);
  }

  /** Gets a session of a few minutes, held in this page's memory. */
  async signInAfresh(password: string): Promise<void> {
    const body = { login: this.me.user?.login, password, label: "browser, password asked", fresh: true };
    const { token, expires_at } = await anonymous.json<SignedIn>("POST", "/api/session", body);
    this.#fresh = { token, until: expires_at ?? 0 };
  }

  /** Takes that session from the provider, which asked in a new tab. */
  continueAfresh(told: Afresh, { name }: OidcOption): void {
    if ("error" in told) throw new Problem(401, "provider_refused", told.error);
    if (told.userId !== this.userId)
      throw new Problem(403, "somebody_else", `You signed in to ${name} as someone else. Here you are ${this.me.name}.`);
    this.#fresh = { token: told.token, until: told.until };
  }

  /** True if this person may share and manage, now or after entering the password. */
  get mayManage(): boolean {
    return this.me.asks_again === true || this.me.scopes.includes("manage");
  }

  /** Registers a component that can ask for the password; the latest one is used. Returns a function that unregisters it. */
  proveBy(prove: () => Promise<boolean>): () => void {
    this.#provers.push(prove);
    return () => void this.#provers.splice(this.#provers.indexOf(prove), 1);
  }

  /** REST client that may confirm, share and manage. Asks for the password if the stored token may not. */
  async deciding(): Promise<Rest> {
    if (this.asksAgain && !(await this.#prove())) throw new Problem(401, NOT_PROVED, "Cancelled: no password entered.");
    return this.me.asks_again === true ? this.#restAfresh : this.rest;
  }

  /** Asks once, also for concurrent callers. */
  async #prove(): Promise<boolean> {
    this.#proof ??= (this.#provers.at(-1)?.() ?? Promise.resolve(false)).finally(() => (this.#proof = undefined));
    return this.#proof;
  }

  async changeProfile(profile: { name: string; login: string }): Promise<void> {
    const user = await (await this.deciding()).json<NonNullable<Me["user"]>>("PUT", "/api/me", profile);
    this.me = { ...this.me, name: user.name, user };
  }

  async changePassword(current: string | undefined, password: string): Promise<void> {
    await (await this.deciding()).json("PUT", "/api/me/password", { current: current ?? null, password });
    if (this.me.user) this.me = { ...this.me, user: { ...this.me.user, has_password: true } };
  }

  async signOut(): Promise<void> {
    if (this.me.user?.has_password) keepLogin(true);
    this.connection.stop();
    sessionStorage.removeItem(KEY);
    await forgetKey(this.me.token_id);
    if (this.me.kind === "session") await this.rest.json("DELETE", "/api/session").catch(() => undefined);
  }
}

function newConnection(): Connection {
  const address = new URL("/api/socket", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const open = () => new WebSocket(address) as never;
  return new Connection({ open, client: "notarium-web/0.2.0" });
}

/** True if the person cancelled the password dialog; this needs no error message. */
export function isNotProved(error: unknown): boolean {
  return error instanceof Problem && error.code === NOT_PROVED;
}

/** True for a browser link that has expired or was used. */
export function isLinkEnded(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "link_ended";
}

/** True for a share link that was revoked or has expired. */
export function isShareEnded(error: unknown): error is Problem {
  return error instanceof Problem && error.code === SHARE_ENDED;
}

/** Words for a guest whose link no longer works; `owner` is the name of an owner of the notebook, if known. */
export function shareEndedWords(owner?: string): string {
  return `It was revoked or has expired. Ask ${owner ?? "whoever sent it to you"} for a new one.`;
}

function wasRefused(error: unknown): boolean {
  return error instanceof Problem && error.status === 401;
}

/** Takes a token out of the address's fragment, which is never sent to a server. */
export function tokenOfLink(): string | undefined {
  const link = parseLink(location.pathname, location.hash);
  if (link) history.replaceState(null, "", link.place);
  return link?.token;
}

/** Listens for links opened in this page. Their tokens leave the address before other listeners read it. */
export function onLink(opened: (token: string) => void): () => void {
  const hear = () => {
    const token = tokenOfLink();
    if (token !== undefined) opened(token);
  };
  addEventListener("hashchange", hear, { capture: true });
  return () => removeEventListener("hashchange", hear, { capture: true });
}

/** Parses `/#token=T`, `/#token=T&notebook=N`, and `/notebooks/N#token=T`, the server's form. */
export function parseLink(path: string, hash: string): { token: string; place: string } | undefined {
  const [, token, named] = /^#token=([\w-]+)(?:&notebook=([\w-]+))?$/.exec(hash) ?? [];
  const notebook = named ?? /^\/notebooks\/([\w-]+)$/.exec(path)?.[1];
  return token === undefined ? undefined : { token, place: notebook === undefined ? "/" : `/#/n/${notebook}` };
}

/** Share link to a notebook. The fragment after # is not sent to the server. */
export function linkTo(notebook: string, token: string): string {
  return `${location.origin}/#token=${token}&notebook=${notebook}`;
}

/** Result of a tab that only passed its sign-in to another tab. */
export const TOLD = "told";

export async function resume(): Promise<Session | typeof TOLD | undefined> {
  const back = takeReturn();
  return back ? returned(back) : resumeKept();
}

/** Parameters of the provider's redirect; removes them from the address. */
function takeReturn(): URLSearchParams | undefined {
  if (location.pathname !== CALLBACK) return undefined;
  const back = new URLSearchParams(location.search);
  history.replaceState(null, "", "/");
  return back;
}

/** Completes a redirect from the provider. If it fails, an existing session remains. */
async function returned(back: URLSearchParams): Promise<Session | typeof TOLD | undefined> {
  try {
    const { proofOf, tellAfresh } = await import("./oidc.ts");
    const { pending, key, proof } = await proofOf(back);
    if (pending.isAfresh) return await tellOther(proof, tellAfresh);
    if (!pending.isLink) return await keep(key, await anonymous.json("POST", "/api/session/oidc", { ...proof, label: "browser" }));
    const session = await resumeKept();
    await session?.rest.json("POST", "/api/me/identities", proof);
    if (session) session.arrival = { text: `You can now sign in with ${pending.name}.`, isBad: false };
    return session;
  } catch (error) {
    const session = await resumeKept().catch(() => undefined);
    if (!session) throw error;
    session.arrival = { text: (error as Error).message, isBad: true };
    return session;
  }
}

async function tellOther(proof: Return["proof"], tellAfresh: (state: string, afresh: Afresh) => void): Promise<typeof TOLD> {
  try {
    const body = { ...proof, label: "browser, asked anew", fresh: true };
    const { token, expires_at, user } = await anonymous.json<SignedIn>("POST", "/api/session/oidc", body);
    tellAfresh(proof.state, { token, until: expires_at ?? 0, userId: user.id });
  } catch (error) {
    tellAfresh(proof.state, { error: (error as Error).message });
    throw error;
  }
  close();
  return TOLD;
}

/** The session of this browser, or of the link in the address. */
export async function resumeKept(): Promise<Session | undefined> {
  const token = tokenOfLink();
  if (token === undefined) return resumeOwn();
  return signIn(token).catch(async (error: unknown) => {
    if (!isLinkEnded(error)) throw error;
    // The link was used before, perhaps here: an existing session remains.
    const own = await resumeOwn().catch(() => undefined);
    if (!own) throw error;
    own.arrival = { text: `This link was already used. You’re signed in as ${own.me.name}.`, isBad: false };
    return own;
  });
}

async function resumeOwn(): Promise<Session | undefined> {
  const token = sessionStorage.getItem(KEY);
  // A refused tab token does not affect the browser's own session.
  if (token)
    return signIn(token).catch((error: unknown) => {
      if (wasRefused(error)) sessionStorage.removeItem(KEY);
      throw error;
    });
  const answer = await proveKey(anonymous).catch(async (error: unknown) => {
    if (!wasRefused(error)) throw error;
    await forgetKey();
    throw new Problem(401, "ended", "Your session has ended. Sign in again.");
  });
  return answer && connected(answer.token);
}

/** Session whose socket connects while the server tells who the person is, if a notebook is about to open. */
async function connected(token: string): Promise<Session> {
  const connection = newConnection();
  if (routeOf(location.hash).name === "notebook") connection.start(token);
  try {
    return new Session(token, await whoIs(token), connection);
  } catch (error) {
    connection.stop();
    throw error;
  }
}

export async function signIn(token: string): Promise<Session> {
  if (ONE_TIME.test(token)) {
    const needs = token.startsWith("nt_link_") ? undefined : await oneTimeUse(token);
    if (needs?.needs_password) throw new Invitation(token, needs);
    return exchange({ token });
  }
  const me = await whoIs(token).catch((error: unknown) => {
    if (!wasRefused(error) || !token.startsWith("nt_share_")) throw error;
    throw new Problem(401, SHARE_ENDED, shareEndedWords());
  });
  if (me.actor.kind === "agent") throw new Problem(403, "forbidden", "This token belongs to a runtime agent. Use your own.");
  const own = me.kind === "session" ? await bind(token) : undefined;
  if (own) return own;
  sessionStorage.setItem(KEY, token);
  return new Session(token, me);
}

/** Requirements of a one-time token; does not consume it. */
function oneTimeUse(token: string) {
  return anonymous.json<OneTimeUse>("POST", "/api/session/one-time", { token });
}

/** Replaces the token's session by one bound to this browser's key; undefined without key support. */
async function bind(token: string): Promise<Session | undefined> {
  const key = await makeKey();
  if (!key) return undefined;
  const rest = new Rest({ base: "", token: () => token });
  const opened = await rest
    .json<SignedIn>("POST", "/api/session/browser", { key: key.point, label: "browser" })
    .catch(() => undefined);
  return opened && keep(key, opened);
}

async function keep(key: NewKey, { token, session }: SignedIn): Promise<Session> {
  sessionStorage.removeItem(KEY);
  await key.keep(session);
  return new Session(token, await whoIs(token));
}

async function whoIs(token: string): Promise<Me> {
  const sentAt = Date.now();
  const answer = await new Rest({ base: "", token: () => token }).send("/api/me");
  learn(answer.headers.get("date"), sentAt, Date.now());
  return (await answer.json()) as Me;
}

/** Signs in with a one-time token, or with login and password. */
export async function exchange(
  proof: { token: string; password?: string; login?: string; name?: string } | { login: string; password: string },
): Promise<Session> {
  const key = await makeKey();
  const body = { ...proof, label: "browser", ...(key && { key: key.point }) };
  const opened = await anonymous.json<SignedIn>("POST", "/api/session", body);
  return key ? keep(key, opened) : signIn(opened.token);
}
