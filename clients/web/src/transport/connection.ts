// Connection to a server: one socket, reopened after each failure. Independent of notebooks and the DOM.
//
//   idle ─ start ─▶ connecting ─ welcome ─▶ live ─ lost ─▶ waiting (backoff) ─▶ connecting …
//                        └─ refused (token, protocol) ─▶ refused ─ start (another token) ─▶ connecting
import { parseJson } from "../protocol/exactJson.ts";
import type { ClientMessage, ErrorMessage, SendLimits, ServerMessage, WelcomeMessage } from "../protocol/messages.ts";
import { Listeners } from "./listeners.ts";

/** Protocol versions of this client. */
export const PROTOCOLS = { min: 1, max: 1 };

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
/** Timeout of the handshake and of probes. */
const ANSWER_MS = 10_000;
const REFUSALS: ReadonlySet<string> = new Set(["unauthenticated", "forbidden", "unsupported_protocol"]);

/** Limits of a server that does not tell its own: the defaults. */
const USUAL_LIMITS: SendLimits = {
  max_source_bytes: 1 << 20,
  max_metadata_bytes: 1 << 20,
  max_attachments_bytes: 16 << 20,
  max_title_characters: 255,
  max_cells: 20_000,
  max_batch_commands: 60_000,
  max_input_bytes: 64 << 10,
  max_message_bytes: 1 << 20,
  max_question_attachments: 8,
  max_picture_bytes: 3_750_000,
  max_attached_text_bytes: 256 << 10,
  max_output_bytes_per_report: 4 << 20,
  max_blob_bytes: 256 << 20,
  max_request_bytes: 8 << 20,
  max_import_bytes: 256 << 20,
  max_working_file_bytes: 1 << 30,
};

/** The part of the browser's WebSocket that is used. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
  send(text: string): void;
  close(): void;
}

export type ConnectionState =
  | { name: "idle" }
  | { name: "connecting"; attempt: number; reason: string }
  | { name: "live"; welcome: WelcomeMessage }
  | { name: "waiting"; attempt: number; until: number; reason: string }
  | { name: "refused"; code: string; message: string };

export interface ConnectionOptions {
  open: () => Socket;
  client: string;
  random?: () => number;
}

/** Milliseconds before attempt 1, 2, 3 …: 0.5 s doubling to 30 s, with jitter. */
export function backoff(attempt: number, random: number): number {
  const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return Math.round(delay * (0.5 + random));
}

export class Connection {
  readonly changed = new Listeners<[ConnectionState]>();
  readonly received = new Listeners<[ServerMessage]>();
  /** No message arrived for a heartbeat. A listener that can probe the server does so and calls `probed`. */
  readonly quiet = new Listeners<[probed: () => void]>();
  readonly #options: ConnectionOptions;
  #state: ConnectionState = { name: "idle" };
  #token = "";
  #name: string | undefined;
  #socket: Socket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #hasBeenLive = false;
  #maxFrameBytes = Infinity;
  #limits = USUAL_LIMITS;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** False until a socket of this page has connected. */
  get hasBeenLive(): boolean {
    return this.#hasBeenLive;
  }

  /** The server's latest limit. */
  get maxFrameBytes(): number {
    return this.#maxFrameBytes;
  }

  /** The server's latest limits of what a client sends. */
  get limits(): SendLimits {
    return this.#limits;
  }

  get welcome(): WelcomeMessage | undefined {
    return this.#state.name === "live" ? this.#state.welcome : undefined;
  }

  /** Connects with a token, also used for reconnects. */
  start(token: string): void {
    this.#token = token;
    this.#attempt = 0;
    this.#connect("");
  }

  /** Sets a guest's name, which the server learns when a connection opens. */
  callMe(name: string | undefined): void {
    if (name === this.#name) return;
    this.#name = name;
    if (this.#state.name === "live") this.start(this.#token);
  }

  /** Closes the connection until `start`. */
  stop(): void {
    this.#leave();
    this.#become({ name: "idle" });
  }

  /** Reconnects without waiting for the backoff. */
  retryNow(): void {
    if (this.#state.name === "waiting") this.#connect(this.#state.reason);
  }

  /** Closes the connection when the machine goes offline, without waiting for a probe to fail. */
  interrupt(): void {
    if (this.#state.name === "live" || this.#state.name === "connecting") this.#lose("you are offline");
  }

  /** Replaces the token by another of the same account, without reconnecting. */
  refresh(token: string): void {
    this.#token = token;
    if (this.#state.name === "live") this.send({ refresh: { token } });
    else if (this.#state.name === "refused") this.start(token);
  }

  /** Returns true if the message was sent; only a live connection sends. */
  send(message: ClientMessage): boolean {
    return this.sendText(JSON.stringify(message));
  }

  /** Sends a serialised message, so that a resent command has the same bytes. */
  sendText(text: string): boolean {
    if (this.#state.name !== "live") return false;
    this.#socket?.send(text);
    return true;
  }

  #connect(reason: string): void {
    this.#leave();
    this.#attempt += 1;
    const socket = this.#options.open();
    this.#socket = socket;
    socket.onopen = () => {
      const name = this.#name;
      const hello = { protocols: PROTOCOLS, token: this.#token, client: this.#options.client, ...(name && { name }) };
      socket.send(JSON.stringify({ hello } satisfies ClientMessage));
    };
    socket.onmessage = ({ data }) => this.#hear(data);
    socket.onclose = () => this.#lose("the connection was lost");
    this.#after(ANSWER_MS, () => this.#lose("the server doesn’t answer"));
    this.#become({ name: "connecting", attempt: this.#attempt, reason });
  }

  #hear(data: unknown): void {
    const message = typeof data === "string" ? parse(data) : undefined;
    if (!message) return;
    if ("welcome" in message) this.#welcome(message.welcome);
    else if (this.#state.name === "live") this.#waitForNews(this.#state.welcome);
    if ("error" in message && message.error.fatal) this.#refuse(message.error);
    else this.received.tell(message);
  }

  #welcome(welcome: WelcomeMessage): void {
    this.#hasBeenLive = true;
    this.#maxFrameBytes = welcome.max_frame_bytes;
    this.#limits = welcome.limits ?? USUAL_LIMITS;
    this.#attempt = 0;
    this.#waitForNews(welcome);
    this.#become({ name: "live", welcome });
  }

  /** Detects a dead connection by probes after a quiet heartbeat, because pages do not see the server's pings. */
  #waitForNews(welcome: WelcomeMessage): void {
    this.#after(welcome.heartbeat_ms, () => {
      const probed = () => this.#after(ANSWER_MS, () => this.#lose("the server doesn’t answer"));
      this.#waitForNews(welcome);
      this.quiet.tell(probed);
    });
  }

  #refuse({ code, message }: ErrorMessage): void {
    if (!REFUSALS.has(code)) return this.#lose(message);
    this.#leave();
    this.#become({ name: "refused", code, message });
  }

  #lose(reason: string): void {
    this.#leave();
    const attempt = this.#attempt + 1;
    const delay = backoff(attempt, (this.#options.random ?? Math.random)());
    this.#after(delay, () => this.#connect(reason));
    this.#become({ name: "waiting", attempt, until: Date.now() + delay, reason });
  }

  #leave(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  /** Starts the connection's only timer. */
  #after(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
  }

  #become(state: ConnectionState): void {
    this.#state = state;
    this.changed.tell(state);
  }
}

/** Parses a message; undefined if it is not an object. Listeners ignore unknown messages. */
function parse(text: string): ServerMessage | undefined {
  try {
    const message: unknown = parseJson(text);
    return typeof message === "object" && message !== null ? (message as ServerMessage) : undefined;
  } catch {
    return undefined;
  }
}
