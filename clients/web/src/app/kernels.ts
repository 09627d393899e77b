// Which kernel is meant where nobody names one, and what it does now.
import type { NotebookStore } from "./store.ts";

/** The kernel that runs what names none. */
export function defaultKernel(store: NotebookStore): string | undefined {
  const usable = [...store.document.kernels].filter(([, session]) => session.phase !== "ending");
  return usable.sort(([, a], [, b]) => a.requested_version - b.requested_version)[0]?.[0];
}

export function statusOf(store: NotebookStore, id: string) {
  return store.replica.kernels.find((each) => each.kernel_session === id);
}
