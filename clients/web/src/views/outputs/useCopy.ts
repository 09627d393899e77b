// Copies a table as CSV: all filtered rows, also those that only the kernel has. Reports the count.
import { useEffect, useState } from "react";
import { passing } from "../../outputs/columns.ts";
import type { Look } from "../../outputs/kernelTable.ts";
import { type Table, csv, filtered, sorted } from "../../outputs/table.ts";
import { type FrameInKernel, type Rows, wholeCsv } from "./useRows.ts";

/** How long the result of a copy is shown, unless the view changes before. */
const TOLD_MS = 5_000;

export interface Copy {
  copy: (columns: number[]) => void;
  /** Result of the copy, in words. */
  copied: string;
}

export function useCopy(table: Table, frame: FrameInKernel | undefined, look: Look, rows: Rows): Copy {
  const [copied, tell] = useState("");
  const [isCopying, setIsCopying] = useState(false);
  useEffect(() => {
    if (copied === "" || isCopying) return;
    const timer = setTimeout(() => tell(""), TOLD_MS);
    return () => clearTimeout(timer);
  }, [copied, isCopying]);
  useEffect(() => void tell(""), [look]);
  const isWhole = table.total === undefined && (table.columnsLeftOut ?? 0) === 0;
  const copyHere = (columns: number[], of: number) => {
    const passed = filtered(passing(look.sorting ? sorted(table, look.sorting) : table.rows, look.filters), look.search);
    return put(csv(table, passed, columns), words(passed.length, of));
  };
  const put = async (text: string, done: string) => {
    try {
      await navigator.clipboard.writeText(text);
      tell(done);
    } catch {
      save(text);
      tell(done.replace("Copied", "Saved"));
    }
  };
  const copyAll = async (columns: number[], from: FrameInKernel) => {
    setIsCopying(true);
    const moved = (count: number) => tell(`Copying… ${count.toLocaleString()} rows`);
    const got = await wholeCsv(table, from, look, columns, moved).finally(() => setIsCopying(false));
    if ("problem" in got) await copyHere(columns, rows.total);
    else await put(got.text, words(got.count, got.of));
  };
  const copy = (columns: number[]) => {
    if (isWhole || !frame || rows.problem?.isGone) void copyHere(columns, isWhole ? 0 : rows.total);
    else void copyAll(columns, frame);
  };
  return { copy, copied };
}

function words(count: number, of: number): string {
  const rows = `${count.toLocaleString()} ${count === 1 ? "row" : "rows"}`;
  return count < of ? `Copied the first ${count.toLocaleString()} of ${of.toLocaleString()} rows` : `Copied ${rows}`;
}

/** Saves a file, if the clipboard is not available. */
function save(text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = "table.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
