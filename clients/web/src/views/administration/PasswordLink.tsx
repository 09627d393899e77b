// A one-time link with which a person chooses a password: for an invitation, or after a lost password.
import { useEffect, useState } from "react";
import { type Session, isNotProved } from "../../app/session/session.ts";
import { date } from "../../app/words/words.ts";
import type { OneTimeToken, User } from "../../protocol/rest.ts";
import { AskAgain } from "../account/AskAgain.tsx";
import { CopyField } from "../../ui/CopyField.tsx";
import { TitledDialog } from "../../ui/TitledDialog.tsx";
import { useFocusBack } from "./focusBack.ts";
import { oneTimeLink } from "./people.ts";

interface Props {
  session: Session;
  user: User;
  close: () => void;
  focusAfter: () => HTMLElement | null;
}

export function PasswordLink({ session, user: { id, name, has_password }, close, focusAfter }: Props) {
  useFocusBack(focusAfter);
  const [made, setMade] = useState<OneTimeToken>();
  const [error, setError] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const make = async () => {
    setIsBusy(true);
    setError(undefined);
    try {
      setMade(await (await session.deciding()).json<OneTimeToken>("POST", `/api/users/${id}/reset`));
    } catch (failure) {
      if (!isNotProved(failure)) setError((failure as Error).message);
    }
    setIsBusy(false);
  };
  return (
    <TitledDialog
      kind="password-link"
      title={has_password ? `Reset ${name}’s password` : `Invitation link for ${name}`}
      error={error}
      end={made ? "Done" : "Cancel"}
      close={close}
    >
      {made ? (
        <OneTimeLink name={name} made={made} fail={setError} />
      ) : (
        <>
          <p className="quiet">
            Creates a link with which {name} chooses a new password. Earlier links stop working
            {has_password && "; the current password works until then"}.
          </p>
          <div className="row">
            <button className="button primary" disabled={isBusy} onClick={() => void make()}>
              Create link
            </button>
          </div>
        </>
      )}
      <AskAgain session={session} />
    </TitledDialog>
  );
}

/** The link, shown once: the server does not store its token. */
export function OneTimeLink({ name, made, fail }: { name: string; made: OneTimeToken; fail: (words: string) => void }) {
  const until = made.expires_at == null ? "" : `, until ${date(made.expires_at)}`;
  useEffect(() => {
    document.getElementById("one-time-link")?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <div className="made" id="one-time-link">
      <CopyField text={oneTimeLink(made.token)} label={`Link for ${name}`} isFirst failed={() => fail("Copying isn’t allowed.")} />
      <p className="small quiet">
        Send it to {name}. It works once{until}. Copy it now. You won’t see it again.
      </p>
    </div>
  );
}
