// REST and blob client with the session's bearer token.
import { parseJson, sameDigits } from "../protocol/exactJson.ts";
import type { Output, RejectionDetails } from "../protocol/messages.ts";
import { BlobCache } from "./blobs.ts";
import { pageWords } from "./refusals.ts";

/** A failed request; `message` has words for the page. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** The server's sentence, from `application/problem+json`. */
    readonly detail = message,
    /** The answer's JSON, for facts that one route adds. */
    readonly body?: unknown,
  ) {
    super(message);
  }
}

export interface RestOptions {
  base: string;
  token: () => string | undefined;
  /** Called when a token was refused; resolves to true if there is a new one. */
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
    return (text === "" ? undefined : parseJson(text)) as T;
  }

  /** Sends a request. Refusals and connection failures throw a `Problem`. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const token = this.#options.token();
    let answer = await this.#ask(path, init, token);
    if (answer.status === 401 && token !== undefined && (await this.#options.renew?.(token)))
      answer = await this.#ask(path, init, this.#options.token());
    if (!answer.ok) throw await this.#problem(answer);
    return answer;
  }

  /** Uploads a file and reports progress. Aborting the signal cancels it, and nothing is stored. */
  async upload<T>(path: string, file: Blob, moved: (bytes: number) => void, signal: AbortSignal): Promise<T> {
    const token = this.#options.token();
    let answer = await this.#put(path, file, token, moved, signal);
    if (answer.status === 401 && token !== undefined && (await this.#options.renew?.(token)))
      answer = await this.#put(path, file, this.#options.token(), moved, signal);
    if (!answer.ok) throw await this.#problem(answer);
    return (await answer.json()) as T;
  }

  /** After a session has ended, the message is about signing in, not about a token. */
  async #problem(answer: Response): Promise<Problem> {
    const told = await problem(answer);
    const isEnded = told.code === "unauthenticated" && this.#options.renew !== undefined;
    return isEnded ? new Problem(told.status, told.code, "You’re signed out. Sign in again.", told.detail) : told;
  }

  /** Uses XMLHttpRequest, because only it reports upload progress. */
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

  /** Forgets the fetched blobs: after a redaction some of them are gone. */
  forgetBlobs(): void {
    this.#blobs.clear();
  }

  /** Streams a blob's text, with the number of bytes read. */
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
      // A character that the body breaks off is shown as one that cannot be read.
      const rest = decoder.decode();
      if (rest !== "") yield { text: rest, read };
    } finally {
      // Ends the request if the caller stops early.
      await reader?.cancel();
    }
  }

  /** Content of an output, including the parts stored in blobs. */
  async whole(notebook: string, output: Output): Promise<unknown> {
    let content: unknown = output.content;
    for (const { pointer, sha256, json } of output.blobs ?? []) {
      const text = new TextDecoder().decode(await this.blob(notebook, sha256));
      content = put(content, pointer, json ? parseJson(text) : text);
    }
    return content;
  }
}

async function problem(answer: Response): Promise<Problem> {
  const text = await answer.text().catch(() => "");
  try {
    const body = JSON.parse(text) as { code?: string; detail?: string; details?: RejectionDetails };
    const { code = "unknown", detail: told = answer.statusText, details } = body;
    return new Problem(answer.status, code, pageWords(code, told, details), told, body);
  } catch {
    const told = text || answer.statusText;
    return new Problem(answer.status, "unknown", `The server didn’t answer as expected (${answer.status}). Try again.`, told);
  }
}

/** Sets the value at a JSON pointer (RFC 6901) of object keys; creates missing objects. */
export function put(content: unknown, pointer: string, value: unknown): unknown {
  const [first, ...rest] = pointer.split("/").slice(1);
  if (first === undefined) return value;
  const name = first.replaceAll("~1", "/").replaceAll("~0", "~");
  const fields = typeof content === "object" && content !== null ? (content as Record<string, unknown>) : {};
  const inner = put(fields[name], rest.map((token) => `/${token}`).join(""), value);
  return sameDigits(fields, { ...fields, [name]: inner });
}
