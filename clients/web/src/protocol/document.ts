// The document of one notebook at one version, as defined in protocol/README.md (section 2).
//
// Objects with ids are kept in maps, because an id may be any word, even `__proto__`. A changed cell, execution, conversation …
// is replaced by a new object, so that holders of the old one can detect the change.
import type {
  AccessEntry,
  AssistantGrant,
  Cell,
  Erasure,
  Conversation,
  Document as Snapshot,
  Execution,
  KernelNotice,
  KernelSession,
  KernelSettings,
  Policy,
  Reactivity,
  RegisteredFunction,
  Schedule,
  Thread,
  ToolCall,
  Turn,
} from "./messages.ts";
import { canonicalJson, digest } from "./canonical.ts";
import { textToRun } from "./values.ts";

/** Version of the rules by which this client applies events (`subscribed.document`). */
export const DOCUMENT = 1;

/** Maps that snapshots always contain; the others are omitted while empty. */
const ALWAYS = ["cells", "latest", "executions", "kernels"] as const;
const SOMETIMES = [
  "threads",
  "functions",
  "named_versions",
  "conversations",
  "turns",
  "tool_calls",
  "grants",
  "schedules",
] as const;

/** Settings of the kernels of a notebook that has none. */
const NO_SETTINGS: KernelSettings = { replacement: "ask", labels: {} };

export class Document {
  version = 0;
  title = "";
  archived = false;
  /** The erasure, after which the document is empty. */
  erased: Erasure | undefined;
  metadata: { [key: string]: unknown } = {};
  created_at = 0;
  updated_at = 0;
  access: AccessEntry[] = [];
  order: string[] = [];
  kernel_notice: KernelNotice | undefined;
  policy: Policy = "guarded";
  reactivity: Reactivity = "off";
  kernel_settings: KernelSettings = NO_SETTINGS;
  /** Version of the last redaction; 0: none. */
  redaction_epoch = 0;
  readonly cells = new Map<string, Cell>();
  readonly latest = new Map<string, string>();
  /** Comment threads. A thread whose cell is not in `cells` is in the trash with it. */
  readonly threads = new Map<string, Thread>();
  readonly executions = new Map<string, Execution>();
  readonly kernels = new Map<string, KernelSession>();
  readonly functions = new Map<string, RegisteredFunction>();
  readonly named_versions = new Map<string, string>();
  readonly conversations = new Map<string, Conversation>();
  readonly turns = new Map<string, Turn>();
  readonly tool_calls = new Map<string, ToolCall>();
  readonly grants = new Map<string, AssistantGrant>();
  readonly schedules = new Map<string, Schedule>();

  constructor(readonly notebook_id: string) {}

  static from(snapshot: Snapshot): Document {
    const document = new Document(snapshot.notebook_id);
    const { version, title, archived, metadata, created_at, updated_at, access, order, kernel_notice, policy } = snapshot;
    Object.assign(document, { version, title, metadata, access, order });
    document.reactivity = snapshot.reactivity ?? "off";
    document.redaction_epoch = snapshot.redaction_epoch ?? 0;
    document.kernel_settings = snapshot.kernel_settings ?? NO_SETTINGS;
    document.erased = snapshot.erased ?? undefined;
    Object.assign(document, { archived: archived ?? false, kernel_notice: kernel_notice ?? undefined });
    Object.assign(document, { created_at: created_at ?? 0, updated_at: updated_at ?? 0, policy: policy ?? "guarded" });
    for (const name of [...ALWAYS, ...SOMETIMES]) {
      const map = document[name] as Map<string, unknown>;
      for (const [id, value] of Object.entries(snapshot[name] ?? {})) map.set(id, value);
    }
    return document;
  }

  /** Empties the document of an erased notebook. */
  clear(): void {
    const { notebook_id, version, updated_at } = this;
    const { title, archived, metadata, created_at, order, kernel_notice, policy, reactivity, kernel_settings } = new Document(
      notebook_id,
    );
    Object.assign(this, { title, archived, metadata, created_at, order, kernel_notice, policy, reactivity, kernel_settings });
    Object.assign(this, { version, updated_at, redaction_epoch: 0 });
    for (const name of [...ALWAYS, ...SOMETIMES]) this[name].clear();
  }

  /** Snapshot in the server's shape. */
  toJSON(): Snapshot {
    const { notebook_id, version, title, metadata, created_at, updated_at, access, order } = this;
    const maps = Object.fromEntries(ALWAYS.map((name) => [name, entries(this[name])]));
    const filled = SOMETIMES.filter((name) => this[name].size > 0).map((name) => [name, entries(this[name])]);
    return {
      ...{ notebook_id, version, title, metadata, created_at, updated_at, access, order },
      ...maps,
      ...Object.fromEntries(filled),
      ...(this.archived && { archived: true }),
      ...(this.erased && { erased: this.erased }),
      ...(this.kernel_notice && { kernel_notice: this.kernel_notice }),
      ...(this.policy !== "guarded" && { policy: this.policy }),
      ...(this.reactivity !== "off" && { reactivity: this.reactivity }),
      ...(this.redaction_epoch > 0 && { redaction_epoch: this.redaction_epoch }),
      ...(!isUnset(this.kernel_settings) && { kernel_settings: this.kernel_settings }),
    } as Snapshot;
  }

  canonical(): string {
    return canonicalJson(this.toJSON());
  }

  digest(): string {
    return digest(this.toJSON());
  }

  /** The execution whose outputs a cell shows. */
  latestExecution(cellId: string): Execution | undefined {
    const id = this.latest.get(cellId);
    return id === undefined ? undefined : this.executions.get(id);
  }

  /** True if the source changed since the latest execution started, or since the prompt was answered. */
  isStale(cellId: string): boolean {
    const cell = this.cells.get(cellId);
    if (!cell) return false;
    if (cell.reply && cell.reply.prompt !== cell.source) return true;
    const subject = this.latestExecution(cellId)?.subject;
    return subject?.kind === "cell" && subject.source !== textToRun(cell);
  }

  /** Index in `order` of a cell with this key and id, present or not. */
  placeOf(key: string, cellId: string): number {
    let [low, high] = [0, this.order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.order[middle] ?? "";
      const otherKey = this.cells.get(other)?.order_key;
      const isBefore = otherKey === undefined || otherKey < key || (otherKey === key && other < cellId);
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isUnset({ replacement, labels }: KernelSettings): boolean {
  return replacement === "ask" && Object.keys(labels).length === 0;
}

/** Object from a map; `Object.fromEntries` treats `__proto__` as an ordinary name. */
function entries(map: ReadonlyMap<string, unknown>): { [id: string]: unknown } {
  return Object.fromEntries(map);
}
