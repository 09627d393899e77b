// Head of an SQL cell: connection and result variable. It edits the cell's first line, which users can also type.
import { ChangeSet } from "@codemirror/state";
import { Database, TableProperties } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import { IN_KERNEL, wayOf } from "../../app/state/connections.ts";
import { type SqlHeader, headerChange, isVariable, readHeader } from "../../app/cells/sqlHeader.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { part } from "../../ui/parts.ts";

const Schema = part(() => import("./Schema.tsx"));

const KINDS: Record<string, string> = { postgresql: "PostgreSQL", sqlite: "SQLite", duckdb: "DuckDB" };
const HERE = "DuckDB in the kernel";

interface Props {
  store: NotebookStore;
  id: string;
  source: string;
  isCurrent: boolean;
}

/** Shown on every query: if it appeared on selection, the layout would shift under the click. */
export default function SqlHead({ store, id, source, isCurrent }: Props) {
  useTopics(store, "connections");
  const { connections } = store;
  useEffect(() => {
    if (isCurrent || !connections.list) connections.ask();
  }, [connections, isCurrent]);
  const header = readHeader(source);
  const here = header.connection ?? IN_KERNEL;
  const way = wayOf(here, connections.list);
  const set = (next: Partial<SqlHeader>) =>
    store.texts.change(id, (text) => {
      const now = text.toString();
      return ChangeSet.of(headerChange(now, { ...readHeader(now), ...next }), text.length);
    });
  return (
    <div className="sql-head" role="group" aria-label="Where this query runs">
      <Database size={13} aria-hidden />
      {store.mayEdit ? (
        <Where store={store} here={here} set={set} />
      ) : (
        <span>{here === IN_KERNEL && !header.writes ? HERE : here}</span>
      )}
      {(store.mayEdit || header.variable) && <span aria-hidden>→</span>}
      {store.mayEdit ? (
        <Variable key={header.variable} name={header.variable} set={(variable) => set({ variable })} />
      ) : (
        header.variable && <code>{header.variable}</code>
      )}
      {store.schemas.isOpen && !way.isUnknown && <Tables store={store} connection={here} />}
      {way.isUnknown && (
        <span className="tag bad" title="Ask whoever runs the runtime agent to add this connection">
          Unknown connection
        </span>
      )}
      {store.mayEdit && way.hasChoice && (
        <button
          className={header.writes ? "tag" : "tag plain"}
          aria-pressed={header.writes}
          title={
            header.writes ? "This query can write. Click to make it read-only" : "This query is read-only. Click to let it write"
          }
          onClick={() => set({ writes: !header.writes })}
        >
          {header.writes ? "Can write" : "Read-only"}
        </button>
      )}
      {header.writes && !way.isUnknown && !(store.mayEdit && way.hasChoice) && here !== IN_KERNEL && (
        <span className={way.mayWrite ? "tag" : "tag bad"}>
          {way.mayWrite ? "Can write" : "Can write, but the connection is read-only"}
        </span>
      )}
    </div>
  );
}

/** The button is on every query; the schema browser loads at the first click. */
function Tables({ store, connection }: { store: NotebookStore; connection: string }) {
  const [isOpen, setIsOpen] = useState<boolean>();
  const name = connection === IN_KERNEL ? HERE : connection;
  const trigger = {
    className: "button bare tables",
    title: `Tables in ${name}`,
    children: (
      <>
        <TableProperties size={13} aria-hidden /> Tables
      </>
    ),
  };
  const button = <button {...trigger} aria-haspopup="dialog" aria-expanded={isOpen === true} onClick={() => setIsOpen(true)} />;
  if (isOpen === undefined) return button;
  return (
    <Suspense fallback={button}>
      <Schema
        key={connection}
        store={store}
        connection={connection}
        name={name}
        trigger={trigger}
        isOpen={isOpen}
        opened={setIsOpen}
      />
    </Suspense>
  );
}

interface WhereProps {
  store: NotebookStore;
  here: string;
  set: (next: Partial<SqlHeader>) => void;
}

function Where({ store, here, set }: WhereProps) {
  const others = (store.connections.list ?? []).filter(({ name }) => name !== IN_KERNEL);
  const isListed = here === IN_KERNEL || others.some(({ name }) => name === here);
  return (
    <select
      aria-label="Connection"
      value={here}
      onChange={({ target: { value } }) => set({ connection: value === IN_KERNEL ? undefined : value, writes: false })}
    >
      <option value={IN_KERNEL}>{HERE}</option>
      {others.map(({ name, kind }) => (
        <option key={name} value={name}>
          {name} ({KINDS[kind] ?? kind})
        </option>
      ))}
      {!isListed && <option value={here}>{here}</option>}
    </select>
  );
}

/** Commits on blur or Enter. */
function Variable({ name, set }: { name: string | undefined; set: (name: string | undefined) => void }) {
  const [text, setText] = useState(name ?? "");
  const wanted = text.trim();
  const isBad = wanted !== "" && !isVariable(wanted);
  const done = () => {
    if (!isBad && wanted !== (name ?? "")) set(wanted || undefined);
  };
  return (
    <input
      aria-label="Variable for the result"
      value={text}
      maxLength={100}
      placeholder="No variable"
      aria-invalid={isBad}
      title={isBad ? "Use letters, digits and _" : "Variable for the result"}
      spellCheck={false}
      autoComplete="off"
      onChange={({ target }) => setText(target.value)}
      onBlur={done}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") done();
        if (event.key === "Escape") setText(name ?? "");
      }}
    />
  );
}
