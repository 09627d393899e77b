import { expect, test } from "vitest";
import { agentsHere } from "../../src/app/state/kernels.ts";
import { Document } from "../../src/protocol/document.ts";
import type { Execution, KernelSession, KernelStatus } from "../../src/protocol/messages.ts";

const session = (agent: string | null, requested_version: number, phase = "started") =>
  ({ kernelspec: "python3", phase, requested_version, agent }) as KernelSession;
const status = (kernel_session: string, more: Partial<KernelStatus> = {}): KernelStatus => ({
  ...{ kernel_session, reachable: true, busy: false, agent_name: "GPU" },
  ...more,
});
const run = (kernel_session: string, state: string, cell_id = "c") =>
  ({ kernel_session, status: state, subject: { kind: "cell", cell_id } }) as unknown as Execution;

test("an agent is here once, however many kernels it holds, with the cell that it runs", () => {
  const document = new Document("nb");
  document.kernels.set("k2", session("gpu", 2)).set("k1", session("gpu", 1)).set("k3", session("laptop-123456", 3));
  document.executions.set("r", run("k2", "running"));
  const here = agentsHere(document, [status("k1"), status("k2", { busy: true })]);
  expect(here.map(({ name, kernelspecs, isBusy, cell }) => ({ name, kernels: kernelspecs.length, isBusy, cell }))).toEqual([
    { name: "GPU", kernels: 2, isBusy: true, cell: "c" },
    { name: "agent 123456", kernels: 1, isBusy: false, cell: undefined },
  ]);
});

test("one that cannot be reached says so for all its kernels; what waits or ends has no agent here", () => {
  const document = new Document("nb");
  document.kernels.set("k1", session("gpu", 1)).set("k2", session("gpu", 2));
  document.kernels.set("k3", session(null, 3, "requested")).set("k4", session("old", 4, "ending"));
  const here = agentsHere(document, [status("k1"), status("k2", { reachable: false })]);
  expect(here).toHaveLength(1);
  expect(here[0]).toMatchObject({ id: "gpu", isReachable: false });
});
