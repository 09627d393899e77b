// Files over the list of cells: between which of them they would go, and what becomes of them.
import type { DragEvent } from "react";
import type { NotebookStore } from "../app/store.ts";

const load = () => import("./dropping.ts");

export function fileDrop(store: NotebookStore) {
  const isForUs = ({ dataTransfer }: DragEvent) =>
    dataTransfer.types.includes("Files") && store.mayEdit && store.past === undefined;
  return {
    onDragOver: (event: DragEvent<HTMLElement>) => {
      if (!isForUs(event)) return;
      event.preventDefault();
      const { currentTarget, clientX, clientY } = event;
      void load().then(({ over }) => over(currentTarget, { clientX, clientY }));
    },
    onDragLeave: () => void load().then(({ left }) => left()),
    onDrop: (event: DragEvent<HTMLElement>) => {
      if (!isForUs(event)) return;
      event.preventDefault();
      const { currentTarget, clientX, clientY } = event;
      // The event's files are gone when it is over.
      const files = [...event.dataTransfer.files];
      void load().then(({ dropped }) => dropped(store, currentTarget, { clientX, clientY }, files));
    },
  };
}
