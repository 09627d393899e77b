// Code cells that read a file beside the notebook, by its ending.
import type { Document } from "../../protocol/document.ts";
import type { CellType } from "../../protocol/messages.ts";

export interface ReadingCell {
  cell_type: CellType;
  source: string;
}

/** Example: `data/2026/losses.csv.gz` has the stem `losses` and the ending `csv`. */
export function nameParts(path: string): { folder: string; name: string; stem: string; ending: string } {
  const at = path.lastIndexOf("/");
  const [folder, name] = at < 0 ? ["", path] : [path.slice(0, at), path.slice(at + 1)];
  const plain = name.replace(/\.(gz|bz2|xz|zst|zip)$/i, (whole, _, from: number) =>
    name.slice(0, from).includes(".") ? "" : whole,
  );
  const dot = plain.lastIndexOf(".");
  const [stem, ending] = dot <= 0 ? [plain, ""] : [plain.slice(0, dot), plain.slice(dot + 1).toLowerCase()];
  return { folder, name, stem, ending };
}

/** Example: `losses.csv` → `losses (2).csv` → `losses (3).csv`. */
export function nextName(name: string): string {
  const parts = /^(?<stem>.+?)(?: \((?<number>\d+)\))?(?<ending>(?:\.[^.\s/]{1,10}){0,2})$/u.exec(name)?.groups;
  if (!parts) return `${name} (2)`;
  return `${parts.stem} (${Number(parts.number ?? 1) + 1})${parts.ending}`;
}

const PICTURES = ["png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff"];
const FRAMES: Record<string, string> = {
  csv: "read_csv",
  tsv: "read_csv",
  parquet: "read_parquet",
  pq: "read_parquet",
  feather: "read_feather",
  arrow: "read_feather",
  xlsx: "read_excel",
  xls: "read_excel",
  ods: "read_excel",
  jsonl: "read_json",
  ndjson: "read_json",
};
const POLARS: Record<string, string> = {
  ...FRAMES,
  feather: "read_ipc",
  arrow: "read_ipc",
  jsonl: "read_ndjson",
  ndjson: "read_ndjson",
};
const DATABASES = ["sqlite", "sqlite3", "db"];

export const isPictureName = (name: string) => PICTURES.includes(nameParts(name).ending);

/** Data files, which become a reading cell when dropped. Other text files become cells themselves. */
export const isData = (name: string) => {
  const { ending } = nameParts(name);
  return ending in FRAMES || ending === "json" || ending === "npy" || DATABASES.includes(ending);
};

/** The cell that reads a file: Python with pandas or Polars, R, or SQL for databases. */
export function readingCell(document: Document, path: string): ReadingCell {
  const { ending, stem } = nameParts(path);
  if (DATABASES.includes(ending)) return { cell_type: "sql", source: `-- @${path}\nSELECT name, sql FROM sqlite_master` };
  const language = languageOf(document);
  const source = language === "r" ? inR(path, stem, ending) : inPython(document, path, stem, ending);
  return { cell_type: "code", source };
}

function inPython(document: Document, path: string, stem: string, ending: string): string {
  const file = quoted(path);
  const name = variableName(stem);
  if (ending in FRAMES) {
    const [module, short] = usesPolars(document) ? ["polars", "pl"] : ["pandas", "pd"];
    const read = (short === "pl" ? POLARS : FRAMES)[ending] ?? "read_csv";
    const tab = short === "pl" ? ', separator="\\t"' : ', sep="\\t"';
    const more = ending === "tsv" ? tab : read === "read_json" ? ", lines=True" : "";
    return `import ${module} as ${short}\n\n${name} = ${short}.${read}(${file}${more})\n${name}`;
  }
  if (ending === "json")
    return `import json\nfrom pathlib import Path\n\n${name} = json.loads(Path(${file}).read_text(encoding="utf-8"))\n${name}`;
  if (ending === "npy") return `import numpy as np\n\n${name} = np.load(${file})\n${name}`;
  if (ending === "svg") return `from IPython.display import SVG\n\nSVG(filename=${file})`;
  if (PICTURES.includes(ending)) return `from IPython.display import Image\n\nImage(filename=${file})`;
  return `from pathlib import Path\n\n${name} = Path(${file}).read_text(encoding="utf-8")\nprint(${name})`;
}

function inR(path: string, stem: string, ending: string): string {
  const name = variableName(stem);
  const file = quoted(path);
  const reads: Record<string, string> = {
    csv: "read.csv",
    tsv: "read.delim",
    parquet: "arrow::read_parquet",
    json: "jsonlite::fromJSON",
  };
  return `${name} <- ${reads[ending] ?? "readLines"}(${file})\n${name}`;
}

function languageOf({ metadata }: Document): string {
  const { kernelspec, language_info } = metadata as Record<string, Record<string, unknown> | undefined>;
  return String(language_info?.["name"] ?? kernelspec?.["language"] ?? "python").toLowerCase();
}

/** True if cells import Polars and none imports pandas. */
function usesPolars({ cells }: Document): boolean {
  let isUsed = false;
  for (const [, { source, cell_type }] of cells) {
    if (cell_type !== "code") continue;
    if (/^\s*(import|from) pandas\b/m.test(source)) return false;
    isUsed ||= /^\s*(import|from) polars\b/m.test(source);
  }
  return isUsed;
}

/** Python string literal with invisible characters escaped, so that the code reads as it runs. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

const TAKEN = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda nonlocal not or pass raise return try while with match case type print list dict set str int float open file input id " +
    "pd pl np json Path Image SVG"
  ).split(" "),
);

function variableName(stem: string): string {
  const name = stem
    .normalize("NFKC")
    .replace(/[^\p{L}\p{N}_]+/gu, "_")
    .replace(/^_+|_+$/g, "");
  if (name === "") return "data";
  const whole = /^\p{N}/u.test(name) ? `data_${name}` : name;
  return TAKEN.has(whole) ? `${whole}_data` : whole;
}

/** File name for display, with control characters and invisible characters escaped. */
export function shownName(name: string): string {
  return name
    .replace(/[\u0000-\u001f]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`)
    .replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
