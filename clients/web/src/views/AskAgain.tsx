// The password, asked for again before a decision: where nothing that is kept in a browser or on a disk may decide.
import { type FormEvent, useState } from "react";
import type { Session } from "../app/session.ts";

interface Props {
  session: Session;
  /** The person has proved who decides. */
  proved: () => void;
  cancel: () => void;
}

export function AskAgain({ session, proved, cancel }: Props) {
  const [error, setError] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const { user } = session.me;
  if (!user?.has_password)
    return (
      <p className="note small" role="alert">
        This asks for your password, and you have none yet: start <code>notarium up</code> at a terminal, which says how to choose
        one.
      </p>
    );
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get("password") ?? "");
    setIsBusy(true);
    setError(undefined);
    await session.signInAfresh(password).then(proved, (failure: Error) => setError(failure.message));
    setIsBusy(false);
  };
  return (
    <form className="stack tight" onSubmit={(event) => void submit(event)}>
      <label className="stack tight">
        <span className="small">Kernels here could read what this page keeps: your password, {user.login}, for 15 minutes</span>
        <input className="field" name="password" type="password" required autoFocus autoComplete="current-password" />
      </label>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <div className="row">
        <button className="button primary" disabled={isBusy}>
          Go on
        </button>
        <button type="button" className="button bare" onClick={cancel}>
          Not now
        </button>
      </div>
    </form>
  );
}
