// An earlier version in place of the notebook: compare, name, fork and restore.
import { GitFork, Link2, RotateCcw, Tag, X } from "lucide-react";
import { type FormEvent, Suspense, useEffect, useMemo, useState } from "react";
import { marked } from "../../../app/cells/pastPlaces.ts";
import { go } from "../../../app/session/route.ts";
import { withBlocks } from "../../../app/words/redactions.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { useTopics } from "../../../app/state/topics.ts";
import { Document } from "../../../protocol/document.ts";
import type { Cell, Document as Snapshot } from "../../../protocol/messages.ts";
import { OutputList } from "../../outputs/Outputs.tsx";
import type { FormulaPlace } from "../../../outputs/equations.ts";
import { placesOf } from "../../../outputs/places.ts";
import { Rendered } from "../../outputs/Rendered.tsx";
import { part } from "../../../ui/parts.ts";
import { REDACT_CELL, RedactButton } from "./RedactButton.tsx";
import { useTokens } from "../../cell/useTokens.ts";

const WordDiff = part(() => import("../../../ui/Diff.tsx"));

/** Debounce of the version slider: versions passed on the way are not fetched. */
const SCRUB_MS = 120;

function useVersion(store: NotebookStore, at: number | undefined): { document: Document | undefined; error: string | undefined } {
  const [document, setDocument] = useState<Document>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    if (at === undefined) return setDocument(undefined);
    let isGone = false;
    const timer = setTimeout(() => {
      store.session.rest.get<{ notebook: Snapshot }>(`/api/notebooks/${store.id}?at=${at}`).then(
        ({ notebook }) => !isGone && setDocument(Document.from(notebook)),
        (failure: Error) => !isGone && setError(failure.message),
      );
    }, SCRUB_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [store, at]);
  return { document, error };
}

export default function Past({ store, at }: { store: NotebookStore; at: number }) {
  useTopics(store, "notebook", "order");
  const entry = store.pastEntry;
  const before = (entry?.first ?? at) - 1;
  const [other, setOther] = useState<number | "now" | undefined>(
    entry && entry.text === undefined && before > 0 ? before : undefined,
  );
  const { document: past, error } = useVersion(store, at);
  const { document: second } = useVersion(store, other === "now" ? undefined : other);
  const compared = other === "now" ? store.document : second;
  const names = store.document.named_versions;
  return (
    <section className="past" aria-label={`Version ${at}`} aria-busy={past?.version !== at}>
      <header className="past-bar">
        <strong className="grow">
          Version {at}
          {names.has(String(at)) && ` · “${names.get(String(at))}”`}
        </strong>
        <span className="row ways">
          <select
            className="select"
            aria-label="Compare with"
            value={other ?? ""}
            onChange={(event) =>
              setOther(event.target.value === "" ? undefined : event.target.value === "now" ? "now" : Number(event.target.value))
            }
          >
            <option value="">{other === undefined ? "Compare with…" : "No comparison"}</option>
            <option value="now">Current version</option>
            {before > 0 && <option value={before}>Previous version</option>}
            {[...names].map(([number, name]) => (
              <option key={number} value={number}>
                “{name}”
              </option>
            ))}
          </select>
          <Actions store={store} at={at} past={past} />
        </span>
        <button className="button primary" onClick={() => store.look(undefined)}>
          <X size={14} aria-hidden /> Back to current
        </button>
      </header>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      {!past && !error && <div className="shape" />}
      {past &&
        (compared ? (
          <Compared store={store} before={older(past, compared)} after={newer(past, compared)} />
        ) : (
          <Cells store={store} past={past} />
        ))}
    </section>
  );
}

const older = (a: Document, b: Document) => (a.version <= b.version ? a : b);
const newer = (a: Document, b: Document) => (a.version <= b.version ? b : a);

function Actions({ store, at, past }: { store: NotebookStore; at: number; past: Document | undefined }) {
  const { rest } = store.session;
  const [isNaming, setIsNaming] = useState(false);
  const fork = async () => {
    try {
      const { notebook } = await rest.json<{ notebook: string }>("POST", `/api/notebooks/${store.id}/fork`, { version: at });
      go({ name: "notebook", id: notebook, cell: undefined });
    } catch (failure) {
      store.toast({ text: (failure as Error).message, isError: true });
    }
  };
  const name = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const words = String(new FormData(event.currentTarget).get("name") ?? "").trim();
    setIsNaming(false);
    if (words !== "") void store.send({ NameVersion: { version: at, name: words } });
  };
  if (isNaming)
    return (
      <form className="row grow" onSubmit={name} onKeyDown={({ key }) => key === "Escape" && setIsNaming(false)}>
        <input
          className="field short grow"
          name="name"
          placeholder="Version name"
          aria-label={`Name of version ${at}`}
          maxLength={100}
          autoFocus
        />
        <button className="button">Save</button>
      </form>
    );
  return (
    <>
      {store.mayOrganise && (
        <button className="button icon" aria-label="Name this version" title="Name this version" onClick={() => setIsNaming(true)}>
          <Tag size={15} aria-hidden />
        </button>
      )}
      <button
        className="button"
        disabled={!store.mayEdit || !past}
        title="Restore this version (can be undone)"
        onClick={() => past && void restore(store, past)}
      >
        <RotateCcw size={14} aria-hidden /> Restore
      </button>
      <button
        className="button icon"
        aria-label="Copy link to this version"
        title="Copy link to this version"
        onClick={() =>
          void navigator.clipboard
            .writeText(`${location.origin}/#/n/${store.id}?at=${at}`)
            .then(() => store.toast({ text: "Link copied" }))
        }
      >
        <Link2 size={15} aria-hidden />
      </button>
      {store.session.userId !== undefined && (
        <button
          className="button icon"
          aria-label="New notebook from this version"
          title="New notebook from this version"
          onClick={() => void fork()}
        >
          <GitFork size={15} aria-hidden />
        </button>
      )}
    </>
  );
}

async function restore(store: NotebookStore, past: Document): Promise<void> {
  const { version } = store.document;
  if (store.mayOrganise) await store.send({ NameVersion: { version, name: `Before restoring version ${past.version}` } });
  const before = store.document.version;
  const done = await store.send({ RestoreNotebook: { version: past.version } });
  if (!done) return;
  if (done.version <= before) return void store.toast({ text: "Nothing to restore: the cells are the same" });
  store.look(undefined);
  store.toast({ text: `Restored version ${past.version}`, action: { label: "Undo", run: () => store.edits.step("Undo") } });
}

function Cells({ store, past }: { store: NotebookStore; past: Document }) {
  const places = useMemo(() => {
    const text = (cell: Cell | undefined) => (cell?.cell_type === "markdown" ? cell.source : "");
    return placesOf(past.order.map((id) => [id, text(past.cells.get(id))] as const));
  }, [past]);
  if (past.order.length === 0) return <p className="quiet empty">No cells in this version.</p>;
  const first = past.order.find((id) => store.pastEntry?.cells.includes(id));
  return past.order.map((id) => {
    const cell = past.cells.get(id);
    const run = past.latestExecution(id);
    const now = store.document.cells.get(id);
    const isMarked = store.pastEntry?.cells.includes(id) ?? false;
    const text = isMarked ? store.pastEntry?.text : undefined;
    const note = !now ? "Deleted since" : now.source !== cell?.source ? "Edited since" : undefined;
    return (
      <div
        key={id}
        ref={isMarked && id === first && text === undefined ? showOnce : undefined}
        className={`past-cell${isMarked ? " marked" : note ? " other" : ""}`}
      >
        <RedactButton store={store} label={REDACT_CELL} choices={[{ target: { cell: { cell_id: id } }, words: "" }]} isIcon />
        {isMarked && (
          <p className="small quiet">
            Cell {past.order.indexOf(id) + 1} · {text === undefined ? "changed in this entry" : "found here"}
          </p>
        )}
        {note && <p className="small quiet">{note}</p>}
        {cell && (text === undefined ? <Still cell={cell} place={places.get(id)} /> : <Marked cell={cell} text={text} />)}
        {run?.outputs && run.outputs.length > 0 && <OutputList store={store} outputs={run.outputs} run={run} />}
      </div>
    );
  });
}

function Still({ cell, place }: { cell: Cell; place: FormulaPlace | undefined }) {
  const tokens = useTokens(cell.cell_type, cell.source);
  if (cell.cell_type === "markdown")
    return (
      <div className="source rendered">
        <Rendered text={cell.source} attachments={cell.attachments} place={place} />
      </div>
    );
  return (
    <pre className="source still">
      {tokens.flatMap(({ text, className }, index) =>
        withBlocks(text).map((piece, number) => (
          <span key={`${index} ${number}`} className={piece.isRedacted ? "redacted" : className}>
            {piece.text}
          </span>
        )),
      )}
      {"\n"}
    </pre>
  );
}

/** The source of a cell with a found text marked, also of a text cell: the match may be in its Markdown. */
function Marked({ cell, text }: { cell: Cell; text: string }) {
  const tokens = useTokens(cell.cell_type, cell.source);
  const pieces = useMemo(() => marked(tokens, text), [tokens, text]);
  const first = pieces.findIndex(({ isMatch }) => isMatch);
  return (
    <pre className="source still">
      {pieces.map((piece, index) => {
        const Tag = piece.isMatch ? "mark" : "span";
        return (
          <Tag key={index} ref={index === first ? showOnce : undefined} className={piece.className}>
            {piece.text}
          </Tag>
        );
      })}
      {"\n"}
    </pre>
  );
}

function showOnce(node: HTMLElement | null): void {
  node?.scrollIntoView({ block: "center" });
}

/** Diff by cell: added, deleted and changed cells, with a word diff of changes. */
function Compared({ store, before, after }: { store: NotebookStore; before: Document; after: Document }) {
  const goTo = (id: string) => (store.look(undefined), store.select(id));
  const gone = before.order.filter((id) => !after.cells.has(id));
  const same = after.order.filter((id) => before.cells.get(id)?.source === after.cells.get(id)?.source);
  const isSame = same.length === after.order.length && gone.length === 0;
  return (
    <>
      <p className="small quiet">
        Changes from version {before.version} to {after.version}
        {isSame && ": none in the cells"}
      </p>
      {after.order.map((id) => {
        const [was, is] = [before.cells.get(id), after.cells.get(id)];
        if (!is || was?.source === is.source) return null;
        return (
          <div key={id} className="past-cell other">
            <p className="small quiet">
              {was ? `Cell ${after.order.indexOf(id) + 1} changed` : `Cell ${after.order.indexOf(id) + 1} added`}
              {store.document.cells.has(id) && (
                <button className="button bare tiny" onClick={() => goTo(id)}>
                  Show in notebook
                </button>
              )}
            </p>
            <Suspense fallback={<div className="shape" />}>
              <WordDiff before={was?.source ?? ""} after={is.source} />
            </Suspense>
          </div>
        );
      })}
      {gone.map((id) => (
        <div key={id} className="past-cell other">
          <p className="small quiet">Cell {before.order.indexOf(id) + 1} deleted</p>
          <pre className="effect bad">{before.cells.get(id)?.source || "(empty)"}</pre>
        </div>
      ))}
      {same.length > 0 && !isSame && (
        <p className="small quiet">{same.length === 1 ? "1 cell" : `${same.length} cells`} unchanged.</p>
      )}
    </>
  );
}
