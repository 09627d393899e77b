// Question before a change that has no undo; stays open with the error if the change fails.
import { AlertDialog } from "@base-ui/react/alert-dialog";
import { type ReactNode, useState } from "react";
import { type Session, isNotProved } from "../../app/session/session.ts";
import type { Rest } from "../../transport/rest.ts";
import { AskAgain } from "../account/AskAgain.tsx";
import { useFocusBack } from "./focusBack.ts";

interface Props {
  session: Session;
  title: string;
  children: ReactNode;
  button: string;
  isDestructive?: boolean;
  run: (rest: Rest) => Promise<unknown>;
  close: () => void;
  /** Element that gets the focus afterwards. */
  focusAfter?: () => HTMLElement | null;
}

export function Question({ session, title, children, button, isDestructive = false, run, close, focusAfter }: Props) {
  useFocusBack(focusAfter);
  const [error, setError] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const confirm = async () => {
    setError(undefined);
    setIsBusy(true);
    try {
      await run(await session.deciding());
      close();
    } catch (failure) {
      if (!isNotProved(failure)) setError((failure as Error).message);
      setIsBusy(false);
    }
  };
  return (
    <AlertDialog.Root open onOpenChange={(isOpen) => !isOpen && close()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog question" finalFocus={false}>
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description className="quiet">{children}</AlertDialog.Description>
          {error && (
            <p className="error" role="alert">
              {error}
            </p>
          )}
          <div className="row end">
            <AlertDialog.Close className="button">Cancel</AlertDialog.Close>
            <button className={isDestructive ? "button danger" : "button primary"} disabled={isBusy} onClick={() => void confirm()}>
              {button}
            </button>
          </div>
          <AskAgain session={session} />
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
