// Files for people who answer for a record: the record itself, its signed head, and a report of a stretch of time.
import type { EventMessage } from "../../protocol/messages.ts";
import type { Rest } from "../../transport/rest.ts";
import { fileName, saveAs } from "./download.ts";

interface Notebook {
  rest: Rest;
  id: string;
  title: string;
}

const pathOf = ({ id }: Notebook) => `/api/notebooks/${encodeURIComponent(id)}`;

/** Saves all events as JSON Lines, with every field that was hashed. */
export async function saveRecord(notebook: Notebook): Promise<void> {
  const headers = { accept: "application/x-ndjson" };
  const answer = await notebook.rest.send(`${pathOf(notebook)}/events`, { headers });
  await saveAs(answer, `${fileName(notebook.title)}.record.jsonl`);
}

/** Saves the server's signature of the end of the record. */
export async function saveSignedHead(notebook: Notebook): Promise<void> {
  await saveAs(await notebook.rest.send(`${pathOf(notebook)}/signed-head`), `${fileName(notebook.title)}.head.txt`);
}

/** Saves the report of the events between two times; undefined: from the beginning, to the end. */
export async function saveReport(notebook: Notebook, from: number | undefined, to: number | undefined): Promise<void> {
  const { head } = await page(notebook, 0);
  const versionOf = (at: number) => versionAt(at, head.version, async (after) => (await page(notebook, after)).events[0]);
  const [first, last] = [from === undefined ? 0 : await versionOf(from), to === undefined ? head.version : await versionOf(to)];
  if (first >= last) throw new Error("Nothing was recorded between these times.");
  const query = new URLSearchParams({ from: String(first), to: String(last) });
  const answer = await notebook.rest.send(`${pathOf(notebook)}/report?${query}`);
  await saveAs(answer, `Record of ${fileName(notebook.title)}.html`);
}

function page(notebook: Notebook, after: number) {
  return notebook.rest.get<{ events: EventMessage[]; head: { version: number } }>(
    `${pathOf(notebook)}/events?after=${after}&limit=1`,
  );
}

/** The last version that was recorded at a time or before; 0 if there is none. Times never go back, so it is found by halving. */
export async function versionAt(
  at: number,
  end: number,
  eventAfter: (version: number) => Promise<Pick<EventMessage, "recorded_at"> | undefined>,
): Promise<number> {
  let [before, after] = [0, end + 1];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    const event = await eventAfter(middle - 1);
    if (event && event.recorded_at <= at) before = middle;
    else after = middle;
  }
  return before;
}
