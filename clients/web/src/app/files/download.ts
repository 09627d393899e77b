// Downloads a notebook as a file, current or at a version, and reports what the file lacks.
import type { Rest } from "../../transport/rest.ts";

/** The header that names blobs that are missing or damaged on the server. */
const MISSING = "notarium-missing-blobs";
/** The header that counts comment threads, which no file contains. */
const THREADS = "notarium-left-out-threads";
/** Limit of the blobs that the server names. */
const MOST_NAMED = 50;
const KEPT_MS = 10_000;

/** Sentences about what the file lacks; undefined if it is complete. */
export function lackWords(missing: string | null, threads: string | null = null): string | undefined {
  const comments = Number(threads) > 0 ? "Comments aren’t in the file." : undefined;
  return [outputsLacked(missing), comments].filter((sentence) => sentence !== undefined).join(" ") || undefined;
}

function outputsLacked(missing: string | null): string | undefined {
  const count = (missing ?? "").split(",").filter((hash) => hash.trim() !== "").length;
  if (count === 0) return undefined;
  const what = count === 1 ? "1 large output is" : `${count}${count >= MOST_NAMED ? " or more" : ""} large outputs are`;
  return `${what} missing in the file: lost or damaged on the server. Ask an administrator to restore from a backup.`;
}

/** The notebook itself, or a readable export: HTML, Markdown, Python. */
export type FileFormat = "ipynb" | "html" | "md" | "py";

/** Saves the file; returns sentences about what it lacks. */
export async function download(
  rest: Rest,
  notebook: string,
  title: string,
  at?: number,
  format: FileFormat = "ipynb",
): Promise<string | undefined> {
  const query = new URLSearchParams({ format, ...(at !== undefined && { at: String(at) }) });
  const answer = await rest.send(`/api/notebooks/${encodeURIComponent(notebook)}/export?${query}`);
  await saveAs(answer, `${fileName(title)}${at === undefined ? "" : ` (version ${at})`}.${format}`);
  return lackWords(answer.headers.get(MISSING), answer.headers.get(THREADS));
}

/** Saves the body of an answer under a name. */
export async function saveAs(answer: Response, name: string): Promise<void> {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}

/** Removes characters that file systems refuse. */
export function fileName(title: string): string {
  const plain = title
    .replace(/[\u0000-\u001f<>:"/\\|?*]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return plain.replace(/^[. ]+/, "") || "Untitled";
}
