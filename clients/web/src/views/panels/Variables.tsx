// The variables panel: names, types and sizes in the kernel. Queried after each run and never recorded. Lazy: loads when it
// opens.
import { EditorView } from "@codemirror/view";
import { RefreshCw, Table2, X } from "lucide-react";
import { Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { defaultKernel, statusOf } from "../../app/state/kernels.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { sizeWords } from "../../app/words/sizes.ts";
import { useTopics } from "../../app/state/topics.ts";
import type { Variable, VariableList } from "../../protocol/messages.ts";
import { part } from "../../ui/parts.ts";
import { refusalOf } from "../outputs/useRows.ts";

const VariableTable = part(() => import("./VariableTable.tsx"));

const ORDERS = {
  name: (a: Variable, b: Variable) => a.name.localeCompare(b.name),
  type: (a: Variable, b: Variable) => a.type.localeCompare(b.type) || a.name.localeCompare(b.name),
  size: (a: Variable, b: Variable) => (b.bytes ?? -1) - (a.bytes ?? -1) || a.name.localeCompare(b.name),
};
type Order = keyof typeof ORDERS;

export default function Variables({ store }: { store: NotebookStore }) {
  useTopics(store, "kernels", "executions", "status");
  const kernel = defaultKernel(store);
  const isBusy = kernel !== undefined && (statusOf(store, kernel)?.busy ?? false);
  const { list, problem, ask } = useVariables(store, kernel, isBusy);
  const [order, setOrder] = useState<Order>("name");
  const [wanted, setWanted] = useState("");
  const [opened, open] = useState<string>();
  const shown = useMemo(() => {
    const text = wanted.trim().toLowerCase();
    const found = (list?.variables ?? []).filter(({ name, type }) => `${name} ${type}`.toLowerCase().includes(text));
    return found.sort(ORDERS[order]);
  }, [list, order, wanted]);
  return (
    <aside className="panel variables" aria-label="Variables">
      <header className="row">
        <h2 className="grow">Variables</h2>
        <select aria-label="Sort variables" value={order} onChange={({ target }) => setOrder(target.value as Order)}>
          <option value="name">Name</option>
          <option value="type">Type</option>
          <option value="size">Size</option>
        </select>
        <button className="button bare icon" aria-label="Refresh" title="Refresh" onClick={ask}>
          <RefreshCw size={15} />
        </button>
        <button className="button bare icon" aria-label="Close" title="Close" onClick={() => store.show("variables")}>
          <X size={16} />
        </button>
      </header>
      {(list?.variables.length ?? 0) > 8 && (
        <input
          className="filter"
          type="search"
          aria-label="Filter variables"
          placeholder="Filter"
          value={wanted}
          onChange={({ target }) => setWanted(target.value)}
        />
      )}
      <p className="small quiet" role="status">
        {words(kernel, isBusy, list, problem)}
      </p>
      <ul>
        {shown.map((each) => (
          <Line key={each.name} store={store} variable={each} open={() => open(each.name)} />
        ))}
      </ul>
      {list?.left_out !== undefined && list.left_out > 0 && (
        <p className="small quiet">{list.left_out} older ones are not shown.</p>
      )}
      {opened !== undefined && (
        <Suspense>
          <VariableTable store={store} name={opened} kernel={kernel} close={() => open(undefined)} />
        </Suspense>
      )}
    </aside>
  );
}

function words(kernel: string | undefined, isBusy: boolean, list: VariableList | undefined, problem: string | undefined): string {
  if (kernel === undefined) return "No kernel is running. Run a cell to see its variables.";
  if (isBusy) return list ? "The kernel is busy. Updates when it is idle." : "The kernel is busy. Variables show when it is idle.";
  if (problem !== undefined) return problem;
  return list?.variables.length === 0 ? "No variables yet." : "";
}

/** Queries the kernel when it becomes idle, never while it is busy. */
function useVariables(store: NotebookStore, kernel: string | undefined, isBusy: boolean) {
  const [told, setTold] = useState<{ kernel: string; list?: VariableList; problem?: string }>();
  const number = useRef(0);
  const ended = lastEnded(store);
  const isLive = store.session.connection.state.name === "live";
  const ask = useCallback(() => {
    const own = (number.current += 1);
    if (kernel === undefined || !isLive) return;
    void store.questions.ask({ code: "", cursor: 0, kind: { variables: {} }, kernel_session: kernel }).then((answer) => {
      if (own !== number.current) return;
      if (answer && "variables" in answer) setTold({ kernel, list: answer.variables });
      else setTold((before) => ({ ...(before?.kernel === kernel && before), kernel, problem: refusalOf(answer).text }));
    });
  }, [store, kernel, isLive]);
  useEffect(() => {
    if (!isBusy) ask();
  }, [ask, isBusy, ended]);
  const own = told?.kernel === kernel ? told : undefined;
  return { list: own?.list, problem: own?.problem, ask };
}

/** Id of the run that ended last. A count would not change, since a cell keeps only its newest run. */
function lastEnded({ document }: NotebookStore): string | undefined {
  let last: [id: string, at: number] | undefined;
  for (const [id, { ended_at: at }] of document.executions) {
    if (typeof at === "number" && at >= (last?.[1] ?? 0)) last = [id, at];
  }
  return last?.[0];
}

function Line({ store, variable, open }: { store: NotebookStore; variable: Variable; open: () => void }) {
  const { name, type, preview, is_table: isTable } = variable;
  return (
    <li>
      <button
        className="variable"
        title={`Insert ${name}`}
        // Keeps the focus, and so the caret, in the editor.
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => insert(store, name)}
      >
        <span className="row">
          <code className="name">{name}</code> <span className="quiet small type">{type}</span>
          <span className="grow" />
          <span className="quiet small">{sizesOf(variable)}</span>
        </span>
        {preview !== undefined && <code className="preview small quiet">{preview}</code>}
      </button>
      {isTable && (
        <button className="button bare icon" aria-label={`Open ${name} as a table`} title="Open as a table" onClick={open}>
          <Table2 size={15} />
        </button>
      )}
    </li>
  );
}

function sizesOf({ shape, length, bytes }: Variable): string {
  const lengths = shape
    ? shape.length === 0
      ? ""
      : shape.map((each) => each.toLocaleString()).join(" × ")
    : length?.toLocaleString();
  return [lengths, bytes !== undefined && bytes !== null ? sizeWords(bytes) : undefined].filter(Boolean).join(" · ");
}

/** Inserts the name at the editor's caret; copies it if no editor is open. */
function insert(store: NotebookStore, name: string): void {
  const content = document.querySelector<HTMLElement>(".cell .cm-editor.cm-focused .cm-content, .cell .cm-editor .cm-content");
  const view = content && EditorView.findFromDOM(content);
  if (!view || view.state.readOnly) {
    void navigator.clipboard?.writeText(name);
    store.toast({ text: `Copied ${name}. Click into a cell to insert a name.` });
    return;
  }
  view.dispatch(view.state.replaceSelection(name), { userEvent: "input", scrollIntoView: true });
  view.focus();
}
