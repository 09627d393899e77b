// Page for a notebook that was deleted or is no longer shared with the user. Unsaved text can be copied.
import { shareEndedWords } from "../../app/session/session.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useOwner } from "./useOwner.ts";

export function Gone({ store, message }: { store: NotebookStore; message: string }) {
  const isGuest = store.session.me.actor.kind === "guest";
  const owner = useOwner(store);
  const isEnded = store.document.version > 0;
  const texts = store.texts.cells().map((cell) => store.texts.shown(cell) ?? "");
  return (
    <main className="sign-in">
      <div className="card stack">
        {isGuest && isEnded ? (
          <>
            <h1>This link no longer works</h1>
            <p>{shareEndedWords(owner)}</p>
          </>
        ) : (
          <>
            <h1>{isEnded ? "You no longer have access to this notebook" : "Can’t open this notebook"}</h1>
            <p>{message}</p>
          </>
        )}
        {texts.map((text, index) => (
          <div key={index} className="stack tight">
            <p>Your unsaved text:</p>
            <pre className="effect">{text}</pre>
            <button className="button" onClick={() => void navigator.clipboard.writeText(text)}>
              Copy
            </button>
          </div>
        ))}
        {!isGuest && <a href="#/">All notebooks</a>}
      </div>
    </main>
  );
}
