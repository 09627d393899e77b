// Signing in: the link that `notarium up` prints, its token, or login and password.
import { type FormEvent, useState } from "react";
import { type Session, exchange, signIn } from "../app/session.ts";
import icon from "../ui/icon.svg";

interface Props {
  reason: string | undefined;
  signedIn: (session: Session) => void;
  /** In a dialog of an open notebook. */
  isInside?: boolean;
}

export function SignIn({ reason, signedIn, isInside = false }: Props) {
  const [withToken, setWithToken] = useState(true);
  const [error, setError] = useState(reason);
  const [isBusy, setIsBusy] = useState(false);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    setIsBusy(true);
    setError(undefined);
    try {
      signedIn(
        await (withToken
          ? signIn(text("token"))
          : exchange({ login: text("login"), password: String(form.get("password") ?? "") })),
      );
    } catch (failure) {
      setError((failure as Error).message);
    } finally {
      setIsBusy(false);
    }
  };

  const form = (
    <form className="card stack" onSubmit={(event) => void submit(event)}>
      <div>
        <h1 className="brand">
          <img src={icon} alt="" width={28} height={28} /> Notarium
        </h1>
        <p className="quiet">Notebooks that people, programs and assistants write together.</p>
      </div>
      {withToken ? (
        <label className="stack tight">
          Token
          <input
            className="field mono"
            name="token"
            type="password"
            required
            autoFocus
            autoComplete="off"
            spellCheck={false}
            aria-describedby="token-help"
          />
          <span id="token-help" className="quiet small">
            <code>make run</code> prints it, with a link that signs you in at once.
          </span>
        </label>
      ) : (
        <>
          <label className="stack tight">
            Login
            <input className="field" name="login" required autoFocus autoComplete="username" />
          </label>
          <label className="stack tight">
            Password
            <input className="field" name="password" type="password" required autoComplete="current-password" />
          </label>
        </>
      )}
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <div className="row">
        <button className="button primary" disabled={isBusy}>
          {isBusy ? "Signing in …" : "Sign in"}
        </button>
        <button type="button" className="button bare" onClick={() => setWithToken(!withToken)}>
          {withToken ? "With login and password" : "With a token"}
        </button>
      </div>
    </form>
  );
  return isInside ? form : <main className="sign-in">{form}</main>;
}
