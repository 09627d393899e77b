// An assistant's answer: Markdown whose code blocks can be copied or inserted as a cell.
import { Copy, SquarePlus } from "lucide-react";
import type { NotebookStore } from "../../app/state/store.ts";
import { type AnswerPart, answerParts, cellOfCode } from "../../outputs/answer.ts";
import { Rendered } from "../outputs/Rendered.tsx";

interface Props {
  store: NotebookStore;
  text: string;
  /** The cell below which code is inserted; absent: the current cell. */
  below?: string | undefined;
}

export function Answer({ store, text, below }: Props) {
  return answerParts(text).map((part, index) =>
    "code" in part ? <CodeBlock key={index} store={store} part={part} below={below} /> : <Rendered key={index} text={part.text} />,
  );
}

type Block = Extract<AnswerPart, { code: string }>;

function CodeBlock({ store, part, below }: { store: NotebookStore; part: Block; below: string | undefined }) {
  const copy = () =>
    void navigator.clipboard.writeText(part.code).then(
      () => store.toast({ text: "Code copied" }),
      () => store.toast({ text: "The browser didn’t allow copying", isError: true }),
    );
  const insert = () => {
    const { type, source } = cellOfCode(part);
    const cell = below ?? store.current;
    const isThere = cell !== undefined && store.document.cells.has(cell);
    store.edits.insert(isThere ? { after: cell } : "end", type, source, false);
  };
  return (
    <div className="answer-code" role="group" aria-label="Code">
      <Rendered text={part.fenced} />
      <div className="row tight actions">
        <button className="button bare small" onClick={copy}>
          <Copy size={13} aria-hidden /> Copy
        </button>
        <button
          className="button bare small"
          disabled={!store.mayEdit}
          title={store.mayEdit ? "Insert below the current cell" : "You can’t edit this notebook"}
          onClick={insert}
        >
          <SquarePlus size={13} aria-hidden /> Insert as cell
        </button>
      </div>
    </div>
  );
}
