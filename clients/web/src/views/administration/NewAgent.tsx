// Dialog that creates a token for a runtime agent, shown once.
import { useState } from "react";
import { serverNow } from "../../app/session/clock.ts";
import { type Session, isNotProved } from "../../app/session/session.ts";
import type { IssuedToken, Workspace } from "../../protocol/rest.ts";
import { AskAgain } from "../account/AskAgain.tsx";
import { CredentialField, CredentialForm } from "../account/CredentialForm.tsx";
import { CopyField } from "../../ui/CopyField.tsx";
import { TitledDialog } from "../../ui/TitledDialog.tsx";
import { useFocusBack } from "./focusBack.ts";

interface Props {
  session: Session;
  /** Workspaces that the administrator owns. */
  workspaces: Workspace[];
  created: () => void;
  close: () => void;
}

const DAY_MS = 86_400_000;
const TERMS: [days: string, words: string][] = [
  ["", "Until revoked"],
  ["30", "For 30 days"],
  ["90", "For 90 days"],
  ["365", "For a year"],
];

export function NewAgent({ session, workspaces, created, close }: Props) {
  useFocusBack();
  const [made, setMade] = useState<IssuedToken>();
  const [error, setError] = useState<string>();
  const create = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "");
    const [workspace, days] = [text("workspace"), Number(text("term"))];
    const body = {
      name: text("name").trim(),
      covers: workspace ? { workspace } : {},
      ...(days > 0 && { expires_at: serverNow() + days * DAY_MS }),
    };
    try {
      setMade(await (await session.deciding()).json<IssuedToken>("POST", "/api/agents", body));
      created();
    } catch (failure) {
      if (!isNotProved(failure)) throw failure;
    }
  };
  return (
    <TitledDialog
      kind="new-agent"
      title={made ? `Token of ${made.label}` : "New agent"}
      error={error}
      end={made ? "Done" : "Cancel"}
      close={close}
    >
      {made ? (
        <Made token={made.token} fail={setError} />
      ) : (
        <CredentialForm button="Create token" busy="Creating…" second={null} prove={create}>
          <CredentialField label="Name" name="name" isFirst autoComplete="off" help="For example “GPU machine”." />
          <label className="stack tight">
            Notebooks
            <select className="select" name="workspace" defaultValue="">
              <option value="">All notebooks of this server</option>
              {workspaces.map(({ id, name }) => (
                <option key={id} value={id}>
                  Workspace {name}
                </option>
              ))}
            </select>
          </label>
          <label className="stack tight">
            Valid
            <select className="select" name="term" defaultValue="">
              {TERMS.map(([days, words]) => (
                <option key={days} value={days}>
                  {words}
                </option>
              ))}
            </select>
          </label>
        </CredentialForm>
      )}
      <AskAgain session={session} />
    </TitledDialog>
  );
}

function Made({ token, fail }: { token: string; fail: (words: string) => void }) {
  const failed = () => fail("Copying isn’t allowed.");
  return (
    <div className="made">
      <CopyField text={token} label="Token" isFirst failed={failed} />
      <p className="small quiet">
        Copy it now. You won’t see it again. Save it on the machine in the file agent.token and start the agent there:
      </p>
      <CopyField text={`notarium agent --server ${location.origin} --token-file agent.token`} label="Command" failed={failed} />
    </div>
  );
}
