// Dialog with the table that a variable holds, read live from the kernel.
import { useEffect, useMemo, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { TitledDialog } from "../../ui/TitledDialog.tsx";
import { tableOfPage } from "../../outputs/kernelTable.ts";
import type { Table } from "../../outputs/table.ts";
import { Sheet } from "../outputs/DataTable.tsx";
import { askTable } from "../outputs/useRows.ts";

const FIRST_ROWS = 100;
const PLAIN = { sorting: undefined, filters: [], search: "" };

interface Props {
  store: NotebookStore;
  name: string;
  kernel: string | undefined;
  close: () => void;
}

export default function VariableTable({ store, name, kernel, close }: Props) {
  const [table, setTable] = useState<Table>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isOver = false;
    void askTable({ store, of: { variable: name }, kernelSession: kernel }, PLAIN, 0, FIRST_ROWS).then((answer) => {
      if (isOver) return;
      if ("page" in answer) setTable({ ...tableOfPage(answer.page), name: answer.page.table });
      else setProblem(answer.text);
    });
    return () => void (isOver = true);
  }, [store, name, kernel]);
  const id = table?.name;
  const frame = useMemo(
    () => (id === undefined ? undefined : { store, of: { table: id }, kernelSession: kernel }),
    [store, id, kernel],
  );
  return (
    <TitledDialog kind="variable-table" title={name} close={close} finalFocus={undefined}>
      {problem !== undefined && <p role="alert">{problem}</p>}
      {table === undefined && problem === undefined && <div className="shape" aria-busy="true" />}
      {table && <Sheet table={table} {...(frame && { frame })} />}
    </TitledDialog>
  );
}
