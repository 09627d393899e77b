// Whether the server is there, and what it has of what was done here.
import { useState } from "react";
import { useNow } from "../app/now.ts";
import { type Session, signIn } from "../app/session.ts";
import { type NotebookStore, useTopics } from "../app/store.ts";

/** Silent while all is well but for “Saved”: what is acknowledged is on the server's disk. */
export function ConnectionStatus({ store, signedIn }: { store: NotebookStore; signedIn: (session: Session) => void }) {
  useTopics(store, "status");
  const { connection } = store.session;
  const { state } = connection;
  const now = useNow(state.name === "waiting" ? 500 : undefined);
  const unsent = Math.max(store.texts.cells().length, store.replica.unanswered);
  const kept = unsent > 0 ? ` · ${unsent} unsent ${unsent === 1 ? "change is" : "changes are"} kept` : "";
  if (state.name === "refused") return <SignInAgain message={state.message} signedIn={signedIn} />;
  if (state.name === "waiting") {
    return (
      <span className="connection bad" role="status" title={state.reason}>
        Not connected: trying again in {Math.max(0, Math.ceil((state.until - now) / 1_000))} s{kept}
        <button className="button" onClick={() => connection.retryNow()}>
          Now
        </button>
      </span>
    );
  }
  if (state.name !== "live" || store.replica.state.name !== "live")
    return (
      <span className="connection quiet" role="status">
        Connecting …{kept}
      </span>
    );
  return (
    <span className="connection quiet" role="status">
      {unsent > 0 ? "Saving …" : "Saved"}
    </span>
  );
}

function SignInAgain({ message, signedIn }: { message: string; signedIn: (session: Session) => void }) {
  const [error, setError] = useState(message);
  return (
    <form
      className="connection bad row"
      onSubmit={(event) => {
        event.preventDefault();
        const token = String(new FormData(event.currentTarget).get("token") ?? "");
        signIn(token).then(signedIn, (failure: Error) => setError(failure.message));
      }}
    >
      <span role="alert">Signed out: {error}</span>
      <input className="field short" name="token" type="password" placeholder="Token" aria-label="Token" required />
      <button className="button">Sign in</button>
    </form>
  );
}
