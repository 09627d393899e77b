// Files beside a notebook: what a folder holds, and what is on its way there and back. What is on its way goes on when nobody looks.
import type { components } from "../protocol/rest.ts";
import { Problem } from "../transport/rest.ts";
import { newId } from "../transport/ids.ts";
import { sizeWords } from "./sizes.ts";
import type { NotebookStore } from "./store.ts";

export type FileList = components["schemas"]["FileList"];
export type FileEntry = components["schemas"]["FileEntry"];

/** A file on its way. */
export interface Moving {
  id: string;
  name: string;
  path: string;
  way: "up" | "down";
  size: number;
  moved: number;
  /** `taken`: a file of this name is there, and a person decides. */
  state: "waiting" | "going" | "done" | "taken" | "failed";
  words?: string;
}

interface Upload {
  moving: Moving;
  file: File;
}

const KEPT_MS = 10_000;

export const below = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`);

export class Files {
  /** Newest last. */
  moving: readonly Moving[] = [];
  /** Somebody looks: what ends is not told by other means. */
  isShown = false;
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

  /** One after the other, into a folder; those that are too large are told at once. */
  upload(folder: string, files: File[], maxBytes: number): void {
    for (const file of files) {
      const path = below(folder, file.name);
      const moving: Moving = { id: newId(), name: file.name, path, way: "up", size: file.size, moved: 0, state: "waiting" };
      this.moving = [...this.moving, moving];
      this.#uploads.set(moving.id, { moving, file });
      if (file.size > maxBytes) this.#change(moving.id, { state: "failed", words: `Too large (at most ${sizeWords(maxBytes)})` });
      else this.#enqueue(moving.id, false);
    }
    this.#tell();
  }

  /** What was taken is replaced; what failed is tried again. */
  again(id: string, overwrite: boolean): void {
    this.#change(id, { state: "waiting", moved: 0, words: "" });
    this.#enqueue(id, overwrite);
  }

  /** Ends what goes on, and forgets what has ended. */
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
      // The browser shows it from here on.
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
    const { path, name } = upload.moving;
    this.#change(id, { state: "going" });
    await this.#follow(id, async (signal) => {
      // Asked before the bytes go: an answer in the middle of them may not be heard.
      if (!overwrite && (await this.#isThere(path, signal))) throw new Problem(409, "file_exists", "A file with this name exists");
      const moved = (bytes: number) => this.#change(id, { moved: bytes });
      await rest.upload(this.#content(path, overwrite), upload.file, moved, signal);
      this.#uploads.delete(id);
      this.#change(id, { state: "done", words: "" });
      if (!this.isShown) this.store.toast({ text: `Uploaded ${name}` });
    });
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
      const isTaken = error instanceof Problem && error.code === "file_exists";
      const words = (error as Error).message;
      this.#change(id, isTaken ? { state: "taken", words: "A file with this name exists" } : { state: "failed", words });
      const name = this.moving.find((each) => each.id === id)?.name;
      if (!this.isShown) this.store.toast({ text: `${name}: ${words}`, isError: true });
    } finally {
      this.#ends.delete(id);
    }
  }

  #change(id: string, change: Partial<Moving>): void {
    this.moving = this.moving.map((each) => (each.id === id ? { ...each, ...change } : each));
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

const known = new WeakMap<NotebookStore, Files>();

/** Those of an open notebook. */
export function filesOf(store: NotebookStore): Files {
  const files = known.get(store) ?? new Files(store);
  known.set(store, files);
  return files;
}
