// Reads the golden files of protocol/golden.
import { readdirSync, readFileSync } from "node:fs";

const golden = new URL("../../../protocol/golden/", import.meta.url);

export function readText(path: string): string {
  return readFileSync(new URL(path, golden), "utf8");
}

export function readJson<T>(path: string): T {
  return JSON.parse(readText(path)) as T;
}

export function names(folder: string): string[] {
  return readdirSync(new URL(folder, golden)).sort();
}
