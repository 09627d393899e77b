// WebSocket connection that reconnects: backoff with jitter, resume by version, retry of unanswered commands.
import WebSocket from "ws";

/** Follows one notebook. Calls `onSnapshot(state)` and `onEvent(event)`; `command` resolves with the ack or throws the reject. */
export class Connection {
  constructor({ url, token, notebook, onSnapshot, onEvent, onSubscribed, unconfirmed }) {
    Object.assign(this, { url, token, notebook, onSnapshot, onEvent, onSubscribed, unconfirmed });
    this.version = undefined;
    this.pending = new Map();
    this.delay = 50;
    this.reconnects = -1;
    this.closed = false;
    this.connect();
  }

  connect() {
    this.reconnects += 1;
    this.subscribed = false;
    this.socket = new WebSocket(this.url);
    this.socket.on("open", () => this.send({ hello: { protocols: { min: 1, max: 1 }, token: this.token, client: "headless-editors/1" } }));
    this.socket.on("message", (data) => this.receive(JSON.parse(data)));
    this.socket.on("error", () => {}); // "close" follows
    this.socket.on("close", () => this.reconnect());
  }

  reconnect() {
    if (this.closed) return;
    this.delay = Math.min(this.delay * 2, 1000);
    setTimeout(() => this.connect(), this.delay * (0.5 + Math.random()));
  }

  /** Cuts the connection without a close frame. */
  cut() {
    this.socket.terminate();
  }

  close() {
    this.closed = true;
    this.socket.close();
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  receive(message) {
    const [name, body] = Object.entries(message)[0];
    this[`on_${name}`]?.(body);
  }

  on_welcome() {
    this.subscribe();
  }

  subscribe() {
    const unconfirmed = this.unconfirmed();
    const since = this.version === undefined ? {} : { since: { version: this.version, event_id: this.eventId } };
    this.send({ subscribe: { notebook: this.notebook, ...since, ...(unconfirmed.length ? { unconfirmed } : {}) } });
  }

  on_resync() {
    this.behind = true;
  }

  on_subscribed({ version, event_id, snapshot, unconfirmed_events = [], base_too_old = [] }) {
    const unasked = this.behind && snapshot && this.unconfirmed().length;
    this.behind = false;
    // The server did not know of the unconfirmed text: subscribe again and name its cells.
    if (unasked) return this.subscribe();
    if (base_too_old.length) throw new Error(`base too old for ${base_too_old}`);
    this.delay = 50;
    if (snapshot) {
      this.onSnapshot(snapshot, unconfirmed_events);
      this.version = version;
      this.eventId = event_id;
    }
    this.subscribed = true;
    for (const { message } of this.pending.values()) this.send(message);
    this.onSubscribed();
  }

  on_events({ from, events }) {
    if (from > this.version + 1) throw new Error(`a gap: ${from} follows ${this.version}`);
    for (const event of events) {
      if (event.version <= this.version) continue;
      this.version = event.version;
      this.eventId = event.id;
      this.onEvent(event);
    }
  }

  on_ack(ack) {
    this.pending.get(ack.id)?.resolve(ack);
    this.pending.delete(ack.id);
  }

  on_reject(reject) {
    const pending = this.pending.get(reject.id);
    if (reject.code === "unavailable") return setTimeout(() => pending && this.send(pending.message), 100);
    pending?.reject(Object.assign(new Error(`${reject.code}: ${reject.message}`), { code: reject.code }));
    this.pending.delete(reject.id);
  }

  on_error(error) {
    if (error.code !== "unavailable") throw new Error(`${error.code}: ${error.message}`);
  }

  command(id, body) {
    const message = { command: { id, notebook: this.notebook, body } };
    return new Promise((resolve, reject) => {
      this.pending.set(id, { message, resolve, reject });
      if (this.subscribed) this.send(message);
    });
  }
}
