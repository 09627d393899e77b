// Dialog of a redaction: shows what would be removed, asks for the reason, and removes it. Lazy: loads when it opens.
import { Dialog } from "@base-ui/react/dialog";
import { type FormEvent, useEffect, useState } from "react";
import type { NotebookStore } from "../../../app/state/store.ts";
import {
  LEAST_TEXT,
  MOST_REASON,
  MOST_TEXT,
  type Redacted,
  type RedactionTarget,
  eventsOf,
  previewWords,
} from "../../../app/words/redactions.ts";
import { AskAgain } from "../../account/AskAgain.tsx";
import type { Choice } from "./RedactButton.tsx";

/** Debounce after typing in the text. */
const SETTLE_MS = 300;
/** Reason of a preview, which is not recorded. */
const PREVIEW = "preview";

interface RedactProps {
  store: NotebookStore;
  label: string;
  choices: Choice[];
  close: () => void;
}

export default function Redact({ store, label, choices, close }: RedactProps) {
  const [target, setTarget] = useState(choices[0]!.target);
  const [reason, setReason] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<string>();
  const { preview, problem, again } = usePreview(store, target);
  const count = preview?.versions.length ?? 0;
  const mayRedact = count > 0 && reason.trim() !== "" && !isBusy;
  const redact = async (event: FormEvent) => {
    event.preventDefault();
    if (!mayRedact) return;
    setIsBusy(true);
    setError(undefined);
    try {
      await ask(store, target, reason.trim(), false);
      close();
    } catch (failure) {
      setError((failure as Error).message);
      setIsBusy(false);
    }
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog redact" finalFocus={false}>
          <Dialog.Title>{label}</Dialog.Title>
          <form className="stack" onSubmit={(event) => void redact(event)}>
            {choices.length > 1 && <Choices choices={choices} choose={setTarget} />}
            {"text" in target && (
              <label className="stack">
                <span>Text, exactly as it is written</span>
                <textarea
                  className="field"
                  rows={2}
                  maxLength={MOST_TEXT}
                  value={target.text.text}
                  onChange={(event) => setTarget({ text: { text: event.target.value } })}
                />
              </label>
            )}
            <Preview target={target} preview={preview} problem={problem} again={again} />
            <label className="stack">
              <span>Reason (stays in the record)</span>
              <textarea
                className="field"
                rows={2}
                required
                maxLength={MOST_REASON}
                placeholder="For example: a password was pasted by mistake"
                value={reason}
                onChange={(event) => setReason(event.target.value)}
              />
            </label>
            {error && (
              <p className="error" role="alert">
                {error}
              </p>
            )}
            <div className="row actions">
              <span className="grow" />
              <Dialog.Close className="button" disabled={isBusy}>
                Cancel
              </Dialog.Close>
              <button className="button destructive" disabled={!mayRedact}>
                {isBusy ? "Redacting…" : count === 0 ? "Redact" : `Redact ${eventsOf(count)}`}
              </button>
            </div>
          </form>
          <AskAgain session={store.session} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Choices({ choices, choose }: { choices: Choice[]; choose: (target: RedactionTarget) => void }) {
  return (
    <label className="stack">
      <span>Event</span>
      <select className="select" onChange={(event) => choose(choices[Number(event.target.value)]!.target)}>
        {choices.map(({ words }, index) => (
          <option key={index} value={index}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

interface PreviewProps {
  target: RedactionTarget;
  preview: Redacted | undefined;
  problem: string | undefined;
  again: () => void;
}

function Preview({ target, preview, problem, again }: PreviewProps) {
  if (problem !== undefined)
    return (
      <div className="row">
        <p className="error grow" role="alert">
          {problem}
        </p>
        <button type="button" className="button" onClick={again}>
          Try again
        </button>
      </div>
    );
  if (isTooShort(target)) return <p className="quiet">Type at least {LEAST_TEXT} characters.</p>;
  if (!preview) return <div className="shape" aria-busy="true" />;
  if (preview.versions.length === 0) return <p role="status">Nothing in the record has this content.</p>;
  const ofCell = "cell" in target ? "The cell’s text, runs, outputs and comments are removed from all versions: " : undefined;
  return (
    <div className="stack" role="status">
      <p>
        {ofCell ?? "The content is removed permanently from all versions: "}
        <strong>{previewWords(preview)}</strong>. This can’t be undone.
      </p>
      <p className="quiet small">
        Authors and times stay in the record, with your name and reason. Forks, exported files and earlier backups keep their
        copies.
      </p>
    </div>
  );
}

const isTooShort = (target: RedactionTarget) => "text" in target && target.text.text.length < LEAST_TEXT;

async function ask(store: NotebookStore, target: RedactionTarget, reason: string, preview: boolean): Promise<Redacted> {
  const rest = await store.session.deciding();
  return rest.json<Redacted>("POST", `/api/notebooks/${encodeURIComponent(store.id)}/redactions`, { reason, target, preview });
}

/** The server's answer to a preview; undefined until it comes. */
function usePreview(store: NotebookStore, target: RedactionTarget) {
  const [told, setTold] = useState<{ preview?: Redacted; problem?: string }>({});
  const [asked, setAsked] = useState(0);
  const key = JSON.stringify(target);
  useEffect(() => {
    let isGone = false;
    setTold({});
    if (isTooShort(target)) return;
    const timer = setTimeout(
      () =>
        void ask(store, target, PREVIEW, true).then(
          (preview) => !isGone && setTold({ preview }),
          (failure: Error) => !isGone && setTold({ problem: failure.message }),
        ),
      asked === 0 && !("text" in target) ? 0 : SETTLE_MS,
    );
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [store, key, asked]);
  return { ...told, again: () => setAsked((before) => before + 1) };
}
