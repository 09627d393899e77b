// The page's words for the server's refusals, by code, with advice for this page. The server's own sentences are for all
// clients and contain ids, routes and terminal commands.

/** A sentence, or a function of the server's detail. */
type Words = string | ((detail: string) => string);

const WORDS: Record<string, Words> = {
  // Signing in
  unauthenticated: "This token isn’t valid. Copy it again or create a new one.",
  wrong_password: "Wrong login or password.",
  token_expired: "Your session has expired. Sign in again.",
  token_revoked: "Your session has ended. Sign in again.",
  account_deactivated: "This account is deactivated. Ask an administrator.",
  link_ended: "This link was already used or has expired. Ask for a new one.",
  too_many_attempts: (detail) => `Too many attempts. Try again ${waitIn(detail) ?? "later"}.`,
  provider_unavailable: "The sign-in provider isn’t available. Try again later.",
  sign_in_ended: "This sign-in has expired. Start again.",
  // Rights
  forbidden: (detail) =>
    detail.includes(" scope ")
      ? "You’re signed in with a limited token. Sign in with your account to do this."
      : detail.startsWith("your role here")
        ? "You don’t have permission to do this here. Ask the notebook’s owner."
        : sentenceOf(detail),
  last_owner: "A notebook needs an owner. Make someone else owner first.",
  unknown_subject: "This account doesn’t exist.",
  subject_ended: "This account or link is no longer active.",
  // The notebook and its cells
  unknown_notebook: "This notebook doesn’t exist, or you don’t have access. Ask its owner to share it with you.",
  notebook_exists: "This notebook already exists.",
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
  nothing_to_undo: (detail) => (/\bredo\b/.test(detail) ? "Nothing left to redo." : "Nothing left to undo."),
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
  // The server
  unavailable: "The server couldn’t do this right now. Try again in a moment.",
  internal: "The server made a mistake. Try again; if it stays, tell an administrator.",
  damaged: "Part of this notebook’s record is damaged. Tell an administrator.",
  rate_limited: (detail) => `Too many requests. Try again ${waitIn(detail) ?? "in a moment"}.`,
  command_id_reused: "This was already sent.",
};

/** The page's sentence for a code; for an unknown code the server's, cleaned up. */
export function pageWords(code: string, detail: string): string {
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  return typeof words === "function" ? words(detail) : (words ?? sentenceOf(detail));
}

/** Example: “in 20 seconds”; undefined if the server names no time. */
function waitIn(detail: string): string | undefined {
  const [, count, unit] = /\b(\d+)\s*(s|seconds?|minutes?|min)\b/.exec(detail) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  const name = unit.startsWith("m") ? "minute" : "second";
  return `in ${count} ${name}${count === "1" ? "" : "s"}`;
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
