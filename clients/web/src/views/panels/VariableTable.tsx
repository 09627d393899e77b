// Dialog with the table that a variable holds, read live from the kernel.
import { Dialog } from "@base-ui/react/dialog";
import { useEffect, useMemo, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
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
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog variable-table">
          <header className="row">
            <Dialog.Title className="grow">{name}</Dialog.Title>
            <Dialog.Close className="button">Done</Dialog.Close>
          </header>
          {problem !== undefined && <p role="alert">{problem}</p>}
          {table === undefined && problem === undefined && <div className="shape" aria-busy="true" />}
          {table && <Sheet table={table} {...(frame && { frame })} />}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
