// A data table: sortable by column header, filterable, paginated. Lazy: loads with the first one.
import { ChevronLeft, ChevronRight, Copy, WrapText } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { type Arrangement, nameOf, plainArrangement, shownColumns } from "../../outputs/columns.ts";
import { readHead, shortened, tableOf, type Value as Held } from "../../outputs/kernelTable.ts";
import { safeHtml } from "../../outputs/safe.ts";
import { type Column, type Field, type Sorting, type Table, ofResource, whole } from "../../outputs/table.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import type { AllRows } from "../../outputs/groups.ts";
import { sizeWords } from "../../app/words/sizes.ts";
import { usePaper } from "./usePaper.ts";
import { type Asked, Filters, Head, Hiding, Small } from "./Columns.tsx";
import { StatisticsView } from "./StatisticsView.tsx";
import { useCopy } from "./useCopy.ts";
import { type FrameInKernel, type Rows, useRows } from "./useRows.ts";

const PAGE_SIZES = [10, 25, 50, 100];
/** Maximum rows in print; the foot has the total. */
const MOST_ON_PAPER = 200;

export interface Rest {
  store: NotebookStore;
  allRows: AllRows;
}

interface Props {
  store: NotebookStore;
  /** Kernel session of the run. */
  kernelSession: string | undefined;
  resource?: unknown;
  /** Data frame as JSON. */
  json?: unknown;
  text: string;
  /** Source of the remaining rows of an SQL result. */
  rest?: Rest;
}

/** A table from SQL rows, or from a data frame without Arrow data. */
export default function DataTable({ store, kernelSession, resource, json, text, rest }: Props) {
  const first = useMemo(() => {
    const head = readHead(json);
    return head ? tableOf(head, (json as { data?: Held[][] }).data ?? []) : ofResource(resource);
  }, [json, resource]);
  const all = useAllRows(rest, resource);
  const table = useMemo(() => (first && all.rows ? whole(first, all.rows) : first), [first, all.rows]);
  if (table && rest && table === first) {
    return (
      <Sheet table={table} needAll={all.load}>
        <More allRows={rest.allRows} count={table.total} {...all} />
      </Sheet>
    );
  }
  return table ? <FrameSheet {...{ store, kernelSession, table }} /> : <pre>{text}</pre>;
}

/** A table that can load more rows from the kernel by its name. */
export function FrameSheet({
  store,
  kernelSession,
  table,
}: {
  store: NotebookStore;
  kernelSession: string | undefined;
  table: Table;
}) {
  const { name } = table;
  const frame = useMemo(
    () => (name !== undefined && store.mayRun ? { store, of: { table: name }, kernelSession } : undefined),
    [store, name, kernelSession],
  );
  return <Sheet table={table} {...(frame && { frame })} />;
}

/** Sanitised HTML table of unknown structure: no sorting or filtering. */
export function Printed({ html }: { html: string }) {
  const hasTable = /<table\b/i.test(html);
  return (
    <>
      <div
        className="rendered table"
        tabIndex={0}
        role="region"
        aria-label={hasTable ? "Table" : "Output"}
        // Empty header cells become data cells, because screen readers announce headers.
        dangerouslySetInnerHTML={{ __html: safeHtml(html).replace(/<th\b[^>]*>\s*<\/th>/g, "<td></td>") }}
      />
      {hasTable && (
        <p className="printed small quiet" title="Run the cell again to sort, filter and page through a data frame.">
          Printed table: can’t be sorted or filtered.
        </p>
      )}
    </>
  );
}

interface AllLoaded {
  rows: Field[][] | undefined;
  state: "idle" | "loading" | { error: string };
  load: () => void;
}

/** Loads all rows of a query, once the user sorts, filters or pages beyond the first rows. */
function useAllRows(rest: Rest | undefined, resource: unknown): AllLoaded {
  const [loaded, setLoaded] = useState<{ of: unknown; rows: Field[][] }>();
  const [state, setState] = useState<AllLoaded["state"]>("idle");
  const load = useCallback(() => {
    if (!rest) return;
    const { store, allRows } = rest;
    const fetched = async () => {
      const { at } = allRows;
      const text = "text" in at ? at.text : new TextDecoder().decode(await store.session.rest.blob(store.id, at.sha256));
      const { rowsOf } = await import("../../outputs/arrow.ts");
      setLoaded({ of: resource, rows: rowsOf(text) });
    };
    setState("loading");
    void fetched().then(
      () => setState("idle"),
      (error: Error) => setState({ error: error.message }),
    );
  }, [rest, resource]);
  return { rows: loaded?.of === resource ? loaded?.rows : undefined, state, load };
}

interface MoreProps extends AllLoaded {
  allRows: AllRows;
  count: number | undefined;
}

function More({ allRows: { at }, count, state, load }: MoreProps) {
  const bytes = "bytes" in at && at.bytes > 100_000 ? ` (${sizeWords(at.bytes)})` : "";
  return (
    <>
      {typeof state === "object" && <span role="alert">Couldn’t load the other rows. {state.error}</span>}
      <button className="button tiny" disabled={state === "loading"} onClick={load}>
        {state === "loading" ? "Loading…" : `Show all ${(count ?? 0).toLocaleString()} rows${bytes}`}
      </button>
    </>
  );
}

interface SheetProps {
  table: Table;
  frame?: FrameInKernel;
  /** Loads the remaining rows, so that sorting and filtering cover the whole table. */
  needAll?: () => void;
  children?: ReactNode;
}

export function Sheet({ table, frame, needAll, children }: SheetProps) {
  const [sorting, setSorting] = useState<Sorting>();
  const [wanted, setWanted] = useState("");
  const [arrangement, arrange] = useState(() => plainArrangement(table.columns.length));
  const [asked, ask] = useState<Asked>();
  const [size, setSize] = useState(PAGE_SIZES[0] ?? 10);
  const [at, setAt] = useState(0);
  const { filters, isWrapped } = arrangement;
  const isPaper = usePaper();
  const look = useMemo(() => ({ sorting, filters, search: wanted }), [sorting, filters, wanted]);
  const [first, count] = isPaper ? [0, MOST_ON_PAPER] : [at * size, size];
  const rows = useRows(table, frame, { ...look, first, count, isComing: needAll !== undefined });
  const isBeyond = sorting !== undefined || filters.length > 0 || wanted.trim() !== "" || first + count > table.rows.length;
  useEffect(() => {
    if (isBeyond) needAll?.();
  }, [isBeyond, needAll]);
  const columns = shownColumns(arrangement);
  const named = { ...table, columns: table.columns.map((each, index) => ({ ...each, name: nameOf(table, arrangement, index) })) };
  const { copy, copied } = useCopy(named, frame, look, rows);
  const sort = (column: number) => {
    setAt(0);
    setSorting(sorting?.column !== column ? { column, isDown: false } : sorting.isDown ? undefined : { column, isDown: true });
  };
  const arrangeFromFirst = (next: Arrangement) => {
    if (next.filters !== filters) setAt(0);
    arrange(next);
  };
  const isFiltered = wanted.trim() !== "" || filters.length > 0;
  const isEmpty = rows.shown.length === 0 && !rows.isAsking;
  return (
    <div className={isWrapped ? "sheet wrapped" : "sheet"} aria-busy={rows.isAsking}>
      <Filters {...{ table, arrangement, asked, ask }} arrange={arrangeFromFirst} />
      {asked?.what === "statistics" && (
        <StatisticsView {...{ table, frame, rows, isFiltered }} column={asked.column} close={() => ask(undefined)} />
      )}
      <div className="scroller" tabIndex={0} role="region" aria-label={`Table, ${rows.found} rows`}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <Head key={column} {...{ table, column, sorting, arrangement, arrange, ask, copy }} sort={() => sort(column)} />
              ))}
            </tr>
          </thead>
          <tbody onClick={markValue}>
            {rows.shown.map((row, index) => (
              <tr key={index}>
                {columns.map((column) => (
                  <Value key={column} field={row[column]} column={table.columns[column]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {isEmpty && <p className="small quiet none">No rows.</p>}
      </div>
      {table.notice && <p className="notice small">{table.notice}</p>}
      <Word {...{ table, rows, look, hasFrame: frame !== undefined || children !== undefined }} />
      <Foot
        {...{ table, arrangement, arrange, wanted, rows, copied, more: children }}
        setWanted={(text) => (setAt(0), setWanted(text))}
        copy={() => copy(columns)}
      >
        {rows.found > (PAGE_SIZES[0] ?? 0) && <Pages {...{ page: at, size, count: rows.found, setAt, setSize }} />}
      </Foot>
    </div>
  );
}

interface WordProps {
  table: Table;
  rows: Rows;
  look: { sorting: Sorting | undefined; filters: readonly unknown[]; search: string };
  /** True if more rows can be loaded. */
  hasFrame: boolean;
}

/** Notice that the rows are partial, changed or unavailable. */
function Word({ table, rows: { problem, isChanged, total }, look, hasFrame }: WordProps) {
  const here = `${table.rows.length.toLocaleString()} of ${total.toLocaleString()} rows`;
  const isPartial = table.total !== undefined;
  if (problem && !problem.isGone) {
    return (
      <p className="notice small" role="status">
        {problem.text}{" "}
        {problem.again && (
          <button className="button tiny" onClick={problem.again}>
            Try again
          </button>
        )}
      </p>
    );
  }
  if (isPartial && (problem || !hasFrame)) {
    const isSorted = look.sorting !== undefined || look.filters.length > 0 || look.search.trim() !== "";
    return (
      <p className="notice small" role="status">
        {problem ? `${problem.text}: ${here}.` : `Only the first rows were recorded: ${here}.`}
        {isSorted && " Sorting and filtering use only these."}
      </p>
    );
  }
  if (isChanged)
    return (
      <p className="notice small" role="status">
        Changed since it was shown. These are its rows now.
      </p>
    );
  return null;
}

interface FootProps {
  table: Table;
  arrangement: Arrangement;
  arrange: (arrangement: Arrangement) => void;
  wanted: string;
  setWanted: (wanted: string) => void;
  rows: Rows;
  copy: () => void;
  /** Result of the copy, in words. */
  copied: string;
  /** Button that loads the remaining rows. */
  more: ReactNode;
  children: ReactNode;
}

function Foot({ table, arrangement, arrange, wanted, setWanted, rows, copy, copied, more, children }: FootProps) {
  const isFiltered = wanted.trim() !== "" || arrangement.filters.length > 0;
  return (
    <div className="foot small quiet">
      <span>
        {isFiltered && `${rows.found.toLocaleString()} of `}
        {shapeWords(table, rows.total)}
        {table.caption && ` · ${table.caption.replace(", ", " · ")}`}
      </span>
      {rows.isLive && !rows.isChanged && (
        <span className="tag" title="Read from the kernel, as the table is there now">
          Live
        </span>
      )}
      {rows.isAsking && <span className="quiet">Loading…</span>}
      {more}
      <span className="grow" />
      {(table.rows.length > 5 || rows.total > 5) && (
        <input
          className="filter"
          type="search"
          aria-label="Filter rows"
          placeholder="Filter"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
      )}
      <span className="ways">
        <Hiding {...{ table, arrangement, arrange }} />
        <Small
          label="Wrap long values"
          isPressed={arrangement.isWrapped}
          onClick={() => arrange({ ...arrangement, isWrapped: !arrangement.isWrapped })}
        >
          <WrapText size={14} aria-hidden />
        </Small>
        <Small label="Copy as CSV" onClick={copy}>
          <Copy size={14} aria-hidden />
        </Small>
        {children}
        <span className="copied" role="status">
          {copied}
        </span>
      </span>
    </div>
  );
}

function shapeWords({ columns, columnsLeftOut = 0 }: Table, rows: number): string {
  const shown = columns.filter(({ name, kind, isIndex }) => (kind === undefined ? name !== "" : !isIndex)).length;
  const all = shown + columnsLeftOut;
  const words = `${rows.toLocaleString()} ${rows === 1 ? "row" : "rows"} × ${all.toLocaleString()} ${all === 1 ? "column" : "columns"}`;
  return columnsLeftOut > 0 ? `${words}, ${shown.toLocaleString()} shown` : words;
}

/** A click selects the whole value, so that it can be copied. */
function markValue({ target }: { target: EventTarget }): void {
  const value = (target as HTMLElement).closest("td, th");
  if (value && getSelection()?.isCollapsed !== false) getSelection()?.selectAllChildren(value);
}

function Value({ field, column }: { field: Field | undefined; column: Column | undefined }) {
  const Tag = field?.isHeader ? "th" : "td";
  const text = field?.text ?? "";
  const shown = column?.kind === "number" ? shortened(text) : text;
  const props = {
    className: column?.isNumeric ? "number" : "",
    ...(field?.isHeader && { scope: "row" }),
    ...(shown !== text && { title: text }),
  };
  return <Tag {...props}>{field?.isNull ? <span className="quiet">{field.word ?? "NULL"}</span> : shown}</Tag>;
}

interface PagesProps {
  page: number;
  size: number;
  count: number;
  setAt: (page: number) => void;
  setSize: (size: number) => void;
}

function Pages({ page, size, count, setAt, setSize }: PagesProps) {
  const last = Math.max(0, Math.ceil(count / size) - 1);
  return (
    <span className="pages">
      <select aria-label="Rows per page" value={size} onChange={(event) => setSize(Number(event.target.value))}>
        {PAGE_SIZES.map((each) => (
          <option key={each} value={each}>
            {each} rows
          </option>
        ))}
      </select>
      <Small label="Previous page" disabled={page === 0} onClick={() => setAt(page - 1)}>
        <ChevronLeft size={15} aria-hidden />
      </Small>
      <span role="status">
        {page + 1} of {last + 1}
      </span>
      <Small label="Next page" disabled={page === last} onClick={() => setAt(page + 1)}>
        <ChevronRight size={15} aria-hidden />
      </Small>
    </span>
  );
}
