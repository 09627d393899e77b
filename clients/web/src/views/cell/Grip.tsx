// Drag handle of a cell.
import { GripVertical } from "lucide-react";
import { useEffect, useRef } from "react";
import type { NotebookStore } from "../../app/state/store.ts";

export function Grip({ store, id }: { store: NotebookStore; id: string }) {
  const grip = useRef<HTMLSpanElement>(null);
  const end = useRef<() => void>(undefined);
  useEffect(() => () => end.current?.(), []);
  const arm = () => {
    end.current ??= () => undefined;
    void import("./dragging.ts").then((dragging) => {
      const cell = grip.current?.closest<HTMLElement>(".cell");
      if (grip.current && cell) end.current = dragging.arm(store, id, cell, grip.current);
    });
  };
  if (!store.mayEdit) return null;
  return (
    <span
      ref={grip}
      className="grip"
      title="Drag to move (Alt ↑ ↓)"
      onPointerEnter={() => {
        if (!end.current) arm();
      }}
    >
      <GripVertical size={14} aria-hidden />
    </span>
  );
}
