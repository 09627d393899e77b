// The outline panel: links to headings, and the dependency map. Lazy: loads when it opens.
import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { outlineOf } from "../../app/cells/headings.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { Dependencies } from "./Dependencies.tsx";

/** Below this width the outline covers the notebook. */
const PHONE = "(max-width: 720px)";

export default function Outline({ store }: { store: NotebookStore }) {
  useTopics(store, "order", "folds");
  const [, setChanges] = useState(0);
  useEffect(() => {
    return store.replica.changed.add(({ cells }) => cells.size > 0 && setChanges((count) => count + 1));
  }, [store]);
  const headings = outlineOf(store.document.order, store.document.cells);
  const went = () => void (matchMedia(PHONE).matches && store.show("outline"));
  const least = Math.min(...headings.map(({ level }) => level));
  return (
    <nav className="panel outline" aria-label="Outline">
      <div className="row">
        <h2 className="grow">Outline</h2>
        <button className="button bare icon" aria-label="Close" onClick={() => store.show("outline")}>
          <X size={16} />
        </button>
      </div>
      {headings.length === 0 && <p className="quiet">No headings yet. Press 1 to 6 on a cell to make it a heading.</p>}
      <ul>
        {headings.map(({ cell, level, text }, index) => (
          <li key={index} className={`level-${level - least + 1}`}>
            <a
              href={`#/n/${store.id}/${cell}`}
              aria-current={store.current === cell ? "location" : undefined}
              onClick={(event) => {
                event.preventDefault();
                store.unfold(cell);
                store.select(cell);
                went();
              }}
            >
              {text || "Untitled"}
            </a>
          </li>
        ))}
      </ul>
      <Dependencies store={store} went={went} />
    </nav>
  );
}
