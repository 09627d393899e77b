// Dialog before a cell of an assistant is run again in the person's own name. Lazy: loads when first needed.
import { Dialog } from "@base-ui/react/dialog";
import type { NotebookStore } from "../../app/state/store.ts";
import { kindWords } from "../../app/words/effectWords.ts";
import type { Execution } from "../../protocol/messages.ts";

interface Props {
  store: NotebookStore;
  id: string;
  run: Execution;
  close: () => void;
}

export default function RunAllowed({ store, id, run, close }: Props) {
  const number = store.document.order.indexOf(id) + 1;
  const start = () => {
    close();
    void store.runs.start([id], { isFree: true });
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog question">
          <Dialog.Title>{number > 0 ? `Run cell ${number} in your name?` : "Run the cell in your name?"}</Dialog.Title>
          <Dialog.Description>
            The assistant’s run wanted to {kindWords((run.refused ?? []).map(({ kind }) => kind))}.
          </Dialog.Description>
          <p className="quiet small">
            The cell starts again from the top; variables stay as they are. In your own run nothing is held back, not even what
            isn’t listed here.
            {store.document.isStale(id) && " The cell was edited since the assistant ran it."}
          </p>
          <div className="row end">
            <Dialog.Close className="button">Cancel</Dialog.Close>
            <button className="button primary" onClick={start}>
              Run in your name
            </button>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
