// State of a cell in a reactive notebook: stale, blocked or circular, the reason, and the cells involved.
import { isFinished } from "../../protocol/apply/executions.ts";
import { staleParts } from "../../app/words/sentences.ts";
import type { CellReport } from "../../app/state/graph.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { wordOf } from "../../app/words/words.ts";
import type { Reactivity } from "../../protocol/messages.ts";

/** Renders nothing for a fresh cell or a notebook that is not reactive. The caller renders when the cell changes. */
export function Standing({ store, id }: { store: NotebookStore; id: string }) {
  const report = store.graph.of(id);
  if (!report) return null;
  const run = store.document.latestExecution(id);
  const isOpen = run !== undefined && !isFinished(run.status);
  const isCycle = report.standing === "cycle";
  // Staleness is visible elsewhere: an empty gutter if never run, an error, or the words beside a blocked or cancelled run.
  const saysItself = run === undefined || (run.status !== "ok" && !report.because_of && !store.document.isStale(id));
  const isTold = isCycle || (report.standing === "stale" && !isOpen && !saysItself);
  const lines = [
    isTold && (
      <span key="why" className={isCycle ? "bad" : "stale"}>
        {isCycle ? "Can’t run: " : "Stale: "}
        <Reason store={store} report={report} />
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

/** The reason in words, with cells as links. */
function Reason({ store, report }: { store: NotebookStore; report: CellReport }) {
  return (report.reason ? staleParts(report.reason) : []).map((part, index) =>
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
          {store.document.order.includes(cell) ? (
            <button className="link" onClick={() => store.select(cell)}>
              cell {store.document.order.indexOf(cell) + 1}
            </button>
          ) : (
            "a deleted cell"
          )}
        </span>
      ))}
    </>
  );
}

const MODES: { readonly [mode in Reactivity]: [name: string, words: string] } = {
  off: ["Off", "Run only the cell you run"],
  lazy: ["Lazy", "Run stale inputs first, mark dependents stale"],
  eager: ["Eager", "Also run dependents"],
};

export const modeName = (mode: Reactivity): string => wordOf(MODES, mode)?.[0] ?? mode;

/** Reactive execution mode, in the kernel's menu. */
export function ReactivityChoice({ store }: { store: NotebookStore }) {
  useTopics(store, "notebook", "access");
  return (
    <fieldset className="reactivity" disabled={!store.mayOrganise}>
      <legend className="small quiet">Reactive execution</legend>
      {(Object.keys(MODES) as Reactivity[]).map((value) => (
        <label key={value} className="choice">
          <input
            type="radio"
            name="reactivity"
            checked={store.document.reactivity === value}
            onChange={() => void store.send({ SetReactivity: { reactivity: value } })}
          />
          <span>
            {MODES[value][0]}
            <span className="small quiet">{MODES[value][1]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
