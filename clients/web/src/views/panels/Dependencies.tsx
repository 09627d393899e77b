// Dependency map in the outline: a row for each cell, an arrow from a definition to the cells that read it.
import { useEffect } from "react";
import type { CellReport } from "../../app/state/graph.ts";
import { type Link, type LinkMap, labelOf, linkMap } from "../../app/cells/links.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { Cells } from "../cell/Graph.tsx";

const ROW = 26;
const LANE = 9;
const TURN = 5;
/** Distance in pixels from the last lane to a cell's dot. */
const NEAR = 13;

const STANDINGS = { fresh: "", stale: "Stale", blocked: "Blocked", cycle: "Circular" } satisfies Record<
  CellReport["standing"],
  string
>;

interface Props {
  store: NotebookStore;
  /** Called after the user has chosen a cell. */
  went: () => void;
}

export function Dependencies({ store, went }: Props) {
  useTopics(store, "graph", "current", "order");
  useEffect(() => {
    return store.graph.watch();
  }, [store]);
  const map = linkMap(store.graph.reports, store.current);
  const here = store.graph.reports.find(({ cell_id }) => cell_id === store.current);
  if (map.rows.length === 0 && !map.isPart) return null;
  return (
    <section className="dependencies" aria-labelledby="dependencies">
      <h3 id="dependencies">Dependencies</h3>
      {map.rows.length > 0 && <MapOf store={store} map={map} went={went} />}
      {map.isPart && (
        <p className="small quiet">
          {map.rows.length === 0
            ? "Select a cell to see its dependencies."
            : "Too many to show: these are the ones near your cell."}
        </p>
      )}
      {here && <Of store={store} report={here} />}
      {map.alone > 0 && (
        <p className="small quiet">
          {map.alone === 1 ? "1 cell has no dependencies." : `${map.alone} cells have no dependencies.`}
        </p>
      )}
    </section>
  );
}

function MapOf({ store, map, went }: Props & { map: LinkMap }) {
  const width = map.lanes * LANE + NEAR + 6;
  const isNear = ({ from, to }: Link) => map.rows[from]?.cell_id === store.current || map.rows[to]?.cell_id === store.current;
  // Links of the current cell are drawn last, above the others.
  const links = [...map.links].sort((a, b) => Number(isNear(a)) - Number(isNear(b)));
  return (
    <div className="map">
      <svg width={width} height={map.rows.length * ROW} aria-hidden>
        {links.map((link) => (
          <path key={`${link.from} ${link.to}`} className={isNear(link) ? "near" : undefined} d={wayOf(link, width - 6)} />
        ))}
        {map.rows.map(({ cell_id, standing }, index) => (
          <circle key={cell_id} className={shownStanding(store, standing)} cx={width - 6} cy={middle(index)} r={3.5} />
        ))}
      </svg>
      <ol>
        {map.rows.map((report) => (
          <Row key={report.cell_id} store={store} report={report} went={went} />
        ))}
      </ol>
    </div>
  );
}

const middle = (row: number) => row * ROW + ROW / 2;

/** SVG path: out to the lane, along it, and back to the reading cell with an arrowhead. */
function wayOf({ from, to, lane }: Link, dot: number): string {
  const x = dot - NEAR - lane * LANE;
  const [start, end] = [middle(from), middle(to)];
  const turn = end > start ? TURN : -TURN;
  const point = `M ${dot - 8.5} ${end - 2.5} L ${dot - 5} ${end} L ${dot - 8.5} ${end + 2.5}`;
  return `M ${dot - 4} ${start} H ${x + TURN} Q ${x} ${start} ${x} ${start + turn} V ${end - turn} Q ${x} ${end} ${x + TURN} ${end} H ${dot - 5} ${point}`;
}

/** Staleness is not shown if the notebook is not reactive. */
function shownStanding(store: NotebookStore, standing: CellReport["standing"]): CellReport["standing"] {
  return store.document.reactivity === "off" ? "fresh" : standing;
}

function Row({ store, report, went }: { store: NotebookStore; report: CellReport; went: () => void }) {
  const { cell_id } = report;
  const number = store.document.order.indexOf(cell_id) + 1;
  const label = labelOf(report, store.document.cells.get(cell_id)?.source ?? "");
  const standing = STANDINGS[shownStanding(store, report.standing)];
  return (
    <li>
      <button
        aria-current={store.current === cell_id ? "location" : undefined}
        title={wordsOf(store, report)}
        onClick={() => {
          store.unfold(cell_id);
          store.select(cell_id);
          went();
        }}
      >
        <span className="quiet">{number}</span>
        <span className="mono label">{label}</span>
        {standing && <span className={`small ${report.standing}`}>{standing}</span>}
      </button>
    </li>
  );
}

function wordsOf(store: NotebookStore, { parents, children }: CellReport): string {
  const cells = (links: { cell_id: string }[] = []) =>
    links.map((link) => store.document.order.indexOf(link.cell_id) + 1).join(", ");
  const reads = parents?.length ? `Uses cell ${cells(parents)}` : "Uses no other cell";
  return children?.length ? `${reads}. Used by cell ${cells(children)}` : `${reads}. Not used by others`;
}

/** Dependencies of the current cell, by name. */
function Of({ store, report }: { store: NotebookStore; report: CellReport }) {
  const groups = [
    ["uses", report.parents ?? []],
    ["is used by", report.children ?? []],
  ] as const;
  const number = store.document.order.indexOf(report.cell_id) + 1;
  if (groups.every(([, links]) => links.length === 0)) return null;
  return (
    <div className="small of" role="status">
      {groups.map(
        ([words, links]) =>
          links.length > 0 && (
            <p key={words}>
              <span className="quiet">
                Cell {number} {words}{" "}
              </span>
              {links.map(({ cell_id, names }, index) => (
                <span key={cell_id}>
                  {index > 0 && ", "}
                  {words === "uses" && <code>{names.join(", ")}</code>}
                  {words === "uses" && <span className="quiet"> from </span>}
                  <Cells store={store} cells={[cell_id]} />
                  {words !== "uses" && <span className="quiet"> (</span>}
                  {words !== "uses" && <code>{names.join(", ")}</code>}
                  {words !== "uses" && <span className="quiet">)</span>}
                </span>
              ))}
            </p>
          ),
      )}
    </div>
  );
}
