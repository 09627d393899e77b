// What the list of notebooks says of this moment, in words. Knows no DOM.
import type { components } from "../protocol/rest.ts";

export type NotebookNow = components["schemas"]["NotebookNow"];

/** “Ann and Bo are here; 1 running, 2 queued”. Nothing where nothing happens. */
export function nowWords({ running, queued, people }: NotebookNow): string {
  const names = people.map(({ name }) => name);
  const here = names.length === 0 ? "" : `${listed(names)} ${names.length === 1 ? "is" : "are"} here`;
  const runs = running === 0 ? "" : running === 1 ? "1 running" : `${running} running`;
  const waits = queued === 0 ? "" : `${queued} queued`;
  return [here, [runs, waits].filter(Boolean).join(", ")].filter(Boolean).join("; ");
}

/** The others of those who are there: that I am is no news. */
export function withoutMe(now: NotebookNow, me: { kind: string; id?: string }): NotebookNow {
  return { ...now, people: now.people.filter(({ actor }) => !(actor.kind === "user" && me.kind === "user" && actor.id === me.id)) };
}

/** The lines as they stand, each as it is by now; of one that has not been told, nothing is known of this moment. */
export function keptUp<T extends { id: string; now?: NotebookNow | null }>(lines: T[], told: T[]): T[] {
  const latest = new Map(told.map((line) => [line.id, line]));
  return lines.map((line) => latest.get(line.id) ?? { ...line, now: null });
}

function listed(names: string[]): string {
  if (names.length < 2) return names[0] ?? "";
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
