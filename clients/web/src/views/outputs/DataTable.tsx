// A table of data: sorted by a click on a column's head, filtered, in pages. Loaded at the first one.
import { ArrowDown, ArrowUp, ChevronLeft, ChevronRight, Columns3, Copy } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { fragmentTable } from "../../outputs/fragment.ts";
import { safeHtml } from "../../outputs/safe.ts";
import { type Field, type Sorting, type Table, csv, filtered, ofResource, sorted } from "../../outputs/table.ts";

const PAGE_SIZES = [10, 25, 50, 100];

/** HTML that holds one plain table becomes a table of ours; any other stays as it is, made harmless. */
export default function DataTable({ html, resource, text }: { html?: string; resource?: unknown; text: string }) {
  const table = useMemo(() => (html === undefined ? ofResource(resource) : fragmentTable(html)), [html, resource]);
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

function Sheet({ table }: { table: Table }) {
  const [sorting, setSorting] = useState<Sorting>();
  const [wanted, setWanted] = useState("");
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [size, setSize] = useState(PAGE_SIZES[0] ?? 10);
  const [at, setAt] = useState(0);
  const rows = useMemo(() => filtered(sorting ? sorted(table, sorting) : table.rows, wanted), [table, sorting, wanted]);
  const columns = table.columns.map((_, index) => index).filter((index) => !hidden.has(index));
  const page = Math.min(at, Math.max(0, Math.ceil(rows.length / size) - 1));
  const shown = rows.slice(page * size, (page + 1) * size);
  const sort = (column: number) =>
    setSorting(sorting?.column !== column ? { column, isDown: false } : sorting.isDown ? undefined : { column, isDown: true });
  return (
    <div className="sheet">
      <div className="scroller" tabIndex={0} role="region" aria-label={`Table, ${rows.length} rows`}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <Head key={column} table={table} column={column} sorting={sorting} sort={() => sort(column)} />
              ))}
            </tr>
          </thead>
          <tbody>
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
      <div className="foot small quiet">
        <span>
          {wanted ? `${rows.length.toLocaleString()} found` : `${table.rows.length.toLocaleString()} rows`}
          {` × ${table.columns.filter(({ name }) => name !== "").length} columns`}
        </span>
        {table.total !== undefined && (
          <span className="tag" title={`The data has ${table.total.toLocaleString()} rows; the output holds these alone`}>
            Preview of {table.total.toLocaleString()}
          </span>
        )}
        <span className="grow" />
        {table.rows.length > 5 && (
          <input
            className="filter"
            type="search"
            aria-label="Filter the rows"
            placeholder="Filter"
            value={wanted}
            onChange={(event) => setWanted(event.target.value)}
          />
        )}
        <Hiding table={table} hidden={hidden} setHidden={setHidden} />
        <Small label="Copy as CSV" onClick={() => void navigator.clipboard?.writeText(csv(table, rows, columns))}>
          <Copy size={14} aria-hidden />
        </Small>
        {rows.length > (PAGE_SIZES[0] ?? 0) && <Pages {...{ page, size, count: rows.length, setAt, setSize }} />}
      </div>
    </div>
  );
}

interface HeadProps {
  table: Table;
  column: number;
  sorting: Sorting | undefined;
  sort: () => void;
}

function Head({ table, column, sorting, sort }: HeadProps) {
  const { name, note, isNumeric } = table.columns[column] ?? { name: "", isNumeric: false };
  const isSorted = sorting?.column === column;
  const Arrow = sorting?.isDown ? ArrowDown : ArrowUp;
  return (
    <th
      scope="col"
      className={isNumeric ? "number" : ""}
      aria-sort={!isSorted ? "none" : sorting.isDown ? "descending" : "ascending"}
    >
      <button onClick={sort} title="Sort" aria-label={name === "" ? "Sort by the index" : undefined}>
        {name}
        {note && <span className="quiet"> {note}</span>}
        {isSorted && <Arrow size={12} aria-hidden />}
      </button>
    </th>
  );
}

function Value({ field, isNumeric }: { field: Field | undefined; isNumeric: boolean }) {
  const Tag = field?.isHeader ? "th" : "td";
  const props = { className: isNumeric ? "number" : "", ...(field?.isHeader && { scope: "row" }) };
  if (field?.html !== undefined) return <Tag {...props} dangerouslySetInnerHTML={{ __html: field.html }} />;
  return <Tag {...props}>{field?.text}</Tag>;
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
      <select aria-label="Rows of a page" value={size} onChange={(event) => setSize(Number(event.target.value))}>
        {PAGE_SIZES.map((each) => (
          <option key={each} value={each}>
            {each} rows
          </option>
        ))}
      </select>
      <Small label="Page before" disabled={page === 0} onClick={() => setAt(page - 1)}>
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

interface HidingProps {
  table: Table;
  hidden: ReadonlySet<number>;
  setHidden: (hidden: ReadonlySet<number>) => void;
}

function Hiding({ table, hidden, setHidden }: HidingProps) {
  if (table.columns.length < 3) return null;
  return (
    <details className="columns">
      <summary aria-label="Columns" title="Columns">
        <Columns3 size={14} aria-hidden />
        {hidden.size > 0 && ` ${hidden.size} hidden`}
      </summary>
      <ul>
        {table.columns.map(({ name }, index) => (
          <li key={index}>
            <label>
              <input
                type="checkbox"
                checked={!hidden.has(index)}
                onChange={({ target }) =>
                  setHidden(new Set([...hidden].filter((each) => each !== index).concat(target.checked ? [] : [index])))
                }
              />{" "}
              {name || "(index)"}
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Small({ label, children, ...rest }: { label: string; children: ReactNode; disabled?: boolean; onClick: () => void }) {
  return (
    <button className="button bare tiny" aria-label={label} title={label} {...rest}>
      {children}
    </button>
  );
}
