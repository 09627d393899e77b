// What a reactive notebook says of a cell: whether it is up to date, why not, and because of which other cell.
import type { NotebookStore } from "../app/store.ts";
import { useTopics } from "../app/topics.ts";
import type { Reactivity } from "../protocol/messages.ts";

/** Nothing where all is well, or the notebook is not reactive. The caller renders when the cell changes. */
export function Standing({ store, id }: { store: NotebookStore; id: string }) {
  const report = store.graph.of(id);
  if (!report) return null;
  const run = store.document.latestExecution(id);
  const isOpen = run !== undefined && ["queued", "assigned", "running"].includes(run.status);
  const missing = report.missing ?? [];
  const lines = [
    // What has not run yet says so by its empty gutter, what is blocked beside its run.
    report.standing !== "fresh" && report.standing !== "blocked" && run && !isOpen && (
      <Why
        key="why"
        store={store}
        why={report.why ?? ""}
        cell={report.because_of ?? undefined}
        isCycle={report.standing === "cycle"}
      />
    ),
    report.standing === "cycle" && !run && <Why key="cycle" store={store} why={report.why ?? ""} cell={undefined} isCycle />,
    report.outdated && <span key="outdated">It does not parse: what it reads and defines is that of its earlier text</span>,
    missing.length > 0 && <span key="missing">No cell defines {missing.join(", ")}</span>,
    ...store.graph.clashesOf(id).map(([name, cells]) => (
      <span key={`clash ${name}`}>
        <code>{name}</code> is defined in <Cells store={store} cells={cells} /> too
      </span>
    )),
  ].filter(Boolean);
  if (lines.length === 0) return null;
  return (
    <p className="state small quiet standing" aria-label="Dependencies">
      {lines}
    </p>
  );
}

function Why({ store, why, cell, isCycle }: { store: NotebookStore; why: string; cell: string | undefined; isCycle: boolean }) {
  const words = cell === undefined ? [why] : why.split(`cell ${cell}`);
  const sentence = cell === undefined ? numbered(store, why) : undefined;
  return (
    <span className={isCycle ? "bad" : "stale"}>
      {isCycle ? "Does not run: " : "Not up to date: "}
      {sentence ?? (
        <>
          {words[0]}
          <Cells store={store} cells={[cell ?? ""]} />
          {words[1]}
        </>
      )}
    </span>
  );
}

/** Ids are for programs: people count cells. */
function numbered(store: NotebookStore, sentence: string): string {
  return sentence.replace(/[A-Za-z0-9_-]{4,64}/g, (word) => {
    const place = store.document.order.indexOf(word);
    return place < 0 ? word : `cell ${place + 1}`;
  });
}

function Cells({ store, cells }: { store: NotebookStore; cells: string[] }) {
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
  ["off", "That cell", "A run is one cell’s."],
  ["lazy", "And before it what it reads", "Cells from which it reads run first where they are not up to date."],
  ["eager", "And behind it what reads from it", "The cells that read from it run as well."],
];

/** In the kernel's menu. */
export function ReactivityChoice({ store }: { store: NotebookStore }) {
  useTopics(store, "notebook", "access");
  return (
    <fieldset className="stack tight" disabled={!store.mayOrganise}>
      <legend className="small quiet">Running a cell runs</legend>
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
