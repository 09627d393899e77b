// True while the page is being printed: paper has no pagination or scrolling.
import { useSyncExternalStore } from "react";

const query = () => matchMedia("print");

export function usePaper(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const paper = query();
      paper.addEventListener("change", listener);
      return () => paper.removeEventListener("change", listener);
    },
    () => query().matches,
  );
}
