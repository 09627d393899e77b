// Access of an editor to the kernel, for questions about its code.
import { type EditorState, Facet } from "@codemirror/state";
import type { KernelAnswer, QuestionKind } from "../protocol/messages.ts";

/** Asks the kernel; resolves to undefined without an answer. */
export type Ask = (kind: QuestionKind, code: string, cursor: number) => Promise<KernelAnswer | undefined>;

export const asking = Facet.define<Ask>();

export const hasKernel = (state: EditorState) => state.facet(asking).length > 0 && state.selection.main.empty && !state.readOnly;

/** Text of the caret's line up to the caret. */
export function textBefore(state: EditorState): string {
  const { head } = state.selection.main;
  return state.sliceDoc(state.doc.lineAt(head).from, head);
}
