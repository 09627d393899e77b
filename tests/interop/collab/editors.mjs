// N headless CodeMirror editors type into one cell of one notebook, through a real server. All editors must end with the same
// text, and every typed word must be in it. Prints one JSON line; exits 1 if they do not converge.
//
//   node editors.mjs '{"url": "ws://127.0.0.1:1/api/socket", "token": "…", "notebook": "N", "cell": "C",
//                      "editors": 10, "edits": 100, "cuts": 3, "seed": 1}'
import { createHash } from "node:crypto";
import { collab, receiveUpdates, sendableUpdates } from "@codemirror/collab";
import { ChangeSet, EditorState, Text } from "@codemirror/state";
import { Connection } from "./connection.mjs";

const options = { editors: 10, edits: 100, cuts: 0, seed: 1, ...JSON.parse(process.argv[2]) };
const ODD = ["é", "🦀", "\n", "e\u0301", "", "日本語", "\n\n", "👩‍💻"];

/** Seeded random generator (mulberry32), so that a failing run can be repeated, apart from network timing. */
function randomFrom(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

class Editor {
  constructor(name) {
    this.name = name;
    this.random = randomFrom(options.seed * 1000 + Number(name.slice(1)));
    this.typed = 0;
    this.acked = [];
    this.sends = 0;
    this.changed = () => {};
    this.ready = new Promise((resolve) => (this.isReady = resolve));
    this.connection = new Connection({
      ...options,
      onSnapshot: (state, unconfirmed) => this.load(state, unconfirmed),
      onEvent: (event) => this.receive(event),
      onSubscribed: () => this.sendRefused(),
      unconfirmed: () => (this.sent ? [{ cell_id: options.cell, base: this.connection.version }] : []),
    });
  }

  load(snapshot, unconfirmed) {
    if (this.sent) {
      for (const event of unconfirmed) if (event.version > this.connection.version) this.receive(event);
      return;
    }
    const doc = Text.of(snapshot.cells[options.cell].source.split("\n"));
    this.state = EditorState.create({ doc, extensions: [collab({ clientID: this.name })] });
    this.isReady();
  }

  receive(event) {
    if (event.type !== "CellSourceEdited" || event.payload.cell_id !== options.cell) return;
    const mine = this.sent?.id === event.command_id;
    const changes = ChangeSet.fromJSON(event.payload.change);
    // Composed updates come back as one event; the editor counts it as the original updates.
    const updates = mine
      ? Array.from({ length: this.sent.count }, () => ({ changes, clientID: this.name }))
      : [{ changes, clientID: "another" }];
    this.state = receiveUpdates(this.state, updates).state;
    if (mine) this.confirmed();
    this.changed();
  }

  confirmed() {
    this.sent = undefined;
    queueMicrotask(() => this.push());
  }

  /** Sends the unconfirmed updates, composed into one change. At most one is in flight. */
  push() {
    const updates = sendableUpdates(this.state);
    if (this.sent || !updates.length) return;
    const change = updates.map((update) => update.changes).reduce((all, next) => all.compose(next));
    const id = `${this.name}-${options.seed}-${this.sends++}`;
    this.sent = { id, count: updates.length };
    const body = { EditSource: { cell_id: options.cell, base: this.connection.version, change: change.toJSON() } };
    const answer = this.connection.command(id, body);
    answer.then(
      () => this.acked.push(id),
      (error) => (error.code === "base_too_old" ? this.refused(id) : fail(error)),
    );
  }

  /** The server no longer has the edits since the base: subscribes again, and then sends the mapped updates. */
  refused(id) {
    if (this.sent?.id !== id) return;
    this.sent.isRefused = true;
    this.connection.subscribe();
  }

  sendRefused() {
    if (!this.sent?.isRefused) return;
    this.sent = undefined;
    this.push();
  }

  /** Types a unique word at a random position. */
  type() {
    const word = `<${this.name}.${this.typed}${ODD[Math.floor(this.random() * ODD.length)]}>`;
    const at = this.boundary(Math.floor(this.random() * (this.state.doc.length + 1)));
    this.state = this.state.update({ changes: { from: at, insert: word } }).state;
    this.typed += 1;
    this.push();
  }

  /** Position between words, so that each word stays whole and can be counted. */
  boundary(at) {
    const text = this.state.doc.toString();
    const open = text.lastIndexOf("<", at - 1);
    const close = text.lastIndexOf(">", at - 1);
    return open > close ? text.indexOf(">", at) + 1 || text.length : at;
  }

  get settled() {
    return this.typed === options.edits && !this.sent && !sendableUpdates(this.state).length;
  }
}

function fail(error) {
  console.log(JSON.stringify({ converged: false, error: String(error) }));
  process.exit(1);
}
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

const editors = Array.from({ length: options.editors }, (_, index) => new Editor(`e${index}`));
await Promise.all(editors.map((editor) => editor.ready));
await Promise.all(editors.map(typeAll));
await untilConverged();
report();

async function typeAll(editor) {
  const cuts = new Set(Array.from({ length: options.cuts }, () => Math.floor(editor.random() * options.edits)));
  for (let typed = 0; typed < options.edits; typed++) {
    editor.type();
    if (cuts.has(typed)) editor.connection.cut();
    await new Promise((resolve) => setTimeout(resolve, (options.pause_ms ?? 2) * editor.random() * 2));
  }
}

/** Waits until all editors agree. Tests again with every event, up to the time limit. */
function untilConverged() {
  return new Promise((resolve) => {
    const limit = setTimeout(() => fail("not converged in time"), options.limit_ms ?? 120_000);
    const check = () => {
      const same = editors.every((editor) => editor.settled && editor.state.doc.eq(editors[0].state.doc));
      if (!same) return;
      clearTimeout(limit);
      resolve();
    };
    for (const editor of editors) editor.changed = check;
    check();
  });
}

function report() {
  const text = editors[0].state.doc.toString();
  const lost = editors.flatMap((editor) =>
    Array.from({ length: options.edits }, (_, n) => `<${editor.name}.${n}`).filter((word) => text.split(new RegExp(`${word.replace(".", "\\.")}(?![0-9])`)).length !== 2),
  );
  const sha256 = createHash("sha256").update(text).digest("hex");
  const acked = editors.flatMap((editor) => editor.acked);
  const reconnects = editors.reduce((sum, editor) => sum + editor.connection.reconnects, 0);
  console.log(JSON.stringify({ converged: lost.length === 0, lost, sha256, units: text.length, acked, reconnects }));
  for (const editor of editors) editor.connection.close();
  process.exit(lost.length === 0 ? 0 : 1);
}
