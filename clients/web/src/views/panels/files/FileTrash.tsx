// Trash of the notebook's files: restore, or delete forever after a confirmation.
import { AlertDialog } from "@base-ui/react/alert-dialog";
import { ArrowLeft } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { type FileTrash as Trash, type Files, type TrashedFile, isTaken, problemWords } from "../../../app/files/files.ts";
import { nameParts, nextName, shownName } from "../../../app/files/readers.ts";
import { sizeWords } from "../../../app/words/sizes.ts";
import { ago, date } from "../../../app/words/words.ts";

export function FileTrash({ work, back }: { work: Files; back: () => void }) {
  const [trash, setTrash] = useState<Trash>();
  const [error, setError] = useState<string>();
  const [asked, setAsked] = useState<TrashedFile | "all">();
  const [taken, setTaken] = useState<string>();
  const act = useCallback(async (what: () => Promise<Trash>) => {
    try {
      setTrash(await what());
      setError(undefined);
    } catch (problem) {
      setError(problemWords(problem));
    }
  }, []);
  useEffect(() => void act(() => work.trash()), [act, work]);
  const restore = (file: TrashedFile, to?: string) =>
    act(async () => {
      setTaken(undefined);
      await work.restore(file.id, to).catch((problem: unknown) => {
        if (!isTaken(problem)) throw problem;
        setTaken(file.id);
      });
      return work.trash();
    });
  return (
    <section className="stack tight" aria-label="Trash">
      <div className="row">
        <button className="button bare" autoFocus onClick={back}>
          <ArrowLeft size={15} aria-hidden /> Files
        </button>
        <span className="grow" />
        {trash !== undefined && trash.files.length > 0 && (
          <button className="button danger" onClick={() => setAsked("all")}>
            Empty trash
          </button>
        )}
      </div>
      {error !== undefined && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      {trash === undefined && error === undefined && (
        <p className="quiet empty" role="status">
          Loading…
        </p>
      )}
      {trash?.files.length === 0 && <p className="quiet empty">The trash is empty.</p>}
      {trash !== undefined && trash.files.length > 0 && (
        <>
          <p className="quiet small">
            {sizeWords(trash.size_bytes)}. Kept for {trash.kept_days} days, or until {sizeWords(trash.max_bytes)} are full.
          </p>
          <ul className="trashed" aria-label="Files in the trash">
            {trash.files.map((file) => (
              <Entry
                key={file.id}
                file={file}
                isInTheWay={taken === file.id}
                restore={(to) => void restore(file, to)}
                ask={() => setAsked(file)}
              />
            ))}
          </ul>
        </>
      )}
      {asked !== undefined && (
        <Question
          what={asked === "all" ? "everything in the trash" : `“${shownName(asked.path)}”`}
          action={asked === "all" ? "Empty trash" : "Delete forever"}
          close={() => setAsked(undefined)}
          confirm={() => void act(() => work.emptyTrash(asked === "all" ? undefined : asked.id))}
        />
      )}
    </section>
  );
}

interface EntryProps {
  file: TrashedFile;
  /** Another file has this path by now. */
  isInTheWay: boolean;
  restore: (to?: string) => void;
  ask: () => void;
}

function Entry({ file, isInTheWay, restore, ask }: EntryProps) {
  const name = shownName(file.path);
  const other = nextName(file.path);
  return (
    <li>
      <span className="name" title={name}>
        <bdi>{name}</bdi>
        <span className="quiet small">
          {sizeWords(file.size_bytes)} · <time title={date(file.removed_at)}>{ago(file.removed_at)}</time>
        </span>
      </span>
      <button className="button" aria-label={`Restore ${name}`} onClick={() => restore()}>
        Restore
      </button>
      <button className="button bare danger" aria-label={`Delete ${name} forever`} onClick={ask}>
        Delete forever
      </button>
      {isInTheWay && (
        <p className="row small" role="alert">
          <span className="bad grow">“{name}” exists again.</span>
          <button className="button" onClick={() => restore(other)}>
            Restore as “{shownName(nameParts(other).name)}”
          </button>
        </p>
      )}
    </li>
  );
}

interface QuestionProps {
  what: string;
  action: string;
  close: () => void;
  confirm: () => void;
}

function Question({ what, action, close, confirm }: QuestionProps) {
  return (
    <AlertDialog.Root open onOpenChange={(isOpen) => !isOpen && close()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>Delete {what}?</AlertDialog.Title>
          <AlertDialog.Description className="quiet">This can’t be undone.</AlertDialog.Description>
          <div className="row end">
            <AlertDialog.Close className="button">Cancel</AlertDialog.Close>
            <button
              className="button danger"
              onClick={() => {
                confirm();
                close();
              }}
            >
              {action}
            </button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
