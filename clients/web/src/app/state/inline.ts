// Inline question to the assistant about one cell. The answer is a proposal: the notebook changes only when the person applies
// it, as their own edit, which they can undo.
import type { ChangeSet as Wire, Command } from "../../protocol/messages.ts";
import type { MessagePage as Messages, TurnPage as Turns } from "../../protocol/rest.ts";
import { newId } from "../../transport/ids.ts";
import { chosenModel } from "./asking.ts";
import { changesBetween } from "../cells/diff.ts";
import type { Inline, InlineField } from "./inlineField.ts";
import type { OpenNotebook, Typing } from "./notebook.ts";
import { causeWords } from "../words/words.ts";

type AskedNotebook = OpenNotebook & Typing & { readonly inline: InlineField };

/** Sends the question. */
export async function send(notebook: AskedNotebook, asked: Inline): Promise<void> {
  const { cell, conversation, question } = asked;
  await notebook.texts.settled([cell]);
  const source = notebook.replica.document.cells.get(cell)?.source;
  if (source === undefined) return;
  const turn = newId();
  const sent: Inline = {
    cell,
    marked: asked.marked,
    conversation,
    question,
    turn,
    before: { source, version: notebook.replica.document.version },
  };
  notebook.inline.set(sent);
  const model = chosenModel();
  const body: Command = {
    StartTurn: { conversation_id: conversation, turn_id: turn, text: wordsOf(notebook, sent), ...(model && { model }) },
  };
  try {
    await notebook.replica.command(body);
    change(notebook, sent, { isSent: true });
  } catch (error) {
    change(notebook, sent, { turn: undefined, problem: (error as Error).message });
  }
}

/** The model's prompt; it begins with the person's words, because they name the conversation. */
export function wordsOf(notebook: Pick<OpenNotebook, "replica">, { cell, marked, question }: Inline): string {
  const { cells, order } = notebook.replica.document;
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

/** Text of the longest code block in an answer, if any. */
export function blockOf(answer: string): string | undefined {
  const found = [...answer.matchAll(/^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:\n)?^\1[ \t]*$/gm)].map(([, , text]) => text ?? "");
  return found.sort((a, b) => b.length - a.length)[0];
}

/** Loads the result of a finished turn. */
export async function settle(notebook: AskedNotebook, asked: Inline): Promise<void> {
  const at = `/api/notebooks/${notebook.id}`;
  try {
    const [turns, said] = await Promise.all([
      notebook.session.rest.get<Turns>(`${at}/turns?conversation=${asked.conversation}&limit=20`),
      notebook.session.rest.get<Messages>(`${at}/conversations/${asked.conversation}/messages?limit=100`),
    ]);
    const turn = turns.turns.find(({ id }) => id === asked.turn);
    if (turn?.status === "cancelled") return change(notebook, asked, { turn: undefined, problem: "Stopped." });
    if (turn?.status === "failed")
      return change(notebook, asked, { turn: undefined, problem: `Failed: ${causeWords(turn.cause ?? "", undefined)}` });
    const answer = said.messages
      .filter((each) => each.turn_id === asked.turn && String(each.role) === "assistant")
      .toReversed()
      .flatMap(({ blocks }) => blocks)
      .flatMap((block) => (typeof block === "object" && block !== null && "text" in block ? [textOf(block)] : []))
      .join("\n\n");
    const proposal = blockOf(answer);
    if (proposal !== undefined) return change(notebook, asked, { turn: undefined, proposal });
    change(notebook, asked, { turn: undefined, answer: answer || "The assistant had nothing to say." });
  } catch (error) {
    change(notebook, asked, { turn: undefined, problem: (error as Error).message });
  }
}

const textOf = (block: { text?: unknown }): string => (block.text as { text?: string } | undefined)?.text ?? "";

/** Changes the question, unless it has been closed or replaced. */
function change(notebook: AskedNotebook, asked: Inline, more: Partial<{ [K in keyof Inline]: Inline[K] | undefined }>): void {
  const now = notebook.inline.asked;
  if (now?.cell !== asked.cell || now.turn !== asked.turn) return;
  const { turn, ...kept } = { ...now, ...more };
  notebook.inline.set({ ...kept, ...(turn !== undefined && { turn }) } as Inline);
}

/** Reopens the field with the same question. */
export function again(notebook: AskedNotebook, { cell, marked, conversation, question }: Inline): void {
  notebook.focus.open();
  notebook.inline.set({ cell, marked, conversation, question });
}

/** Applies the proposal as an edit of the source asked about, so that concurrent edits are merged. */
export async function apply(notebook: AskedNotebook, { cell, before, proposal }: Inline): Promise<boolean> {
  if (before === undefined || proposal === undefined) return false;
  await notebook.texts.settled([cell]);
  const edit = changesBetween(before.source, proposal).toJSON() as Wire;
  return (await notebook.send({ EditSource: { cell_id: cell, base: before.version, change: edit } })) !== undefined;
}
