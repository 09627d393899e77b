// Rows shown in a table: local ones, or a page from the kernel, which can sort and filter all rows.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import type { KernelAnswer, TableName, TablePage } from "../../protocol/messages.ts";
import { passing } from "../../outputs/columns.ts";
import { pageWords } from "../../transport/refusals.ts";
import { type Look, questionOf, rowsOfPage } from "../../outputs/kernelTable.ts";
import { type Field, type Table, csv, filtered, sorted } from "../../outputs/table.ts";

/** Address of a data frame in the kernel. */
export interface FrameInKernel {
  store: NotebookStore;
  of: TableName;
  /** Absent: the notebook's default kernel. */
  kernelSession: string | undefined;
}

export interface Rows {
  shown: Field[][];
  /** Count of rows that pass the filters. */
  found: number;
  /** Count of all rows, from the latest answer. */
  total: number;
  isAsking: boolean;
  /** True if the rows are the kernel's current ones. */
  isLive: boolean;
  /** True if the table has changed since the output was shown. */
  isChanged: boolean;
  /** Reason for missing rows, for users. */
  problem?: { text: string; isGone: boolean; again?: () => void };
}

type Refusal = Extract<KernelAnswer, { refused: unknown }>["refused"];

/** Permanent refusals, in words: retrying does not help. */
const GONE: Partial<Record<Refusal["code"], string>> = {
  unknown_table: "The kernel no longer has this table",
  unknown_kernel_session: "The kernel no longer has this table",
  no_kernel: "The kernel no longer has this table",
  unknown_notebook: "You can no longer read this notebook",
  forbidden: "Only people who can run code can read more rows",
  agent_too_old: "The kernel’s runtime agent is too old to give more rows",
};
const COPIED_AT_ONCE = 5_000;
/** Maximum characters of a copy: more would overload the clipboard and the page. */
const MOST_COPIED = 10_000_000;

interface Wanted extends Look {
  /** The remaining rows load on demand. */
  isComing: boolean;
  first: number;
  count: number;
}

export function useRows(table: Table, frame: FrameInKernel | undefined, wanted: Wanted): Rows {
  const { sorting, filters, search, first, count, isComing } = wanted;
  const isWhole = table.total === undefined && (table.columnsLeftOut ?? 0) === 0;
  const isPlain = !sorting && filters.length === 0 && search.trim() === "";
  const local = useMemo(
    () => filtered(passing(sorting ? sorted(table, sorting) : table.rows, filters), search),
    [table, sorting, filters, search],
  );
  const isHere = isWhole || !frame || (isPlain && first + count <= table.rows.length);
  const asked = usePage(frame, wanted, isHere);
  const { page, isAsking } = asked;
  const isOther = page !== undefined && !isSameShape(table, page);
  const problem = isOther ? OTHER_COLUMNS : asked.problem;
  const total = table.total ?? table.rows.length;
  const here = { total, isAsking: false, isLive: false, isChanged: false };
  if (!isHere && !problem?.isGone) {
    const why = problem && { problem };
    // Keep the rows unsorted until the first answer: sorted local rows would look like the first of all rows.
    if (!page) return { ...here, shown: table.rows.slice(0, count), found: total, isAsking, ...why };
    const { matching, rows, is_changed: isChanged = false } = page;
    return { shown: rowsOfPage(page), found: matching, total: rows, isAsking, isLive: true, isChanged, ...why };
  }
  const hasMore = !isWhole && !problem?.isGone && (frame !== undefined || isComing);
  const shown = local.slice(first, first + count);
  return { ...here, shown, found: isPlain && hasMore ? total : local.length, ...(problem?.isGone && !isWhole && { problem }) };
}

const OTHER_COLUMNS = { text: "Its columns have changed since it was shown", isGone: true };

function isSameShape({ columns }: Table, page: TablePage): boolean {
  return (
    columns.length === page.columns.length &&
    columns.every(({ name, kind }, at) => kind === undefined || name === page.columns[at]?.name)
  );
}

interface PageRequest {
  page?: TablePage;
  problem?: Rows["problem"];
  isAsking: boolean;
}

function usePage(
  frame: FrameInKernel | undefined,
  { sorting, filters, search, first, count }: Wanted,
  isHere: boolean,
): PageRequest {
  const [asked, setAsked] = useState<PageRequest>({ isAsking: false });
  const [attempt, setAttempt] = useState(0);
  const again = useCallback(() => setAttempt((before) => before + 1), []);
  const number = useRef(0);
  const isGone = asked.problem?.isGone ?? false;
  const typed = useLate(search);
  const isTyping = typed !== search;
  useEffect(() => {
    if (!isHere) return;
    number.current += 1;
    setAsked(({ problem }) => ({ isAsking: false, ...(problem?.isGone && { problem }) }));
  }, [isHere]);
  useEffect(() => {
    if (!frame || isHere || isGone || isTyping) return;
    const own = (number.current += 1);
    setAsked((before) => ({ ...(before.page && { page: before.page }), isAsking: true }));
    void askTable(frame, { sorting, filters, search: typed }, first, count).then((answer) => {
      if (own !== number.current) return;
      if ("page" in answer) setAsked({ page: answer.page, isAsking: false });
      else
        setAsked((before) => ({
          ...(before.page && { page: before.page }),
          problem: { ...answer, ...(!answer.isGone && { again }) },
          isAsking: false,
        }));
    });
  }, [frame, isHere, isGone, isTyping, sorting, filters, typed, first, count, attempt, again]);
  return isTyping ? { ...asked, isAsking: !isHere } : asked;
}

/** Debounced search text. */
function useLate(text: string): string {
  const [late, setLate] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setLate(text), 300);
    return () => clearTimeout(timer);
  }, [text]);
  return late;
}

export async function askTable(
  { store, of, kernelSession }: FrameInKernel,
  look: Look,
  first: number,
  count: number,
): Promise<{ page: TablePage } | { text: string; isGone: boolean }> {
  const kind = { read_table: questionOf(of, look, first, count) };
  const answer = await store.questions.ask({ code: "", cursor: 0, kind, ...(kernelSession && { kernel_session: kernelSession }) });
  return answer && "table_read" in answer ? { page: answer.table_read } : refusalOf(answer);
}

export function refusalOf(answer: KernelAnswer | undefined): { text: string; isGone: boolean } {
  if (!answer) return { text: "Not connected.", isGone: false };
  if (!("refused" in answer)) return { text: "The kernel’s answer can’t be read.", isGone: false };
  const { code, message, details } = answer.refused;
  const gone = GONE[code];
  if (gone !== undefined) return { text: gone, isGone: true };
  // The kernel's message about this table is more specific.
  const isOwn = (code === "timeout" || code === "kernel_failed") && /^[A-Z]/.test(message);
  return { text: isOwn ? message : pageWords(code, message, details), isGone: false };
}

/** All filtered rows in their order as CSV, truncated at `MOST_COPIED`. */
export async function wholeCsv(
  table: Table,
  frame: FrameInKernel,
  look: Look,
  columns: number[],
  told: (count: number) => void,
): Promise<{ text: string; count: number; of: number } | { problem: string }> {
  let [text, count, of] = ["", 0, Infinity];
  while (count < of && text.length < MOST_COPIED) {
    const answer = await askTable(frame, look, count, COPIED_AT_ONCE);
    if (!("page" in answer)) return { problem: answer.text };
    const rows = rowsOfPage(answer.page);
    const part = csv(table, rows, columns);
    text += count === 0 ? part : part.slice(part.indexOf("\n") + 1);
    count += rows.length;
    of = answer.page.matching;
    told(count);
    if (rows.length === 0) break;
  }
  return { text, count, of: Math.max(count, of === Infinity ? 0 : of) };
}
