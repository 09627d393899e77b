// The dialog that asks for the password. Loaded when it is asked for.
import { Dialog } from "@base-ui/react/dialog";
import { type FormEvent, useState } from "react";
import type { Session } from "../app/session.ts";

interface Props {
  session: Session;
  end: (isProved: boolean) => void;
}

export default function Password({ session, end }: Props) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && end(false)}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog password">
          {session.me.user?.has_password ? <Ask session={session} end={end} /> : <NoPassword />}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Ask({ session, end }: Props) {
  const [error, setError] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const login = session.me.user?.login ?? "";
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // This form alone: around it stands another one in the tree of React.
    event.stopPropagation();
    const password = String(new FormData(event.currentTarget).get("password") ?? "");
    setIsBusy(true);
    setError(undefined);
    await session.signInAfresh(password).then(
      () => end(true),
      (failure: Error) => setError(failure.message),
    );
    setIsBusy(false);
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <Dialog.Title>Your password, please</Dialog.Title>
      <Dialog.Description className="quiet small">
        This server asks again before something is decided, shared or managed, because programs on its machine could read what this
        page keeps. Your password then counts for 15 minutes in this tab.
      </Dialog.Description>
      <input type="text" name="login" value={login} autoComplete="username" readOnly hidden />
      <label className="stack tight">
        <span className="small">Password of {login}</span>
        <input
          className="field"
          name="password"
          type="password"
          required
          autoFocus
          autoComplete="current-password"
          aria-invalid={error !== undefined}
        />
      </label>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <div className="row">
        <button className="button primary" disabled={isBusy}>
          {isBusy ? "Asking …" : "Go on"}
        </button>
        <Dialog.Close className="button bare">Not now</Dialog.Close>
      </div>
    </form>
  );
}

function NoPassword() {
  return (
    <div className="stack">
      <Dialog.Title>You have no password yet</Dialog.Title>
      <Dialog.Description className="quiet">
        This server asks for it before something is decided, shared or managed. Start <code>notarium up</code> at a terminal: it
        says how to choose one. Then reload this page.
      </Dialog.Description>
      <Dialog.Close className="button">Close</Dialog.Close>
    </div>
  );
}
