// Toasts: messages with an optional action such as undo.
import { X } from "lucide-react";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";

/** Maximum characters shown of a text to copy; the button copies all of it. */
const SHOWN = 2_000;

export function Toasts({ store }: { store: NotebookStore }) {
  useTopics(store, "toasts");
  return (
    <div className="toasts" role="status" aria-live="polite">
      {store.toasts.map(({ id, text, action, second, copy, copyLabel, isError }) => (
        <div key={id} className={isError ? "toast bad" : "toast"}>
          <span className="grow">
            {text}
            {copy !== undefined && <pre aria-live="off">{copy.length > SHOWN ? `${copy.slice(0, SHOWN)} …` : copy}</pre>}
          </span>
          {copy !== undefined && (
            <button className="button" onClick={() => void navigator.clipboard.writeText(copy)}>
              {copyLabel ?? "Copy"}
            </button>
          )}
          {[action, second].map(
            (each) =>
              each && (
                <button
                  key={each.label}
                  className="button"
                  onClick={() => {
                    each.run();
                    store.dismiss(id);
                  }}
                >
                  {each.label}
                </button>
              ),
          )}
          <button className="button bare icon" aria-label="Dismiss" onClick={() => store.dismiss(id)}>
            <X size={15} />
          </button>
        </div>
      ))}
    </div>
  );
}
