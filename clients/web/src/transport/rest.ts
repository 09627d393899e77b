// REST and blobs, with the bearer token of the session.
import type { Output } from "../protocol/messages.ts";
import { BlobCache } from "./blobs.ts";
import { pageWords } from "./refusals.ts";

/** A request that failed. `message` is for people on the page. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** What the server said: `application/problem+json`. */
    readonly detail = message,
  ) {
    super(message);
  }
}

export interface RestOptions {
  base: string;
  token: () => string | undefined;
  /** This token was refused: whether there is another one now. */
  renew?: (refused: string) => Promise<boolean>;
  fetch?: typeof fetch;
}

export class Rest {
  readonly #options: RestOptions;
  readonly #blobs = new BlobCache();

  constructor(options: RestOptions) {
    this.#options = options;
  }

  get<T>(path: string): Promise<T> {
    return this.json<T>("GET", path);
  }

  async json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    const answer = await this.send(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
    const text = await answer.text();
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** Any request; what the server refuses, and no server at all, is a `Problem`. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const token = this.#options.token();
    let answer = await this.#ask(path, init, token);
    if (answer.status === 401 && token !== undefined && (await this.#options.renew?.(token)))
      answer = await this.#ask(path, init, this.#options.token());
    if (!answer.ok) throw await this.#problem(answer);
    return answer;
  }

  /** Sends a file, and tells how much of it has gone. An aborted signal ends it: nothing is stored then. */
  async upload<T>(path: string, file: Blob, moved: (bytes: number) => void, signal: AbortSignal): Promise<T> {
    const token = this.#options.token();
    let answer = await this.#put(path, file, token, moved, signal);
    if (answer.status === 401 && token !== undefined && (await this.#options.renew?.(token)))
      answer = await this.#put(path, file, this.#options.token(), moved, signal);
    if (!answer.ok) throw await this.#problem(answer);
    return (await answer.json()) as T;
  }

  /** Whoever had a session that ended does not read about a token. */
  async #problem(answer: Response): Promise<Problem> {
    const told = await problem(answer);
    const isEnded = told.code === "unauthenticated" && this.#options.renew !== undefined;
    return isEnded ? new Problem(told.status, told.code, "You’re signed out. Sign in again.", told.detail) : told;
  }

  /** By the older way, which tells of the bytes that went. */
  #put(
    path: string,
    file: Blob,
    token: string | undefined,
    moved: (bytes: number) => void,
    signal: AbortSignal,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("PUT", this.#options.base + path);
      if (token !== undefined) request.setRequestHeader("authorization", `Bearer ${token}`);
      request.setRequestHeader("content-type", "application/octet-stream");
      request.upload.onprogress = ({ loaded }) => moved(loaded);
      request.onload = () =>
        resolve(new Response(request.responseText, { status: request.status, statusText: request.statusText }));
      request.onerror = () => reject(new Problem(0, "unreachable", "The connection was lost. Nothing was saved; try again."));
      request.onabort = () => reject(new DOMException("given up", "AbortError"));
      signal.addEventListener("abort", () => request.abort());
      if (signal.aborted) request.abort();
      else request.send(file);
    });
  }

  #ask(path: string, init: RequestInit, token: string | undefined): Promise<Response> {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    const ask = this.#options.fetch ?? fetch;
    return ask(this.#options.base + path, { ...init, headers }).catch((error: unknown) => {
      throw new Problem(0, "unreachable", "The server can’t be reached. Check your connection and try again.", String(error));
    });
  }

  blob(notebook: string, sha256: string): Promise<ArrayBuffer> {
    const path = `/api/notebooks/${encodeURIComponent(notebook)}/blobs/${sha256}`;
    return this.#blobs.get(sha256, () => this.send(path).then((answer) => answer.arrayBuffer()));
  }

  /** A blob's text as it arrives, and how many bytes have. */
  async *pieces(notebook: string, sha256: string): AsyncGenerator<{ text: string; read: number }> {
    const answer = await this.send(`/api/notebooks/${encodeURIComponent(notebook)}/blobs/${sha256}`);
    const reader = answer.body?.getReader();
    const decoder = new TextDecoder();
    let read = 0;
    try {
      for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
        read += next.value.length;
        yield { text: decoder.decode(next.value, { stream: true }), read };
      }
    } finally {
      // Ends the request when its caller is gone.
      await reader?.cancel();
    }
  }

  /** An output's content with the parts put back that stand in blobs. */
  async whole(notebook: string, output: Output): Promise<unknown> {
    let content: unknown = output.content;
    for (const { pointer, sha256, json } of output.blobs ?? []) {
      const text = new TextDecoder().decode(await this.blob(notebook, sha256));
      content = put(content, pointer, json ? JSON.parse(text) : text);
    }
    return content;
  }
}

async function problem(answer: Response): Promise<Problem> {
  const text = await answer.text().catch(() => "");
  try {
    const { code, detail } = JSON.parse(text) as { code?: string; detail?: string };
    const told = detail ?? answer.statusText;
    return new Problem(answer.status, code ?? "unknown", pageWords(code ?? "unknown", told), told);
  } catch {
    const told = text || answer.statusText;
    return new Problem(answer.status, "unknown", `The server didn’t answer as expected (${answer.status}). Try again.`, told);
  }
}

/** Sets what a JSON pointer (RFC 6901) names: a path of object keys, made where it is missing. */
export function put(content: unknown, pointer: string, value: unknown): unknown {
  const [first, ...rest] = pointer.split("/").slice(1);
  if (first === undefined) return value;
  const name = first.replaceAll("~1", "/").replaceAll("~0", "~");
  const fields = typeof content === "object" && content !== null ? (content as Record<string, unknown>) : {};
  const inner = put(fields[name], rest.map((token) => `/${token}`).join(""), value);
  return { ...fields, [name]: inner };
}
