// Machines of runtime agents in words: cores, memory, GPUs, load, labels.
import type { LaunchWait, NotebookAgent } from "../../protocol/rest.ts";
import { plain } from "./words.ts";
import { sizeWords } from "./sizes.ts";

const used = (percent: number | null | undefined): string => (percent == null ? "" : ` (${percent} % used)`);

/** A machine such as `8 cores (12 % used), 32 GB (40 % used), A100 80 GB`. */
export function machineWords({ connected, machine, load }: NotebookAgent): string {
  if (!connected) return "Not connected";
  if (!machine) return "";
  const { cores, memory_bytes, gpus = [] } = machine;
  const memory = load && memory_bytes > 0 ? Math.round((100 * load.memory_used_bytes) / memory_bytes) : undefined;
  const graphics = gpus.map(
    ({ name, memory_bytes: bytes }, index) => `${plain(name)} ${sizeWords(bytes)}${used(load?.gpus?.[index]?.busy_percent)}`,
  );
  const processors = `${cores} ${cores === 1 ? "core" : "cores"}${used(load?.cpu_percent)}`;
  return [processors, `${sizeWords(memory_bytes)}${used(memory)}`, ...graphics].join(", ");
}

export function labelWords(labels: { [key: string]: string } = {}): string {
  return Object.entries(labels)
    .map(([key, value]) => `${plain(key)}=${plain(value)}`)
    .join(", ");
}

/** Labels from text such as `gpu=a100, place=cellar`; `undefined`: it is not written so. */
export function labelsOf(text: string): { [key: string]: string } | undefined {
  const parts = text.split(/[,\s]+/).filter((part) => part !== "");
  const pairs = parts.map((part) => part.split("=").map((one) => one.trim()));
  const isWhole = pairs.every((pair) => pair.length === 2 && pair.every((one) => /^[\p{L}\p{N}._\-/:]{1,63}$/u.test(one)));
  return isWhole ? Object.fromEntries(pairs as [string, string][]) : undefined;
}

/** The reason for which a kernel waits, as a sentence. */
export function waitWords({ detail }: LaunchWait): string {
  const words = plain(detail);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
