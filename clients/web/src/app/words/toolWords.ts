// Tool calls of an assistant in words: “Change cell 2”, and when done “Changed cell 2”.
import { numbered } from "./sentences.ts";
import { plain, wordOf } from "./words.ts";
import { parseJson } from "../../protocol/exactJson.ts";
import type { Risk } from "../../protocol/messages.ts";

export type CallArguments = { [name: string]: unknown };

/** Words before and after a call; `{cell}`, `{cells}`, `{path}` and `{name}` come from the arguments. */
const WORDS: Record<string, [todo: string, done: string]> = {
  get_notebook_state: ["Read the notebook", "Read the notebook"],
  get_cell_outputs: ["Read the outputs of {cell}", "Read the outputs of {cell}"],
  get_cell_image: ["Look at the image of {cell}", "Looked at the image of {cell}"],
  get_run_status: ["Check on a run", "Checked on a run"],
  list_notebooks: ["List notebooks", "Listed notebooks"],
  describe_connection: ["List database tables", "Listed database tables"],
  create_cell: ["Add a cell", "Added a cell"],
  create_cells: ["Add {cells}", "Added {cells}"],
  modify_cell: ["Change {cell}", "Changed {cell}"],
  move_cell: ["Move {cell}", "Moved {cell}"],
  delete_cell: ["Delete {cell}", "Deleted {cell}"],
  restore_cell: ["Restore {cell}", "Restored {cell}"],
  undo: ["Undo its own changes", "Undid its own changes"],
  redo: ["Redo its own changes", "Redid its own changes"],
  set_cell_flags: ["Mark {cell}", "Marked {cell}"],
  clear_outputs: ["Clear the outputs of {cell}", "Cleared the outputs of {cell}"],
  execute_cell: ["Run {cell}", "Ran {cell}"],
  execute_cell_async: ["Start {cell}", "Started {cell}"],
  execute_code: ["Run code without a cell", "Ran code without a cell"],
  execute_prompt: ["Ask {cell}", "Asked {cell}"],
  run_all: ["Run all cells", "Ran all cells"],
  interrupt: ["Interrupt the kernel", "Interrupted the kernel"],
  restart_kernel: ["Restart the kernel", "Restarted the kernel"],
  get_variables: ["List variables", "Listed variables"],
  inspect_variable: ["Inspect {name}", "Inspected {name}"],
  list_files: ["List files", "Listed files"],
  read_file: ["Read {path}", "Read {path}"],
  save_data: ["Write {path}", "Wrote {path}"],
  create_notebook: ["Create a notebook", "Created a notebook"],
};

/** Button labels for destructive calls. */
const DESTRUCTIVE: Record<string, string> = {
  delete_cell: "Delete cell",
  clear_outputs: "Clear outputs",
  restart_kernel: "Restart kernel",
  interrupt: "Interrupt kernel",
  save_data: "Replace file",
  execute_cell: "Run cell",
  execute_cell_async: "Run cell",
  execute_code: "Run code",
  run_all: "Run all",
  create_cells: "Add and run",
  create_notebook: "Create and run",
};

const RISKS = {
  read: "Only reads.",
  edit: "Can be undone.",
  sensitive: "May reach outside the notebook.",
  destructive: "Cannot be undone.",
} satisfies Record<Risk, string>;

function filled(pattern: string, given: CallArguments, order: readonly string[]): string {
  const text = (value: unknown, otherwise: string) => (typeof value === "string" && value !== "" ? value : otherwise);
  const number = order.indexOf(String(given["cell_id"])) + 1;
  const count = Array.isArray(given["cells"]) ? given["cells"].length : 0;
  return pattern
    .replace("{cell}", number > 0 ? `cell ${number}` : "a cell")
    .replace("{cells}", count === 1 ? "1 cell" : count > 1 ? `${count} cells` : "cells")
    .replace("{path}", () => text(given["path"], "a file"))
    .replace("{name}", () => text(given["name"], "a variable"));
}

/** Example: “Delete cell 2”, and with `isDone` “Deleted cell 2”. Functions of the notebook appear by name. */
export function callWords(name: string, given: CallArguments | undefined, order: readonly string[], isDone = false): string {
  const known = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
  return known ? filled(known[isDone ? 1 : 0], given ?? {}, order) : sentence(name);
}

/** Label of the button that allows a call; destructive calls are named. */
export function allowWords(name: string, risk: unknown): string {
  if (risk !== "destructive") return "Allow";
  return Object.hasOwn(DESTRUCTIVE, name) ? (DESTRUCTIVE[name] ?? "Allow") : "Allow";
}

/** Words for a risk, until the server has assessed this call. */
export function riskWords(risk: unknown): string {
  return wordOf(RISKS, risk) ?? sentence(plain(risk));
}

/** The server's reason as a sentence, with cell numbers instead of ids. */
export function reasonWords(reason: string, order: readonly string[]): string {
  const words = numbered(reason.replace(/ \(run [\w-]+\)/g, ""), order);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;
}

/** An effect in the server's words, without the version of a registered function. */
export function effectWords(what: string, order: readonly string[]): string {
  return reasonWords(what.replace(/^(calls \S+), version "[^"]*"/, "$1"), order);
}

/** Example: `sink_deep` becomes “Sink deep”. */
export function sentence(name: string): string {
  const words = plain(name);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Parses arguments, which are an object or a model's JSON text. */
export function parsedArguments(value: unknown): CallArguments | undefined {
  if (typeof value !== "string") return typeof value === "object" && value !== null ? (value as CallArguments) : undefined;
  try {
    const known = parseJson(value);
    return typeof known === "object" && known !== null ? (known as CallArguments) : undefined;
  } catch {
    return undefined;
  }
}

/** Changes of a turn and its waiting calls: “The assistant changed 2 cells, wants to run 1 cell”. */
export function reviewWords(changed: number, gone: number, waiting: readonly (readonly string[])[]): string {
  const cells = (count: number) => (count === 1 ? "1 cell" : `${count} cells`);
  const every = (...tools: string[]) => waiting.filter((each) => each.every((tool) => tools.includes(tool))).length;
  const deleting = every("delete_cell");
  const running = every("execute_cell", "execute_cell_async");
  const proposed = waiting.length - deleting - running;
  const parts = [
    changed > 0 && `changed ${cells(changed)}`,
    gone > 0 && `deleted ${cells(gone)}`,
    proposed > 0 && `proposes changes to ${cells(proposed)}`,
    deleting > 0 && `wants to delete ${cells(deleting)}`,
    running > 0 && `wants to run ${cells(running)}`,
  ].filter((part) => part !== false);
  return `The assistant ${parts.join(", ")}`;
}
