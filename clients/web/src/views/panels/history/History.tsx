// The history panel: timeline of versions, runs, authors of lines, and trash.
import { FileDown, Pause, Play, Search, X } from "lucide-react";
import { useEffect, useState } from "react";
import { MOST_CHARACTERS } from "../../../app/cells/pastPlaces.ts";
import { type RedactedBy, redactedIn } from "../../../app/words/redactions.ts";
import { KINDS, type Kind, type NameOf, type Step, steps, wordsOf } from "../../../app/words/steps.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { useTopics } from "../../../app/state/topics.ts";
import { ago, date } from "../../../app/words/words.ts";
import { page } from "../../../commands/table.ts";
import type { Actor, EventMessage } from "../../../protocol/messages.ts";
import { Author, useName } from "../../../ui/Author.tsx";
import FoundInPast from "./FoundInPast.tsx";
import { type Choice, RedactButton } from "./RedactButton.tsx";
import { Lines, Runs, Trash } from "./Records.tsx";

const PAGE = 200;
const PLAY_MS = 700;
const TABS = ["Timeline", "Runs", "Lines", "Trash"] as const;
type Tab = (typeof TABS)[number];

export function History({ store }: { store: NotebookStore }) {
  useTopics(store, "notebook", "past", "panel");
  const [tab, setTab] = useState<Tab>(store.historyTab ?? "Timeline");
  const [text, setText] = useState("");
  const isFinding = text.trim() !== "";
  useEffect(() => () => store.look(undefined), [store]);
  return (
    <aside className="panel history" aria-label="History">
      <header className="row">
        <h2 className="grow">History</h2>
        <button
          className="button bare icon"
          aria-label="Report and record…"
          title="Report and record…"
          onClick={() => page.records?.()}
        >
          <FileDown size={16} />
        </button>
        <button className="button bare icon" aria-label="Close" title="Close" onClick={() => store.show("history")}>
          <X size={16} />
        </button>
      </header>
      <label className="find-past">
        <Search size={15} aria-hidden />
        <input
          type="search"
          aria-label="Find in all versions"
          placeholder="Find in all versions"
          maxLength={MOST_CHARACTERS}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && (event.stopPropagation(), setText(""))}
        />
      </label>
      {isFinding ? (
        <div className="stack">
          <FoundInPast store={store} text={text} />
        </div>
      ) : (
        <>
          <div className="tabs" role="tablist" aria-label="History">
            {TABS.map((name) => (
              <button key={name} role="tab" aria-selected={tab === name} className="button bare" onClick={() => setTab(name)}>
                {name}
              </button>
            ))}
          </div>
          <div role="tabpanel" aria-label={tab} className="stack">
            {tab === "Timeline" && <Timeline store={store} />}
            {tab === "Runs" && <Runs store={store} />}
            {tab === "Lines" && <Lines store={store} />}
            {tab === "Trash" && <Trash store={store} />}
          </div>
        </>
      )}
    </aside>
  );
}

function Timeline({ store }: { store: NotebookStore }) {
  useTopics(store, "notebook", "past", "order");
  const { events, from, earlier, error } = useEvents(store);
  const [isPlaying, setIsPlaying] = useState(false);
  const { version } = store.document;
  const at = store.past ?? version;
  const { order } = store.document;
  const nameOf = (cell: string) => (order.includes(cell) ? `cell ${order.indexOf(cell) + 1}` : undefined);
  const every = steps(events, nameOf);
  const [filter, setFilter] = useState<Filter>({ who: undefined, kind: undefined });
  const all = every.filter((step) => passes(step, filter));
  const names = store.document.named_versions;
  const redacted = redactedIn(events);

  useEffect(() => {
    if (!isPlaying) return;
    const next = all.findLast(({ last }) => last > at)?.last;
    if (next === undefined) return setIsPlaying(false);
    const timer = setTimeout(() => store.look(next), PLAY_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, at, all.length]);
  const play = () => {
    if (!isPlaying && at >= version) store.look(all.at(-1)?.last);
    setIsPlaying(!isPlaying);
  };

  return (
    <>
      <div className="scrub">
        <button
          className="button bare icon"
          aria-label={isPlaying ? "Pause" : "Play"}
          title={isPlaying ? "Pause" : "Play"}
          onClick={play}
        >
          {isPlaying ? <Pause size={15} /> : <Play size={15} />}
        </button>
        <input
          type="range"
          aria-label="Version"
          min={1}
          max={version}
          value={at}
          onChange={(event) => store.look(Number(event.target.value))}
        />
        <span className="small quiet">
          {at} / {version}
        </span>
      </div>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      {names.size > 0 && (
        <section aria-label="Named versions">
          <h3 className="small quiet">Named versions</h3>
          <ul className="steps">
            {[...names].map(([number, name]) => (
              <li key={number} aria-current={at === Number(number)}>
                <button className="step" onClick={() => store.look(Number(number))}>
                  <strong>{name}</strong>
                  <span className="quiet small">version {number}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Filters store={store} all={every} filter={filter} set={setFilter} />
      {events.length === 0 && !error && <div className="shape" aria-busy="true" />}
      {events.length > 0 && all.length === 0 && (
        <p className="quiet empty">Nothing like this{from > 0 && " yet: load earlier entries"}.</p>
      )}
      <ol className="steps">
        {all.map((step) => (
          <li key={step.first} aria-current={store.past !== undefined && step.first <= store.past && store.past <= step.last}>
            <button className="step" onClick={() => store.look(step.last, step)}>
              <span>
                <Author store={store} actor={step.actor} /> {step.words.join(", ")}
              </span>
              <span className="quiet small">
                <time title={date(step.at)}>{ago(step.at)}</time> · version {step.last}
                {names.has(String(step.last)) && ` · “${names.get(String(step.last))}”`}
              </span>
            </button>
            <RedactedBar store={store} by={redactedOf(step, redacted)} />
            {store.past !== undefined && step.first <= store.past && store.past <= step.last && (
              <RedactButton store={store} label="Redact this event" choices={choicesOf(step, events, nameOf)} />
            )}
            {step.first === 1 && step.cells.some((cell) => order.includes(cell)) && store.mayEdit && (
              <UndoImport store={store} step={step} />
            )}
          </li>
        ))}
      </ol>
      {from > 0 && (
        <button className="button" onClick={earlier}>
          Show earlier
        </button>
      )}
    </>
  );
}

function redactedOf({ first, last }: Step, redacted: Map<number, RedactedBy>): RedactedBy | undefined {
  return [...redacted].find(([version]) => first <= version && version <= last)?.[1];
}

/** The events of a step. A redaction has nothing to remove. */
function choicesOf({ first, last }: Step, events: EventMessage[], nameOf: NameOf): Choice[] {
  const own = events.filter(({ version, type }) => first <= version && version <= last && type !== "ContentRedacted");
  return own.map((event) => ({
    target: { event: { version: event.version } },
    words: `Version ${event.version}: ${wordsOf([event], nameOf).join(", ") || event.type}`,
  }));
}

/** Stands for removed content. */
function RedactedBar({ store, by }: { store: NotebookStore; by: RedactedBy | undefined }) {
  const name = useName(store, by?.actor);
  if (!by) return null;
  return (
    <p className="redacted-bar small">
      Redacted by {name === "You" ? "you" : name}: {by.reason}
    </p>
  );
}

interface Filter {
  who: string | undefined;
  kind: Kind | undefined;
}

const keyOf = ({ actor }: Step) => JSON.stringify(actor);

function passes(step: Step, { who, kind }: Filter): boolean {
  return (who === undefined || keyOf(step) === who) && (kind === undefined || step.kinds.has(kind));
}

function Filters({
  store,
  all,
  filter,
  set,
}: {
  store: NotebookStore;
  all: Step[];
  filter: Filter;
  set: (filter: Filter) => void;
}) {
  const people = new Map(all.map((step) => [keyOf(step), step.actor]));
  const kinds = KINDS.filter((kind) => all.some((step) => step.kinds.has(kind)));
  return (
    <div className="row filters">
      <select
        className="select grow"
        aria-label="People"
        value={filter.who ?? ""}
        onChange={({ target }) => set({ ...filter, who: target.value || undefined })}
      >
        <option value="">Everyone</option>
        {[...people].map(([key, actor]) => (
          <Person key={key} store={store} value={key} actor={actor} />
        ))}
      </select>
      <select
        className="select grow"
        aria-label="Kind"
        value={filter.kind ?? ""}
        onChange={({ target }) => set({ ...filter, kind: (target.value || undefined) as Kind | undefined })}
      >
        <option value="">Everything</option>
        {kinds.map((kind) => (
          <option key={kind}>{kind}</option>
        ))}
      </select>
    </div>
  );
}

function Person({ store, value, actor }: { store: NotebookStore; value: string; actor: Actor }) {
  return <option value={value}>{useName(store, actor)}</option>;
}

/** Undoes the import that created the notebook, after a confirmation. Undo elsewhere does not reach it. */
function UndoImport({ store, step }: { store: NotebookStore; step: Step }) {
  const [isAsking, setIsAsking] = useState(false);
  const count = step.cells.filter((cell) => store.document.cells.has(cell)).length;
  const cells = count === 1 ? "1 cell" : `${count} cells`;
  if (!isAsking)
    return (
      <button className="button bare tiny" onClick={() => setIsAsking(true)}>
        Undo import…
      </button>
    );
  const undo = () => {
    setIsAsking(false);
    store.look(undefined);
    void store.send({ Undo: { correlation_id: step.correlation } });
  };
  return (
    <div className="row" role="group" aria-label="Undo import">
      <span className="grow small">Move the {cells} this notebook was made with to the trash?</span>
      <button className="button" onClick={() => setIsAsking(false)}>
        Cancel
      </button>
      <button className="button danger" onClick={undo}>
        Delete {cells}
      </button>
    </div>
  );
}

function useEvents(store: NotebookStore) {
  const [events, setEvents] = useState<EventMessage[]>([]);
  const [from, setFrom] = useState(() => Math.max(0, store.document.version - PAGE));
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
  return { events, from, error, earlier: () => setFrom(Math.max(0, from - PAGE)) };
}
