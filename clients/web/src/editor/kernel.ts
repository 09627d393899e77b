// The kernel behind an editor: who answers questions about its code.
import { type EditorState, Facet } from "@codemirror/state";
import type { KernelAnswer, QuestionKind } from "../protocol/messages.ts";

/** Who answers. Nothing: there is nobody. */
export type Ask = (kind: QuestionKind, code: string, cursor: number) => Promise<KernelAnswer | undefined>;

export const asking = Facet.define<Ask>();

export const hasKernel = (state: EditorState) => state.facet(asking).length > 0 && state.selection.main.empty && !state.readOnly;

/** Of the line, up to the caret. */
export function textBefore(state: EditorState): string {
  const { head } = state.selection.main;
  return state.sliceDoc(state.doc.lineAt(head).from, head);
}
