// A table of data: sorted by a click on a column's head, filtered, in pages. Loaded at the first one.
import { ChevronLeft, ChevronRight, Copy, WrapText } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { type Arrangement, nameOf, passing, plainArrangement, shownColumns } from "../../outputs/columns.ts";
import { fragmentTable } from "../../outputs/fragment.ts";
import { safeHtml } from "../../outputs/safe.ts";
import { type Field, type Sorting, type Table, csv, filtered, ofResource, sorted, whole } from "../../outputs/table.ts";
import type { NotebookStore } from "../../app/store.ts";
import type { AllRows } from "../../outputs/groups.ts";
import { sizeWords } from "../../app/sizes.ts";
import { usePaper } from "./usePaper.ts";
import { type Asked, Filters, Head, Hiding, Small } from "./Columns.tsx";

const PAGE_SIZES = [10, 25, 50, 100];
/** Of a longer table the foot says how many rows there are. */
const MOST_ON_PAPER = 200;

interface Rest {
  store: NotebookStore;
  allRows: AllRows;
}

interface Props {
  html?: string;
  resource?: unknown;
  text: string;
  /** Of an SQL cell's result: there are more rows. */
  rest?: Rest;
}

/** HTML that holds one plain table becomes a table of ours; any other stays as it is, made harmless. */
export default function DataTable({ html, resource, text, rest }: Props) {
  const first = useMemo(() => (html === undefined ? ofResource(resource) : fragmentTable(html)), [html, resource]);
  const [all, setAll] = useState<{ of: unknown; rows: Field[][] }>();
  const table = useMemo(() => (first && all && all.of === resource ? whole(first, all.rows) : first), [first, all, resource]);
  if (table && rest && table === first) {
    return (
      <Sheet table={table}>
        <More {...rest} count={table.total} take={(rows) => setAll({ of: resource, rows })} />
      </Sheet>
    );
  }
  if (table) return <Sheet table={table} />;
  if (html === undefined) return <pre>{text}</pre>;
  return (
    <div
      className="rendered table"
      tabIndex={0}
      role="region"
      aria-label="Table"
      dangerouslySetInnerHTML={{ __html: safeHtml(html) }}
    />
  );
}

/** Fetches all rows, which take the place of the first. */
function More({ store, allRows: { at }, count, take }: Rest & { count: number | undefined; take: (rows: Field[][]) => void }) {
  const [state, setState] = useState<"idle" | "loading" | { error: string }>("idle");
  const load = async () => {
    setState("loading");
    try {
      const text = "text" in at ? at.text : new TextDecoder().decode(await store.session.rest.blob(store.id, at.sha256));
      const { rowsOf } = await import("../../outputs/arrow.ts");
      take(rowsOf(text));
    } catch (error) {
      setState({ error: (error as Error).message });
    }
  };
  const bytes = "bytes" in at && at.bytes > 100_000 ? ` (${sizeWords(at.bytes)})` : "";
  return (
    <>
      {typeof state === "object" && <span role="alert">Couldn’t load the other rows. {state.error}</span>}
      <button className="button tiny" disabled={state === "loading"} onClick={() => void load()}>
        {state === "loading" ? "Loading…" : `Show all ${(count ?? 0).toLocaleString()} rows${bytes}`}
      </button>
    </>
  );
}

function Sheet({ table, children }: { table: Table; children?: ReactNode }) {
  const [sorting, setSorting] = useState<Sorting>();
  const [wanted, setWanted] = useState("");
  const [arrangement, arrange] = useState(() => plainArrangement(table.columns.length));
  const [asked, ask] = useState<Asked>();
  const [size, setSize] = useState(PAGE_SIZES[0] ?? 10);
  const [at, setAt] = useState(0);
  const { filters, isWrapped } = arrangement;
  const rows = useMemo(
    () => filtered(passing(sorting ? sorted(table, sorting) : table.rows, filters), wanted),
    [table, sorting, wanted, filters],
  );
  const columns = shownColumns(arrangement);
  const page = Math.min(at, Math.max(0, Math.ceil(rows.length / size) - 1));
  const isPaper = usePaper();
  const shown = isPaper ? rows.slice(0, MOST_ON_PAPER) : rows.slice(page * size, (page + 1) * size);
  const sort = (column: number) =>
    setSorting(sorting?.column !== column ? { column, isDown: false } : sorting.isDown ? undefined : { column, isDown: true });
  const named = { ...table, columns: table.columns.map((each, index) => ({ ...each, name: nameOf(table, arrangement, index) })) };
  const copy = (of: number[]) => void navigator.clipboard?.writeText(csv(named, rows, of));
  return (
    <div className={isWrapped ? "sheet wrapped" : "sheet"}>
      <Filters {...{ table, arrangement, arrange, asked, ask }} />
      <div className="scroller" tabIndex={0} role="region" aria-label={`Table, ${rows.length} rows`}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <Head key={column} {...{ table, column, sorting, arrangement, arrange, ask, copy }} sort={() => sort(column)} />
              ))}
            </tr>
          </thead>
          <tbody onClick={markValue}>
            {shown.map((row, index) => (
              <tr key={index}>
                {columns.map((column) => (
                  <Value key={column} field={row[column]} isNumeric={table.columns[column]?.isNumeric ?? false} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {table.notice && <p className="notice small">{table.notice}</p>}
      <Foot {...{ table, arrangement, arrange, wanted, setWanted, found: rows.length, more: children }} copy={() => copy(columns)}>
        {rows.length > (PAGE_SIZES[0] ?? 0) && <Pages {...{ page, size, count: rows.length, setAt, setSize }} />}
      </Foot>
    </div>
  );
}

interface FootProps {
  table: Table;
  arrangement: Arrangement;
  arrange: (arrangement: Arrangement) => void;
  wanted: string;
  setWanted: (wanted: string) => void;
  /** Rows that pass the filters. */
  found: number;
  copy: () => void;
  /** The way to rows that are not here. */
  more: ReactNode;
  children: ReactNode;
}

function Foot({ table, arrangement, arrange, wanted, setWanted, found, copy, more, children }: FootProps) {
  const count = table.columns.filter(({ name }) => name !== "").length;
  return (
    <div className="foot small quiet">
      <span>
        {wanted || arrangement.filters.length > 0
          ? `${found.toLocaleString()} of ${table.rows.length.toLocaleString()} rows`
          : `${table.rows.length.toLocaleString()} ${table.rows.length === 1 ? "row" : "rows"}`}
        {` × ${count} ${count === 1 ? "column" : "columns"}`}
        {table.caption && ` · ${table.caption.replace(", ", " · ")}`}
      </span>
      {more}
      {table.total !== undefined && more === undefined && (
        <span className="tag" title={`The data has ${table.total.toLocaleString()} rows; only these are in the output`}>
          Preview of {table.total.toLocaleString()}
        </span>
      )}
      <span className="grow" />
      {table.rows.length > 5 && (
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
      </span>
    </div>
  );
}

/** A click marks the whole value, so that the usual key copies it. */
function markValue({ target }: { target: EventTarget }): void {
  const value = (target as HTMLElement).closest("td, th");
  if (value && getSelection()?.isCollapsed !== false) getSelection()?.selectAllChildren(value);
}

function Value({ field, isNumeric }: { field: Field | undefined; isNumeric: boolean }) {
  const Tag = field?.isHeader ? "th" : "td";
  const props = { className: isNumeric ? "number" : "", ...(field?.isHeader && { scope: "row" }) };
  if (field?.html !== undefined) return <Tag {...props} dangerouslySetInnerHTML={{ __html: field.html }} />;
  return <Tag {...props}>{field?.isNull ? <span className="quiet">NULL</span> : field?.text}</Tag>;
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
