// Dialog with files for auditors: a report of a stretch of time, the record, and its signed head. Lazy: loads when it opens.
import { FileDown } from "lucide-react";
import { type FormEvent, useState } from "react";
import { saveRecord, saveReport, saveSignedHead } from "../../../app/files/records.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { TitledDialog } from "../../../ui/TitledDialog.tsx";

export default function RecordFiles({ store, close }: { store: NotebookStore; close: () => void }) {
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState<string>();
  const notebook = { rest: store.session.rest, id: store.id, title: store.document.title };
  const save = async (name: string, action: () => Promise<void>) => {
    setBusy(name);
    setError(undefined);
    await action().catch((failure: Error) => setError(failure.message));
    setBusy(undefined);
  };
  const report = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const time = (name: string) => Date.parse(String(form.get(name) ?? "")) || undefined;
    void save("report", () => saveReport(notebook, time("from"), time("to")));
  };
  const button = (name: string, words: string, action: () => Promise<void>) => (
    <button className="button" disabled={busy !== undefined} onClick={() => void save(name, action)}>
      <FileDown size={15} aria-hidden /> {busy === name ? "Downloading…" : words}
    </button>
  );
  return (
    <TitledDialog kind="record-files" title="Report and record" error={error} close={close}>
      <form className="stack" aria-label="Report" onSubmit={report}>
        <h3>Report</h3>
        <p className="small quiet">
          One page for auditors: who took part, what assistants requested and who decided, runs, roles and all events.
        </p>
        <div className="times">
          <label>
            <span className="small">From (empty: the beginning)</span>
            <input className="field" type="datetime-local" name="from" />
          </label>
          <label>
            <span className="small">To (empty: now)</span>
            <input className="field" type="datetime-local" name="to" />
          </label>
        </div>
        <div className="row">
          <button className="button" disabled={busy !== undefined}>
            <FileDown size={15} aria-hidden /> {busy === "report" ? "Downloading…" : "Download report"}
          </button>
        </div>
      </form>
      <section className="stack" aria-label="Record">
        <h3>Record</h3>
        <p className="small quiet">
          All events as JSON Lines, with what was hashed. <code>notarium verify --file</code> checks the file without a server. The
          signed head proves later that nothing was cut off.
        </p>
        <div className="row">
          {button("record", "Export the record", () => saveRecord(notebook))}
          {button("head", "Signed head", () => saveSignedHead(notebook))}
        </div>
      </section>
    </TitledDialog>
  );
}
