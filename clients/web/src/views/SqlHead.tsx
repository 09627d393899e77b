// Above a query that is at hand: where it runs, and what its result is called. All of it is the cell's first line, which anybody may write instead.
import { ChangeSet } from "@codemirror/state";
import { Database } from "lucide-react";
import { useEffect, useState } from "react";
import { type SqlHeader, headerChange, isVariable, readHeader } from "../app/sqlHeader.ts";
import type { NotebookStore } from "../app/store.ts";
import type { components } from "../protocol/rest.ts";

type Kernels = components["schemas"]["Kernels"];
type Connection = components["schemas"]["OfferedConnection"];

const KINDS: Record<string, string> = { postgresql: "PostgreSQL", sqlite: "SQLite", duckdb: "DuckDB" };

export default function SqlHead({ store, id, source }: { store: NotebookStore; id: string; source: string }) {
  const connections = useConnections(store);
  const header = readHeader(source);
  const set = (next: Partial<SqlHeader>) =>
    store.texts.change(id, (text) => {
      const now = text.toString();
      return ChangeSet.of(headerChange(now, { ...readHeader(now), ...next }), text.length);
    });
  const here = header.connection ?? "duckdb";
  const known = connections.some(({ name }) => name === here) || here === "duckdb";
  return (
    <div className="sql-head row small quiet" role="group" aria-label="Where this query runs">
      <Database size={14} aria-hidden />
      <label>
        On{" "}
        <select
          value={here}
          onChange={({ target: { value } }) => set({ connection: value === "duckdb" ? undefined : value, writes: false })}
        >
          <option value="duckdb">DuckDB in the kernel</option>
          {connections
            .filter(({ name }) => name !== "duckdb")
            .map(({ name, kind }) => (
              <option key={name} value={name}>
                {name} ({KINDS[kind] ?? kind})
              </option>
            ))}
          {!known && <option value={here}>{here}</option>}
        </select>
      </label>
      <Variable key={header.variable} name={header.variable} set={(variable) => set({ variable })} />
      {header.writes && <span className="tag bad">may write</span>}
    </div>
  );
}

/** Written when the person is done with it. */
function Variable({ name, set }: { name: string | undefined; set: (name: string | undefined) => void }) {
  const [text, setText] = useState(name ?? "");
  const wanted = text.trim();
  const isBad = wanted !== "" && !isVariable(wanted);
  const done = () => {
    if (!isBad && wanted !== (name ?? "")) set(wanted || undefined);
  };
  return (
    <label>
      Result in{" "}
      <input
        className="field"
        value={text}
        size={14}
        maxLength={100}
        placeholder="no variable"
        aria-invalid={isBad}
        title={isBad ? "A name as Python takes it: letters, digits and _" : "The variable of the kernel that holds the result"}
        spellCheck={false}
        onChange={({ target }) => setText(target.value)}
        onBlur={done}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Enter") done();
          if (event.key === "Escape") setText(name ?? "");
        }}
      />
    </label>
  );
}

function useConnections(store: NotebookStore): Connection[] {
  const [connections, setConnections] = useState<Connection[]>([]);
  useEffect(() => {
    let isGone = false;
    const take = ({ connections }: Kernels) => void (!isGone && setConnections(connections ?? []));
    // Without an answer the one that the cell names is there.
    store.session.rest.get<Kernels>(`/api/notebooks/${encodeURIComponent(store.id)}/kernels`).then(take, () => undefined);
    return () => void (isGone = true);
  }, [store]);
  return connections;
}
