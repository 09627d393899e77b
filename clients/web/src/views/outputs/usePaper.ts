// Whether the page is being printed: nobody can turn a page of a table on paper.
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
