// A record of some hundred events, made over REST: two authors, edits of three cells, a deleted cell.
import type { TestServer } from "./server.ts";

export interface MadeRecord {
  id: string;
  /** A token of Bob. */
  bob: string;
  /** Ids of the cells, from top to bottom; the deleted one is last. */
  cells: string[];
  /** First and last version at which the first cell held `WORD`. */
  from: number;
  to: number;
}

export const WORD = "secret_token";

/** Edits of the first cell; from the 50th to the 99th it holds `WORD`. */
const EDITS = 150;

interface Answer {
  version: number;
  notebook?: string;
  outcome?: { cells?: string[] };
}

/** Makes a notebook of the server's owner, in which Bob edits the third cell. */
export async function makeRecord(server: TestServer, title: string): Promise<MadeRecord> {
  const bob = await server.account("Bob");
  let [path, version] = ["/api/notebooks", 0];
  const send = async (method: string, rest: string, body?: unknown, token = server.token) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(server.url + path + rest, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}${rest}: ${answer.status} ${await answer.text()}`);
    const told = (await answer.json()) as Answer;
    version = told.version ?? version;
    return told;
  };
  const id = (await send("POST", "", { title })).notebook ?? "";
  path += `/${id}`;
  await send("PUT", "/access", { subject: { kind: "user", id: bob.id }, role: "editor" });
  const add = async (source: string, cell_type = "code") =>
    (await send("POST", "/cells", { source, cell_type })).outcome?.cells?.[0] ?? "";
  const written = new Map<string, number>();
  const edit = async (cell: string, source: string, token?: string) => {
    await send("PATCH", `/cells/${cell}`, { source, cell_version: written.get(cell) }, token);
    written.set(cell, version);
  };
  const cells: string[] = [];
  for (const source of ["total = 0", "# Losses of the year", "print(total)\nmean = total / 12", "draft = 'thrown away'"]) {
    cells.push(await add(source, source.startsWith("#") ? "markdown" : "code"));
    written.set(cells.at(-1) ?? "", version);
  }
  const [first = "", , third = "", gone] = cells;
  let [from, to] = [0, 0];
  for (let step = 1; step <= EDITS; step += 1) {
    const hasWord = step >= 50 && step < 100;
    await edit(first, `total = ${step}\n${hasWord ? `key = '${WORD}'` : "step = 1"}`);
    if (step === 50) from = version;
    if (hasWord) to = version;
    if (step % 10 === 0) await edit(third, `print(total)\nmean = total / ${step}`, bob.token);
  }
  await send("DELETE", `/cells/${gone}`, {});
  return { id, bob: bob.token, cells, from, to };
}
