// Signing in with a provider of OpenID Connect. The page begins it with a key of this browser, the provider sends the browser back to
// `/oidc/callback`, and the page proves the key: a code that somebody else was given, or gives on, is good for nothing.
import { del, entries, get, set } from "idb-keyval";
import type { components } from "../protocol/rest.ts";
import { Problem, type Rest } from "../transport/rest.ts";
import { type NewKey, heldKey, makeKey, signText } from "./browserKey.ts";

export type OidcOption = components["schemas"]["OidcOption"];
type Begun = components["schemas"]["OidcBegun"];
type Options = components["schemas"]["SignInOptions"];

/** What waits in this browser for the provider's answer. */
interface Pending {
  point: string;
  privateKey: CryptoKey;
  /** Where the page was. */
  hash: string;
  name: string;
  until: number;
  isLink: boolean;
  /** Another page of this browser waits for a session of a few minutes. */
  isAfresh?: boolean;
}

/** What is to be sent to the server, and for what. */
export interface Return {
  pending: Pending;
  key: NewKey;
  proof: { state: string; code: string; key: string; signature: string };
}

const PLACE = "notarium.oidc.";
const CALLBACK = "/oidc/callback";

export async function providerOf(rest: Rest): Promise<OidcOption | undefined> {
  return (await rest.get<Options>("/api/session/options")).oidc ?? undefined;
}

/** Leaves the page for the provider's. `link`: to add it to the account that is signed in, with its password. */
export async function goToProvider(rest: Rest, provider: OidcOption, link?: { current: string | undefined }): Promise<never> {
  const key = await makeKey();
  if (!key) throw noKey();
  const path = link ? "/api/me/identities/begin" : "/api/session/oidc/begin";
  const begun = await rest.json<Begun>("POST", path, { key: key.point, ...(link?.current && { current: link.current }) });
  await forgetOld();
  const { point, privateKey } = key;
  const common = { point, privateKey, name: provider.name, until: begun.expires_at };
  await set(PLACE + begun.state, { ...common, hash: location.hash, isLink: link !== undefined } satisfies Pending);
  // Who goes back to this page with the browser's button begins anew.
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload(), { once: true });
  location.assign(begun.url);
  return new Promise<never>(() => undefined);
}

/** What another page of this browser was told of a sign-in that it asked for. */
export type Afresh = { token: string; until: number; userId: string } | { error: string };

/** On it a page that the provider has sent back tells the one that waits. Whoever asked knows the state, and nobody else. */
const channelOf = (state: string) => new BroadcastChannel(PLACE + state);

/** Has the provider ask anew who is there, in a tab of its own: what is open here stays. Must be called where somebody has clicked. */
export async function askAfresh(rest: Rest, provider: OidcOption, signal: AbortSignal): Promise<Afresh> {
  // Opened at once, or the browser would stop it.
  const tab = open("about:blank");
  if (!tab) throw new Problem(0, "no_tab", "Allow pop-ups for this page and try again.");
  tab.opener = null;
  try {
    const key = await makeKey();
    if (!key) throw noKey();
    const begun = await rest.json<Begun>("POST", "/api/session/oidc/begin", { key: key.point, fresh: true });
    await forgetOld();
    const { point, privateKey } = key;
    const common = { point, privateKey, name: provider.name, until: begun.expires_at };
    await set(PLACE + begun.state, { ...common, hash: "", isLink: false, isAfresh: true } satisfies Pending);
    const channel = channelOf(begun.state);
    const told = new Promise<Afresh>((resolve, reject) => {
      channel.onmessage = ({ data }: MessageEvent<Afresh>) => resolve(data);
      signal.addEventListener("abort", () => reject(new Problem(0, "cancelled", "Cancelled.")));
    });
    tab.location.href = begun.url;
    return await told.finally(() => channel.close());
  } catch (error) {
    tab.close();
    throw error;
  }
}

export function tellAfresh(state: string, afresh: Afresh): void {
  const channel = channelOf(state);
  channel.postMessage(afresh);
  channel.close();
}

/** Those that wait: which of them it was for is not known. */
async function tellAll(afresh: Afresh): Promise<void> {
  for (const [place, pending] of await entries<string, Pending>().catch(() => []))
    if (typeof place === "string" && place.startsWith(PLACE) && pending.isAfresh) tellAfresh(place.slice(PLACE.length), afresh);
}

function noKey(): Problem {
  return new Problem(0, "no_key", "This browser stores nothing for this site (private window?). Use another window to sign in.");
}

/** What the provider sent the browser back with; it leaves the address at once. */
export function takeReturn(): URLSearchParams | undefined {
  if (location.pathname !== CALLBACK) return undefined;
  const back = new URLSearchParams(location.search);
  history.replaceState(null, "", "/");
  return back;
}

/** The proof for the server, and the place where the page was. Throws what people should read. */
export async function proofOf(back: URLSearchParams): Promise<Return> {
  const state = back.get("state") ?? "";
  const pending = state === "" ? undefined : await get<Pending>(PLACE + state).catch(() => undefined);
  // Some providers leave the state out when somebody says no.
  if (!pending && back.has("error")) {
    await tellAll({ error: refusal(back.get("error"), "The provider") });
    throw new Problem(401, "provider_refused", refusal(back.get("error"), "The provider"));
  }
  if (!pending) throw new Problem(401, "sign_in_ended", "This sign-in has expired. Start again.");
  await del(PLACE + state).catch(() => undefined);
  history.replaceState(null, "", `/${pending.hash}`);
  const code = back.get("code");
  if (code === null && pending.isAfresh) tellAfresh(state, { error: refusal(back.get("error"), pending.name) });
  if (code === null) throw new Problem(401, "provider_refused", refusal(back.get("error"), pending.name));
  const signature = await signText(pending.privateKey, `notarium-oidc\n${state}\n${code}`);
  const key = heldKey(pending.point, pending.privateKey);
  return { pending, key, proof: { state, code, key: pending.point, signature } };
}

/** Only what is known is said in words: the address is written by anybody. */
export function refusal(error: string | null, name: string): string {
  if (error === "access_denied") return `Sign-in with ${name} was cancelled.`;
  if (error === "temporarily_unavailable" || error === "server_error") return `${name} isn’t available. Try again later.`;
  const code = error !== null && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : "";
  return `${name} didn’t sign you in${code}. Try again, or tell an administrator.`;
}

async function forgetOld(): Promise<void> {
  const now = Date.now();
  for (const [place, pending] of await entries<string, Pending>().catch(() => []))
    if (typeof place === "string" && place.startsWith(PLACE) && !(pending.until > now)) await del(place).catch(() => undefined);
}
