// Default kernel of a notebook, and the status of a kernel.
import type { NotebookStore } from "./store.ts";

/** The kernel for runs that name none: the one requested first. */
export function defaultKernel(store: NotebookStore): string | undefined {
  const usable = [...store.document.kernels].filter(([, session]) => session.phase !== "ending");
  return usable.sort(([, a], [, b]) => a.requested_version - b.requested_version)[0]?.[0];
}

export function statusOf(store: NotebookStore, id: string) {
  return store.replica.kernels.find((each) => each.kernel_session === id);
}
