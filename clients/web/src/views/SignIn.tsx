// Signing in: the link that `notarium up` prints, its token, or login and password.
import { useState } from "react";
import { type Session, exchange, signIn } from "../app/session.ts";
import icon from "../ui/icon.svg";
import { CredentialField, CredentialForm } from "./CredentialForm.tsx";

interface Props {
  reason: string | undefined;
  signedIn: (session: Session) => void;
  /** In a dialog of an open notebook. */
  isInside?: boolean;
}

export function SignIn({ reason, signedIn, isInside = false }: Props) {
  const [withToken, setWithToken] = useState(true);
  const prove = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "");
    const answer = withToken ? signIn(text("token").trim()) : exchange({ login: text("login").trim(), password: text("password") });
    signedIn(await answer);
  };
  const other = (
    <button type="button" className="button bare" onClick={() => setWithToken(!withToken)}>
      {withToken ? "With login and password" : "With a token"}
    </button>
  );
  const form = (
    <CredentialForm className="card" reason={reason} button="Sign in" busy="Signing in …" second={other} prove={prove}>
      <div>
        <h1 className="brand">
          <img src={icon} alt="" width={28} height={28} /> Notarium
        </h1>
        <p className="quiet">Notebooks that people, programs and assistants write together.</p>
      </div>
      {withToken ? <Token key="token" /> : <Account key="account" />}
    </CredentialForm>
  );
  return isInside ? form : <main className="sign-in">{form}</main>;
}

function Token() {
  const help = (
    <>
      <code>make run</code> prints it, with a link that signs you in at once.
    </>
  );
  return <CredentialField label="Token" name="token" className="mono" isSecret isFirst autoComplete="off" help={help} />;
}

function Account() {
  return (
    <>
      <CredentialField label="Login" name="login" isFirst autoComplete="username" />
      <CredentialField label="Password" name="password" isSecret autoComplete="current-password" />
    </>
  );
}
