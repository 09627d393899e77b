// The table in HTML of others, as data. Needs a DOM.
import { safeFragment } from "./safe.ts";
import { type Field, type Table, headed, totalIn } from "./table.ts";

/** What else may stand beside the table: the note on its size. */
const MOST_OTHER_UNITS = 80;

export function fragmentTable(html: string): Table | undefined {
  const fragment = safeFragment(html);
  const [table, ...others] = fragment.querySelectorAll("table");
  const spans = [...(table?.querySelectorAll("th, td") ?? [])].filter((each) => isWide(each as HTMLTableCellElement));
  if (!table || others.length > 0 || spans.length > 0 || !table.tHead) return undefined;
  const head = [...table.tHead.rows].map((row) => [...row.cells].map((cell) => cell.textContent?.trim() ?? ""));
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).map((row) => [...row.cells].map(fieldOf));
  table.remove();
  const aside = (fragment.textContent ?? "").trim();
  return aside.length > MOST_OTHER_UNITS ? undefined : headed(head, rows, totalIn(aside));
}

function isWide({ colSpan, rowSpan }: HTMLTableCellElement): boolean {
  return colSpan > 1 || rowSpan > 1;
}

function fieldOf(cell: HTMLTableCellElement): Field {
  const text = cell.textContent?.trim() ?? "";
  return { text, ...(cell.childElementCount > 0 && { html: cell.innerHTML }), ...(cell.tagName === "TH" && { isHeader: true }) };
}
