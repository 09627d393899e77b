// Words for live activity in the list of notebooks. Does not use the DOM.
import type { NotebookNow } from "../../protocol/rest.ts";

export type { NotebookNow };

/** Example: “Ann and Bo are here; 1 running, 2 queued”. Empty without activity. */
export function nowWords({ running, queued, people }: NotebookNow): string {
  const names = people.map(({ name }) => name);
  const here = names.length === 0 ? "" : `${listed(names)} ${names.length === 1 ? "is" : "are"} here`;
  const runs = running === 0 ? "" : running === 1 ? "1 running" : `${running} running`;
  const waits = queued === 0 ? "" : `${queued} queued`;
  return [here, [runs, waits].filter(Boolean).join(", ")].filter(Boolean).join("; ");
}

/** Removes the reader from the people present. */
export function withoutMe(now: NotebookNow, me: { kind: string; id?: string }): NotebookNow {
  return { ...now, people: now.people.filter(({ actor }) => !(actor.kind === "user" && me.kind === "user" && actor.id === me.id)) };
}

/** Updates each line with its newest data; a line without an update loses its activity (`now`). */
export function keptUp<T extends { id: string; now?: NotebookNow | null }>(lines: T[], told: T[]): T[] {
  const latest = new Map(told.map((line) => [line.id, line]));
  return lines.map((line) => latest.get(line.id) ?? { ...line, now: null });
}

function listed(names: string[]): string {
  if (names.length < 2) return names[0] ?? "";
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
