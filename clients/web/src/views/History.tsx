// What happened: the timeline with any version to look at, what was deleted, who ran what, who wrote which line.
import { Pause, Play, X } from "lucide-react";
import { useEffect, useState } from "react";
import { steps } from "../app/steps.ts";
import type { NotebookStore } from "../app/store.ts";
import { useTopics } from "../app/topics.ts";
import { ago, date } from "../app/words.ts";
import type { EventMessage } from "../protocol/messages.ts";
import { Author } from "./Author.tsx";
import { Lines, Runs, Trash } from "./Records.tsx";

const PAGE = 200;
const PLAY_MS = 700;
const TABS = ["Timeline", "Runs", "Lines", "Trash"] as const;
type Tab = (typeof TABS)[number];

export function History({ store }: { store: NotebookStore }) {
  useTopics(store, "notebook", "past", "panel");
  const [tab, setTab] = useState<Tab>(store.historyTab ?? "Timeline");
  useEffect(() => () => store.look(undefined), [store]);
  return (
    <aside className="panel history" aria-label="History">
      <header className="row">
        <h2 className="grow">History</h2>
        <button className="button bare icon" aria-label="Close" title="Close" onClick={() => store.show("history")}>
          <X size={16} />
        </button>
      </header>
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
    </aside>
  );
}

function Timeline({ store }: { store: NotebookStore }) {
  useTopics(store, "notebook", "past", "order");
  const { events, from, earlier, error } = useEvents(store);
  const [isPlaying, setIsPlaying] = useState(false);
  const { version } = store.document;
  const at = store.past ?? version;
  const all = steps(events);
  const names = store.document.named_versions;

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
      {events.length === 0 && !error && <div className="shape" aria-busy="true" />}
      <ol className="steps">
        {all.map((step) => (
          <li key={step.first} aria-current={store.past !== undefined && step.first <= store.past && store.past <= step.last}>
            <button className="step" onClick={() => store.look(step.last)}>
              <span>
                <Author store={store} actor={step.actor} /> {step.words.join(", ")}
              </span>
              <span className="quiet small">
                <time title={date(step.at)}>{ago(step.at)}</time> · version {step.last}
                {names.has(String(step.last)) && ` · “${names.get(String(step.last))}”`}
              </span>
            </button>
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
