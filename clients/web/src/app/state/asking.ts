// Questions to the assistant that a button of the page asks.
import { newId } from "../../transport/ids.ts";
import type { Asking, OpenNotebook, Panels, Rights } from "./notebook.ts";

const MODEL = "notarium.model";

export function chosenModel(): string {
  return localStorage.getItem(MODEL) ?? "";
}

export function chooseModel(name: string): void {
  localStorage.setItem(MODEL, name);
}

export function mayAsk(notebook: OpenNotebook & Rights): boolean {
  return notebook.mayConverse && (notebook.session.connection.welcome?.features.includes("assistants") ?? false);
}

/** Opens the assistant panel and starts a turn there. */
export async function ask(notebook: OpenNotebook & Asking & Panels, text: string): Promise<void> {
  if (notebook.panel !== "assistant") notebook.show("assistant");
  const model = chosenModel();
  await notebook.send({ StartTurn: { conversation_id: notebook.conversation ?? newId(), text, ...(model && { model }) } });
}
