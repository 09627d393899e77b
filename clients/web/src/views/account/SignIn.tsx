// The sign-in page: by the link that `notarium up` prints, its token, or login and password.
import { ExternalLink, LogIn } from "lucide-react";
import { useEffect, useState } from "react";
import { type OidcOption, provider, signInWith } from "../../app/session/oidc.ts";
import { Invitation, type Session, exchange, isLinkEnded, isShareEnded, resumeKept, signIn } from "../../app/session/session.ts";
import { hasLogin, keepLogin } from "../../app/session/signInWay.ts";
import icon from "../../ui/icon.svg";
import { CredentialField, CredentialForm, NewPassword } from "./CredentialForm.tsx";

interface Props {
  /** Error while the page opened. */
  error: { message: string } | undefined;
  signedIn: (session: Session) => void;
  /** Set in a dialog over an open notebook. */
  isInside?: boolean;
}

export default function SignIn({ error, signedIn, isInside = false }: Props) {
  const [withToken, setWithToken] = useState(() => !hasLogin());
  const [option, setOption] = useState<OidcOption>();
  useEffect(() => {
    // If the request fails (older server, offline), no provider is offered.
    provider().then(setOption, () => undefined);
  }, []);
  const prove = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "");
    const answer = withToken ? signIn(text("token").trim()) : exchange({ login: text("login").trim(), password: text("password") });
    const enter = (session: Session) => (keepLogin(!withToken), signedIn(session));
    await answer.then(enter, (failure: unknown) => {
      if (!(failure instanceof Invitation)) throw failure;
      setInvitation(failure);
    });
  };
  const other = (
    <button type="button" className="button bare" onClick={() => setWithToken(!withToken)}>
      {withToken ? "Use login and password" : "Use a token"}
    </button>
  );
  const link = isLinkEnded(error) || isShareEnded(error) ? error : undefined;
  const [invitation, setInvitation] = useState(error instanceof Invitation ? error : undefined);
  if (invitation) {
    const form = <Redeem invitation={invitation} signedIn={signedIn} />;
    return isInside ? form : <main className="sign-in">{form}</main>;
  }
  const form = (
    <CredentialForm
      className="card"
      reason={link ? undefined : error?.message}
      button="Sign in"
      busy="Signing in…"
      second={other}
      prove={prove}
    >
      <div>
        <h1 className="brand">
          <img src={icon} alt="" width={28} height={28} /> Notarium
        </h1>
        <p className="quiet">Notebooks that people, programs and assistants write together.</p>
      </div>
      {link && <LinkEnded error={link} />}
      {option && <Provider option={option} isInside={isInside} signedIn={signedIn} />}
      {withToken ? <Token key="token" /> : <Account key="account" />}
    </CredentialForm>
  );
  return isInside ? form : <main className="sign-in">{form}</main>;
}

/** Redeems an invitation, a reset or the owner's first token: the user chooses a password, and a login if there is none. */
function Redeem({ invitation, signedIn }: { invitation: Invitation; signedIn: (session: Session) => void }) {
  const { kind, login, name, needs_login } = invitation.needs;
  const redeem = async (form: FormData) => {
    const text = (field: string) => String(form.get(field) ?? "");
    if (text("password") !== text("again")) throw new Error("The two passwords differ.");
    const own = needs_login ? { login: text("login").trim(), name: text("name").trim() } : {};
    const session = await invitation.redeem({ password: text("password"), ...own });
    keepLogin(true);
    signedIn(session);
  };
  const leave = (
    <button type="button" className="button bare" onClick={() => location.reload()}>
      Not now
    </button>
  );
  return (
    <CredentialForm className="card" button="Sign in" busy="Signing in …" second={leave} prove={redeem}>
      <div>
        <h1 className="brand">
          <img src={icon} alt="" width={28} height={28} /> {kind === "owner" ? "Welcome to Notarium" : `Welcome, ${name ?? login}`}
        </h1>
        <p className="quiet">
          {needs_login ? "Choose a login and a password. You sign in with them from now on." : `Choose a password for ${login}.`}
        </p>
      </div>
      {needs_login ? (
        <>
          <CredentialField label="Your name" name="name" isFirst autoComplete="name" />
          <CredentialField label="Login" name="login" autoComplete="username" />
        </>
      ) : (
        <input type="text" name="username" value={login ?? ""} autoComplete="username" readOnly hidden />
      )}
      <NewPassword isFirst={!needs_login} />
    </CredentialForm>
  );
}

/** A sign-in link works in one browser only, a share link until it ends; explains what to do with one that no longer works. */
function LinkEnded({ error }: { error: Error }) {
  return (
    <div className="strip warn stack tight" role="alert">
      <strong>This link no longer works</strong>
      <span>{error.message}</span>
      {isLinkEnded(error) && (
        <span>
          The browser that opened it is still signed in: open <code>{location.origin}</code> there.
        </span>
      )}
    </div>
  );
}

/** Button for the identity provider. Over an open notebook it opens a new tab, so that unsent changes are kept. */
function Provider({ option, isInside, signedIn }: { option: OidcOption } & Pick<Props, "signedIn" | "isInside">) {
  const [error, setError] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const [isElsewhere, setIsElsewhere] = useState(false);
  useEffect(() => {
    if (!isElsewhere) return;
    const look = () =>
      void resumeKept().then(
        (session) => session && signedIn(session),
        () => undefined,
      );
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, [isElsewhere, signedIn]);
  const title = `Sign in with ${option.name}`;
  const begin = async () => {
    setIsBusy(true);
    setError(undefined);
    await signInWith(option).catch((failure: Error) => setError(failure.message));
    setIsBusy(false);
  };
  const isHere = option.origin === location.origin;
  return (
    <>
      {isHere && !isInside ? (
        <button type="button" className="button provider" disabled={isBusy} onClick={() => void begin()}>
          <LogIn size={16} aria-hidden /> {isBusy ? `Opening ${option.name}…` : title}
        </button>
      ) : (
        <a
          className="button provider"
          href={`${option.origin}/${isInside ? "" : location.hash}`}
          {...(isInside && { target: "_blank", rel: "noreferrer", onClick: () => setIsElsewhere(true) })}
        >
          <ExternalLink size={16} aria-hidden /> {title}
        </a>
      )}
      {isInside && <p className="quiet small">Opens a new tab. Come back here when you have signed in.</p>}
      {!isHere && !isInside && <p className="quiet small">Opens at {option.origin}.</p>}
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <p className="or quiet small">or</p>
    </>
  );
}

function Token() {
  const help = "Use the link or token your administrator gave you.";
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
