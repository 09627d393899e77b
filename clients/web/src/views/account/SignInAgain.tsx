// Sign-in dialog over an open notebook. Lazy: loads when needed.
import { Dialog } from "@base-ui/react/dialog";
import type { Session } from "../../app/session/session.ts";
import SignIn from "./SignIn.tsx";

export default function SignInAgain({ signedIn, close }: { signedIn: (session: Session) => void; close: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog bare">
          <Dialog.Title className="hidden">Sign in</Dialog.Title>
          <SignIn error={undefined} signedIn={signedIn} isInside />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
