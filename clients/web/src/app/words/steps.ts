// Groups events into the steps of the history, each with its author and words.
import type { Actor, EventMessage } from "../../protocol/messages.ts";
import type { EventType } from "../../protocol/schemas.ts";
import { redactionWords } from "./redactions.ts";
import { wordOf } from "./words.ts";

export interface Step {
  first: number;
  last: number;
  correlation: string;
  actor: Actor;
  at: number;
  words: string[];
  cells: string[];
  kinds: ReadonlySet<Kind>;
}

/** Filters of the history. */
export const KINDS = ["Edits", "Runs", "Assistant", "Comments", "Sharing", "Redactions"] as const;
export type Kind = (typeof KINDS)[number];

function kindOf(type: string): Kind | undefined {
  if (/^(Cell|Notebook)/.test(type) && type !== "NotebookPolicyChanged") return "Edits";
  if (/^(Execution|Kernel)/.test(type)) return "Runs";
  if (/^(Turn|ToolCall|Grant|NotebookPolicy|Message|Conversation)/.test(type)) return "Assistant";
  if (/^(Comment|Thread)/.test(type)) return "Comments";
  if (type === "ContentRedacted") return "Redactions";
  return /^(Access|TakenOver)/.test(type) ? "Sharing" : undefined;
}

/** Name of a cell, for steps that concern only one. */
export type NameOf = (cell: string) => string | undefined;

const WORDS: { [type in EventType | "TakenOver"]?: string } = {
  NotebookCreated: "created the notebook",
  NotebookRenamed: "renamed the notebook",
  NotebookMetadataSet: "changed the notebook’s metadata",
  NotebookArchived: "archived the notebook",
  NotebookUnarchived: "unarchived the notebook",
  NotebookVersionNamed: "named a version",
  NotebookRestored: "took the notebook back to an earlier version",
  ContentRedacted: "redacted content",
  NotebookErased: "erased the notebook",
  NotebookPolicyChanged: "changed the assistant’s permissions",
  CellInserted: "inserted",
  CellSourceEdited: "edited",
  CellMoved: "moved",
  CellTypeChanged: "changed the type of",
  CellMetadataSet: "changed the metadata of",
  CellAttachmentsSet: "changed the attachments of",
  CellFlagsSet: "changed the display of",
  CellDeleted: "deleted",
  CellRestored: "restored",
  CellOutputsCleared: "cleared the outputs of",
  CommentPosted: "commented",
  CommentEdited: "changed a comment",
  CommentDeleted: "deleted a comment",
  ThreadResolved: "resolved comments",
  ThreadReopened: "reopened comments",
  ExecutionRequested: "ran",
  ExecutionCancelRequested: "stopped",
  ExecutionEffectRefused: "refused effects of",
  ExecutionCompleted: "finished",
  ExecutionLost: "lost",
  KernelLaunchRequested: "requested a kernel",
  KernelSessionStarted: "started a kernel",
  KernelSessionEnded: "stopped a kernel",
  KernelRestartRequested: "restarted the kernel",
  KernelInterruptRequested: "interrupted the kernel",
  KernelShutdownRequested: "shut down the kernel",
  AccessGranted: "shared the notebook",
  TakenOver: "replaced an owner who left",
  AccessRevoked: "removed someone’s access",
  TurnStarted: "asked the assistant",
  ToolCallRequested: "requested an action",
  ToolCallConfirmed: "allowed an action",
  ToolCallDenied: "denied an action",
  GrantIssued: "allowed the assistant’s actions",
};

/** Event types whose words count cells. */
const OF_CELLS = new Set(
  Object.keys(WORDS).filter((type) => type.startsWith("Cell") || ["ExecutionRequested", "ExecutionCancelRequested"].includes(type)),
);
const OF_RUNS: ReadonlySet<string> = new Set<EventType>(["ExecutionEffectRefused", "ExecutionCompleted", "ExecutionLost"]);

/** Steps, newest first: consecutive events of one correlation and author form a step. */
export function steps(events: readonly EventMessage[], nameOf?: NameOf): Step[] {
  const all: { step: Step; events: EventMessage[] }[] = [];
  for (const event of events) {
    const last = all.at(-1);
    const { version, correlation_id, actor, recorded_at } = event;
    if (last?.step.correlation === correlation_id && JSON.stringify(last.step.actor) === JSON.stringify(actor)) {
      last.step.last = version;
      last.events.push(event);
    } else {
      const step = {
        first: version,
        last: version,
        correlation: correlation_id,
        actor,
        at: recorded_at,
        words: [],
        cells: [],
        kinds: new Set<Kind>(),
      };
      all.push({ step, events: [event] });
    }
  }
  // Correlations of undos: what undoes one of these is a redo, and what undoes a redo is an undo again.
  const undos = new Map<string, string>();
  const restored = new Set<string>();
  const told = all.map(({ step, events }) => {
    const undone = events.find(({ undoes }) => undoes)?.undoes;
    const isRedo = events.some(({ undoes }) => undoes && undos.has(undoes));
    if (!isRedo && undone) undos.set(step.correlation, undone);
    for (const event of events) if (event.type === "CellRestored") restored.add(`${step.correlation} ${cellOf(event)[0]}`);
    const isRestored = (event: EventMessage) => restored.has(`${undos.get(event.undoes ?? "")} ${cellOf(event)[0]}`);
    return {
      ...step,
      words: wordsOf(events, nameOf, isRedo, isRestored),
      cells: [...new Set(events.flatMap(cellOf))],
      kinds: new Set(events.flatMap(({ type }) => kindOf(type) ?? [])),
    };
  });
  return told.filter(({ words }) => words.length > 0).reverse();
}

const IMPORTED = "imported";

/** Events that an undo took back, by its own events: an insertion is undone by deleting the cell. */
const UNDONE = { CellDeleted: "CellInserted", CellRestored: "CellDeleted" } satisfies Partial<Record<EventType, EventType>>;

/** The event's type; a grant that takes over a notebook is `TakenOver`. */
function typeOf({ type, payload }: EventMessage): string {
  const isTakenOver = type === "AccessGranted" && (payload as { taken_over_from?: unknown }).taken_over_from !== undefined;
  return isTakenOver ? "TakenOver" : type;
}

/** Type whose words tell a step: of an undo what it took back, of a redo what it did again. */
function toldOf(event: EventMessage, isRedo: boolean, isRestored: (event: EventMessage) => boolean): string {
  // An insertion that is done again restores its cell.
  if (isRedo && event.undoes && event.type === "CellRestored" && !isRestored(event)) return "CellInserted";
  return (event.undoes && !isRedo ? wordOf<string>(UNDONE, event.type) : undefined) ?? typeOf(event);
}

const isImport = ({ type, payload }: EventMessage) =>
  type === "ExecutionRequested" && (payload as { cause?: unknown }).cause === "imported";

function runOf(payload: unknown): string[] {
  const { execution_id } = payload as { execution_id?: string };
  return execution_id === undefined ? [] : [execution_id];
}

/** Examples: “inserted a cell”, “deleted 3 cells”, “undid: edited a cell”, “redid: …” with `isRedo`. */
export function wordsOf(
  events: readonly EventMessage[],
  nameOf?: NameOf,
  isRedo = false,
  isRestored: (event: EventMessage) => boolean = () => false,
): string[] {
  const cells = new Map<string, Set<string>>();
  // Outputs of an imported file are recorded as runs that were never requested here.
  const imported = new Set(events.filter(isImport).flatMap(({ payload }) => runOf(payload)));
  for (const event of events) {
    const type = toldOf(event, isRedo, isRestored);
    if (wordOf(WORDS, type) === undefined || runOf(event.payload).some((run) => imported.has(run))) continue;
    // A run may have several refusals.
    const about = OF_RUNS.has(type) ? runOf(event.payload) : cellOf(event);
    cells.set(type, (cells.get(type) ?? new Set()).add(about[0] ?? event.id));
  }
  if (imported.size > 0) cells.set(IMPORTED, imported);
  const redaction = redactionWords(events);
  const undo = events.some(({ undoes }) => undoes) ? (isRedo ? "redid: " : "undid: ") : "";
  return [...cells].map(([type, ids]) => {
    const { size } = ids;
    const [only] = ids;
    const isOne = size === 1 && only !== undefined && nameOf !== undefined;
    // A cell that is gone has no number; “deleted a deleted cell” would say it twice.
    const isGone = type === "CellDeleted" || type === "CellInserted";
    const one = (isOne ? nameOf(only) : undefined) ?? (isOne && !isGone ? "a deleted cell" : "a cell");
    if (type === IMPORTED) return `${undo}imported the outputs of ${size === 1 ? "a cell" : `${size} cells`}`;
    if (type === "ContentRedacted" && redaction !== undefined) return redaction;
    const words = wordOf(WORDS, type) ?? type;
    if (OF_CELLS.has(type)) return `${undo}${words} ${size === 1 ? one : `${size} cells`}`;
    if (OF_RUNS.has(type)) return `${words} ${size === 1 ? "a run" : `${size} runs`}`;
    return undo + words;
  });
}

export function cellOf(event: EventMessage): string[] {
  const payload = event.payload as { cell_id?: string; subject?: { cell_id?: string } };
  const cell = payload.cell_id ?? payload.subject?.cell_id;
  return cell === undefined ? [] : [cell];
}

/** Events by undo group since this page opened, for the words of “Undo”. */
export class Groups {
  readonly #groups = new Map<string, EventMessage[]>();

  hear(event: EventMessage): void {
    const known = this.#groups.get(event.correlation_id);
    if (known) known.push(event);
    else this.#groups.set(event.correlation_id, [event]);
    if (this.#groups.size > 200) this.#groups.delete(this.#groups.keys().next().value ?? "");
  }

  /** Words of a group; of an undo or redo those of the group that it took back or did again. */
  words(correlation: string): string | undefined {
    const events = this.#groups.get(correlation) ?? [];
    const target = events.find(({ undoes }) => undoes)?.undoes;
    if (target && target !== correlation && this.#isBefore(target, events)) return this.words(target);
    const words = wordsOf(events);
    return words.length === 0 ? undefined : words.join(", ");
  }

  /** True if the group is known and began before these events; ids may be used again after an undo. */
  #isBefore(correlation: string, [first]: readonly EventMessage[]): boolean {
    const begun = this.#groups.get(correlation)?.[0];
    return begun !== undefined && first !== undefined && begun.version < first.version;
  }
}
