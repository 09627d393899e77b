// Authors per line, shown beside the source of cells. Loaded when first shown, then updated by events.
import type { Actor, EventMessage } from "../../protocol/messages.ts";
import type { NotebookBlame } from "../../protocol/rest.ts";
import { Blame } from "../cells/blame.ts";
import type { OpenNotebook, Toasts } from "./notebook.ts";
import { date, hueOf, kindOf } from "../words/words.ts";

export interface AuthoredLine {
  /** Empty if the previous line came with the same change. */
  name: string;
  hue: number;
  title: string;
  version: number;
}

export class Authors {
  isShown = false;
  readonly #notebook: OpenNotebook & Toasts;
  readonly #names = new Map<string, string>();
  /** Events received while the earlier ones are being loaded. */
  #later: EventMessage[] = [];
  #blame: Blame | undefined;

  constructor(notebook: OpenNotebook & Toasts) {
    this.#notebook = notebook;
    notebook.replica.folded.add((event) => this.#hear(event));
    // A snapshot skips events, so the authors are loaded again.
    notebook.replica.replaced.add(() => {
      this.#blame = undefined;
      if (this.isShown) void this.#load();
    });
  }

  toggle(): void {
    this.isShown = !this.isShown;
    if (this.isShown && !this.#blame) void this.#load();
    this.#tell();
  }

  /** Authors of the cell's current source; undefined if they are hidden, or not known for this source. */
  of(cell: string): AuthoredLine[] | undefined {
    const source = this.#notebook.replica.document.cells.get(cell)?.source;
    const lines = this.isShown ? this.#blame?.lines(cell) : undefined;
    if (!lines || source !== lines.map(({ text }) => text).join("\n")) return undefined;
    return lines.map(({ actor, at, version }, index) => {
      const name = this.#nameOf(actor);
      const isSame = lines[index - 1]?.version === version;
      return { name: isSame ? "" : name, hue: hueOf(name), title: `${name}, ${date(at)}, version ${version}`, version };
    });
  }

  async #load(): Promise<void> {
    const notebook = this.#notebook;
    this.#later = [];
    try {
      const known = await notebook.session.rest.get<NotebookBlame>(`/api/notebooks/${notebook.id}/blame`);
      const blame = new Blame(known);
      for (const event of this.#later) if (event.version > known.version) blame.hear(event);
      this.#blame = blame;
    } catch (error) {
      this.isShown = false;
      notebook.toast({ text: `Couldn’t load the authors. ${(error as Error).message}`, isError: true });
    }
    this.#tell();
  }

  #hear(event: EventMessage): void {
    if (!this.#blame) return void (this.isShown && this.#later.push(event));
    const cell = this.#blame.hear(event);
    if (cell !== undefined && this.isShown) this.#notebook.touch(`cell:${cell}`);
  }

  #nameOf(actor: Actor): string {
    const { session } = this.#notebook;
    if (session.isMe(actor)) return "You";
    if (actor.kind !== "user" && actor.kind !== "guest") return kindOf(actor);
    const key = JSON.stringify(actor);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    this.#names.set(key, kindOf(actor));
    session.nameOfActor(actor)?.then(
      (name) => (this.#names.set(key, name), this.#tell()),
      () => this.#names.delete(key),
    );
    return kindOf(actor);
  }

  #tell(): void {
    for (const cell of this.#notebook.replica.document.order) this.#notebook.touch(`cell:${cell}`);
    this.#notebook.touch("panel");
  }
}
