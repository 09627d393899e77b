// Sign-ins with identity providers that are linked to an account.
import { Trash2 } from "lucide-react";
import { useCallback, useState } from "react";
import type { Session } from "../../app/session/session.ts";
import type { Identity, User } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";
import { AskAgain } from "../account/AskAgain.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { TitledDialog } from "../../ui/TitledDialog.tsx";
import { useFocusBack } from "./focusBack.ts";
import { useLoaded } from "./loading.tsx";
import { Question } from "./Question.tsx";
import { dayWords, hostOf } from "./words.ts";

interface Props {
  session: Session;
  user: User;
  close: () => void;
  focusAfter: () => HTMLElement | null;
}

export function SignInsOf({ session, user, close, focusAfter }: Props) {
  useFocusBack(focusAfter);
  const path = `/api/users/${user.id}/identities`;
  const load = useCallback((rest: Rest) => rest.get<Identity[]>(path), [path]);
  const { value: identities, error, change } = useLoaded(session, load);
  const [asked, setAsked] = useState<Identity>();
  return (
    <TitledDialog kind="sign-ins" title={`Sign-ins of ${user.name}`} error={error} close={close}>
      {!identities && !error && <p className="quiet">Loading…</p>}
      {identities?.length === 0 && (
        <p className="quiet">No linked sign-ins. {user.has_password ? "This person signs in with a password." : ""}</p>
      )}
      <ul className="plain lines">
        {identities?.map((identity) => (
          <li key={identity.id} className="row">
            <span className="grow">
              {wordsOf(identity)}
              <span className="quiet small second">
                {hostOf(identity.issuer)}, linked {dayWords(identity.created_at)}
              </span>
            </span>
            <IconButton label={`Unlink ${wordsOf(identity)}`} title="Unlink" onClick={() => setAsked(identity)}>
              <Trash2 size={15} />
            </IconButton>
          </li>
        ))}
      </ul>
      {asked && (
        <Question
          session={session}
          title={`Unlink ${wordsOf(asked)}?`}
          button="Unlink"
          isDestructive
          run={async (rest) => {
            await rest.json("DELETE", `${path}/${asked.id}`);
            change((before) => before.filter(({ id }) => id !== asked.id));
          }}
          close={() => setAsked(undefined)}
        >
          {user.name} can no longer sign in with it, and sessions that began with it end.
        </Question>
      )}
      <AskAgain session={session} />
    </TitledDialog>
  );
}

function wordsOf({ email, subject }: Identity): string {
  return email ?? subject;
}
