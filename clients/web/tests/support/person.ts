// Simulated person at a page: a connection, a replica, texts, and an editor for each cell that is only a text.
import { ChangeSet, type Text } from "@codemirror/state";
import { type Copy, type OpenText, Texts } from "../../src/collab/texts.ts";
import { Connection } from "../../src/transport/connection.ts";
import { Replica } from "../../src/transport/replica.ts";
import { FakeNet } from "./net.ts";
import { NOTEBOOK, type ReferenceServer } from "./server.ts";

export class Person {
  readonly net: FakeNet;
  readonly connection: Connection;
  readonly replica: Replica;
  readonly texts: Texts;
  readonly copies: Copy[] = [];
  readonly #editors = new Map<string, { open: OpenText; text: Text }>();

  constructor(
    server: ReferenceServer,
    readonly name: string,
  ) {
    this.net = new FakeNet(server);
    this.connection = new Connection({ open: this.net.open, client: "test", random: () => 0.5 });
    this.replica = new Replica(this.connection, NOTEBOOK);
    this.texts = new Texts(this.replica, name);
    this.texts.copied.add((copy) => this.copies.push(copy));
    this.connection.start(name);
  }

  /** Editor of a cell, like a CodeMirror view: a separate text, changed by typing and by remote changes. */
  editor(cell: string): { text: Text } {
    const known = this.#editors.get(cell);
    if (known) return known;
    const open = this.texts.open(cell, (change) => {
      const editor = this.#editors.get(cell);
      if (editor) editor.text = change.apply(editor.text);
    });
    const editor = { open, text: open.text };
    this.#editors.set(cell, editor);
    return editor;
  }

  replaceText(cell: string, from: number, to: number, insert: string, userEvent?: string): void {
    const editor = this.editor(cell) as { open: OpenText; text: Text };
    const change = ChangeSet.of({ from, to, insert }, editor.text.length);
    editor.text = change.apply(editor.text);
    editor.open.edit(change, userEvent);
  }

  type(cell: string, insert: string, userEvent?: string): void {
    this.replaceText(cell, this.editor(cell).text.length, this.editor(cell).text.length, insert, userEvent);
  }

  shown(cell: string): string {
    return this.editor(cell).text.toString();
  }
}
