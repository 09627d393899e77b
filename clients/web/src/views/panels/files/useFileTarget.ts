// Drop target of the files panel: the folder under the pointer, otherwise the root.
import { type DragEvent, useState } from "react";
import { filesIn, isFromOutside } from "../../cell/fileDrop.ts";

export function useFileTarget(bring: (folder: string, files: File[]) => void, isOpen: boolean) {
  const [folder, setFolder] = useState<string>();
  const under = ({ target }: DragEvent) => (target as HTMLElement).closest<HTMLElement>("[data-folder]")?.dataset["folder"] ?? "";
  const handlers = {
    onDragOver: (event: DragEvent) => {
      if (!isFromOutside(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = isOpen ? "copy" : "none";
      if (isOpen) setFolder(under(event));
    },
    onDragLeave: (event: DragEvent<HTMLElement>) => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setFolder(undefined);
    },
    onDrop: (event: DragEvent) => {
      if (!isFromOutside(event)) return;
      event.preventDefault();
      setFolder(undefined);
      if (isOpen) bring(under(event), filesIn(event.dataTransfer));
    },
  };
  return { folder, handlers };
}
