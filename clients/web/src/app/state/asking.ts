// Questions to the assistant that a button of the page asks.
import { newId } from "../../transport/ids.ts";
import type { NotebookStore } from "./store.ts";

const MODEL = "notarium.model";

export function chosenModel(): string {
  return localStorage.getItem(MODEL) ?? "";
}

export function chooseModel(name: string): void {
  localStorage.setItem(MODEL, name);
}

export function mayAsk(store: NotebookStore): boolean {
  return store.mayConverse && (store.session.connection.welcome?.features.includes("assistants") ?? false);
}

/** Opens the assistant panel and starts a turn there. */
export async function ask(store: NotebookStore, text: string): Promise<void> {
  if (store.panel !== "assistant") store.show("assistant");
  const model = chosenModel();
  await store.do({ StartTurn: { conversation_id: store.conversation ?? newId(), text, ...(model && { model }) } });
}
