// Kernels of a notebook: the default kernel, the status of each, and the runtime agents that hold them.
import type { OpenNotebook } from "./notebook.ts";
import type { Document } from "../../protocol/document.ts";
import type { KernelStatus } from "../../protocol/messages.ts";

/** The kernel for runs that name none: the one requested first. */
export function defaultKernel(notebook: Pick<OpenNotebook, "replica">): string | undefined {
  const usable = [...notebook.replica.document.kernels].filter(([, session]) => session.phase !== "ending");
  return usable.sort(([, a], [, b]) => a.requested_version - b.requested_version)[0]?.[0];
}

export function statusOf(notebook: Pick<OpenNotebook, "replica">, id: string) {
  return notebook.replica.kernels.find((each) => each.kernel_session === id);
}

/** A runtime agent that holds kernels of this notebook. */
export interface AgentHere {
  id: string;
  /** The name given by its owner; the end of its id until the name is known. */
  name: string;
  kernelspecs: string[];
  isReachable: boolean;
  /** True while it executes a run. */
  isBusy: boolean;
  /** The cell whose run it executes. */
  cell: string | undefined;
}

export function agentsHere({ kernels, executions }: Document, statuses: readonly KernelStatus[]): AgentHere[] {
  const found = new Map<string, AgentHere>();
  const sessions = [...kernels].sort(([, a], [, b]) => a.requested_version - b.requested_version);
  for (const [session, { agent, kernelspec, phase }] of sessions) {
    if (!agent || phase === "ending") continue;
    const status = statuses.find(({ kernel_session }) => kernel_session === session);
    const running = [...executions.values()].find((run) => run.kernel_session === session && run.status === "running");
    const before = found.get(agent);
    found.set(agent, {
      id: agent,
      name: status?.agent_name ?? before?.name ?? `agent ${agent.slice(-6)}`,
      kernelspecs: [...(before?.kernelspecs ?? []), kernelspec],
      isReachable: (before?.isReachable ?? true) && status?.reachable !== false,
      isBusy: (before?.isBusy ?? false) || (status?.busy ?? running !== undefined),
      cell: before?.cell ?? (running?.subject.kind === "cell" ? running.subject.cell_id : undefined),
    });
  }
  return [...found.values()];
}
