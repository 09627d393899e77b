// Dialog that creates accounts: one by a form, many by a list.
import { useEffect, useState } from "react";
import { type Session, isNotProved } from "../../app/session/session.ts";
import type { CreatedUser, User } from "../../protocol/rest.ts";
import { Problem } from "../../transport/rest.ts";
import { AskAgain } from "../account/AskAgain.tsx";
import { CredentialField, CredentialForm } from "../account/CredentialForm.tsx";
import { TitledDialog } from "../../ui/TitledDialog.tsx";
import { useFocusBack } from "./focusBack.ts";
import { InviteList } from "./InviteList.tsx";
import { OneTimeLink } from "./PasswordLink.tsx";

interface Props {
  session: Session;
  added: (users: readonly User[]) => void;
  close: () => void;
}

export function Invite({ session, added, close }: Props) {
  useFocusBack();
  const [error, setError] = useState<string>();
  const [made, setMade] = useState<CreatedUser>();
  const takesLists = useTakesLists(session);
  const create = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const body = { name: text("name"), login: text("login"), is_admin: form.get("admin") === "on" };
    try {
      const created = await (await session.deciding()).json<CreatedUser>("POST", "/api/users", body);
      setMade(created);
      added([created.user]);
    } catch (failure) {
      if (!isNotProved(failure)) throw failure;
    }
  };
  return (
    <TitledDialog kind="invite" title="Invite people" error={error} close={close}>
      <section className="stack tight" aria-label="One person">
        {/* A new key empties the form. */}
        <CredentialForm
          key={made?.user.id}
          className="invite-one"
          button="Create invitation"
          busy="Creating…"
          second={null}
          prove={create}
        >
          <CredentialField label="Name" name="name" isFirst={!made} autoComplete="off" />
          <CredentialField label="Login" name="login" autoComplete="off" help="For example ann or ann@example.org. No spaces." />
          <label className="row">
            <input type="checkbox" name="admin" /> Administrator
          </label>
        </CredentialForm>
        {made && <OneTimeLink key={made.user.id} name={made.user.name} made={made.invitation} fail={setError} />}
      </section>
      {takesLists && <InviteList session={session} added={added} fail={setError} />}
      <AskAgain session={session} />
    </TitledDialog>
  );
}

const METHOD_NOT_ALLOWED = 405;

/** True if the server takes lists: a server of an earlier release has no such route. */
function useTakesLists({ rest }: Session): boolean {
  const [isTaken, setIsTaken] = useState(false);
  useEffect(() => {
    // The route takes POST alone, so that this request changes nothing.
    rest.get("/api/users/invited").catch((failure: unknown) => {
      setIsTaken(failure instanceof Problem && failure.status === METHOD_NOT_ALLOWED);
    });
  }, [rest]);
  return isTaken;
}
