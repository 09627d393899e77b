// Written by generate/generate.mjs from protocol/. Do not edit: run `npm run generate`.
import type { Actor, AgentId, AnyObject, CellContent, CellId, CellType, CommentId, ConversationId, Execution, ExecutionId, FileEntry, Hash, InstanceId, KernelNotice, KernelSession, KernelSessionId, KernelSettings, KernelStatus, MachineLoad, Means, MessageId, NotebookId, OfferedConnection, OfferedKernelspec, OfferedMachine, OpenMessageBlock, OpenMessageRole, OpenPassed, OpenRisk, OpenScheduledRunOutcome, OpenStopReason, OpenTarget, Outcome, Reactivity, Role, Schedule, ScheduleId, Scope, ShareLinkId, ThreadId, TokenId, ToolCallId, TrashedFile, TurnId, Usage, UserId, WorkspaceId } from "./messages.ts";

/**
 * One effect of a call.
 * 
 */
export type CallEffect = ({
kind: "creates"
cell_type: CellType
/**
 * Whole source of the new cell.
 */
source: string
} | {
kind: "changes"
cell: CellId
/**
 * Unified diff from the current source to the new one. If both together exceed 1 MiB: a note that they differ.
 */
diff: string
} | {
kind: "deletes"
cell: CellId
/**
 * Current source.
 */
source: string
/**
 * True if outputs are deleted too.
 */
has_outputs: boolean
} | {
kind: "moves"
cell: CellId
} | {
kind: "runs"
/**
 * The cell; absent: a cell that the call creates.
 */
cell?: (CellId | null)
/**
 * Code as sent to the kernel.
 */
source: string
} | {
kind: "writes"
/**
 * Path in the tool's arguments; relative paths start at the kernel's working folder.
 */
path: string
/**
 * The whole content, as text.
 */
content: string
/**
 * SHA-256 of the file that is overwritten.
 */
replaces?: (string | null)
} | {
kind: "does"
/**
 * A sentence for people, in English.
 */
what: string
})
/**
 * State of a call.
 * 
 * `waiting`: Waits for a confirmation by a person.
 * 
 * `passed`: Needs no confirmation; not started yet.
 * 
 * `confirmed`: Confirmed by a person; not started yet.
 * 
 * `running`: Started and not ended; other servers and restarts do not start it again.
 * 
 * `succeeded`: Succeeded; `result` is the tool's answer.
 * 
 * `failed`: Failed for certain; `result` has the reason.
 * 
 * `outcome_unknown`: Its executor died meanwhile, so the outcome is unknown. It is not repeated.
 * 
 * `denied`: Denied by a person; see `decided_by` and `reason`.
 * 
 * `withdrawn`: Withdrawn before its start: by its person, by an editor, or because its turn ended.
 * 
 * `voided`: Closed before its start: its target changed, or a person lost a right.
 * 
 * `expired`: Closed without a decision in time (24 hours by default).
 * 
 */
export type CallState = ("waiting" | "passed" | "confirmed" | "running" | "succeeded" | "failed" | "outcome_unknown" | "denied" | "withdrawn" | "voided" | "expired")
/**
 * Change of a call's target since the request, which makes the call void. As text: the sentence that the record has.
 * 
 */
export type TargetChange = ({
kind: "cell_deleted"
cell_id: CellId
} | {
kind: "cell_changed"
cell_id: CellId
/**
 * The cell's present `cell_version`.
 */
cell_version: number
/**
 * The cell's `cell_version` at the request.
 */
requested_version: number
} | {
kind: "code_changed"
} | {
kind: "kernel_gone"
kernel_session: KernelSessionId
} | {
kind: "function_changed"
/**
 * The function's name.
 */
name: string
} | {
kind: "function_gone"
/**
 * The function's name.
 */
name: string
/**
 * The reason, in a sentence for people.
 */
detail: string
} | {
kind: "unknown_target"
/**
 * The target's kind.
 */
target: string
})
/**
 * The kind of spender that a cap limits.
 * 
 * `server`: Everybody together.
 * 
 * `each_person`: Each person who has no cap of the same period and unit of their own.
 * 
 * `each_workspace`: Each workspace that has no cap of the same period and unit of its own.
 * 
 * `person`: One person.
 * 
 * `workspace`: All people together in the notebooks of one workspace.
 * 
 */
export type SpenderKind = ("server" | "each_person" | "each_workspace" | "person" | "workspace")
/**
 * Period of a cap, by the calendar in UTC.
 * 
 * `day`: A day.
 * 
 * `month`: A calendar month.
 * 
 */
export type SpendingPeriod = ("day" | "month")
/**
 * State of a cell, compared with the variables in the kernel.
 * 
 * `fresh`: A run now would give the same outputs, as far as names show.
 * 
 * `stale`: A run now may give other outputs; `reason` says why.
 * 
 * `blocked`: The cell did not run, because a cell from which it reads did not succeed.
 * 
 * `cycle`: The cell depends on itself through other cells, so it does not run.
 * 
 */
export type Standing = ("fresh" | "stale" | "blocked" | "cycle")
/**
 * Reason why a cell is not fresh. In JSON: `kind`, and the ids of the cells that it is about.
 * 
 */
export type StaleReason = ({
kind: "not_run"
} | {
kind: "kernel_gone"
} | {
kind: "edited"
} | {
kind: "failed"
} | {
kind: "cancelled"
} | {
kind: "lost"
} | {
kind: "restored"
} | {
kind: "circle"
/**
 * Cells of a shortest circle, beginning with this one; at most 8. Each defines a name that the next one reads.
 */
cells: CircleStep[]
/**
 * Number of further cells of the circle.
 */
more?: number
} | {
kind: "ran_since"
cell_id: CellId
} | {
kind: "cell_stale"
cell_id: CellId
} | {
kind: "cell_failed"
/**
 * The cell from which this one reads. Absent: its run is not known any more.
 */
cell_id?: (CellId | null)
} | {
kind: "skipped"
cell_id: CellId
} | {
kind: "overwritten"
/**
 * The name.
 */
name: string
/**
 * The cell that has bound the name since. Absent: the name was removed.
 */
cell_id?: (CellId | null)
} | {
kind: "other_value"
/**
 * The name that it has read.
 */
name: string
/**
 * The cell that had bound the name. Absent: the name was removed before the run.
 */
cell_id?: (CellId | null)
} | {
kind: "may_be_stale"
/**
 * The name that it has read.
 */
name: string
/**
 * The other cell. Absent: cells overwrite the name before this one can read it.
 */
cell_id?: (CellId | null)
})
/**
 * Kind of repair or conversion in a [`Notice`].
 * 
 * `byte_order_mark`: U+FEFF preceded the JSON, as Windows editors write it.
 * 
 * `lone_surrogate`: A string held half of a surrogate pair, which UTF-8 cannot carry.
 * 
 * `not_finite`: A number was NaN or infinite, as Python writes it.
 * 
 * `duplicate_key`: An object had a key twice.
 * 
 * `version_guessed`: `nbformat` was missing or no whole number.
 * 
 * `newer_minor`: `nbformat_minor` is above 5.
 * 
 * `upgraded`: `nbformat` was 1, 2 or 3.
 * 
 * `worksheets_flattened`: A file of nbformat 3 or older had several worksheets.
 * 
 * `notebook_metadata`: The notebook's `metadata` was missing or no object.
 * 
 * `unknown_notebook_key`: A top-level key is unknown to nbformat 4; an export writes it back.
 * 
 * `kernelspec_completed`: `kernelspec` or `language_info` lacked a name that nbformat requires.
 * 
 * `cell_not_an_object`: An entry of `cells` was no object; it is kept in the cell's metadata.
 * 
 * `cell_type`: A cell type that Notarium does not have was converted, as the notice says: `heading` became Markdown, for example.
 * 
 * `cell_id`: An id was missing, already used, or not 1 to 64 characters of `A-Z a-z 0-9 - _`.
 * 
 * `cell_metadata`: A cell's `metadata` was missing or no object.
 * 
 * `unknown_cell_key`: A key that nbformat does not know in a cell of this type; an export writes it back.
 * 
 * `source`: A cell's `source` was missing, or neither a string nor a list of strings.
 * 
 * `line_endings`: A source had other line breaks than `\n`.
 * 
 * `attachments`: A cell's `attachments` were no object; an export writes them back.
 * 
 * `execution_count`: An `execution_count` was no whole number.
 * 
 * `outputs_missing`: A code cell had no `outputs`.
 * 
 * `output_not_an_object`: An entry of `outputs` was no object.
 * 
 * `output_completed`: An output lacked a field that nbformat requires.
 * 
 * `output_upgraded`: An output had the shape of nbformat 3: `pyout`, `pyerr`, or fields instead of a MIME bundle.
 * 
 * `unknown_output`: An output has a type or a part that nbformat 4.5 does not allow; it is kept as it is.
 * 
 * `empty_field_dropped`: A field that does not belong to its cell or output, and was empty.
 * 
 * `pictures_attached`: A Markdown cell had pictures in its text; they became attachments of the cell.
 * 
 * `stale_aside`: An earlier export had stored something under `metadata.notarium` for content that has changed since.
 * 
 */
export type NoticeCode = ("byte_order_mark" | "lone_surrogate" | "not_finite" | "duplicate_key" | "version_guessed" | "newer_minor" | "upgraded" | "worksheets_flattened" | "notebook_metadata" | "unknown_notebook_key" | "kernelspec_completed" | "cell_not_an_object" | "cell_type" | "cell_id" | "cell_metadata" | "unknown_cell_key" | "source" | "line_endings" | "attachments" | "execution_count" | "outputs_missing" | "output_not_an_object" | "output_completed" | "output_upgraded" | "unknown_output" | "empty_field_dropped" | "pictures_attached" | "stale_aside")
/**
 * Fact that a notice is about. Programs show an unknown kind by the text of its notice.
 * 
 */
export type NoticeKind = ({
kind: "call_waits"
call: ToolCallId
/**
 * Tool or function.
 */
function: string
/**
 * The person for whom the assistant acts.
 */
for_user?: (UserId | null)
/**
 * Time at which the call expires, in milliseconds since 1970.
 */
expires_at?: (number | null)
} | {
kind: "mentioned"
by: Actor
/**
 * The commented cell.
 */
cell?: (CellId | null)
/**
 * The thread of the comment.
 */
thread?: (ThreadId | null)
/**
 * The comment; absent: a message to an assistant.
 */
comment?: (CommentId | null)
/**
 * The conversation of the message.
 */
conversation?: (ConversationId | null)
} | {
kind: "run_ended"
execution: ExecutionId
/**
 * Its cell; absent: it ran for no cell.
 */
cell?: (CellId | null)
/**
 * Running time.
 */
seconds: number
} | {
kind: "run_failed"
execution: ExecutionId
/**
 * Its cell; absent: it ran for no cell.
 */
cell?: (CellId | null)
/**
 * Running time, as far as it is known.
 */
seconds: number
/**
 * True: its end is not known, or it could not run.
 */
is_lost: boolean
/**
 * The reason, as a word of the events; absent: its code failed.
 */
cause?: (string | null)
} | {
kind: "agent_gone"
agent: AgentId
/**
 * Its name.
 */
name: string
} | {
kind: "cap_reached"
/**
 * The cap in words, as in "10 USD a day".
 */
cap: string
/**
 * Time at which spending goes on, in milliseconds since 1970; absent: when somebody raises the cap.
 */
resets_at?: (number | null)
} | {
kind: "schedule_failed"
/**
 * The schedule.
 */
schedule: string
/**
 * The reason in one sentence.
 */
reason: string
} | {
kind: "schedule_missed"
/**
 * The schedule.
 */
schedule: string
/**
 * Time at which the last of them was due, in milliseconds since 1970.
 */
due_at: number
/**
 * Number of runs that were missed.
 */
count: number
})
/**
 * Cause for which a launch waits.
 * 
 * `no_agent`: No runtime agent that covers the notebook is connected.
 * 
 * `agent_not_connected`: The named agent is not connected, or does not cover the notebook.
 * 
 * `no_such_labels`: No connected agent has the labels.
 * 
 * `kernelspec_not_offered`: The agents that the launch allows do not offer the kernelspec.
 * 
 */
export type LaunchWaitCause = ("no_agent" | "agent_not_connected" | "no_such_labels" | "kernelspec_not_offered")
/**
 * The order of the list.
 * 
 * `changed`: The last changed first.
 * 
 * `title`: By title, ignoring case.
 * 
 * `created`: The last created first.
 * 
 */
export type ListOrder = ("changed" | "title" | "created")
/**
 * Template of a new notebook: cells without outputs.
 * 
 */
export type TemplateChoice = ({
starter: string
} | {
notebook: NotebookId
})
/**
 * Status of a turn.
 * 
 * `running`: The assistant works, or waits for a person.
 * 
 * `finished`: The model stopped; see `stop_reason`.
 * 
 * `cancelled`: Stopped by a person; see `cancelled_by`.
 * 
 * `failed`: No provider answered, or the server could not continue; see `cause`.
 * 
 */
export type TurnStatus = ("running" | "finished" | "cancelled" | "failed")

/**
 * Use and quota of an account.
 * 
 */
export interface AccountUsage {
/**
 * The person; absent: a workspace.
 */
person?: (UserId | null)
/**
 * The workspace; absent: a person.
 */
workspace?: (WorkspaceId | null)
used: Amounts
limits: Amounts
}
/**
 * Numbers of notebooks and bytes.
 * 
 */
export interface Amounts {
/**
 * Number of notebooks. A notebook in a workspace counts for the workspace, any other for each of its owners.
 */
notebooks: number
/**
 * Bytes of their records: payloads, plus 256 bytes per event.
 */
log_bytes: number
/**
 * Bytes of their large outputs.
 */
blob_bytes: number
}
/**
 * One change of accounts, tokens, workspaces or share links. Changes of rights in a notebook are events of that notebook instead.
 * 
 */
export interface AuditEntry {
/**
 * Serial number over the whole server, from 1; `before` of the next page.
 */
number: number
/**
 * Milliseconds since 1970.
 */
at: number
/**
 * Actor, as in `user:01J…`.
 */
actor: string
/**
 * Action, as in `user.deactivate`.
 */
action: string
/**
 * Id of the changed user, token, workspace, notebook or link.
 */
subject: string
/**
 * Name of the workspace, or label of the token or link, as it is now; absent: it has none, or is not known any more.
 */
name?: (string | null)
}
/**
 * One call, and the effects of a confirmation.
 * 
 */
export interface CallInFull {
/**
 * The notebook's title.
 */
title: string
call: Call
/**
 * Effects of a confirmation. Absent once the call has started or ended.
 */
confirmation?: (Confirmation | null)
/**
 * True if the call waits for a decision that you may make.
 */
may_decide: boolean
}
/**
 * One tool call of an assistant, with its full record.
 * 
 */
export interface Call {
id: ToolCallId
/**
 * Name of a built-in tool, or of a function that a user has registered.
 */
function: string
arguments: AnyObject
arguments_hash: Hash
risk: OpenRisk
/**
 * Reasons why the risk is higher than the tool's default.
 */
reasons?: string[]
/**
 * Targets as of the time of the request.
 */
targets?: OpenTarget[]
requested_by: Actor
/**
 * Milliseconds since 1970, like all times here.
 */
requested_at: number
/**
 * Version of its ToolCallRequested event: `before` of the next page.
 */
requested_version: number
/**
 * Turn that requested it. Absent for external assistants.
 */
turn_id?: (TurnId | null)
/**
 * Tokens of the model call that requested it: `input_tokens`, `output_tokens`; `estimated` if the provider reported none. Calls
 * requested together have the same values. Absent outside of turns.
 */
model_usage?: (Usage | null)
/**
 * Deadline for a confirmation, if it needs one.
 */
expires_at?: (number | null)
/**
 * Call that must have ended before this one starts.
 */
after?: (ToolCallId | null)
state: CallState
/**
 * Actor who confirmed, denied or withdrew it.
 */
decided_by?: (Actor | null)
/**
 * Means by which a person confirmed or denied it: the interface, and the label of the session or token. Absent without such a
 * decision, and for decisions before version 0.1 recorded it.
 */
by_means?: (Means | null)
/**
 * Time of the decision.
 */
decided_at?: (number | null)
/**
 * Reason of a denial, withdrawal or voiding.
 */
reason?: (string | null)
/**
 * Reason why it may start: the policy, a grant, or a person's confirmation.
 */
passed_by?: (OpenPassed | null)
/**
 * Start time; absent if it has not started.
 */
started_at?: (number | null)
/**
 * End time of a started call; absent for calls that never started.
 */
ended_at?: (number | null)
/**
 * Time from start to end, in milliseconds; absent until both are known.
 */
duration_ms?: (number | null)
/**
 * Text that the assistant received as the result.
 */
result?: (string | null)
}
/**
 * Effects of a confirmation.
 * 
 */
export interface Confirmation {
/**
 * Action of the tool, in a few words.
 */
summary: string
/**
 * Risk, in words for people.
 */
risk: string
/**
 * Effects in order of execution.
 */
effects: CallEffect[]
/**
 * Reason why the call can no longer run, in a sentence for people: a confirmation closes it. Absent: it can run.
 */
void?: (string | null)
/**
 * The same reason, for programs.
 */
changed?: (TargetChange | null)
}
/**
 * A cap with its usage.
 * 
 */
export interface CapStatus {
spender: SpenderKind
/**
 * The person whose usage counts: for `person`, and for `each_person` unless all caps are listed.
 */
person?: (UserId | null)
/**
 * The workspace whose usage counts: for `workspace`, and for `each_workspace` unless all caps are listed.
 */
workspace?: (WorkspaceId | null)
period: SpendingPeriod
/**
 * `tokens`, or the code of a currency.
 */
unit: string
/**
 * The cap, in its unit.
 */
amount: string
/**
 * True: an owner of the workspace has set it.
 */
by_owner: boolean
/**
 * True: it is an option of the server, and cannot be changed here.
 */
is_fixed: boolean
/**
 * Usage in this period, in the unit. Absent for `each_person` and `each_workspace` if all caps are listed.
 */
used?: (string | null)
/**
 * Upper bound of the model calls that are under way, in the unit. Absent like `used`.
 */
reserved?: (string | null)
/**
 * True: the usage has reached the cap, and turns are refused.
 */
is_reached: boolean
/**
 * Start of the next period, in milliseconds since 1970.
 */
ends_at: number
}
/**
 * Caps on spending.
 * 
 */
export interface CapsAnswer {
/**
 * Caps.
 */
caps: CapStatus[]
}
/**
 * Authors of a cell's characters.
 * 
 */
export interface CellBlame {
cell_id: CellId
/**
 * Its text at this version.
 */
source: string
/**
 * Runs of characters from the first to the last: together they are as long as `source`.
 */
runs: BlamedRun[]
}
/**
 * Characters that one event wrote.
 * 
 */
export interface BlamedRun {
/**
 * UTF-16 code units.
 */
length: number
/**
 * Version of the event.
 */
version: number
}
/**
 * Dependencies and state of one code or SQL cell.
 * 
 */
export interface CellReport {
cell_id: CellId
/**
 * Names that the cell reads from other cells, sorted.
 */
reads: string[]
/**
 * Names that the cell defines for other cells, sorted.
 */
writes: string[]
/**
 * True: the names are those of an earlier text, because the present one does not parse or is too long.
 */
outdated?: boolean
/**
 * Cells from which this one reads.
 */
parents?: LinkReport[]
/**
 * Cells that read from this one.
 */
children?: LinkReport[]
standing: Standing
/**
 * The reason, for programs. Absent: the cell is fresh.
 */
reason?: (StaleReason | null)
/**
 * The reason, in a sentence for people. Absent: the cell is fresh.
 */
why?: (string | null)
/**
 * The other cell that `why` is about. Absent: none.
 */
because_of?: (CellId | null)
/**
 * Names that the cell reads and no cell defines.
 */
missing?: string[]
}
/**
 * A dependency: another cell, and the names that it is about.
 * 
 */
export interface LinkReport {
cell_id: CellId
/**
 * One name or more. For a cell that may define any name (`from m import *`): the names that are read from it.
 */
names: string[]
}
/**
 * A cell of a circle, and a name that leads to the next one.
 * 
 */
export interface CircleStep {
cell_id: CellId
/**
 * A name that the cell defines and the next one reads.
 */
name: string
}
/**
 * Calls that wait for your decision, in all notebooks that you may see.
 * 
 */
export interface Confirmations {
/**
 * Calls, the longest waiting first; at most 500.
 */
calls: WaitingCall[]
/**
 * True: the list is incomplete; decide on some of these first.
 */
is_cut?: boolean
}
/**
 * A waiting call with its notebook.
 * 
 */
export interface WaitingCall {
notebook: NotebookId
/**
 * The notebook's current title.
 */
title: string
call: Call
confirmation: Confirmation
}
/**
 * A created link, with its secret.
 * 
 */
export interface CreatedShareLink {
/**
 * Link with the token after `#`, a part that browsers send to no server. Only this answer has it.
 */
url: string
/**
 * The same token, for programs.
 */
token: string
id: ShareLinkId
notebook: NotebookId
role: Role
/**
 * Text that others see instead of a guest's name; may be empty.
 */
label: string
created_by: UserId
/**
 * Milliseconds since 1970.
 */
created_at: number
/**
 * Milliseconds since 1970; absent: valid until revoked.
 */
expires_at?: (number | null)
}
/**
 * A created account, and the invitation for its person.
 * 
 */
export interface CreatedUser {
user: User
invitation: OneTimeToken
}
/**
 * An account, as its person and administrators see it.
 * 
 */
export interface User {
id: UserId
/**
 * Display name, chosen by the person.
 */
name: string
/**
 * Login for the sign-in. Absent until the person has chosen it.
 */
login?: (string | null)
/**
 * True for an administrator of the server. There is always at least one.
 */
is_admin: boolean
/**
 * False: an invitation was not used yet, or an administrator has reset the password.
 */
has_password: boolean
/**
 * Milliseconds since 1970.
 */
created_at: number
/**
 * Time of deactivation by an administrator, milliseconds since 1970. Absent: the account is active.
 */
deactivated_at?: (number | null)
}
/**
 * A token to hand to a person, who sends it once to `POST /api/session`.
 * 
 */
export interface OneTimeToken {
/**
 * The secret, valid for one use.
 */
token: string
/**
 * Address of the page that takes it, for the person to open: the server's public address, with the secret in the fragment.
 */
url?: (string | null)
/**
 * Milliseconds since 1970; absent: valid until used.
 */
expires_at?: (number | null)
}
/**
 * Page of a folder, with its runtime agent.
 * 
 */
export interface FileList {
/**
 * The folder, below the working folder; empty: that folder itself.
 */
path: string
/**
 * Entries by name.
 */
files: FileEntry[]
/**
 * Name to pass as `after` for the next page; absent on the last page.
 */
next?: (string | null)
/**
 * True: the folder has more entries than are read. The others are not listed, but found by name.
 */
is_cut?: boolean
agent: AgentId
/**
 * Display name of the agent.
 */
agent_name: string
/**
 * Maximum size of a file in a transfer, in bytes.
 */
max_file_bytes: number
/**
 * True if the runtime agent can move files and has a trash.
 */
can_change?: boolean
}
/**
 * Trash of a folder, with its runtime agent.
 * 
 */
export interface FileTrash {
/**
 * Entries, the last removed first.
 */
files: TrashedFile[]
/**
 * Number of all entries.
 */
count: number
/**
 * Size of all entries, in bytes.
 */
size_bytes: number
/**
 * Number of days after which entries are deleted permanently.
 */
kept_days: number
/**
 * Maximum size of all entries, in bytes: beyond it the oldest are deleted permanently; the last one stays.
 */
max_bytes: number
agent: AgentId
/**
 * Display name of the agent.
 */
agent_name: string
}
/**
 * A person found by a search.
 * 
 */
export interface FoundPerson {
id: UserId
/**
 * Display name, chosen by the person: not unique.
 */
name: string
/**
 * Login, unique.
 */
login?: (string | null)
}
/**
 * A line that holds the text, or held it.
 * 
 */
export interface FoundPlace {
cell_id: CellId
/**
 * The whole line; of the past, the latest in the cell that held the text.
 */
line: string
/**
 * Number of the line in the cell, from 1. Absent: it does not stand there now.
 */
line_number?: (number | null)
/**
 * With `ever`: the first version of this stretch at which the cell held the text.
 */
first?: (number | null)
/**
 * The last version of this stretch. Absent: it stands there now.
 */
last?: (number | null)
/**
 * True if the cell is in the trash now.
 */
is_deleted?: boolean
}
/**
 * Places of a text.
 * 
 */
export interface FoundPlaces {
/**
 * Those where it stands now, in page order; then with `ever` those where it stood, the latest first.
 */
found: FoundPlace[]
/**
 * False: there are more, or a part of the past is not looked through yet; search again later, or for a longer text.
 */
is_complete: boolean
/**
 * With `ever`: the version up to which the past is looked through.
 */
looked_up_to?: (number | null)
}
/**
 * An identity at a provider, linked to an account.
 * 
 */
export interface Identity {
/**
 * Id, for unlinking it.
 */
id: string
/**
 * URL of the provider.
 */
issuer: string
/**
 * The person's id at the provider.
 */
subject: string
/**
 * Address that the provider had verified when it was linked. For display only: accounts are not searched by it.
 */
email?: (string | null)
/**
 * Milliseconds since 1970.
 */
created_at: number
}
/**
 * An imported notebook; you are its owner.
 * 
 */
export interface ImportAnswer {
notebook: NotebookId
/**
 * Title: as requested, else from the file's metadata or name, else `Untitled`.
 */
title: string
/**
 * The notebook's version at which the whole file is in the log.
 */
version: number
outcome: Outcome
/**
 * Notices of repairs, conversions and entries put aside, each with a code and a sentence.
 */
notices: Notice[]
}
/**
 * One kind of change that the import made, with the number of its occurrences.
 * 
 */
export interface Notice {
code: NoticeCode
/**
 * Number of occurrences.
 */
count: number
/**
 * Index of the first cell with this change; absent when it concerns the notebook.
 */
cell?: (number | null)
/**
 * Text for people: the change, and a short extract where it helps.
 */
message: string
}
/**
 * A notice to you.
 * 
 */
export interface InboxNotice {
/**
 * Id of the notice; the id of its webhooks too.
 */
id: string
/**
 * Time of the fact, in milliseconds since 1970.
 */
at: number
about: NoticeKind
/**
 * The fact in one sentence.
 */
text: string
/**
 * Notebook of the fact. Absent: there is none, or you may not read it any more.
 */
notebook?: (NoticePlace | null)
/**
 * Address on the page, from its root on; absent without a notebook.
 */
link?: (string | null)
/**
 * True: you have read it.
 */
is_read: boolean
/**
 * True: nothing is left to do, for example because somebody has decided on the call.
 */
is_settled: boolean
}
/**
 * Notebook and version of the event that a notice is about.
 * 
 */
export interface NoticePlace {
id: NotebookId
/**
 * The notebook's current title.
 */
title: string
/**
 * Version of the event.
 */
version: number
}
/**
 * Accounts that were created from a list, and the lines that changed nothing.
 * 
 */
export interface InvitedPeople {
/**
 * New accounts, in the order of the list.
 */
invited: InvitedPerson[]
/**
 * Lines whose login has an account already. Nothing of it was changed.
 */
existing: ExistingPerson[]
}
/**
 * A new account with the invitation for its person. Only this answer has the token.
 * 
 */
export interface InvitedPerson {
/**
 * Line of the list, from 1; the names of the columns are on line 1.
 */
line: number
user: User
/**
 * Address from the list, to send the token to. The server does not keep it.
 */
email?: (string | null)
/**
 * Token for the person, who sends it once to `POST /api/session` with a password.
 */
token: string
/**
 * Address of the page that takes the token, for the person to open.
 */
url?: (string | null)
/**
 * Milliseconds since 1970; absent: the token is valid until used.
 */
expires_at?: (number | null)
}
/**
 * A line whose login has an account already.
 * 
 */
export interface ExistingPerson {
/**
 * Line of the list, from 1.
 */
line: number
/**
 * Login of the account.
 */
login: string
}
/**
 * A new token; only this answer has its secret.
 * 
 */
export interface IssuedToken {
/**
 * The secret, to be sent as `Authorization: Bearer <token>`.
 */
token: string
id: TokenId
/**
 * `session`, `api` or `agent`.
 */
kind: string
/**
 * Agent id as in the actor of events; only for agents.
 */
agent?: (AgentId | null)
/**
 * Label, up to 100 characters; may be empty. For an agent: its name.
 */
label: string
/**
 * Scopes as requested when it was created.
 */
scopes: Scope[]
covers: Covers
created_by: UserId
/**
 * Milliseconds since 1970.
 */
created_at: number
/**
 * Milliseconds since 1970; absent: valid until revoked.
 */
expires_at?: (number | null)
/**
 * Time of the last use, up to ten minutes late; milliseconds since 1970.
 */
last_used_at?: (number | null)
}
/**
 * Notebooks for which a token is valid: a list, or those of one workspace; without either, all.
 * 
 */
export interface Covers {
/**
 * Notebook ids, at most 500.
 */
notebooks?: (NotebookId[] | null)
/**
 * All notebooks that are in this workspace at the time of a request.
 */
workspace?: (WorkspaceId | null)
}
/**
 * A webhook with its new secret.
 * 
 */
export interface IssuedWebhook {
webhook: Webhook
/**
 * Secret by which you verify signatures, as in `whsec_…`. Shown once.
 */
secret: string
}
/**
 * A webhook: an address of yours to which this server posts notices.
 * 
 */
export interface Webhook {
/**
 * Id.
 */
id: string
/**
 * Address.
 */
url: string
/**
 * Label for people.
 */
label: string
/**
 * Milliseconds since 1970.
 */
created_at: number
/**
 * Time until which the secret from before the last rotation signs too. Absent: the current one signs alone.
 */
old_secret_until?: (number | null)
/**
 * Time of the last delivery. Absent: none yet.
 */
tried_at?: (number | null)
/**
 * Problem of the last delivery. Absent: it arrived.
 */
problem?: (string | null)
}
/**
 * Kernels of a notebook, and the kernelspecs available to it.
 * 
 */
export interface Kernels {
/**
 * Kernels by session: kernelspec, phase, agent.
 */
kernels: {
[k: string]: KernelSession
}
/**
 * Reachability and activity of each kernel.
 */
status: KernelStatus[]
/**
 * The most recent problem.
 */
notice?: (KernelNotice | null)
/**
 * Kernelspecs that the connected runtime agents can launch for this notebook.
 */
kernelspecs: OfferedKernelspec[]
/**
 * Databases that SQL cells on these agents can name.
 */
connections?: OfferedConnection[]
/**
 * Runtime agents that may run kernels of the notebook, by name; also those of its access list that are not connected.
 */
agents?: NotebookAgent[]
/**
 * Launches that no connected agent can start, with the reason.
 */
waiting?: {
[k: string]: LaunchWait
}
settings?: KernelSettings
}
/**
 * A runtime agent that may run kernels of a notebook.
 * 
 */
export interface NotebookAgent {
id: AgentId
/**
 * Display name.
 */
name: string
/**
 * False: it is not connected now. A launch that names it waits.
 */
connected: boolean
/**
 * Names of the kernelspecs that it offers.
 */
kernelspecs?: string[]
/**
 * Its labels.
 */
labels?: {
[k: string]: string
}
/**
 * Its machine. Absent: an older agent, or not connected.
 */
machine?: (OfferedMachine | null)
/**
 * Load of its machine, some seconds old. Absent: not measured.
 */
load?: (MachineLoad | null)
}
/**
 * The reason for which a launch waits.
 * 
 */
export interface LaunchWait {
cause: LaunchWaitCause
/**
 * The same as a sentence for people.
 */
detail: string
}
/**
 * Holder of the token, and the token's rights.
 * 
 */
export interface Me {
actor: Actor
/**
 * Display name of the person or agent; for a guest the link's label.
 */
name: string
/**
 * `session`, `api`, `agent` or `share`.
 */
kind: string
token_id: TokenId
/**
 * Scopes that are valid now: the token's scopes, as far as the account still holds them.
 */
scopes: Scope[]
covers: Covers
/**
 * Workspaces of which you are a member.
 */
workspaces: MyWorkspace[]
/**
 * Expiry in milliseconds since 1970; absent: valid until revoked.
 */
expires_at?: (number | null)
/**
 * True: tokens that can be stored on a disk lack the scopes `confirm`, `manage` and `admin`. `POST /api/session` with `fresh` gives a
 * session of 15 minutes that has them.
 */
asks_again?: boolean
/**
 * The account; absent for agents and guests.
 */
user?: (User | null)
}
/**
 * A workspace of which you are a member.
 * 
 */
export interface MyWorkspace {
id: WorkspaceId
role: Role
}
/**
 * Messages of one conversation, the last posted first.
 * 
 */
export interface MessagePage {
/**
 * Messages, at most `limit`.
 */
messages: Message[]
/**
 * Value of `before` for the next page; absent when there are no older messages.
 */
next?: (number | null)
}
/**
 * A message of a person, an assistant or tools.
 * 
 */
export interface Message {
id: MessageId
/**
 * The version of its MessagePosted event: `before` of the next page.
 */
version: number
/**
 * Milliseconds since 1970.
 */
posted_at: number
posted_by: Actor
role: OpenMessageRole
/**
 * Turn of the message.
 */
turn_id?: (TurnId | null)
/**
 * Texts, tool calls and their results, resolved from other places of the record.
 */
blocks: OpenMessageBlock[]
/**
 * True: the turn ended while this answer was being written.
 */
is_partial?: boolean
/**
 * True: always in the assistant's context.
 */
pinned: boolean
/**
 * True: never in the assistant's context.
 */
skipped: boolean
}
/**
 * A model provider in the server's settings.
 * 
 */
export interface Model {
/**
 * Provider name, as in records of calls.
 */
provider: string
/**
 * The provider's default model.
 */
model: string
}
/**
 * Sum of model calls with one value of the column.
 * 
 */
export interface ModelUsage {
/**
 * Day such as `2026-11-29`, `provider/model`, or an id. Empty: no workspace.
 */
value: string
/**
 * Name of the person or workspace, or title of a notebook that you may read. Absent: none, or not known to you.
 */
name?: (string | null)
/**
 * Number of model calls that used tokens.
 */
calls: number
/**
 * Number of calls whose tokens are estimates: the provider reported none, or the call was stopped.
 */
estimated_calls: number
/**
 * Number of tokens read, cached or not.
 */
input_tokens: number
/**
 * The part of `input_tokens` that came from the provider's cache.
 */
cached_tokens: number
/**
 * Number of tokens written.
 */
output_tokens: number
/**
 * Cost of the calls with a known price, one sum per currency, at the prices of the time of each call.
 */
cost: Money[]
/**
 * Number of calls whose price was not known. Their cost is not in `cost`.
 */
unpriced_calls: number
}
/**
 * An exact amount of money.
 * 
 */
export interface Money {
/**
 * Decimal number with at least 2 and at most 9 decimal places.
 */
amount: string
/**
 * Code of the currency, such as `USD`.
 */
currency: string
}
/**
 * Usage of models.
 * 
 */
export interface ModelUsageAnswer {
/**
 * First day.
 */
since: string
/**
 * Last day.
 */
until: string
/**
 * Sums in order of their values, at most 10,000.
 */
rows: ModelUsage[]
}
/**
 * Models that assistants of this server use.
 * 
 */
export interface Models {
/**
 * The first is the default. Empty: the server has no assistant.
 */
models: Model[]
}
/**
 * A node: one process of the server.
 * 
 */
export interface NodeStatus {
node: InstanceId
/**
 * Address at which other nodes reach it. Empty: the server is alone.
 */
url: string
/**
 * Last sign of life, in milliseconds since 1970 by the store's clock.
 */
seen_at: number
/**
 * False: it has not been seen for some seconds, and others have taken its notebooks over.
 */
is_alive: boolean
/**
 * True: it stops, and gives its notebooks to others.
 */
is_draining: boolean
/**
 * Version of its program. Absent: a release that does not tell it.
 */
version?: (string | null)
/**
 * Newest generation of events that it reads. The cluster writes what all of its nodes can read.
 */
level: number
/**
 * True: this node has answered.
 */
is_this: boolean
/**
 * Open notebooks. Absent: known to that node alone.
 */
rooms?: (number | null)
}
/**
 * The nodes of the cluster. A server alone has itself in the list.
 * 
 */
export interface Nodes {
/**
 * Nodes that were seen within the last hour and did not stop as they should, by `node`.
 */
nodes: NodeStatus[]
}
/**
 * Authors of all characters of cells at a version.
 * 
 */
export interface NotebookBlame {
/**
 * The version.
 */
version: number
/**
 * The cells, in page order.
 */
cells: CellBlame[]
/**
 * Author and time of each event that `runs` name, by its version.
 */
events: {
[k: string]: BlamedEvent
}
}
/**
 * Author and time of an event.
 * 
 */
export interface BlamedEvent {
actor: Actor
/**
 * Milliseconds since 1970.
 */
recorded_at: number
}
/**
 * Dependencies between the cells of a notebook.
 * 
 */
export interface NotebookGraph {
/**
 * Version of the notebook that this graph describes.
 */
version: number
reactivity: Reactivity
/**
 * Code and SQL cells, in page order.
 */
cells: CellReport[]
/**
 * Names that several cells define, except names that all of them only import.
 */
defined_twice?: ClashReport[]
}
/**
 * A name that several cells define.
 * 
 */
export interface ClashReport {
/**
 * The name.
 */
name: string
/**
 * The cells that define the name, in page order.
 */
cells: CellId[]
}
/**
 * A notebook in a list.
 * 
 */
export interface NotebookLine {
id: NotebookId
/**
 * 1 to 255 characters on one line; not unique.
 */
title: string
/**
 * Last version that the list knows. It includes all of your changes; changes of others may be missing for a moment.
 */
version: number
/**
 * True if it is archived: it can only be read, exported and forked.
 */
archived: boolean
/**
 * Milliseconds since 1970.
 */
created_at: number
/**
 * Time of the last event, in milliseconds since 1970.
 */
updated_at: number
/**
 * The notebook's workspace, whose members have their role in it.
 */
workspace?: (WorkspaceId | null)
/**
 * Number of cells, also for archived notebooks.
 */
cells: number
/**
 * Ids of the owners; `GET /api/people/{user}` has their names.
 */
owners?: UserId[]
/**
 * True if it is a template for new notebooks (`GET /api/templates`).
 */
is_template?: boolean
/**
 * Excerpt; only if requested with `snippets`, and the words occur in a source.
 */
found?: (FoundText | null)
/**
 * Current activity; only if requested with `live`, and the notebook is open on this server.
 */
now?: (NotebookNow | null)
}
/**
 * Excerpt of a source with the search words.
 * 
 */
export interface FoundText {
cell_id: CellId
/**
 * The line, or a part of at most 160 characters around the first word.
 */
text: string
/**
 * Positions of words in `text`: start and end (exclusive), in Unicode code points.
 */
marks: [number, number][]
}
/**
 * Current activity in a notebook. It is not recorded.
 * 
 */
export interface NotebookNow {
/**
 * Number of runs that a kernel executes.
 */
running: number
/**
 * Number of runs that wait for a kernel, or for runs before them.
 */
queued: number
/**
 * People and guests who have the notebook open, including you: each once, at most 20.
 */
people: PersonHere[]
}
/**
 * A person or guest who has a notebook open.
 * 
 */
export interface PersonHere {
actor: Actor
/**
 * Display name.
 */
name: string
}
/**
 * Page of the notebook list, by default the last changed first.
 * 
 */
export interface NotebookPage {
/**
 * Notebooks, at most `limit`.
 */
notebooks: NotebookLine[]
/**
 * Value of `cursor` for the next page; absent on the last page.
 */
next?: (string | null)
}
/**
 * Event of the stream of your notices.
 * 
 */
export interface NoticeNews {
/**
 * Number of unread notices.
 */
unread: number
/**
 * A new notice. Absent: only the number may have changed.
 */
notice?: (InboxNotice | null)
/**
 * True: you want a notification of the browser for this notice.
 */
notify?: boolean
}
/**
 * Notices of your inbox, newest first.
 * 
 */
export interface NoticePage {
/**
 * The notices.
 */
notices: InboxNotice[]
/**
 * Number of unread notices in the whole inbox.
 */
unread: number
/**
 * Value of `before` for the next page; absent on the last.
 */
next?: (string | null)
}
/**
 * Your choices about notices.
 * 
 */
export interface NoticeSettings {
/**
 * For each topic the channels that are on.
 */
topics: {
[k: string]: {
[k: string]: boolean
}
}
/**
 * Running time in seconds from which a run is long.
 */
long_run_seconds: number
mail: MailSettings
/**
 * Deliveries that were given up after a day, newest first; at most 20.
 */
failed: FailedNotice[]
}
/**
 * Mail of notices.
 * 
 */
export interface MailSettings {
/**
 * True: this server sends mail.
 */
is_possible: boolean
/**
 * Address to which digests go. Absent: none.
 */
address?: (string | null)
/**
 * Address to which a code was sent, until you enter the code. Absent: none.
 */
new_address?: (string | null)
}
/**
 * A notice that did not arrive.
 * 
 */
export interface FailedNotice {
/**
 * Id of the notice.
 */
notice: string
/**
 * `mail`, or the id of a webhook.
 */
channel: string
/**
 * Time of the last attempt, in milliseconds since 1970.
 */
at: number
/**
 * The problem in one sentence.
 */
problem: string
}
/**
 * Redirect to the provider.
 * 
 */
export interface OidcBegun {
/**
 * URL at the provider; navigate to it.
 */
url: string
/**
 * State, which returns in the query of `/oidc/callback`: store the key under it until then.
 */
state: string
/**
 * Milliseconds since 1970: ten minutes from now.
 */
expires_at: number
}
/**
 * An OpenID Connect provider.
 * 
 */
export interface OidcOption {
/**
 * Name for the button, as in "Example University".
 */
name: string
/**
 * Origin of the page, as in `https://notes.example.org`: the provider redirects the browser to it.
 */
origin: string
}
/**
 * Purpose of a one-time token, and the other fields that `POST /api/session` needs.
 * 
 */
export interface OneTimeUse {
/**
 * `owner` (the first sign-in of a server), `reset` (an invitation, or a new password) or `link` (opens a browser).
 */
kind: string
/**
 * The person's display name; absent for a link.
 */
name?: (string | null)
/**
 * The person's login, if any.
 */
login?: (string | null)
/**
 * True: send `name` and `login`, which the person chooses.
 */
needs_login: boolean
/**
 * True: send `password`, which the person chooses.
 */
needs_password: boolean
}
/**
 * Public profile: visible to every account that has the person's id or login.
 * 
 */
export interface Person {
id: UserId
/**
 * Display name, chosen by the person: not unique, may change.
 */
name: string
}
/**
 * A run: its subject, requester, times and result.
 * 
 */
export interface Run {
id: ExecutionId
execution: Execution
/**
 * Time since when the kernel's runtime agent is unreachable, for a run that has not ended; milliseconds since 1970. The run continues
 * if the agent comes back; `POST …/give-up` ends it without waiting.
 */
unreachable_since?: (number | null)
/**
 * Actor who cancelled the run, directly or by an interrupt, restart or shutdown of its kernel. Lists omit it for runs with large
 * outputs; a comparison always has it.
 */
ended_by?: (Actor | null)
}
/**
 * Page of all runs, past ones included, the last requested first, without outputs.
 * 
 */
export interface RunPage {
/**
 * Runs, at most `limit`.
 */
runs: Run[]
/**
 * Value of `before` for the next page; absent when there are no older runs.
 */
next?: (number | null)
}
/**
 * The next times of a line of cron.
 * 
 */
export interface ScheduleTimes {
/**
 * The next five times, in milliseconds since 1970.
 */
next: number[]
}
/**
 * A run of a schedule, or a time at which none took place.
 * 
 */
export interface ScheduledRunLine {
/**
 * Version of its first event in the scheduled notebook.
 */
version: number
/**
 * The run's notebook. Absent: no run was claimed.
 */
run?: (NotebookId | null)
/**
 * The version that ran.
 */
ran_version?: (number | null)
/**
 * The minute for which it was scheduled; of several missed ones the last. Absent: a person asked for it.
 */
due?: (number | null)
/**
 * Author of the request. Absent: the server claimed the run at its time.
 */
requested_by?: (Actor | null)
/**
 * Time of the claim.
 */
started_at?: (number | null)
/**
 * Time of the end. Absent: it is under way.
 */
ended_at?: (number | null)
/**
 * The end. Absent: it is under way.
 */
outcome?: (OpenScheduledRunOutcome | null)
/**
 * The cell that failed.
 */
cell_id?: (CellId | null)
/**
 * Name of the error.
 */
error?: (string | null)
/**
 * More about the end, in a sentence for people.
 */
detail?: (string | null)
/**
 * Number of missed runs.
 */
missed?: (number | null)
}
/**
 * Past runs of a schedule, the last first.
 * 
 */
export interface ScheduledRuns {
/**
 * Runs, at most `limit`.
 */
runs: ScheduledRunLine[]
}
/**
 * The schedules of a notebook.
 * 
 */
export interface Schedules {
/**
 * Schedules by id.
 */
schedules: ScheduleLine[]
}
/**
 * A schedule, with its next times.
 * 
 */
export interface ScheduleLine {
id: ScheduleId
schedule: Schedule
/**
 * Name of the person in whose name it runs. Absent: not known.
 */
maker_name?: (string | null)
/**
 * The next times, in milliseconds since 1970. Empty: the schedule is stopped, or the notebook is archived.
 */
next: number[]
}
/**
 * A link by which people without an account take part in one notebook.
 * 
 */
export interface ShareLink {
id: ShareLinkId
notebook: NotebookId
role: Role
/**
 * Text that others see instead of a guest's name; may be empty.
 */
label: string
created_by: UserId
/**
 * Milliseconds since 1970.
 */
created_at: number
/**
 * Milliseconds since 1970; absent: valid until revoked.
 */
expires_at?: (number | null)
}
/**
 * Ways to sign in to this server, besides login and password and tokens.
 * 
 */
export interface SignInOptions {
/**
 * The OpenID Connect provider; absent: none.
 */
oidc?: (OidcOption | null)
}
/**
 * A session: send its token as `Authorization: Bearer <token>`.
 * 
 */
export interface SignedIn {
/**
 * The secret; only this answer has it.
 */
token: string
session: TokenId
/**
 * Milliseconds since 1970.
 */
expires_at?: (number | null)
user: User
}
/**
 * Templates for new notebooks.
 * 
 */
export interface Templates {
/**
 * Built-in templates of this server.
 */
starters: Starter[]
/**
 * Notebooks that are templates and that you may see, the last changed first.
 */
notebooks: TemplateLine[]
/**
 * True if there are more notebooks than listed.
 */
is_cut: boolean
}
/**
 * A template that every server has.
 * 
 */
export interface Starter {
/**
 * Template id, for `TemplateChoice`.
 */
id: string
/**
 * Title on one line.
 */
title: string
/**
 * Purpose, on one line.
 */
description: string
}
/**
 * A notebook that is a template.
 * 
 */
export interface TemplateLine {
notebook: NotebookId
/**
 * 1 to 255 characters on one line; not unique.
 */
title: string
/**
 * Purpose, on one line; may be empty.
 */
description: string
/**
 * Number of cells.
 */
cells: number
/**
 * Milliseconds since 1970.
 */
updated_at: number
}
/**
 * A token, without its secret.
 * 
 */
export interface Token {
id: TokenId
/**
 * `session`, `api` or `agent`.
 */
kind: string
/**
 * Agent id as in the actor of events; only for agents.
 */
agent?: (AgentId | null)
/**
 * Label, up to 100 characters; may be empty. For an agent: its name.
 */
label: string
/**
 * Scopes as requested when it was created.
 */
scopes: Scope[]
covers: Covers
created_by: UserId
/**
 * Milliseconds since 1970.
 */
created_at: number
/**
 * Milliseconds since 1970; absent: valid until revoked.
 */
expires_at?: (number | null)
/**
 * Time of the last use, up to ten minutes late; milliseconds since 1970.
 */
last_used_at?: (number | null)
}
/**
 * Cells in the trash, which can be restored, the last deleted first.
 * 
 */
export interface Trash {
/**
 * Cells as they were when deleted, each once. At most 1,000.
 */
cells: TrashedCell[]
/**
 * True: older cells may be missing, as the log was not read to its beginning.
 */
incomplete?: boolean
}
/**
 * A cell in the trash: `POST …/cells/{cell}/restore` brings it back where it was.
 * 
 */
export interface TrashedCell {
cell_id: CellId
cell: CellContent
deleted_by: Actor
/**
 * Milliseconds since 1970.
 */
deleted_at: number
/**
 * Version of the event that deleted it.
 */
deleted_version: number
}
/**
 * Page of all turns, past ones included, the last begun first.
 * 
 */
export interface TurnPage {
/**
 * Turns, at most `limit`.
 */
turns: TurnSummary[]
/**
 * Value of `before` for the next page; absent when there are no older turns.
 */
next?: (number | null)
}
/**
 * Summary of one turn, from the record.
 * 
 */
export interface TurnSummary {
id: TurnId
conversation_id: ConversationId
status: TurnStatus
/**
 * Stop reason of a finished turn: `end_turn`, `max_turns`, `max_tokens` or `refusal`.
 */
stop_reason?: (OpenStopReason | null)
/**
 * Cause of a failure.
 */
cause?: (string | null)
requested_by: Actor
/**
 * Actor who stopped it; absent if it was not stopped.
 */
cancelled_by?: (Actor | null)
/**
 * Milliseconds since 1970, like all times here.
 */
started_at: number
/**
 * End time: finished, cancelled or failed. Absent while it runs.
 */
ended_at?: (number | null)
/**
 * Version of its TurnStarted event: `before` of the next page.
 */
version: number
/**
 * The prompt cell that the turn answers.
 */
cell_id?: (CellId | null)
/**
 * `provider/model` of its last model call; before the first call the requested model.
 */
model?: (string | null)
/**
 * Number of model calls so far, without repeated attempts; at most 10.
 */
model_calls: number
/**
 * Number of attempts of model calls, failed ones included.
 */
attempts: number
usage: Usage
}
/**
 * Use of your account, then of your workspaces.
 * 
 */
export interface UsageAnswer {
/**
 * Accounts, at most 1,000.
 */
accounts: AccountUsage[]
}
/**
 * Result of a test of a webhook.
 * 
 */
export interface WebhookTest {
/**
 * True: it was accepted.
 */
is_accepted: boolean
/**
 * The problem in one sentence. Absent: none.
 */
problem?: (string | null)
}
/**
 * A group of notebooks and people.
 * 
 */
export interface Workspace {
id: WorkspaceId
/**
 * 1 to 100 characters on one line; not unique.
 */
name: string
role: Role
/**
 * Milliseconds since 1970.
 */
created_at: number
}
/**
 * A line of a list that is wrong.
 * 
 */
export interface WrongLine {
/**
 * Line of the list, from 1.
 */
line: number
/**
 * One sentence for people that says what to do.
 */
message: string
}
