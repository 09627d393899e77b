// What the page says about states: sentences, times.
import { serverNow } from "./clock.ts";
import type { Actor, Execution } from "../protocol/messages.ts";

const STATUS: Record<string, string> = {
  queued: "Waits for its turn",
  assigned: "Is next",
  running: "Running",
  ok: "Done",
  error: "Failed",
  cancelled: "Cancelled",
  blocked: "Blocked: an earlier cell failed",
  lost: "Lost",
};

/** A word of the protocol as people read it, or what names a variant; one that this page does not know is shown as it is. */
export function plain(word: unknown): string {
  const isObject = typeof word === "object" && word !== null;
  const named = isObject ? ((word as { kind?: unknown }).kind ?? Object.keys(word)[0]) : word;
  return String(named).replaceAll("_", " ");
}

export function statusWords(run: Execution): string {
  const words = STATUS[run.status] ?? plain(run.status);
  const cause = endSentence(run);
  return cause ? `${words}: ${cause}` : words;
}

/** What follows “because”, by the protocol's words. */
const CAUSES: Record<string, string> = {
  requested: "somebody cancelled it",
  interrupted: "it was interrupted",
  timed_out: "its time was up",
  cell_deleted: "its cell is in the trash",
  kernel_not_started: "its kernel did not start",
  kernel_restarted: "its kernel was restarted",
  kernel_shut_down: "its kernel was shut down",
  kernel_died: "its kernel died",
  agent_stopped: "its runtime agent was stopped",
  agent_lost: "its runtime agent is gone",
  given_up: "somebody gave it up",
  shut_down: "it was shut down",
  restarted: "it was restarted",
  idle: "it had no work",
  died: "the kernel died",
  not_installed: "the kernel is not installed",
  cannot_start: "the kernel cannot be started",
  no_answer: "the kernel did not answer",
};

/** A cause as people read it: what is known beyond it, else what it means, else its word. */
export function causeWords(cause: unknown, detail?: string | null): string {
  return (detail ? withoutLog(detail).words : undefined) ?? CAUSES[String(cause)] ?? plain(cause);
}

/** What is known of a kernel's end, and what its process wrote last (src/agent/kernel.rs): several lines, for a place of their own. */
export function withoutLog(detail: string): { words: string; log?: string } {
  const [words = "", log] = detail.split(/; it wrote(?: last)?:\n([^]*)/);
  return log ? { words, log } : { words };
}

/** The same where it is known who did it. */
const ENDED_BY: Record<string, string> = {
  requested: "cancelled it",
  interrupted: "interrupted it",
  cell_deleted: "moved its cell to the trash",
  kernel_restarted: "restarted its kernel",
  kernel_shut_down: "shut its kernel down",
};

/** “Cancelled: Ann interrupted it”; without a name, or where nobody did it, as `statusWords`. */
export function endedWords(run: Execution, name: string | undefined): string {
  const did = name && !run.notice && run.status === "cancelled" ? ENDED_BY[String(run.end_cause)] : undefined;
  return did === undefined ? statusWords(run) : `${STATUS["cancelled"]}: ${name} ${did}`;
}

/** Why a run ended as it did, where there is more to say than its status. */
export function endSentence(run: Execution): string | undefined {
  const why = run.end_cause ? causeWords(run.end_cause, run.notice) : (run.notice ?? undefined);
  // It was its agent's to begin, which has not told.
  return why !== undefined && run.status === "lost" && !run.started_at ? `${why}; nobody knows whether it began` : why;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Of a clock that is shown while it goes: whole seconds. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1_000);
}

/** As it fits into the gutter. */
export function shortDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60
    ? `${minutes}:${String(Math.floor((ms % 60_000) / 1_000)).padStart(2, "0")}`
    : `${Math.floor(minutes / 60)} h`;
}

/** 2nd, 3rd, 11th. */
export function ordinal(number: number): string {
  const ending = { one: "st", two: "nd", few: "rd", other: "th" }[
    new Intl.PluralRules("en", { type: "ordinal" }).select(number) as string
  ];
  return `${number}${ending ?? "th"}`;
}

/** Who asked for a run, when, how long it took and how it ended. */
export function runSentence(run: Execution, name: string): string {
  if (run.cause === "imported")
    return `It came with the file that ${name || kindOf(run.requested_by)} brought in, and has not run here.`;
  if (run.cause === "functions_restored" && run.status === "ok") return "It ran by itself, so that its functions are there again.";
  const asked = `${name || kindOf(run.requested_by)} asked for it ${date(run.requested_at)}.`;
  if (run.started_at && run.ended_at) {
    const took = duration(run.ended_at - run.started_at);
    return `${asked} It ran ${took}: ${run.status === "ok" ? "done" : statusWords(run).toLowerCase()}.`;
  }
  return `${asked} ${statusWords(run)}.`;
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function ago(at: number, now = serverNow()): string {
  const seconds = (at - now) / 1_000;
  if (Math.abs(seconds) < 60) return relative.format(0, "second");
  if (Math.abs(seconds) < 3_600) return relative.format(Math.round(seconds / 60), "minute");
  if (Math.abs(seconds) < 86_400) return relative.format(Math.round(seconds / 3_600), "hour");
  if (Math.abs(seconds) < 7 * 86_400) return relative.format(Math.round(seconds / 86_400), "day");
  return absolute.format(at);
}

export function date(at: number): string {
  return absolute.format(at);
}

/** Who somebody is without a name at hand. */
export function kindOf(actor: Actor): string {
  return { user: "Somebody", guest: "A guest", assistant: "The assistant", agent: "The runtime agent", system: "The server" }[
    actor.kind
  ];
}

/** One of twelve hues, the same for a person wherever they are. */
export function hueOf(text: string): number {
  let sum = 7;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9_973;
  return sum % 12;
}
