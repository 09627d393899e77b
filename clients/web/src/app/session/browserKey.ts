// Key to which this browser's session is bound. Scripts cannot read its private part; it is limited to this origin, port
// included. The page proves possession to get a token that it keeps in memory. protocol/decisions/0014 explains why this is no
// cookie.
import { del, get, set } from "idb-keyval";
import type { SignedIn } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";

export type { SignedIn };

interface StoredKey {
  session: string;
  point: string;
  privateKey: CryptoKey;
}

export interface NewKey {
  point: string;
  privateKey: CryptoKey;
  /** Stores the key for this session. If the browser stores nothing, a new visit has to sign in. */
  keep: (session: string) => Promise<void>;
}

const PLACE = "notarium.session";
const CURVE = { name: "ECDSA", namedCurve: "P-256" };

/** Makes a key pair. Returns undefined without WebCrypto (plain HTTP to another machine) or without storage. */
export async function makeKey(): Promise<NewKey | undefined> {
  try {
    const pair = await crypto.subtle.generateKey(CURVE, false, ["sign", "verify"]);
    const point = base64url(await crypto.subtle.exportKey("raw", pair.publicKey));
    await get(PLACE);
    return heldKey(point, pair.privateKey);
  } catch {
    return undefined;
  }
}

/** Wraps an existing key of this browser. */
export function heldKey(point: string, privateKey: CryptoKey): NewKey {
  const keep = (session: string) => set(PLACE, { session, point, privateKey } satisfies StoredKey).catch(() => undefined);
  return { point, privateKey, keep };
}

export async function signText(privateKey: CryptoKey, text: string): Promise<string> {
  return base64url(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, new TextEncoder().encode(text)));
}

/** Gets a token for this browser's session, if it has one (for `only`: that session). Throws what the server refuses. */
export async function proveKey(anonymous: Rest, only?: string): Promise<SignedIn | undefined> {
  const kept = await read();
  if (!kept || (only !== undefined && kept.session !== only)) return undefined;
  const { session, point, privateKey } = kept;
  const { challenge } = await anonymous.json<{ challenge: string }>("POST", "/api/session/challenge", { session });
  const signature = await signText(privateKey, `notarium-session\n${session}\n${challenge}`);
  return anonymous.json<SignedIn>("POST", "/api/session/resume", { session, key: point, challenge, signature });
}

export async function forgetKey(only?: string): Promise<void> {
  const kept = await read();
  if (kept && (only === undefined || kept.session === only)) await del(PLACE).catch(() => undefined);
}

async function read(): Promise<StoredKey | undefined> {
  return get<StoredKey>(PLACE).catch(() => undefined);
}

function base64url(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
