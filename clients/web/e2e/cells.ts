// Notebooks that tests import as files, with known cell ids.
import { execFileSync } from "node:child_process";

type CellOf = (id: string, source: string) => object;

const ran = { outputs: [], execution_count: null };
export const python: CellOf = (id, source) => ({ id, cell_type: "code", source, metadata: {}, ...ran });
export const query: CellOf = (id, source) => ({
  ...{ id, cell_type: "code", source, metadata: { notarium: { cell_type: "sql" } } },
  ...ran,
});
export const notebook = (...cells: object[]): object => ({
  ...{ nbformat: 4, nbformat_minor: 5, cells },
  metadata: { kernelspec: { name: "python3", display_name: "Python 3", language: "python" } },
});

/** Returns true if this Python has the packages for queries in the kernel. */
export function hasDuckDb(place: string | undefined): boolean {
  if (!place) return false;
  try {
    execFileSync(`${place}/bin/python`, ["-c", "import duckdb, pandas, pyarrow"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
