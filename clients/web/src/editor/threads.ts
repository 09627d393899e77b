// Marks of comment threads in an editor's text.
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";

/** Sets the marked ranges of the displayed text; empty ranges are ignored. */
export const setThreads = StateEffect.define<readonly { from: number; to: number }[]>();

const commented = Decoration.mark({ class: "commented" });

export const threadMarks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    const set = transaction.effects.find((effect) => effect.is(setThreads));
    if (!set) return shown.map(transaction.changes);
    const { length } = transaction.state.doc;
    const ranges = set.value.filter(({ from, to }) => from < to && to <= length);
    return Decoration.set(
      ranges.map(({ from, to }) => commented.range(from, to)),
      true,
    );
  },
  provide: (field) => EditorView.decorations.from(field),
});
