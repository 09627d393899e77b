// Load of runtime agents' machines: the sum from the server's metrics, and each machine as a notebook's kernels tell it.
import type { Kernels, NotebookAgent, NotebookPage, Token } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";

/** Sum over the connected machines. */
export interface Machines {
  agents: number;
  cores: number;
  busyCores: number;
  memoryBytes: number;
  usedMemoryBytes: number;
  gpus: number;
  busyGpus: number;
}

const METRICS: Record<keyof Machines, string> = {
  agents: "notarium_agents",
  cores: "notarium_agent_cores",
  busyCores: "notarium_agent_busy_cores",
  memoryBytes: "notarium_agent_memory_bytes",
  usedMemoryBytes: "notarium_agent_used_memory_bytes",
  gpus: "notarium_agent_gpus",
  busyGpus: "notarium_agent_busy_gpus",
};

/** Reads the sums from metrics in the text format of Prometheus; undefined if they lack the number of agents. */
export function machinesOf(metrics: string): Machines | undefined {
  const values = new Map(
    metrics
      .split("\n")
      .map((line) => line.split(" "))
      .map(([name = "", value]) => [name, Number(value)]),
  );
  if (!values.has(METRICS.agents)) return undefined;
  const entries = Object.entries(METRICS).map(([field, name]) => [field, values.get(name) ?? 0]);
  return Object.fromEntries(entries) as Machines;
}

export async function loadMachines(rest: Rest): Promise<Machines | undefined> {
  return machinesOf(await (await rest.send("/metrics")).text());
}

/** Notebooks that are asked at most for the loads of single machines. */
const MOST_ASKED = 8;

/** Machines by agent id, as far as notebooks that the administrator may read tell them. */
export async function loadAgents(rest: Rest, tokens: readonly Token[]): Promise<Map<string, NotebookAgent>> {
  const { notebooks } = await rest.get<NotebookPage>("/api/notebooks?limit=1");
  const covered = tokens.flatMap(({ covers }) => covers.notebooks?.[0] ?? []);
  const ids = [...new Set([...notebooks.map(({ id }) => id), ...covered])].slice(0, MOST_ASKED);
  const answers = await Promise.allSettled(ids.map((id) => rest.get<Kernels>(`/api/notebooks/${id}/kernels`)));
  const agents = answers.flatMap((answer) => (answer.status === "fulfilled" ? (answer.value.agents ?? []) : []));
  return new Map(agents.map((agent) => [agent.id, agent]));
}
