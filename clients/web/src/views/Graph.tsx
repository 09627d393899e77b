// What a reactive notebook says of a cell: whether it is up to date, why not, and because of which other cell.
import { partsOf, whyWords } from "../app/graph.ts";
import type { NotebookStore } from "../app/store.ts";
import { useTopics } from "../app/topics.ts";
import type { Reactivity } from "../protocol/messages.ts";

/** Nothing where all is well, or the notebook is not reactive. The caller renders when the cell changes. */
export function Standing({ store, id }: { store: NotebookStore; id: string }) {
  const report = store.graph.of(id);
  if (!report) return null;
  const run = store.document.latestExecution(id);
  const isOpen = run !== undefined && ["queued", "assigned", "running"].includes(run.status);
  const isCycle = report.standing === "cycle";
  // What has not run says so by its empty gutter, what failed by its error, what is blocked or was cancelled beside its run.
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

/** A sentence of the server, with ways to the cells that it names. */
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

/** In the kernel's menu. */
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
            onChange={() => void store.do({ SetReactivity: { reactivity: value } })}
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
