// What happened, newest first, and the notebook as it was at any version.
import { type FormEvent, useEffect, useState } from "react";
import { go } from "../app/route.ts";
import { type NotebookStore, useTopics } from "../app/store.ts";
import { ago, date, plain } from "../app/words.ts";
import { renderMarkdown } from "../outputs/safe.ts";
import { Document } from "../protocol/document.ts";
import { Author } from "./Author.tsx";
import type { Actor, Document as Snapshot, EventMessage } from "../protocol/messages.ts";

interface Step {
  first: number;
  last: number;
  correlation: string;
  actor: Actor;
  at: number;
  words: string[];
}

const PAGE = 200;

const WORDS: Record<string, string> = {
  NotebookCreated: "made the notebook",
  NotebookRenamed: "renamed it",
  NotebookVersionNamed: "named a version",
  CellInserted: "inserted a cell",
  CellSourceEdited: "edited",
  CellMoved: "moved a cell",
  CellTypeChanged: "changed a cell's type",
  CellDeleted: "deleted a cell",
  CellRestored: "restored a cell",
  CellOutputsCleared: "cleared outputs",
  ExecutionRequested: "asked for a run",
  ExecutionCompleted: "finished a run",
  KernelSessionStarted: "started a kernel",
  KernelSessionEnded: "ended a kernel",
  KernelRestartRequested: "asked for a restart",
  AccessGranted: "shared it",
  TurnStarted: "asked the assistant",
  ToolCallRequested: "wants to use a tool",
  ToolCallConfirmed: "confirmed a call",
  ToolCallDenied: "denied a call",
};

/** What belongs to one correlation, in a row, is one step. */
export function steps(events: readonly EventMessage[]): Step[] {
  const all: Step[] = [];
  for (const event of events) {
    const words = WORDS[event.type];
    const last = all.at(-1);
    if (last && last.correlation === event.correlation_id && JSON.stringify(last.actor) === JSON.stringify(event.actor)) {
      last.last = event.version;
      if (words && !last.words.includes(words)) last.words.push(words);
    } else {
      const { version, correlation_id, actor, recorded_at } = event;
      all.push({ first: version, last: version, correlation: correlation_id, actor, at: recorded_at, words: words ? [words] : [] });
    }
  }
  return all.filter((step) => step.words.length > 0).reverse();
}

export function History({ store }: { store: NotebookStore }) {
  useTopics(store, "notebook");
  const [events, setEvents] = useState<EventMessage[]>([]);
  const [from, setFrom] = useState(() => Math.max(0, store.document.version - PAGE));
  const [at, setAt] = useState<number>();
  const [error, setError] = useState<string>();

  useEffect(() => {
    const add = (more: EventMessage[]) =>
      setEvents((before) => {
        const all = new Map([...before, ...more].map((event) => [event.version, event]));
        return [...all.values()].sort((a, b) => a.version - b.version);
      });
    store.session.rest.get<{ events: EventMessage[] }>(`/api/notebooks/${store.id}/events?after=${from}&limit=${PAGE}`).then(
      (page) => add(page.events),
      (failure: Error) => setError(failure.message),
    );
    return store.replica.folded.add((event) => add([event]));
  }, [store, from]);

  const names = store.document.named_versions;
  return (
    <aside className="panel" aria-label="History">
      <header className="row">
        <h2 className="grow">History</h2>
      </header>
      <label className="scrub">
        <span className="small quiet">
          Version {at ?? store.document.version} of {store.document.version}
        </span>
        <input
          type="range"
          min={1}
          max={store.document.version}
          value={at ?? store.document.version}
          onChange={(event) => setAt(Number(event.target.value))}
        />
      </label>
      {at !== undefined && at !== store.document.version && <Past store={store} at={at} close={() => setAt(undefined)} />}
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <ol className="steps">
        {steps(events).map((step) => (
          <li key={step.first} aria-current={at === step.last}>
            <button className="step" onClick={() => setAt(step.last)}>
              <span>
                <Author store={store} actor={step.actor} /> {step.words.join(", ")}
              </span>
              <span className="quiet small">
                <time title={date(step.at)}>{ago(step.at)}</time> · {step.last}
                {names.has(String(step.last)) && ` · “${names.get(String(step.last))}”`}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {from > 0 && (
        <button className="button" onClick={() => setFrom(Math.max(0, from - PAGE))}>
          Earlier
        </button>
      )}
    </aside>
  );
}

function Past({ store, at, close }: { store: NotebookStore; at: number; close: () => void }) {
  const [past, setPast] = useState<Document>();
  const [error, setError] = useState<string>();
  const { rest } = store.session;
  useEffect(() => {
    let isGone = false;
    const timer = setTimeout(() => {
      rest.get<{ notebook: Snapshot }>(`/api/notebooks/${store.id}?at=${at}`).then(
        ({ notebook }) => !isGone && setPast(Document.from(notebook)),
        (failure: Error) => !isGone && setError(failure.message),
      );
    }, 120);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [rest, store, at]);

  const fork = async () => {
    try {
      const { notebook } = await rest.json<{ notebook: string }>("POST", `/api/notebooks/${store.id}/fork`, { version: at });
      go({ name: "notebook", id: notebook, cell: undefined });
    } catch (failure) {
      setError((failure as Error).message);
    }
  };
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("name") ?? "").trim();
    if (name !== "") void store.do({ NameVersion: { version: at, name } });
  };

  return (
    <section className="past" aria-label={`Version ${at}`}>
      <div className="row">
        <strong className="grow">As it was at version {at}</strong>
        <form className="row" onSubmit={save}>
          <input
            className="field short"
            name="name"
            placeholder="Name"
            aria-label={`Name of version ${at}`}
            defaultValue={store.document.named_versions.get(String(at)) ?? ""}
          />
        </form>
        <button className="button" onClick={() => void fork()}>
          Fork
        </button>
        <button className="button" onClick={close}>
          Now
        </button>
      </div>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      {!past && !error && <div className="shape" />}
      {past?.order.map((id) => {
        const cell = past.cells.get(id);
        const isSame = cell?.source === store.document.cells.get(id)?.source;
        if (cell?.cell_type === "markdown")
          return (
            <div
              key={id}
              className={isSame ? "rendered" : "rendered other"}
              dangerouslySetInnerHTML={{ __html: renderMarkdown(cell.source, cell.attachments) }}
            />
          );
        return (
          <pre key={id} className={isSame ? "effect" : "effect other"} title={isSame ? undefined : "It is another text now"}>
            {cell?.source || plain("empty")}
          </pre>
        );
      })}
    </section>
  );
}
