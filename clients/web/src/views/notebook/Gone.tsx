// Page for a notebook that was deleted or is no longer shared with the user. Unsaved text can be copied.
import type { NotebookStore } from "../../app/state/store.ts";

export function Gone({ store, message }: { store: NotebookStore; message: string }) {
  const texts = store.texts.cells().map((cell) => store.texts.shown(cell) ?? "");
  return (
    <main className="sign-in">
      <div className="card stack">
        <h1>{store.document.version > 0 ? "You no longer have access to this notebook" : "Can’t open this notebook"}</h1>
        <p>{message}</p>
        {texts.map((text, index) => (
          <div key={index} className="stack tight">
            <p>Your unsaved text:</p>
            <pre className="effect">{text}</pre>
            <button className="button" onClick={() => void navigator.clipboard.writeText(text)}>
              Copy
            </button>
          </div>
        ))}
        <a href="#/">All notebooks</a>
      </div>
    </main>
  );
}
