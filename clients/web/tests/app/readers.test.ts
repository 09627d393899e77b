import { expect, test } from "vitest";
import { isData, nameParts, nextName, readingCell, shownName } from "../../src/app/files/readers.ts";
import { Document } from "../../src/protocol/document.ts";

function documentWith(sources: string[] = [], metadata: Record<string, unknown> = {}): Document {
  const document = new Document("n");
  sources.forEach((source, at) => document.cells.set(`c${at}`, { cell_type: "code", source } as never));
  document.metadata = metadata as never;
  return document;
}

const read = (path: string, document = documentWith()) => readingCell(document, path);

test("the parts of a name", () => {
  expect(nameParts("data/2026/losses.csv.gz")).toEqual({
    folder: "data/2026",
    name: "losses.csv.gz",
    stem: "losses",
    ending: "csv",
  });
  expect(nameParts(".env")).toEqual({ folder: "", name: ".env", stem: ".env", ending: "" });
  expect(nameParts("archive.zip")).toMatchObject({ stem: "archive", ending: "zip" });
});

test("the next name is free of the one before it", () => {
  expect(nextName("losses.csv")).toBe("losses (2).csv");
  expect(nextName("losses (2).csv")).toBe("losses (3).csv");
  expect(nextName("losses.csv.gz")).toBe("losses (2).csv.gz");
  expect(nextName("data/losses.csv")).toBe("data/losses (2).csv");
  expect(nextName("folder")).toBe("folder (2)");
  expect(nextName("été 😀.csv")).toBe("été 😀 (2).csv");
  expect(nextName(".env")).toBe(".env (2)");
});

test("code that reads a file, by its ending", () => {
  expect(read("data/losses.csv").source).toBe('import pandas as pd\n\nlosses = pd.read_csv("data/losses.csv")\nlosses');
  expect(read("a.tsv").source).toContain('pd.read_csv("a.tsv", sep="\\t")');
  expect(read("sales 2025 (2).parquet").source).toContain('sales_2025_2 = pd.read_parquet("sales 2025 (2).parquet")');
  expect(read("events.jsonl").source).toContain("lines=True");
  expect(read("config.json").source).toContain('config = json.loads(Path("config.json").read_text(encoding="utf-8"))');
  expect(read("plot.png").source).toBe('from IPython.display import Image\n\nImage(filename="plot.png")');
  expect(read("notes.txt").source).toContain("print(notes)");
  expect(read("shop.sqlite")).toEqual({ cell_type: "sql", source: "-- @shop.sqlite\nSELECT name, sql FROM sqlite_master" });
});

test("names of variables are names, and shadow nothing that one needs", () => {
  expect(read("2025.csv").source).toContain("data_2025 = ");
  expect(read("class.csv").source).toContain("class_data = ");
  expect(read("pd.csv").source).toContain("pd_data = pd.read_csv");
  expect(read("---.csv").source).toContain("data = ");
  expect(read("größe.csv").source).toContain('größe = pd.read_csv("größe.csv")');
});

test("Polars where the notebook uses it, pandas where it uses both; R in R", () => {
  expect(read("a.csv", documentWith(["import polars as pl"])).source).toContain('import polars as pl\n\na = pl.read_csv("a.csv")');
  expect(read("a.csv", documentWith(["import polars as pl\nimport pandas as pd"])).source).toContain("pd.read_csv");
  const r = documentWith([], { kernelspec: { name: "ir", language: "R" } });
  expect(read("a.csv", r).source).toBe('a <- read.csv("a.csv")\na');
});

test("code says what it reads, whatever is in the name", () => {
  expect(read('a"b\\c.csv').source).toContain('pd.read_csv("a\\"b\\\\c.csv")');
  expect(read("txt.\u202evsc.csv").source).toContain('"txt.\\u202evsc.csv"');
  expect(read("line\nbreak.csv").source).toContain('"line\\nbreak.csv"');
  expect(shownName("a\nb\u202ec")).toBe("a\\x0ab\\u202ec");
  expect(shownName("עברית 😀.csv")).toBe("עברית 😀.csv");
});

test("data is read by code; text and programs are cells themselves", () => {
  for (const name of ["a.csv", "A.PARQUET", "a.json", "a.xlsx", "a.csv.gz", "a.db"]) expect(isData(name), name).toBe(true);
  for (const name of ["a.py", "a.md", "a.ipynb", "a.txt", "a", "a.png"]) expect(isData(name), name).toBe(false);
});
