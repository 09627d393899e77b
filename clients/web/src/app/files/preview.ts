// Preview of a file beside the notebook, without code: its first part as a table, text or an image.
import { nameParts } from "./readers.ts";

export type PreviewKind = "picture" | "parquet" | "table" | "text";

/** Limit for images and Parquet files, which are loaded whole. */
export const MOST_WHOLE_BYTES = 20_000_000;
/** Limit for other files, of which the first part is loaded. */
export const MOST_TEXT_BYTES = 256 * 1024;
const MOST_ROWS = 200;
const MOST_COLUMNS = 100;

const PICTURES: Record<string, string> = {
  ...{ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", bmp: "image/bmp" },
  ...{ svg: "image/svg+xml", avif: "image/avif" },
};
const PACKED = /\.(gz|bz2|xz|zst|zip|tar|7z)$/i;

export const pictureType = (name: string) => PICTURES[nameParts(name).ending];

export function previewKind(name: string): PreviewKind {
  if (PACKED.test(name)) return "text";
  if (pictureType(name) !== undefined) return "picture";
  const { ending } = nameParts(name);
  if (ending === "parquet" || ending === "pq") return "parquet";
  return ending === "csv" || ending === "tsv" ? "table" : "text";
}

/** Decodes UTF-8; undefined for binary data. `isCut` allows an incomplete last character. */
export function textOf(bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

export interface Rows {
  head: string[];
  rows: string[][];
  /** The file has more rows than these. */
  hasMore: boolean;
  /** Number of rows, if the file tells it. */
  total?: number;
}

/** Rows of a delimited file; omits the last row of a cut file, which may be incomplete. */
export function rowsOf(text: string, isCut: boolean): Rows {
  const separator = separatorOf(text);
  const all: string[][] = [];
  let row: string[] = [];
  let field = "";
  let isQuoted = false;
  const endRow = () => {
    row.push(field);
    if (row.length > 1 || field !== "") all.push(row.slice(0, MOST_COLUMNS));
    [row, field] = [[], ""];
  };
  let at = 0;
  for (; at < text.length && all.length <= MOST_ROWS; at++) {
    const sign = text[at];
    if (isQuoted) {
      if (sign !== '"') field += sign;
      else if (text[at + 1] === '"') ((field += '"'), at++);
      else isQuoted = false;
    } else if (sign === '"' && field === "") isQuoted = true;
    else if (sign === separator) (row.push(field), (field = ""));
    else if (sign === "\n") endRow();
    else if (sign !== "\r") field += sign;
  }
  const isWhole = at >= text.length;
  if (isWhole && !isCut && (field !== "" || row.length > 0)) endRow();
  const [head = [], ...rows] = all;
  return { head, rows: rows.slice(0, MOST_ROWS), hasMore: !isWhole || isCut };
}

/** The separator most frequent in the first line. */
function separatorOf(text: string): string {
  const [line = ""] = text.split("\n", 1);
  const count = (sign: string) => line.split(sign).length;
  return ["\t", ";", "|"].reduce((best, sign) => (count(sign) > count(best) ? sign : best), ",");
}
