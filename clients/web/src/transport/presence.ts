// Presence: positions of the people in the notebook, and this page's own. Ephemeral.
import type { PeerState, PresenceState } from "../protocol/messages.ts";
import type { Connection } from "./connection.ts";
import { Listeners } from "./listeners.ts";

/** Throttle of sent positions. */
const SEND_MS = 50;
/** Interval of resending, because the server forgets a position after 30 s. */
const AGAIN_MS = 20_000;

export class Presence {
  readonly changed = new Listeners<[]>();
  /** Other people by connection. */
  peers: ReadonlyMap<string, PeerState> = new Map();
  readonly #connection: Connection;
  readonly #notebook: string;
  #mine: PresenceState | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #again: ReturnType<typeof setInterval> | undefined;
  #isDirty = false;

  constructor(connection: Connection, notebook: string) {
    this.#connection = connection;
    this.#notebook = notebook;
  }

  /** Sends the own position: the first immediately, then the newest every 50 ms. */
  show(state: PresenceState): void {
    if (JSON.stringify(state) === JSON.stringify(this.#mine)) return;
    this.#mine = state;
    this.#isDirty = true;
    if (this.#timer === undefined) this.#flush();
  }

  /** Call after `subscribed`: sets the peers and resends the own position. */
  reset(peers: PeerState[]): void {
    this.peers = new Map(peers.map((peer) => [peer.connection, peer]));
    this.#isDirty = this.#mine !== undefined;
    this.#flush();
    this.changed.tell();
  }

  hear(changed: PeerState[], left: string[]): void {
    const peers = new Map(this.peers);
    for (const peer of changed) if (peer.connection !== this.#connection.welcome?.connection) peers.set(peer.connection, peer);
    for (const connection of left) peers.delete(connection);
    this.peers = peers;
    this.changed.tell();
  }

  close(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#again);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isDirty || !this.#mine) return;
    this.#isDirty = false;
    this.#send(this.#mine);
    this.#timer = setTimeout(() => this.#flush(), SEND_MS);
    clearInterval(this.#again);
    this.#again = setInterval(() => this.#mine && this.#send(this.#mine), AGAIN_MS);
  }

  #send(state: PresenceState): void {
    this.#connection.send({ presence: { notebook: this.#notebook, state } });
  }
}
