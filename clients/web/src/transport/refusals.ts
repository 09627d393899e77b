// The page's words for the server's refusals, by code, with advice for this page. The server's own sentences are for all
// clients and contain ids, routes and terminal commands.

import type { Erasure, RejectionDetails } from "../protocol/messages.ts";

/** A sentence, or a function of the server's sentence and of the facts beside it (absent: none, or an older server). */
type Words = string | ((detail: string, details?: RejectionDetails | null) => string);

const WORDS: Record<string, Words> = {
  // Signing in
  unauthenticated: "This token isn’t valid. Copy it again or create a new one.",
  wrong_password: "Wrong login or password.",
  token_expired: "Your session has expired. Sign in again.",
  token_revoked: "Your session has ended. Sign in again.",
  account_deactivated: "This account is deactivated. Ask an administrator.",
  link_ended: "This link was already used or has expired. Ask for a new one.",
  too_many_attempts: (_, details) => `Too many attempts. Try again ${waitIn(details) ?? "later"}.`,
  provider_unavailable: "The sign-in provider isn’t available. Try again later.",
  sign_in_ended: "This sign-in has expired. Start again.",
  // Rights
  forbidden: (detail, details) => {
    if (details?.kind === "missing_scope") return "You’re signed in with a limited token. Sign in with your account to do this.";
    if (details?.kind === "fresh_sign_in") return "This needs your password again. Sign in again.";
    if (details?.kind === "missing_right") return "You don’t have permission to do this here. Ask the notebook’s owner.";
    return sentenceOf(detail);
  },
  last_owner: "A notebook needs an owner. Make someone else owner first.",
  unknown_subject: "This account doesn’t exist.",
  subject_ended: "This account or link is no longer active.",
  // The notebook and its cells
  unknown_notebook: "This notebook doesn’t exist, or you don’t have access. Ask its owner to share it with you.",
  notebook_exists: "This notebook already exists.",
  erased: (_, details) => erasedWords(details?.kind === "erased" ? details.erasure : undefined),
  notebook_archived: "This notebook is archived. Unarchive it first.",
  read_only: "This notebook is read-only: a newer server wrote it, or its record is damaged. Ask an administrator.",
  conflict: "Someone changed this at the same time. Look at it and try again.",
  base_too_old: "Too much has changed since. Look at the cell and try again.",
  version_in_future: "This version doesn’t exist yet.",
  unknown_cell: "This cell no longer exists.",
  cell_deleted: "This cell was deleted. Restore it from History first.",
  cell_not_deleted: "This cell is already back.",
  cell_exists: "This cell already exists.",
  unknown_thread: "This comment was deleted.",
  unknown_comment: "This comment was deleted.",
  nothing_to_undo: (_, details) => (details?.kind === "nothing_to_redo" ? "Nothing left to redo." : "Nothing left to undo."),
  // Runs and kernels
  not_runnable: "Only code and SQL cells run.",
  unknown_execution: "This run is over.",
  execution_state: "This run is over.",
  unknown_kernel_session: "This kernel has stopped.",
  kernel_state: "The kernel can’t do this right now. Wait a moment and try again.",
  no_input_requested: "Nobody is asking for input anymore.",
  no_kernel: "No kernel is running. Run a cell first.",
  kernel_busy: "The kernel is busy. Wait until it is idle.",
  unknown_table: "The kernel no longer has this table.",
  kernel_failed: "The kernel couldn’t answer. Try again.",
  agent_unreachable: "The kernel’s machine can’t be reached. Try again later.",
  agent_too_old: "The runtime agent is too old for this. Ask whoever runs it to update it.",
  timeout: "No answer in time. Try again.",
  // The assistant
  tool_call_state: "This request was already decided.",
  turn_state: "The assistant is busy. Stop it or wait.",
  unknown_turn: "The assistant has already finished.",
  unknown_tool_call: "This request is already over.",
  unknown_conversation: "This conversation no longer exists.",
  unknown_message: "This message no longer exists.",
  // Files
  file_exists: "A file with this name exists.",
  not_found: "Not found. It may have been deleted or renamed.",
  disk_full: "The disk of the kernel’s machine is full.",
  broken_off: "The transfer was interrupted. Try again.",
  busy: "Too many transfers at the same time. Try again in a moment.",
  out_of_reach: "This file is outside the notebook’s folder.",
  blob_retired: "This output is no longer stored: the server keeps large outputs for a limited time.",
  // The server
  unavailable: "The server couldn’t do this right now. Try again in a moment.",
  internal: "The server made a mistake. Try again; if it stays, tell an administrator.",
  damaged: "Part of this notebook’s record is damaged. Tell an administrator.",
  rate_limited: (_, details) => `Too many requests. Try again ${waitIn(details) ?? "in a moment"}.`,
  command_id_reused: "This was already sent.",
};

/** The page's sentence for a code; for an unknown code the server's, cleaned up. */
export function pageWords(code: string, detail: string, details?: RejectionDetails | null): string {
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  return typeof words === "function" ? words(detail, details) : (words ?? sentenceOf(detail));
}

/** Sentence about an erased notebook; without facts if an older server sent none. */
export function erasedWords(erasure: Pick<Erasure, "at" | "reason"> | undefined): string {
  if (!erasure) return "This notebook was erased.";
  const day = new Date(erasure.at).toLocaleDateString(undefined, { dateStyle: "long" });
  return `This notebook was erased on ${day}. Reason: ${sentenceOf(erasure.reason)}`;
}

/** Example: “in 20 seconds”; undefined if the server names no time. */
function waitIn(details?: RejectionDetails | null): string | undefined {
  if (details?.kind !== "retry_after") return undefined;
  const { seconds } = details;
  const [count, name] = seconds < 120 ? [seconds, "second"] : [Math.ceil(seconds / 60), "minute"];
  return `in ${count} ${name}${count === 1 ? "" : "s"}`;
}

const ID = /\s*['‘“"]?\b(?:[0-7][0-9A-HJKMNP-TV-Z]{25}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b['’”"]?/g;

/** Cleans up a server's sentence: adds a capital and a full stop, and removes ids and terminal commands. */
export function sentenceOf(detail: string): string {
  const parts = detail
    .replace(ID, "")
    .split(/(?<=[.;:])\s+/)
    .filter((part) => !/`?\b(notarium|make|curl) [a-z-]+|\b(GET|POST|PUT|DELETE) \//.test(part));
  const text = parts
    .join(" ")
    .trim()
    .replace(/[;:,]$/, "");
  if (text === "") return "This didn’t work. Try again.";
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`;
}
