// Words for effects of code outside its kernel: what was refused, what a call asks for, and what a kernel holds.
import type { Effect, Effects, RefusedEffect, UnheldCause } from "../../protocol/messages.ts";
import type { CallArguments } from "./toolWords.ts";
import { plain, wordOf } from "./words.ts";

/** Verb of a refused effect, before its target. */
const WANTED = {
  create: "make",
  write: "write",
  remove: "delete",
  network: "connect to",
  signal: "signal",
  database: "change the database",
  open: "change what is open:",
} satisfies Record<Effect, string>;

/** Each kind as the end of “it may …”. */
const MAY = {
  create: "create new files below the working folder",
  write: "overwrite files",
  remove: "delete files",
  network: "use the network",
  signal: "signal other processes",
  database: "write to databases",
  open: "change what the kernel holds open",
} satisfies Record<Effect, string>;

/** The server's own ends of “it may …” (src/record/effects.rs): the page shows its list instead. */
const SAID = {
  create: "make new files in the working folder",
  write: "write files, also over others",
  remove: "remove files",
  network: "use the network",
  signal: "signal other processes",
  database: "change databases",
  open: "change what the kernel holds open",
} satisfies Record<Effect, string>;

export interface RefusedPart {
  verb: string;
  target: string;
  /** Example: “ and 3 more”. Empty: it was one. */
  more: string;
}

/** Refused effects in parts, so that targets can look like code. */
export function refusedParts(refused: readonly RefusedEffect[]): RefusedPart[] {
  return refused.map(({ kind, target, count }) => ({
    verb: wordOf(WANTED, kind) ?? plain(kind),
    target,
    more: count > 1 ? ` and ${count - 1} more` : "",
  }));
}

/** Kinds of the refused effects in words: “overwrite files and use the network”. */
export function kindWords(kinds: readonly unknown[]): string {
  const words = kinds.map((kind) => wordOf(MAY, kind) ?? plain(kind));
  const last = words.pop() ?? "";
  return words.length === 0 ? last : `${words.join(", ")} and ${last}`;
}

/** True unless a person requested the run, or let it run in a kernel that holds nothing. */
export function isHeld(effects: unknown): boolean {
  return effects !== ("free" satisfies Effects) && !isExpected(effects);
}

/** True if a person requested the run in a kernel that ran an assistant’s code: it may do what its own text leads to. */
export function isExpected(effects: unknown): boolean {
  return typeof effects === "object" && effects !== null && "expected" in effects;
}

const RUNS_CODE: ReadonlySet<string> = new Set(["execute_cell", "execute_cell_async", "execute_code", "run_all", "create_cells"]);

/** Kinds of effects that a call asks for. Cells that are only made ask for none. */
export function askedKinds(name: string, given: CallArguments | undefined): string[] {
  const effects = given?.effects;
  if (!RUNS_CODE.has(name) || (name === "create_cells" && given?.run !== true) || !Array.isArray(effects)) return [];
  return [...new Set(effects.filter((kind) => typeof kind === "string"))];
}

/** Example: “May use the network”. */
export function mayWords(kind: string): string {
  return `May ${wordOf(MAY, kind) ?? plain(kind)}`;
}

/** Reasons of a call, without those that only repeat its kinds. */
export function otherReasons(reasons: readonly string[], kinds: readonly string[]): string[] {
  const repeated = new Set(kinds.map((kind) => `it may ${wordOf(SAID, kind) ?? kind}`));
  return reasons.filter((reason) => !repeated.has(reason));
}

const GRANTABLE: ReadonlySet<string> = new Set<Effect>(["create", "network", "open"]);

/** Kinds that a grant for the conversation needs; undefined if one of them destroys something, so that no grant covers it. */
export function grantedKinds(kinds: readonly string[]): Effect[] | undefined {
  return kinds.every((kind): kind is Effect => GRANTABLE.has(kind)) ? [...kinds] : undefined;
}

const UNHELD = {
  switched_off: "it is switched off (--kernel-effects off)",
  not_supported: "its system can’t do it",
  not_permitted: "its container or system doesn’t permit it",
  other_kernel: "it isn’t possible with this kind of kernel",
} satisfies Record<UnheldCause, string>;

/** Sentence of the kernel menu, from the sandbox that was recorded when the kernel started. */
export function kernelEffectWords(sandbox: unknown): string {
  const { effects } = (sandbox ?? {}) as { effects?: unknown };
  if (effects === "held") return "Can’t change files or use the network here unless you allow it";
  const { cause } = (effects as { not_held?: { cause?: unknown } } | undefined)?.not_held ?? {};
  const why = cause === undefined ? "its runtime agent doesn’t say that it can" : (wordOf(UNHELD, cause) ?? plain(cause));
  return `This machine can’t hold it, so each run asks: ${why}`;
}

/** True if a result for the model says that effects were refused (src/core/assistants/call_effects.rs). */
export function toldRefusal(result: string | undefined): boolean {
  return result?.includes("Effects outside the kernel were refused") ?? false;
}
