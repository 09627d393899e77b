// Authors of lines in an editor's gutter.
import { Compartment, type Extension, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { type EditorView, GutterMarker, gutter } from "@codemirror/view";
import type { AuthoredLine } from "../app/state/authors.ts";

/** Sets the authors, one per line of the current text. */
const setAuthors = StateEffect.define<readonly AuthoredLine[]>();

class Author extends GutterMarker {
  override elementClass: string;

  constructor(readonly line: AuthoredLine) {
    super();
    this.elementClass = `author peer-hue-${line.hue}`;
  }

  override eq(other: Author): boolean {
    return other.line.name === this.line.name && other.line.title === this.line.title;
  }

  override toDOM(): Node {
    return Object.assign(document.createElement("span"), { textContent: this.line.name, title: this.line.title });
  }
}

/** Authors by line. They are only mapped while unconfirmed lines have no known author. */
const authors = StateField.define<RangeSet<Author>>({
  create: () => RangeSet.empty,
  update(shown, transaction) {
    const set = transaction.effects.find((effect) => effect.is(setAuthors));
    if (!set) return shown.map(transaction.changes);
    const { doc } = transaction.state;
    if (set.value.length !== doc.lines) return shown.map(transaction.changes);
    return RangeSet.of(set.value.map((line, index) => new Author(line).range(doc.line(index + 1).from)));
  },
});

const place = new Compartment();

/** Empty until authors are shown, because an empty gutter costs time in each editor. */
export const authorPlace: Extension = place.of([]);

/** Shows the authors, or hides the gutter if `lines` is undefined. */
export function showAuthors(view: EditorView, lines: readonly AuthoredLine[] | undefined, look: (version: number) => void): void {
  const isThere = view.state.field(authors, false) !== undefined;
  if (isThere !== (lines !== undefined)) view.dispatch({ effects: place.reconfigure(lines ? authorGutter(look) : []) });
  if (lines) view.dispatch({ effects: setAuthors.of(lines) });
}

function authorGutter(look: (version: number) => void): Extension {
  return [
    authors,
    gutter({
      class: "cm-authors",
      markers: (view) => view.state.field(authors),
      domEventHandlers: {
        click(view: EditorView, { from }) {
          let version: number | undefined;
          view.state.field(authors).between(from, from, (_from, _to, { line }) => void (version = line.version));
          if (version !== undefined) look(version);
          return version !== undefined;
        },
      },
    }),
  ];
}
