// Tables and columns of a query's database, searchable by name. Lazy: loads when it opens.
import { Popover } from "@base-ui/react/popover";
import { ChevronRight, RefreshCw, X } from "lucide-react";
import { type ReactNode, type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { type Table, type SchemaAnswer, found, shortName } from "../../app/state/schemas.ts";
import { Boundary } from "../../ui/Broken.tsx";
import type { NotebookStore } from "../../app/state/store.ts";

/** Debounce of the search by name, for a database with more tables than one answer holds. */
const PAUSE_MS = 300;
/** Maximum rows rendered; a more specific search shows the rest. */
const MOST_ROWS = 200;

interface Props {
  store: NotebookStore;
  connection: string;
  /** Display name of the connection. */
  name: string;
  trigger: { className: string; title: string; children: ReactNode };
  isOpen: boolean;
  opened: (isOpen: boolean) => void;
}

export default function Schema({ store, connection, name, trigger, isOpen, opened }: Props) {
  const search = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <Popover.Root open={isOpen} onOpenChange={opened}>
      <Popover.Trigger ref={button} {...trigger} />
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} align="start" className="above">
          {/* Touch: focusing the search would open the on-screen keyboard over the popup. */}
          <Popover.Popup
            className="menu schema"
            initialFocus={(how) => (how === "touch" ? true : search.current)}
            // This component replaced the original button when it loaded, so the default would focus the cell instead.
            finalFocus={button}
          >
            <Boundary what="The list of tables">
              <div className="row">
                <Popover.Title className="grow">Tables in {name}</Popover.Title>
                <Popover.Close className="button bare icon" aria-label="Close" title="Close">
                  <X size={15} />
                </Popover.Close>
              </div>
              <Tables store={store} connection={connection} search={search} />
            </Boundary>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

type Inside = Pick<Props, "store" | "connection"> & { search: RefObject<HTMLInputElement | null> };

function Tables({ store, connection, search }: Inside) {
  const [text, setText] = useState("");
  const { told, look } = useTables(store, connection, text);
  return (
    <>
      <div className="row">
        <input
          ref={search}
          className="field grow"
          type="search"
          aria-label="Find a table or column"
          placeholder="Find a table or column"
          value={text}
          spellCheck={false}
          autoComplete="off"
          readOnly={told && "problem" in told}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => event.key !== "Escape" && event.stopPropagation()}
        />
        <button className="button bare icon" aria-label="Refresh" title="Refresh" onClick={look}>
          <RefreshCw size={15} />
        </button>
      </div>
      {!told ? (
        <p className="quiet empty" role="status">
          Loading tables…
        </p>
      ) : "problem" in told ? (
        <div className="stack tight empty">
          <p role="alert">{told.problem}</p>
          <button className="button" onClick={look}>
            Try again
          </button>
        </div>
      ) : (
        <Listing schema={told.schema} text={text} />
      )}
    </>
  );
}

/** The database's tables. If the full answer is truncated, a search asks the database by name. Outdated answers are dropped. */
function useTables(store: NotebookStore, connection: string, text: string): { told: SchemaAnswer | undefined; look: () => void } {
  const [whole, setWhole] = useState<SchemaAnswer>();
  const [named, setNamed] = useState<{ text: string; told: SchemaAnswer }>();
  const asked = useRef(0);
  const look = useCallback(() => {
    const number = ++asked.current;
    setWhole(undefined);
    setNamed(undefined);
    void store.schemas.ask(connection).then((told) => number === asked.current && setWhole(told));
  }, [store, connection]);
  useEffect(look, [look]);
  const isPart = whole !== undefined && "schema" in whole && (whole.schema.tables_left_out ?? 0) > 0;
  const wanted = text.trim();
  useEffect(() => {
    if (!isPart || wanted === "") return;
    let isOver = false;
    const ask = () => void store.schemas.ask(connection, wanted).then((told) => !isOver && setNamed({ text: wanted, told }));
    const timer = setTimeout(ask, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [store, connection, isPart, wanted]);
  return { told: isPart && named?.text === wanted ? named.told : whole, look };
}

function Listing({ schema, text }: { schema: Extract<SchemaAnswer, { schema: unknown }>["schema"]; text: string }) {
  const tables = found(schema.tables, text);
  const shown = tables.slice(0, MOST_ROWS);
  const more = tables.length - shown.length + (schema.tables_left_out ?? 0);
  if (tables.length === 0)
    return (
      <p className="quiet empty" role="status">
        {schema.tables.length === 0 && text.trim() === "" ? "No tables yet." : "No results."}
      </p>
    );
  return (
    <>
      <ul className="tables" aria-label="Tables">
        {shown.map((table) => (
          <TableRow
            key={`${table.catalog ?? ""} ${table.schema} ${table.name}`}
            table={table}
            text={text}
            isOnly={tables.length === 1}
          />
        ))}
      </ul>
      {more > 0 && <p className="quiet small">{`${more.toLocaleString("en")} more. Type part of a name.`}</p>}
    </>
  );
}

function TableRow({ table, text, isOnly }: { table: Table; text: string; isOnly: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  const name = shortName(table);
  const word = text.trim().toLowerCase();
  // A table opens if the search matches one of its columns.
  const isFound = word !== "" && table.columns.some((column) => column.name.toLowerCase().includes(word));
  const isShown = isOpen || isFound || (isOnly && word !== "");
  return (
    <li>
      <button className="button bare name" aria-expanded={isShown} onClick={() => setIsOpen(!isShown)}>
        <ChevronRight size={14} aria-hidden />
        <span>{name}</span> {table.kind !== "table" && <span className="quiet small">{table.kind.replaceAll("_", " ")}</span>}
      </button>
      {isShown && <Columns table={table} name={name} />}
    </li>
  );
}

function Columns({ table, name }: { table: Table; name: string }) {
  const left = table.columns_left_out ?? 0;
  return (
    <>
      <ul className="columns" aria-label={`Columns of ${name}`}>
        {table.columns.map((column) => (
          <li key={column.name}>
            <span className="mono">{column.name}</span>{" "}
            <span className="quiet mono" title={column.type}>
              {column.type}
              {!column.nullable && " not null"}
            </span>
          </li>
        ))}
      </ul>
      {left > 0 && <p className="quiet small">{`${left.toLocaleString("en")} more columns`}</p>}
      {left === 0 && table.columns.length === 0 && <p className="quiet small">Columns unknown.</p>}
    </>
  );
}
