// The key that this browser's session is bound to. No script can read its private part, it stays in this origin (port included), and
// a page proves it to get a token for its memory: protocol/decisions/0014 says why this is no cookie.
import { del, get, set } from "idb-keyval";
import type { components } from "../protocol/rest.ts";
import type { Rest } from "../transport/rest.ts";

export type SignedIn = components["schemas"]["SignedIn"];

interface Kept {
  session: string;
  point: string;
  privateKey: CryptoKey;
}

export interface NewKey {
  point: string;
  /** Remembers it as the key of this session. A browser that keeps nothing asks for a sign-in when the page has gone. */
  keep: (session: string) => Promise<void>;
}

const PLACE = "notarium.session";
const CURVE = { name: "ECDSA", namedCurve: "P-256" };

/** Nothing where the browser has no keys for this address (plain HTTP on another machine) or keeps nothing. */
export async function makeKey(): Promise<NewKey | undefined> {
  try {
    const pair = await crypto.subtle.generateKey(CURVE, false, ["sign", "verify"]);
    const point = base64url(await crypto.subtle.exportKey("raw", pair.publicKey));
    await get(PLACE);
    const keep = (session: string) =>
      set(PLACE, { session, point, privateKey: pair.privateKey } satisfies Kept).catch(() => undefined);
    return { point, keep };
  } catch {
    return undefined;
  }
}

/** A token of the session of this browser, if it has one; `only` of this session. What the server refuses is thrown. */
export async function proveKey(anonymous: Rest, only?: string): Promise<SignedIn | undefined> {
  const kept = await read();
  if (!kept || (only !== undefined && kept.session !== only)) return undefined;
  const { session, point, privateKey } = kept;
  const { challenge } = await anonymous.json<{ challenge: string }>("POST", "/api/session/challenge", { session });
  const text = new TextEncoder().encode(`notarium-session\n${session}\n${challenge}`);
  const signature = base64url(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, text));
  return anonymous.json<SignedIn>("POST", "/api/session/resume", { session, key: point, challenge, signature });
}

export async function forgetKey(only?: string): Promise<void> {
  const kept = await read();
  if (kept && (only === undefined || kept.session === only)) await del(PLACE).catch(() => undefined);
}

async function read(): Promise<Kept | undefined> {
  return get<Kept>(PLACE).catch(() => undefined);
}

function base64url(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
