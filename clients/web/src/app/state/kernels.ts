// Default kernel of a notebook, and the status of a kernel.
import type { OpenNotebook } from "./notebook.ts";

/** The kernel for runs that name none: the one requested first. */
export function defaultKernel(notebook: Pick<OpenNotebook, "replica">): string | undefined {
  const usable = [...notebook.replica.document.kernels].filter(([, session]) => session.phase !== "ending");
  return usable.sort(([, a], [, b]) => a.requested_version - b.requested_version)[0]?.[0];
}

export function statusOf(notebook: Pick<OpenNotebook, "replica">, id: string) {
  return notebook.replica.kernels.find((each) => each.kernel_session === id);
}
