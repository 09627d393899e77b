// Files beside a notebook: lists, uploads and downloads. Transfers continue while the panel is closed.
import { wordOf } from "../words/words.ts";
import type { FileEntry, FileRefusal, MovedFile, TrashedFile } from "../../protocol/messages.ts";
import type { FileList, FileTrash } from "../../protocol/rest.ts";
import { Problem } from "../../transport/rest.ts";
import { newId } from "../../transport/ids.ts";
import { nameParts, nextName, shownName } from "./readers.ts";
import { sizeWords } from "../words/sizes.ts";
import type { NotebookStore } from "../state/store.ts";

export type { FileList };
export type { FileEntry };
export type { FileTrash };
export type { TrashedFile };

/** A file being transferred. */
export interface Moving {
  id: string;
  name: string;
  path: string;
  way: "up" | "down";
  size: number;
  moved: number;
  /** `taken`: a file with this name exists, and the person decides. */
  state: "waiting" | "going" | "done" | "taken" | "failed";
  words?: string;
}

export interface UploadOptions {
  /** Adds a number to a name that exists; otherwise the person decides. */
  isNumbered?: boolean;
  /** Called with the file's path after the upload. */
  then?: (path: string) => void;
}

interface Upload extends UploadOptions {
  moving: Moving;
  file: File;
}

const KEPT_MS = 10_000;
const TAKEN = "A file with this name exists";
/** Limit of numbered names that are tried. */
const MOST_NUMBERS = 100;

export const below = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`);

export class Files {
  /** Newest last. */
  moving: readonly Moving[] = [];
  /** The panel is visible and displays the ends of transfers itself; otherwise toasts do. */
  isShown = false;
  /** Counts this page's changes of the folder; each one reloads the lists. */
  changes = 0;
  readonly #listeners = new Set<() => void>();
  readonly #uploads = new Map<string, Upload>();
  readonly #ends = new Map<string, AbortController>();
  #queue: Promise<void> = Promise.resolve();

  constructor(readonly store: NotebookStore) {}

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  list(path: string, after: string | undefined, all: boolean): Promise<FileList> {
    const query = new URLSearchParams({ path, ...(after === undefined ? {} : { after }), ...(all ? { all: "true" } : {}) });
    return this.store.session.rest.get<FileList>(`${this.#base}?${query}`);
  }

  // Names and trash

  async rename(from: string, to: string): Promise<string> {
    const { path } = await this.store.session.rest.json<MovedFile>("POST", `${this.#base}/move`, { from, to });
    this.#changed();
    return path;
  }

  /** Moves a file to the trash and offers undo. */
  async remove(path: string): Promise<void> {
    const trashed = await this.#delete<TrashedFile>(`/content?${new URLSearchParams({ path })}`);
    this.store.toast({
      text: `“${shownName(nameParts(path).name)}” moved to the trash`,
      action: { label: "Undo", run: () => void this.#undo(trashed) },
    });
  }

  async #undo({ id, path }: TrashedFile): Promise<void> {
    const name = shownName(nameParts(path).name);
    const other = nextName(path);
    const failed = (error: unknown) => this.store.toast({ text: `${name}: ${problemWords(error)}`, isError: true });
    await this.restore(id).catch((error: unknown) => {
      if (!isTaken(error)) return failed(error);
      const label = `Restore as “${shownName(nameParts(other).name)}”`;
      const run = () => void this.restore(id, other).catch(failed);
      this.store.toast({ text: `“${name}” exists again`, isError: true, action: { label, run } });
    });
  }

  trash(): Promise<FileTrash> {
    return this.store.session.rest.get<FileTrash>(`${this.#base}/trash`);
  }

  async restore(id: string, to?: string): Promise<string> {
    const body = to === undefined ? {} : { to };
    const address = `${this.#base}/trash/${encodeURIComponent(id)}/restore`;
    const { path } = await this.store.session.rest.json<MovedFile>("POST", address, body);
    this.#changed();
    return path;
  }

  /** Deletes one entry of the trash permanently, or all. */
  emptyTrash(id?: string): Promise<FileTrash> {
    return this.#delete(`/trash${id === undefined ? "" : `/${encodeURIComponent(id)}`}`);
  }

  async #delete<T>(below: string): Promise<T> {
    const answer = await this.store.session.rest.send(this.#base + below, { method: "DELETE" });
    this.#changed();
    return (await answer.json()) as T;
  }

  /** Reads the first bytes of a file; `isCut` if it has more. */
  async beginning(path: string, most: number, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; isCut: boolean }> {
    const answer = await this.store.session.rest.send(this.#content(path), { signal });
    const reader = answer.body?.getReader();
    const bytes = new Uint8Array(most);
    let length = 0;
    try {
      for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
        const piece = next.value.subarray(0, most - length);
        bytes.set(piece, length);
        length += piece.length;
        if (piece.length < next.value.length) return { bytes, isCut: true };
      }
    } finally {
      // Ends the request if the caller stops early.
      await reader?.cancel();
    }
    return { bytes: bytes.subarray(0, length), isCut: false };
  }

  // Uploads and downloads

  /** Uploads files into a folder, one after the other. Files that are too large fail immediately. */
  upload(folder: string, files: File[], maxBytes = Infinity, options: UploadOptions = {}): void {
    for (const file of files) {
      const path = below(folder, file.name);
      const moving: Moving = { id: newId(), name: file.name, path, way: "up", size: file.size, moved: 0, state: "waiting" };
      this.moving = [...this.moving, moving];
      this.#uploads.set(moving.id, { moving, file, ...options });
      if (file.size > maxBytes) this.#change(moving.id, { state: "failed", words: `Too large (at most ${sizeWords(maxBytes)})` });
      else this.#enqueue(moving.id, false);
    }
    this.#tell();
  }

  /** Uploads again under another name, if the name exists. */
  keepBoth(id: string): void {
    const upload = this.#uploads.get(id);
    if (!upload) return;
    upload.isNumbered = true;
    this.again(id, false);
  }

  /** Uploads again: `overwrite` replaces the existing file. */
  again(id: string, overwrite: boolean): void {
    this.#change(id, { state: "waiting", moved: 0, words: "" });
    this.#enqueue(id, overwrite);
  }

  /** Aborts a transfer, or removes a finished one from the list. */
  dismiss(id: string): void {
    this.#ends.get(id)?.abort();
    this.#ends.delete(id);
    this.#uploads.delete(id);
    this.moving = this.moving.filter((each) => each.id !== id);
    this.#tell();
  }

  async download(folder: string, entry: FileEntry): Promise<void> {
    const path = below(folder, entry.name);
    const size = entry.size_bytes ?? 0;
    const moving: Moving = { id: newId(), name: entry.name, path, way: "down", size, moved: 0, state: "going" };
    this.moving = [...this.moving, moving];
    this.#tell();
    await this.#follow(moving.id, async (signal) => {
      const answer = await this.store.session.rest.send(this.#content(path), { signal });
      const blob = await answer.blob().catch((error: unknown) => {
        if (signal.aborted) throw error;
        throw new Problem(0, "cut", "The file changed during the download. Try again.");
      });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = entry.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
      // The browser shows the download's progress from here on.
      this.dismiss(moving.id);
    });
  }

  get #base(): string {
    return `/api/notebooks/${encodeURIComponent(this.store.id)}/files`;
  }

  #content(path: string, overwrite = false): string {
    return `${this.#base}/content?${new URLSearchParams({ path, ...(overwrite ? { overwrite: "true" } : {}) })}`;
  }

  #enqueue(id: string, overwrite: boolean): void {
    this.#queue = this.#queue.then(() => this.#send(id, overwrite));
  }

  async #send(id: string, overwrite: boolean): Promise<void> {
    const upload = this.#uploads.get(id);
    if (!upload) return;
    const { rest } = this.store.session;
    this.#change(id, { state: "going" });
    await this.#follow(id, async (signal) => {
      // The name is checked first: an error sent during the upload may not reach the page.
      const path = overwrite ? upload.moving.path : await this.#free(upload, signal);
      const moved = (bytes: number) => this.#change(id, { moved: bytes });
      await rest.upload(this.#content(path, overwrite), upload.file, moved, signal);
      this.#uploads.delete(id);
      const name = nameParts(path).name;
      this.#change(id, { state: "done", name, path, words: "" });
      this.#changed();
      if (!this.isShown && !upload.then) this.store.toast({ text: `Uploaded ${shownName(name)}` });
      upload.then?.(path);
      setTimeout(() => this.dismiss(id), KEPT_MS);
    });
  }

  /** A path at which no file exists. */
  async #free({ moving, isNumbered }: Upload, signal: AbortSignal): Promise<string> {
    const { folder, name } = nameParts(moving.path);
    const tries = isNumbered === true ? MOST_NUMBERS : 1;
    let free = name;
    for (let number = 0; number < tries; number++) {
      if (!(await this.#isThere(below(folder, free), signal))) return below(folder, free);
      free = nextName(free);
    }
    throw new Problem(409, "file_exists", TAKEN);
  }

  #isThere(path: string, signal: AbortSignal): Promise<boolean> {
    return this.store.session.rest.send(`${this.#base}/about?${new URLSearchParams({ path })}`, { signal }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Problem && error.code === "not_found") return false;
        throw error;
      },
    );
  }

  async #follow(id: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const end = new AbortController();
    this.#ends.set(id, end);
    try {
      await work(end.signal);
    } catch (error) {
      if (end.signal.aborted) return;
      this.#change(id, isTaken(error) ? { state: "taken", words: TAKEN } : { state: "failed", words: problemWords(error) });
    } finally {
      this.#ends.delete(id);
    }
  }

  #changed(): void {
    this.changes += 1;
    this.#tell();
  }

  #change(id: string, change: Partial<Moving>): void {
    this.moving = this.moving.map((each) => (each.id === id ? { ...each, ...change } : each));
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

export const isTaken = (error: unknown) => error instanceof Problem && error.code === "file_exists";

const WORDS: { [code in FileRefusal | "forbidden" | "unreachable"]?: string } = {
  file_exists: "A file or folder with this name exists. Choose another name.",
  agent_unreachable: "No runtime agent is connected. The files are on its machine: start it, then try again.",
  no_kernel: "Several runtime agents could run this notebook. Run a cell first, so that it’s clear whose files you mean.",
  not_found: "It isn’t there any more. Refresh the list.",
  disk_full: "The disk is full. Empty the trash or delete files by code, then try again.",
  forbidden: "You need the right to run code to use files.",
  unreachable: "No connection. Nothing was changed. Try again.",
  timeout: "The runtime agent didn’t answer. Refresh the list before you try again.",
};

/** The page's words for a problem; the server's message if there are none. */
export function problemWords(error: unknown): string {
  const { message } = error as Error;
  const words = error instanceof Problem ? wordOf(WORDS, error.code) : undefined;
  return words ?? message.charAt(0).toUpperCase() + message.slice(1);
}

const known = new WeakMap<NotebookStore, Files>();

/** The files of an open notebook, one object per store. */
export function filesOf(store: NotebookStore): Files {
  const files = known.get(store) ?? new Files(store);
  known.set(store, files);
  return files;
}
