// Dialog with its title, and a button that closes it, above what it shows.
import { Dialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";

interface Props extends Omit<Dialog.Popup.Props, "className" | "title"> {
  /** Its class beside `dialog`. */
  kind: string;
  title: ReactNode;
  /** Buttons between the title and the one that closes. */
  tools?: ReactNode;
  /** What failed in it. */
  error?: string | undefined;
  /** The words of the button that closes. */
  end?: string;
  close: () => void;
}

export function TitledDialog({ kind, title, tools, error, end = "Done", close, children, ...popup }: Props) {
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className={`dialog ${kind}`} finalFocus={false} {...popup}>
          <header className="row">
            <Dialog.Title className="grow">{title}</Dialog.Title>
            {tools}
            <Dialog.Close className="button">{end}</Dialog.Close>
          </header>
          {error && (
            <p className="error" role="alert">
              {error}
            </p>
          )}
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
