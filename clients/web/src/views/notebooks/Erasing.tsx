// Question before a notebook is erased: its title is typed, because nothing takes it back.
import { AlertDialog } from "@base-ui/react/alert-dialog";
import { type FormEvent, useState } from "react";
import type { RowProps } from "./NotebookRow.tsx";

/** Most characters of a reason that the server takes. */
const MOST_CHARACTERS = 1000;

export default function Erasing({ session, line, act, close }: RowProps & { close: () => void }) {
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  const title = line.title || "Untitled";
  const isSure = typed.trim() === title.trim() && reason.trim() !== "";
  const erase = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!isSure) return;
    close();
    act(async () => {
      const rest = await session.deciding();
      await rest.json("DELETE", `/api/notebooks/${line.id}`, { reason: reason.trim() });
      return `“${title}” was erased`;
    });
  };
  return (
    <AlertDialog.Root open onOpenChange={(isOpen) => !isOpen && close()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog question">
          <AlertDialog.Title>Erase “{title}”?</AlertDialog.Title>
          <AlertDialog.Description className="quiet">
            Its cells, history, outputs, comments and files are deleted for everyone. Kernels stop. This can’t be undone. People who
            had access can still see who erased it, when and why.
          </AlertDialog.Description>
          <form onSubmit={erase}>
            <label className="stack">
              <span className="small quiet">Reason</span>
              <input
                className="field"
                value={reason}
                maxLength={MOST_CHARACTERS}
                required
                onChange={({ target }) => setReason(target.value)}
              />
            </label>
            <label className="stack">
              <span className="small quiet">Type the title to confirm: {title}</span>
              <input
                className="field"
                value={typed}
                dir="auto"
                autoComplete="off"
                onChange={({ target }) => setTyped(target.value)}
              />
            </label>
            <div className="row end">
              <AlertDialog.Close className="button">Cancel</AlertDialog.Close>
              <button className="button danger" disabled={!isSure}>
                Erase notebook
              </button>
            </div>
          </form>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
