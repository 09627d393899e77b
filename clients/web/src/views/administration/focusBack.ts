// Focus after a dialog: returns to the button that opened it.
import { useEffect, useState } from "react";

/** Call in the dialog's component. `element` finds the button if a menu, which is gone, opened the dialog. */
export function useFocusBack(element?: () => HTMLElement | null): void {
  const [opener] = useState(() => document.activeElement);
  const [find] = useState(() => element);
  useEffect(
    () => () => {
      requestAnimationFrame(() => {
        const back = find?.() ?? opener;
        // Another dialog may have taken the focus.
        const isFree = document.activeElement === null || document.activeElement === document.body;
        if (isFree && back instanceof HTMLElement) back.focus();
      });
    },
    [opener, find],
  );
}
