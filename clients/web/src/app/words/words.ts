// Words for states, times and durations.
import { serverNow } from "../session/clock.ts";
import type { Actor, EndCause, Execution, ExecutionStatus, KernelCause } from "../../protocol/messages.ts";

const STATUS = {
  queued: "Queued",
  assigned: "Next",
  running: "Running",
  ok: "Done",
  error: "Failed",
  cancelled: "Cancelled",
  blocked: "Skipped: an earlier cell failed",
  lost: "Kernel died",
} satisfies Record<ExecutionStatus, string>;

/** Entry of a table for a word of the protocol; undefined for a word of a later version. */
export function wordOf<Entry>(table: { readonly [word: string]: Entry }, word: unknown): Entry | undefined {
  return typeof word === "string" && Object.hasOwn(table, word) ? table[word] : undefined;
}

/** A protocol word, or the name of a variant, in readable form; unknown words are shown as they are. */
export function plain(word: unknown): string {
  const isObject = typeof word === "object" && word !== null;
  const named = isObject ? ((word as { kind?: unknown }).kind ?? Object.keys(word)[0]) : word;
  return String(named).replaceAll("_", " ");
}

export function statusWords(run: Execution): string {
  const words = wordOf(STATUS, run.status) ?? plain(run.status);
  const cause = endSentence(run);
  return cause && cause !== words.toLowerCase() ? `${words}: ${cause}` : words;
}

/** Readable kernel name: `python3` becomes “Python 3”. */
export function kernelName(kernelspec: string): string {
  const version = /^python(\d)$/.exec(kernelspec)?.[1];
  return version === undefined ? kernelspec : `Python ${version}`;
}

/** Words after a colon, by cause in the protocol. */
const CAUSES = {
  requested: "stopped",
  interrupted: "interrupted",
  timed_out: "time limit reached",
  cell_deleted: "cell deleted",
  kernel_not_started: "the kernel didn’t start",
  kernel_restarted: "kernel restarted",
  kernel_shut_down: "kernel shut down",
  kernel_died: "kernel died",
  agent_stopped: "runtime agent stopped",
  agent_lost: "runtime agent disconnected",
  given_up: "given up",
  holds_open: "the kernel holds files or connections open that the code could change",
  effects_not_held: "the kernel can’t hold the effects of an assistant’s code",
  shut_down: "shut down",
  restarted: "restarted",
  idle: "idle for too long",
  died: "it crashed",
  not_installed: "not installed",
  cannot_start: "couldn’t be started",
  no_answer: "no answer",
} satisfies Record<EndCause | KernelCause, string>;

/** End of a kernel as a sentence without its full stop. */
const KERNEL_ENDS = {
  shut_down: "The kernel was shut down",
  restarted: "The kernel was restarted",
  idle: "The kernel was stopped because it was idle",
  died: "The kernel crashed",
  not_installed: "The kernel isn’t installed",
  cannot_start: "The kernel couldn’t be started",
  no_answer: "The kernel didn’t answer",
  agent_stopped: "The runtime agent was stopped",
  agent_lost: "The runtime agent disconnected",
  given_up: "The kernel was given up",
} satisfies Record<KernelCause, string>;

/** Example: “The kernel crashed (exit code 1)”. */
export function kernelEnd({ cause, detail }: { cause: unknown; detail?: string | null }): string {
  const words = wordOf(KERNEL_ENDS, cause) ?? `The kernel stopped (${plain(cause)})`;
  const why = detail ? shortDetail(withoutLog(detail).words) : "";
  return why === "" ? words : `${words} (${why})`;
}

/** Example: “the kernel process exited with code 1” becomes “exit code 1”. */
function shortDetail(detail: string): string {
  return detail
    .replace(/^the kernel did not start: /, "the kernel didn’t start: ")
    .replace(/the kernel process exited with code (\d+)( before it answered)?$/, "exit code $1$2")
    .replace(
      /^the kernel process was (?:killed|ended) by (signal \d+)(?: \((\w+)\))?(, as the system does when memory runs out)?.*$/,
      (_, signal, __, memory) => (memory ? "out of memory" : signal),
    )
    .replace(/^the kernel process crashed with (signal \d+).*$/, "$1");
}

/** A cause in words: its detail, else its meaning, else the protocol's word. */
export function causeWords(cause: unknown, detail?: string | null): string {
  return (detail ? shortDetail(withoutLog(detail).words) : undefined) ?? wordOf(CAUSES, cause) ?? plain(cause);
}

/** Separates the end of a kernel from its process's last output (src/agent/kernel.rs), which has several lines. */
export function withoutLog(detail: string): { words: string; log?: string } {
  const [words = "", log] = detail.split(/; it wrote(?: last)?:\n([^]*)/);
  return log ? { words, log } : { words };
}

/** Words for a cause when its author is known. */
const ENDED_BY: { [cause in EndCause]?: (name: string) => string } = {
  requested: (name) => `Cancelled by ${inside(name)}`,
  interrupted: (name) => `Interrupted by ${inside(name)}`,
  cell_deleted: (name) => `Cancelled: ${inside(name)} deleted the cell`,
  kernel_restarted: (name) => `Cancelled: ${inside(name)} restarted the kernel`,
  kernel_shut_down: (name) => `Cancelled: ${inside(name)} shut down the kernel`,
};

/** A name in the middle of a sentence. */
function inside(name: string): string {
  return /^(You|Your assistant|The assistant|Someone|A guest|The runtime agent|The server)$/.test(name)
    ? name.charAt(0).toLowerCase() + name.slice(1)
    : name;
}

/** Example: “Interrupted by Ann”; without a name or an author, `statusWords`. */
export function endedWords(run: Execution, name: string | undefined): string {
  const words = name && !run.notice && run.status === "cancelled" ? wordOf(ENDED_BY, run.end_cause) : undefined;
  return words === undefined || name === undefined ? statusWords(run) : words(name);
}

/** Cause of a run's end, if it adds to the status. */
export function endSentence(run: Execution): string | undefined {
  const why = run.end_cause ? causeWords(run.end_cause, run.notice) : (run.notice ?? undefined);
  // The run was assigned to a runtime agent that did not report its start.
  return why !== undefined && run.status === "lost" && !run.started_at ? `${why}; it may have started` : why;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Duration of a running clock, in whole seconds. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1_000);
}

/** Duration that fits into the gutter. */
export function shortDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60
    ? `${minutes}:${String(Math.floor((ms % 60_000) / 1_000)).padStart(2, "0")}`
    : `${Math.floor(minutes / 60)} h`;
}

/** Examples: 2nd, 3rd, 11th. */
export function ordinal(number: number): string {
  const ending = { one: "st", two: "nd", few: "rd", other: "th" }[
    new Intl.PluralRules("en", { type: "ordinal" }).select(number) as string
  ];
  return `${number}${ending ?? "th"}`;
}

/** Sentence about a run: requester, time, duration and end. */
export function runSentence(run: Execution, name: string): string {
  if (run.cause === "imported") return `Imported by ${inside(name || kindOf(run.requested_by))}. Not run here.`;
  if (run.cause === "functions_restored" && run.status === "ok") return "Ran automatically to restore its functions.";
  const asked = `Started by ${inside(name || kindOf(run.requested_by))}, ${date(run.requested_at)}.`;
  if (run.started_at && run.ended_at) {
    const took = duration(run.ended_at - run.started_at);
    return `${asked} ${run.status === "ok" ? "Done" : statusWords(run)} after ${took}.`;
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

/** Words for an actor without a name. */
export function kindOf(actor: Actor): string {
  return { user: "Someone", guest: "A guest", assistant: "The assistant", agent: "The runtime agent", system: "The server" }[
    actor.kind
  ];
}

/** Name of a peer. Another page of the same person is theirs, not another person. */
export function peerName({ name, actor }: { name: string; actor: Actor }, isMe: (actor: Actor) => boolean): string {
  return isMe(actor) ? "You, in another tab" : name || kindOf(actor);
}

/** Two initials: of the first and last word, else the first two letters, so that Ann and Anton differ. */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const [first = "?", last] = [words[0] || "?", words.length > 1 ? words.at(-1) : undefined];
  const [one = "?", two = ""] = [...first];
  return one.toUpperCase() + (last ? ([...last][0] ?? "").toUpperCase() : two.toLowerCase());
}

/** One of twelve hues, the same for a person everywhere. */
export function hueOf(text: string): number {
  let sum = 7;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9_973;
  return sum % 12;
}
