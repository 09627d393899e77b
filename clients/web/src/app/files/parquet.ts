// Preview of a Parquet file's first rows. Loaded on demand.
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { decompress } from "fzstd";
import type { Rows } from "./preview.ts";

const MOST_ROWS = 200;
const MOST_COLUMNS = 100;
const MOST_CHARACTERS = 500;

export async function parquetRows(file: ArrayBuffer): Promise<Rows & { total: number }> {
  const metadata = parquetMetadata(file);
  const head = columnsOf(metadata.schema).slice(0, MOST_COLUMNS);
  const total = Number(metadata.num_rows);
  const compressors = { ZSTD: (bytes: Uint8Array) => decompress(bytes) };
  const read = await parquetReadObjects({ file, metadata, columns: head, compressors, rowEnd: Math.min(total, MOST_ROWS) });
  return { head, rows: read.map((row) => head.map((name) => words(row[name]))), hasMore: total > MOST_ROWS, total };
}

/** Names of top-level columns; nested ones are displayed as JSON. */
function columnsOf([root, ...elements]: { name: string; num_children?: number | undefined }[]): string[] {
  const names: string[] = [];
  let at = 0;
  const skip = (): void => {
    const children = elements[at++]?.num_children ?? 0;
    for (let child = 0; child < children; child++) skip();
  };
  for (let column = 0; column < (root?.num_children ?? 0); column++) {
    names.push(elements[at]?.name ?? "");
    skip();
  }
  return names;
}

function words(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date)
    return value
      .toISOString()
      .replace(/T00:00:00\.000Z$/, "")
      .replace("T", " ")
      .replace(/(\.000)?Z$/, "");
  if (typeof value !== "object") return String(value).slice(0, MOST_CHARACTERS);
  return JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? String(each) : each)).slice(0, MOST_CHARACTERS);
}
