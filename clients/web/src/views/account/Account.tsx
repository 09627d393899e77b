// The account dialog: profile, password, linked identities and a token for the command line. Lazy: loads when it opens.
import { Check, LogIn, ShieldUser, Trash2 } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { serverNow } from "../../app/session/clock.ts";
import { type OidcOption, goToProvider, provider } from "../../app/session/oidc.ts";
import { type Session, isNotProved } from "../../app/session/session.ts";
import { date } from "../../app/words/words.ts";
import type { Identity } from "../../protocol/rest.ts";
import { Problem } from "../../transport/rest.ts";
import { AskAgain } from "./AskAgain.tsx";
import { CopyField } from "../../ui/CopyField.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { TitledDialog } from "../../ui/TitledDialog.tsx";
import { Spending } from "./Spending.tsx";
import { NoticeChoices } from "../inbox/NoticeChoices.tsx";
import { CredentialField, CredentialForm, FieldError, NewPassword } from "./CredentialForm.tsx";

const TOKEN_MS = 30 * 86_400_000;

export default function Account({ session, close }: { session: Session; close: () => void }) {
  const [error, setError] = useState<string>();
  const attempt = useCallback(async (action: () => Promise<void>) => {
    setError(undefined);
    await action().catch((failure: unknown) => {
      if (!isNotProved(failure)) setError((failure as Error).message);
    });
  }, []);
  return (
    <TitledDialog
      kind="account"
      title={session.me.name}
      tools={
        session.me.user?.is_admin && (
          <a className="button bare" href="#/administration">
            <ShieldUser size={15} aria-hidden /> Administration
          </a>
        )
      }
      error={error}
      close={close}
    >
      <Profile session={session} />
      <OwnPassword session={session} />
      <SignIns session={session} attempt={attempt} />
      <NoticeChoices session={session} />
      <CommandLine session={session} attempt={attempt} />
      <Spending session={session} attempt={attempt} />
      <AskAgain session={session} />
    </TitledDialog>
  );
}

/** Form for the user's name and login. */
function Profile({ session }: { session: Session }) {
  const [isSaved, setIsSaved] = useState(false);
  const { user } = session.me;
  const save = async (form: FormData) => {
    const body = { name: String(form.get("name") ?? "").trim(), login: String(form.get("login") ?? "").trim() };
    await proven(async () => {
      await session.changeProfile(body);
      setIsSaved(true);
    });
  };
  return (
    <section className="stack tight" aria-label="Name and login" onInput={() => setIsSaved(false)}>
      <h3>Name and login</h3>
      <CredentialForm button="Save" busy="Saving …" second={isSaved && <Saved />} prove={save}>
        <CredentialField label="Name" name="name" autoComplete="name" defaultValue={user?.name ?? session.me.name} />
        <CredentialField label="Login" name="login" autoComplete="username" defaultValue={user?.login ?? ""} />
      </CredentialForm>
    </section>
  );
}

function Saved() {
  return (
    <span role="status" className="quiet row">
      <Check size={15} aria-hidden /> Saved
    </span>
  );
}

function OwnPassword({ session }: { session: Session }) {
  const [isOpen, setIsOpen] = useState(false);
  const [isSaved, setIsSaved] = useState(false);
  const [hasOne, setHasOne] = useState(session.me.user?.has_password === true);
  const title = hasOne ? "Change password" : "Choose a password";
  const save = async (form: FormData) => {
    const text = (field: string) => String(form.get(field) ?? "");
    if (text("password") !== text("again")) throw new Error("The two passwords differ.");
    if (!session.me.user?.login) throw new Error("Choose a login first, above.");
    await proven(async () => {
      await session.changePassword(hasOne ? text("current") : undefined, text("password")).catch((failure: unknown) => {
        const isCurrent = failure instanceof Problem && failure.code === "wrong_password";
        throw isCurrent ? new FieldError("current", "The current password is wrong.") : failure;
      });
      setHasOne(true);
      setIsSaved(true);
      setIsOpen(false);
    });
  };
  return (
    <section className="stack tight" aria-label="Password">
      <h3>Password</h3>
      {isOpen ? (
        <CredentialForm
          button={title}
          busy="Saving …"
          second={
            <button type="button" className="button bare" onClick={() => setIsOpen(false)}>
              Cancel
            </button>
          }
          prove={save}
        >
          {hasOne && <CredentialField label="Current password" name="current" isSecret isFirst autoComplete="current-password" />}
          <NewPassword isFirst={!hasOne} />
          {hasOne && <p className="quiet small">Your other sessions end.</p>}
        </CredentialForm>
      ) : (
        <div className="row">
          <button className="button" onClick={() => (setIsSaved(false), setIsOpen(true))}>
            {title}
          </button>
          {isSaved && <Saved />}
        </div>
      )}
      {!hasOne && !isOpen && <p className="quiet small">With a login and a password you get in again when this session ends.</p>}
    </section>
  );
}

/** Ignores a cancelled password prompt: nothing has changed, and the user knows it. */
async function proven(action: () => Promise<void>): Promise<void> {
  await action().catch((failure: unknown) => {
    if (!isNotProved(failure)) throw failure;
  });
}

export interface Part {
  session: Session;
  attempt: (action: () => Promise<void>) => Promise<void>;
}

function SignIns({ session, attempt }: Part) {
  const [option, setOption] = useState<OidcOption>();
  const [identities, setIdentities] = useState<Identity[]>([]);
  const [isAsking, setIsAsking] = useState(false);
  const load = useCallback(
    () => attempt(async () => setIdentities(await session.rest.get<Identity[]>("/api/me/identities"))),
    [session, attempt],
  );
  useEffect(() => {
    provider().then(setOption, () => undefined);
    void load();
  }, [load]);
  if (!option && identities.length === 0) return null;
  const unlink = (id: string) =>
    attempt(async () => {
      await (await session.deciding()).json("DELETE", `/api/me/identities/${id}`);
      await load();
    });
  const link = async (current: string | undefined) => {
    if (option) await goToProvider(await session.deciding(), option, { current });
  };
  const hasPassword = session.me.user?.has_password === true;
  return (
    <section className="stack tight" aria-label="Sign-ins">
      <h3>Sign-ins</h3>
      <ul className="plain stack tight">
        {identities.map(({ id, issuer, subject, email, created_at }) => (
          <li key={id} className="row">
            <span className="grow">
              {email ?? subject}{" "}
              <span className="quiet small">
                {hostOf(issuer)}, linked {date(created_at)}
              </span>
            </span>
            <IconButton label={`Unlink ${email ?? subject}`} title="Unlink" onClick={() => void unlink(id)}>
              <Trash2 size={15} />
            </IconButton>
          </li>
        ))}
      </ul>
      {option && !isAsking && (
        <button
          className="button"
          onClick={() => (hasPassword ? setIsAsking(true) : void attempt(async () => link(undefined)))}
          disabled={option.origin !== location.origin}
        >
          <LogIn size={15} aria-hidden /> Link {option.name}
        </button>
      )}
      {option && option.origin !== location.origin && <p className="quiet small">To link it, open this page at {option.origin}.</p>}
      {option && isAsking && (
        <CredentialForm
          button={`Continue with ${option.name}`}
          busy="Opening…"
          second={
            <button type="button" className="button bare" onClick={() => setIsAsking(false)}>
              Cancel
            </button>
          }
          prove={(form) => link(String(form.get("password") ?? ""))}
        >
          <CredentialField label="Your password" name="password" isSecret isFirst autoComplete="current-password" />
        </CredentialForm>
      )}
    </section>
  );
}

function hostOf(issuer: string): string {
  try {
    return new URL(issuer).host;
  } catch {
    return issuer;
  }
}

/** Creates a token for a terminal, where the page's sign-in does not count. The command is shown once. */
function CommandLine({ session, attempt }: Part) {
  const [token, setToken] = useState<string>();
  const make = () =>
    attempt(async () => {
      const body = { label: "command line", scopes: ["read", "edit", "run"], expires_at: serverNow() + TOKEN_MS };
      const made = await (await session.deciding()).json<{ token: string }>("POST", "/api/tokens", body);
      setToken(`notarium login --server ${location.origin} --token ${made.token}`);
    });
  return (
    <section className="stack tight" aria-label="Command line">
      <h3>Command line</h3>
      {token === undefined ? (
        <>
          <p className="quiet small">A token that can read, edit and run as you for 30 days. It can’t approve or share.</p>
          <button className="button" onClick={() => void make()}>
            Create token
          </button>
        </>
      ) : (
        <>
          <CopyField text={token} label="Command" failed={(error) => void attempt(() => Promise.reject(error as Error))} />
          <p className="quiet small">Copy it now and run it in a terminal. You won’t see it again.</p>
        </>
      )}
    </section>
  );
}
