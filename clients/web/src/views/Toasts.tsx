// What happened, and a way back.
import { X } from "lucide-react";
import { type NotebookStore, useTopics } from "../app/store.ts";

export function Toasts({ store }: { store: NotebookStore }) {
  useTopics(store, "toasts");
  return (
    <div className="toasts" role="status" aria-live="polite">
      {store.toasts.map(({ id, text, action, copy, isError }) => (
        <div key={id} className={isError ? "toast bad" : "toast"}>
          <span className="grow">
            {text}
            {copy !== undefined && <pre>{copy}</pre>}
          </span>
          {copy !== undefined && (
            <button className="button" onClick={() => void navigator.clipboard.writeText(copy)}>
              Copy
            </button>
          )}
          {action && (
            <button
              className="button"
              onClick={() => {
                action.run();
                store.dismiss(id);
              }}
            >
              {action.label}
            </button>
          )}
          <button className="button bare icon" aria-label="Dismiss" onClick={() => store.dismiss(id)}>
            <X size={15} />
          </button>
        </div>
      ))}
    </div>
  );
}
