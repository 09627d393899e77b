// Sign-in with OpenID Connect. The page starts it with a key of this browser, and the provider redirects to `/oidc/callback`.
// The page then proves possession of the key, so that a stolen or injected code is useless.
import { del, entries, get, set } from "idb-keyval";
import type { OidcBegun as Begun, OidcOption, SignInOptions as Options } from "../../protocol/rest.ts";
import { Problem, Rest } from "../../transport/rest.ts";
import { type NewKey, heldKey, makeKey, signText } from "./browserKey.ts";

export type { OidcOption };

/** State stored in this browser until the provider redirects. */
interface Pending {
  point: string;
  privateKey: CryptoKey;
  /** The page's fragment before the redirect. */
  hash: string;
  name: string;
  until: number;
  isLink: boolean;
  /** Another tab of this browser waits for a short session (step-up). */
  isAfresh?: boolean;
}

/** Proof for the server after the redirect, with the state stored before. */
export interface Return {
  pending: Pending;
  key: NewKey;
  proof: { state: string; code: string; key: string; signature: string };
}

const PLACE = "notarium.oidc.";

const anonymous = new Rest({ base: "", token: () => undefined });

/** The OpenID Connect provider of this server, if there is one. */
export async function provider(): Promise<OidcOption | undefined> {
  return (await anonymous.get<Options>("/api/session/options")).oidc ?? undefined;
}

/** Leaves the page; the provider redirects back. */
export function signInWith(option: OidcOption): Promise<never> {
  return goToProvider(anonymous, option);
}

/** Redirects the page to the provider. `link` adds the identity to the signed-in account, confirmed by its password. */
export async function goToProvider(rest: Rest, provider: OidcOption, link?: { current: string | undefined }): Promise<never> {
  const key = await makeKey();
  if (!key) throw noKey();
  const path = link ? "/api/me/identities/begin" : "/api/session/oidc/begin";
  const begun = await rest.json<Begun>("POST", path, { key: key.point, ...(link?.current && { current: link.current }) });
  await forgetOld();
  const { point, privateKey } = key;
  const common = { point, privateKey, name: provider.name, until: begun.expires_at };
  await set(PLACE + begun.state, { ...common, hash: location.hash, isLink: link !== undefined } satisfies Pending);
  // After the browser's Back button, the cached page reloads.
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload(), { once: true });
  location.assign(begun.url);
  return new Promise<never>(() => undefined);
}

/** Result of a step-up sign-in, sent to the tab that asked for it. */
export type Afresh = { token: string; until: number; userId: string } | { error: string };

/**
 * Channel between the tab that the provider redirected and the waiting tab. Its name contains the state, which only these two
 * know.
 */
const channelOf = (state: string) => new BroadcastChannel(PLACE + state);

/** Opens the provider in a new tab to sign in again; this page stays open. Must be called from a click handler. */
export async function askAfresh({ name }: OidcOption, signal: AbortSignal): Promise<Afresh> {
  // Opened before any await, because the browser would block it later.
  const tab = open("about:blank");
  if (!tab) throw new Problem(0, "no_tab", "Allow pop-ups for this page and try again.");
  tab.opener = null;
  try {
    const key = await makeKey();
    if (!key) throw noKey();
    const begun = await anonymous.json<Begun>("POST", "/api/session/oidc/begin", { key: key.point, fresh: true });
    await forgetOld();
    const { point, privateKey } = key;
    const common = { point, privateKey, name, until: begun.expires_at };
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

/** Sends a result to all waiting tabs, because without the state the right one is unknown. */
async function tellAll(afresh: Afresh): Promise<void> {
  for (const [place, pending] of await entries<string, Pending>().catch(() => []))
    if (typeof place === "string" && place.startsWith(PLACE) && pending.isAfresh) tellAfresh(place.slice(PLACE.length), afresh);
}

function noKey(): Problem {
  return new Problem(0, "no_key", "This browser stores nothing for this site (private window?). Use another window to sign in.");
}

/** Builds the proof for the server and restores the page's fragment. Throws errors for people to read. */
export async function proofOf(back: URLSearchParams): Promise<Return> {
  const state = back.get("state") ?? "";
  const pending = state === "" ? undefined : await get<Pending>(PLACE + state).catch(() => undefined);
  // Some providers omit the state when the person declines.
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

/** Words for a provider's error. Unknown text is not displayed, because anyone can write the address. */
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
