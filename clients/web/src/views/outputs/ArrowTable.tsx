// A data frame whose first rows are in Arrow format. Lazy: loads with the first one, including the Arrow reader.
import { useMemo } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { frameOf } from "../../outputs/arrow.ts";
import { tableOf } from "../../outputs/kernelTable.ts";
import type { Table } from "../../outputs/table.ts";
import { FrameSheet } from "./DataTable.tsx";

interface Props {
  store: NotebookStore;
  kernelSession: string | undefined;
  arrow: string;
  text: string;
}

export default function ArrowTable({ store, kernelSession, arrow, text }: Props) {
  const table = useMemo(() => readable(arrow), [arrow]);
  return table ? <FrameSheet {...{ store, kernelSession, table }} /> : <pre>{text}</pre>;
}

function readable(arrow: string): Table | undefined {
  try {
    const read = frameOf(arrow);
    return read && tableOf(read.head, read.columns);
  } catch {
    // Unknown or newer format: fall back to the plain text.
    return undefined;
  }
}
