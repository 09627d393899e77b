// The list of all cells, in groups; the browser lays out only the groups near the viewport.
import { Code, MessageSquareText, Plus, Type } from "lucide-react";
import { Suspense, memo, startTransition, useEffect, useState } from "react";
import type { Chunk } from "../../app/cells/chunks.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { Boundary } from "../../ui/Broken.tsx";
import { Cell } from "./Cell.tsx";
import { part } from "../../ui/parts.ts";

const CellTools = part(() => import("./CellTools.tsx"));

/** Count of groups that a small notebook shows without delay when it grows; a group has ten cells. */
const FEW = 3;
/** Limit of the groups that one later render adds. */
const MORE = 20;

const LINE_PX = 21;
/** Lines of a cell beside its source: padding and margins. */
const AROUND_LINES = 3;
/** Part of the window's height that the first render fills: estimated heights may be too large. */
const FILLED = 1.5;

export function CellList({ store }: { store: NotebookStore }) {
  useTopics(store, "order", "access", "notebook");
  // The first screenful renders immediately, further groups after the first paint.
  const [shown, setShown] = useState(() => screenful(store));
  const { chunks } = store;
  useEffect(() => {
    if (shown >= chunks.length) return;
    const timer = setTimeout(() => startTransition(() => setShown(shown + Math.min(MORE, Math.max(FEW, shown)))));
    return () => clearTimeout(timer);
  }, [shown, chunks.length]);
  if (store.document.order.length === 0) return <Empty store={store} />;
  return (
    <>
      {chunks.slice(0, shown).map((chunk) => (
        <Group key={chunk.id} store={store} chunk={chunk} />
      ))}
      <Suspense>
        <Boundary what="The tools of the cell" of={store.current}>
          <CellTools store={store} />
        </Boundary>
      </Suspense>
      {store.mayEdit && (
        <div className="row add">
          <button className="button bare" onClick={() => store.edits.insert("end")}>
            <Plus size={15} aria-hidden /> Code
          </button>
          <button className="button bare" onClick={() => store.edits.insert("end", "markdown")}>
            <Plus size={15} aria-hidden /> Text
          </button>
          <button className="button bare" onClick={() => store.edits.insert("end", "sql")}>
            <Plus size={15} aria-hidden /> SQL
          </button>
          <button className="button bare" onClick={() => store.edits.insert("end", "prompt")}>
            <Plus size={15} aria-hidden /> Prompt
          </button>
        </div>
      )}
    </>
  );
}

const Group = memo(function Group({ store, chunk }: { store: NotebookStore; chunk: Chunk }) {
  useTopics(store, "folds");
  const shown = shownCells(store, chunk);
  const height = estimatedHeight(store, shown);
  return (
    <div
      className="chunk"
      ref={(node) => {
        node?.style.setProperty("contain-intrinsic-size", `auto ${height}px`);
        if (node) keepFrames(node);
      }}
    >
      {shown.map((id) => (
        <Boundary key={id} what="This cell">
          <Cell store={store} id={id} />
        </Boundary>
      ))}
    </div>
  );
});

/** Count of the first groups that fill the window, or FEW if these are all. */
function screenful(store: NotebookStore): number {
  let [height, count] = [0, 0];
  for (const chunk of store.chunks) {
    if (height >= innerHeight * FILLED) return count;
    height += estimatedHeight(store, shownCells(store, chunk));
    count += 1;
  }
  return Math.max(FEW, count);
}

function shownCells(store: NotebookStore, chunk: Chunk): string[] {
  const { hidden } = store.folds;
  return hidden.size === 0 ? chunk.cells : chunk.cells.filter((id) => !hidden.has(id));
}

/** Pixels of cells without outputs. */
function estimatedHeight(store: NotebookStore, cells: string[]): number {
  const lines = (id: string) => AROUND_LINES + (store.document.cells.get(id)?.source.split("\n").length ?? 1);
  return cells.reduce((sum, id) => sum + lines(id), 0) * LINE_PX;
}

const kept = new WeakSet<HTMLElement>();

/** An iframe reloads when it leaves the DOM. `moveBefore` reorders siblings without reloading their frames. */
function keepFrames(node: HTMLElement): void {
  const { moveBefore } = node as { moveBefore?: (child: Node, before: Node | null) => void };
  if (!moveBefore || kept.has(node)) return;
  kept.add(node);
  const insert = node.insertBefore.bind(node);
  const move = <T extends Node>(child: T, before: Node | null): T => {
    if (child.parentNode !== node) return insert(child, before);
    moveBefore.call(node, child, before);
    return child;
  };
  Object.assign(node, { insertBefore: move, appendChild: <T extends Node>(child: T) => move(child, null) });
}

function Empty({ store }: { store: NotebookStore }) {
  if (!store.mayEdit) return <p className="quiet empty">This notebook has no cells yet.</p>;
  return (
    <div className="first">
      <p className="quiet">Start with</p>
      <div className="row">
        <button className="button big" autoFocus={store.focus.isFree} onClick={() => store.edits.insert("end")}>
          <Code size={20} aria-hidden /> Code
        </button>
        <button className="button big" onClick={() => store.edits.insert("end", "markdown")}>
          <Type size={20} aria-hidden /> Text
        </button>
        <button className="button big" onClick={() => store.edits.insert("end", "prompt")}>
          <MessageSquareText size={20} aria-hidden /> Ask the assistant
        </button>
      </div>
      <p className="row small">
        <button className="button bare quiet" onClick={() => store.edits.insert("end", "sql")}>
          SQL
        </button>
        <button className="button bare quiet" onClick={() => store.edits.insert("end", "raw")}>
          Raw text
        </button>
      </p>
    </div>
  );
}
