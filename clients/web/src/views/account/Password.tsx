// Dialog that asks for the password. Lazy: loads when first needed.
import { Dialog } from "@base-ui/react/dialog";
import { useEffect, useState } from "react";
import { type OidcOption, askAfresh, provider } from "../../app/session/oidc.ts";
import type { Session } from "../../app/session/session.ts";
import { CredentialField, CredentialForm } from "./CredentialForm.tsx";

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
          {session.me.user?.has_password ? <Ask session={session} end={end} /> : <NoPassword session={session} end={end} />}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Ask({ session, end }: Props) {
  const login = session.me.user?.login ?? "";
  const prove = async (form: FormData) => {
    await session.signInAfresh(String(form.get("password") ?? ""));
    end(true);
  };
  return (
    <CredentialForm
      button="Continue"
      busy="Checking…"
      second={<Dialog.Close className="button bare">Cancel</Dialog.Close>}
      prove={prove}
    >
      <Dialog.Title>Enter your password</Dialog.Title>
      <Dialog.Description className="quiet small">
        This server asks for it before you approve, share or manage something. It then counts for 15 minutes in this tab.
      </Dialog.Description>
      <input type="text" name="login" value={login} autoComplete="username" readOnly hidden />
      <CredentialField label={`Password for ${login}`} name="password" isSecret isFirst autoComplete="current-password" />
    </CredentialForm>
  );
}

/** For accounts without a password: signs in with the identity provider again. */
function NoPassword({ session, end }: Props) {
  const [option, setOption] = useState<OidcOption>();
  const [error, setError] = useState<string>();
  const [waiting, setWaiting] = useState<AbortController>();
  useEffect(() => {
    // If the request fails (older server, offline), no provider is offered.
    provider().then(setOption, () => undefined);
  }, []);
  useEffect(() => () => waiting?.abort(), [waiting]);
  const hasWay = option !== undefined && option.origin === location.origin;
  const ask = async (way: OidcOption) => {
    const controller = new AbortController();
    setWaiting(controller);
    setError(undefined);
    try {
      session.continueAfresh(await askAfresh(way, controller.signal), way);
      end(true);
    } catch (failure) {
      if (!controller.signal.aborted) setError((failure as Error).message);
    }
    setWaiting(undefined);
  };
  return (
    <div className="stack">
      <Dialog.Title>{hasWay ? `Sign in with ${option.name} again` : "Set a password first"}</Dialog.Title>
      <Dialog.Description className="quiet">
        {hasWay ? (
          <>
            This server asks again before you approve, share or manage something. A new tab opens; signing in there counts for 15
            minutes in this one.
          </>
        ) : (
          <>
            This server asks for your password before you approve, share or manage something. If the server is yours, start{" "}
            <code>notarium up</code> in a terminal: it says how to set one. Otherwise ask an administrator for a password reset.
            Then reload this page.
          </>
        )}
      </Dialog.Description>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <div className="row">
        {hasWay && (
          <button className="button primary" disabled={waiting !== undefined} onClick={() => void ask(option)}>
            {waiting ? `Waiting for ${option.name}…` : `Sign in with ${option.name}`}
          </button>
        )}
        <Dialog.Close className="button bare">{hasWay ? "Cancel" : "Close"}</Dialog.Close>
      </div>
    </div>
  );
}
