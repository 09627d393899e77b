// State of a cell in a reactive notebook: stale, blocked or circular, the reason, and the cells involved.
import { partsOf, whyWords } from "../../app/words/sentences.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import type { Reactivity } from "../../protocol/messages.ts";

/** Renders nothing for a fresh cell or a notebook that is not reactive. The caller renders when the cell changes. */
export function Standing({ store, id }: { store: NotebookStore; id: string }) {
  const report = store.graph.of(id);
  if (!report) return null;
  const run = store.document.latestExecution(id);
  const isOpen = run !== undefined && ["queued", "assigned", "running"].includes(run.status);
  const isCycle = report.standing === "cycle";
  // Staleness is visible elsewhere: an empty gutter if never run, an error, or the words beside a blocked or cancelled run.
  const saysItself = run === undefined || (run.status !== "ok" && !report.because_of && !store.document.isStale(id));
  const isTold = isCycle || (report.standing === "stale" && !isOpen && !saysItself);
  const lines = [
    isTold && (
      <span key="why" className={isCycle ? "bad" : "stale"}>
        {isCycle ? "Can’t run: " : "Stale: "}
        <Sentence store={store} text={whyWords(report.why ?? "")} />
      </span>
    ),
    report.outdated && <span key="outdated">Syntax error: dependencies are those of its earlier text</span>,
    (report.missing ?? []).length > 0 && (
      <span key="missing">
        No cell defines <code>{report.missing?.join(", ")}</code>
      </span>
    ),
    ...store.graph.clashesOf(id).map(([name, cells]) => (
      <span key={`clash ${name}`}>
        <code>{name}</code> is also defined in <Cells store={store} cells={cells} />
      </span>
    )),
  ].filter(Boolean);
  if (lines.length === 0) return null;
  return (
    <p className={`state small quiet standing${lines.length === 1 ? " chip" : ""}`} aria-label="Dependencies">
      {lines}
    </p>
  );
}

/** The server's sentence, with cell references as links. */
function Sentence({ store, text }: { store: NotebookStore; text: string }) {
  return partsOf(text, store.document.order).map((part, index) =>
    "cell" in part ? (
      <Cells key={index} store={store} cells={[part.cell]} />
    ) : "code" in part ? (
      <code key={index}>{part.code}</code>
    ) : (
      part.text
    ),
  );
}

export function Cells({ store, cells }: { store: NotebookStore; cells: string[] }) {
  return (
    <>
      {cells.map((cell, index) => (
        <span key={cell}>
          {index > 0 && ", "}
          <button className="link" onClick={() => store.select(cell)}>
            cell {store.document.order.indexOf(cell) + 1}
          </button>
        </span>
      ))}
    </>
  );
}

const MODES: [Reactivity, string, string][] = [
  ["off", "Off", "Run only the cell you run"],
  ["lazy", "Lazy", "Run stale inputs first, mark dependents stale"],
  ["eager", "Eager", "Also run dependents"],
];

export const modeName = (mode: Reactivity): string => MODES.find(([value]) => value === mode)?.[1] ?? mode;

/** Reactive execution mode, in the kernel's menu. */
export function ReactivityChoice({ store }: { store: NotebookStore }) {
  useTopics(store, "notebook", "access");
  return (
    <fieldset className="reactivity" disabled={!store.mayOrganise}>
      <legend className="small quiet">Reactive execution</legend>
      {MODES.map(([value, name, words]) => (
        <label key={value} className="choice">
          <input
            type="radio"
            name="reactivity"
            checked={store.document.reactivity === value}
            onChange={() => void store.send({ SetReactivity: { reactivity: value } })}
          />
          <span>
            {name}
            <span className="small quiet">{words}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
