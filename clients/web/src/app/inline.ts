// A question to the assistant about one cell, asked in the cell. What it answers is a proposal: nothing of the notebook changes until
// the person applies it, and then as an edit of theirs, which they take back as any other.
import type { ChangeSet as Wire, Command } from "../protocol/messages.ts";
import type { components } from "../protocol/rest.ts";
import { newId } from "../transport/ids.ts";
import { chosenModel } from "./asking.ts";
import { changesBetween } from "./changes.ts";
import type { NotebookStore } from "./store.ts";
import { causeWords } from "./words.ts";

type Messages = components["schemas"]["MessagePage"];
type Turns = components["schemas"]["TurnPage"];

export interface Inline {
  cell: string;
  /** The lines that were marked; none: the whole cell. */
  marked: string;
  conversation: string;
  question: string;
  /** The turn that answers, and whether the server has it. */
  turn?: string;
  isSent?: boolean;
  /** The text that was asked about, and the version that had it. */
  before?: { source: string; version: number };
  /** Why there is no answer. */
  problem?: string;
  /** The cell as the assistant would have it. */
  proposal?: string;
  /** What it said instead of code. */
  answer?: string;
}

/** Sends the question as it stands. */
export async function send(store: NotebookStore, asked: Inline): Promise<void> {
  const { cell, conversation, question } = asked;
  await store.texts.settled([cell]);
  const source = store.document.cells.get(cell)?.source;
  if (source === undefined) return;
  const turn = newId();
  const sent: Inline = {
    cell,
    marked: asked.marked,
    conversation,
    question,
    turn,
    before: { source, version: store.document.version },
  };
  store.inline.set(sent);
  const model = chosenModel();
  const body: Command = {
    StartTurn: { conversation_id: conversation, turn_id: turn, text: wordsOf(store, sent), ...(model && { model }) },
  };
  try {
    await store.replica.command(body);
    change(store, sent, { isSent: true });
  } catch (error) {
    change(store, sent, { turn: undefined, problem: (error as Error).message });
  }
}

/** What the model is told: the person's words first, which name the conversation. */
export function wordsOf(store: NotebookStore, { cell, marked, question }: Inline): string {
  const { cells, order } = store.document;
  const kind = { code: "Python", sql: "SQL", markdown: "Markdown" }[cells.get(cell)?.cell_type as string] ?? "text";
  const lines = marked.trim() === "" ? "" : `\nIt is about these lines of it:\n${fenced(marked)}`;
  return (
    `${question}\n\nThis is about cell ${order.indexOf(cell) + 1} (${cell}, ${kind}).${lines}\n` +
    "Change nothing in the notebook yourself. Answer with the whole new text of this cell in one code block; if no change is asked for, answer in words."
  );
}

function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** The text of the longest block of code in an answer; nothing where it has none. */
export function blockOf(answer: string): string | undefined {
  const found = [...answer.matchAll(/^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:\n)?^\1[ \t]*$/gm)].map(([, , text]) => text ?? "");
  return found.sort((a, b) => b.length - a.length)[0];
}

/** The turn has ended: what came of it. */
export async function settle(store: NotebookStore, asked: Inline): Promise<void> {
  const at = `/api/notebooks/${store.id}`;
  try {
    const [turns, said] = await Promise.all([
      store.session.rest.get<Turns>(`${at}/turns?conversation=${asked.conversation}&limit=20`),
      store.session.rest.get<Messages>(`${at}/conversations/${asked.conversation}/messages?limit=100`),
    ]);
    const turn = turns.turns.find(({ id }) => id === asked.turn);
    if (turn?.status === "cancelled") return change(store, asked, { turn: undefined, problem: "Stopped." });
    if (turn?.status === "failed")
      return change(store, asked, { turn: undefined, problem: `Failed: ${causeWords(turn.cause ?? "", undefined)}` });
    const answer = said.messages
      .filter((each) => each.turn_id === asked.turn && String(each.role) === "assistant")
      .toReversed()
      .flatMap(({ blocks }) => blocks)
      .flatMap((block) => (typeof block === "object" && block !== null && "text" in block ? [textOf(block)] : []))
      .join("\n\n");
    const proposal = blockOf(answer);
    if (proposal !== undefined) return change(store, asked, { turn: undefined, proposal });
    change(store, asked, { turn: undefined, answer: answer || "The assistant had nothing to say." });
  } catch (error) {
    change(store, asked, { turn: undefined, problem: (error as Error).message });
  }
}

const textOf = (block: { text?: unknown }): string => (block.text as { text?: string } | undefined)?.text ?? "";

/** Only of the question that is still open. */
function change(store: NotebookStore, asked: Inline, more: Partial<{ [K in keyof Inline]: Inline[K] | undefined }>): void {
  const now = store.inline.asked;
  if (now?.cell !== asked.cell || now.turn !== asked.turn) return;
  const { turn, ...kept } = { ...now, ...more };
  store.inline.set({ ...kept, ...(turn !== undefined && { turn }) } as Inline);
}

/** The field once more, with the question in it. */
export function again(store: NotebookStore, { cell, marked, conversation, question }: Inline): void {
  store.focus.open();
  store.inline.set({ cell, marked, conversation, question });
}

/** As an edit of the text that was asked about: what others wrote meanwhile stays. */
export async function apply(store: NotebookStore, { cell, before, proposal }: Inline): Promise<boolean> {
  if (before === undefined || proposal === undefined) return false;
  await store.texts.settled([cell]);
  const edit = changesBetween(before.source, proposal).toJSON() as Wire;
  return (await store.do({ EditSource: { cell_id: cell, base: before.version, change: edit } })) !== undefined;
}
