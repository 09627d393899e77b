// Runtime agents that hold this notebook's kernels, one entry per agent with its state.
import type { Document } from "../../protocol/document.ts";
import type { KernelStatus } from "../../protocol/messages.ts";

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
