// Written by generate/generate.mjs from protocol/. Do not edit: run `npm run generate`.

/**
 * A message from client to server.
 * 
 */
export type ClientMessage = ({
hello: HelloMessage
} | {
refresh: {
/**
 * The new token. A token of another account ends the connection.
 */
token: string
}
} | {
subscribe: SubscribeMessage
} | {
unsubscribe: {
notebook: NotebookId
}
} | {
command: CommandMessage
} | {
check: CheckMessage
} | {
presence: {
notebook: NotebookId
state: PresenceState
}
} | {
ask_kernel: AskKernelMessage
} | {
follow_comms: {
notebook: NotebookId
kernel_session: KernelSessionId
}
} | {
send_comm: SendCommMessage
} | {
offer: OfferMessage
} | {
machine_load: {
load: MachineLoad
}
} | {
kernel_status: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * True while the kernel executes anything, whoever requested it.
 */
busy: boolean
}
} | {
kernel_use: {
notebook: NotebookId
kernel_session: KernelSessionId
usage: KernelUsage
}
} | {
comms: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * The `asker` of `comms_wanted`.
 */
asker: string
/**
 * Open comms in the order in which they were opened.
 */
comms: OpenComm[]
}
} | {
comm: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * Changes in the order in which they happened.
 */
changes: CommChange[]
}
} | {
answer_question: {
/**
 * The question's `id`. An id that has timed out or was cancelled is ignored.
 */
id: number
answer: KernelAnswer
}
} | {
answer_file: {
/**
 * The request's `id`. An id that no request waits for is ignored.
 */
id: number
answer: FileAnswer
}
})
/**
 * Id of a notebook. The client chooses it, so that a repeated creation has no second effect.
 * 
 */
export type NotebookId = string
/**
 * Id of an event.
 * 
 */
export type EventId = string
/**
 * Id of a cell, as in nbformat 4.5.
 * 
 */
export type CellId = string
/**
 * Id of a command. The client chooses it; a command that is repeated with the same id is applied once.
 * 
 */
export type CommandId = string
/**
 * Id of a group of commands that is undone as one, such as a typing burst, a tool call or an import.
 * 
 */
export type CorrelationId = string
/**
 * A request to change a notebook, which the server may refuse. Its actor is that of the connection; no field carries it.
 * 
 */
export type Command = ({
CreateNotebook: {
/**
 * 1 to 255 characters on one line.
 */
title: string
metadata?: AnyObject
/**
 * The notebook and version that were copied; the content follows in the same batch. Absent: not a fork.
 */
forked_from?: (ForkOrigin | null)
}
} | {
RenameNotebook: {
/**
 * 1 to 255 characters on one line.
 */
title: string
}
} | {
SetNotebookMetadata: {
metadata: AnyObject
}
} | {
ArchiveNotebook: {

}
} | {
UnarchiveNotebook: {

}
} | {
NameVersion: {
/**
 * A version from 1 to the notebook's present one (`version_in_future` otherwise).
 */
version: number
/**
 * 1 to 255 characters on one line; replaces the name that the version has.
 */
name: string
}
} | {
RestoreNotebook: RestoreNotebook
} | {
RedactContent: RedactContent
} | {
EraseNotebook: EraseNotebook
} | {
GrantAccess: {
subject: Subject
role: Role
/**
 * Milliseconds since 1970; absent: until it is revoked.
 */
expires_at?: (number | null)
}
} | {
RevokeAccess: {
subject: Subject
}
} | {
TakeOverNotebook: {
from: UserId
to: UserId
}
} | {
InsertCell: InsertCell
} | {
EditSource: EditSource
} | {
ReplaceSource: {
cell_id: CellId
/**
 * The `cell_version` that the sender has read. A `conflict` carries the present one.
 */
cell_version: number
/**
 * At most 1 MiB, with `\n` line breaks only.
 */
source: string
}
} | {
MoveCell: {
cell_id: CellId
place: Place
/**
 * Refuse with `conflict` unless the cell is at this version.
 */
cell_version?: (number | null)
}
} | {
ChangeCellType: {
cell_id: CellId
cell_type: CellType
/**
 * Refuse with `conflict` unless the cell is at this version.
 */
cell_version?: (number | null)
}
} | {
DeleteCell: {
cell_id: CellId
/**
 * Refuse with `conflict` unless the cell is at this version.
 */
cell_version?: (number | null)
}
} | {
RestoreCell: {
cell_id: CellId
}
} | {
SetCellMetadata: {
cell_id: CellId
metadata: AnyObject
}
} | {
SetCellAttachments: {
cell_id: CellId
/**
 * File name to MIME bundle, as in nbformat, at most 16 MiB. Absent: removes all attachments.
 */
attachments?: (AnyObject | null)
}
} | {
SetCellFlags: {
cell_id: CellId
flags: CellFlagChanges
}
} | {
ClearOutputs: {
cell_id: CellId
}
} | {
Undo: {
/**
 * Number of groups, 1 to 100. Ignored beside `correlation_id` or `turn_id`.
 */
steps?: number
/**
 * The id of a group of any actor. The group of a tool call has the call's id.
 */
correlation_id?: (CorrelationId | null)
/**
 * All groups of one turn of an assistant.
 */
turn_id?: (TurnId | null)
/**
 * Only groups of the sender that changed text of this cell, as undo in an editor does. Ignored beside
 * `correlation_id` or `turn_id`.
 */
cell_id?: (CellId | null)
}
} | {
Redo: {
/**
 * Number of groups, 1 to 100.
 */
steps?: number
/**
 * Only groups of the sender that changed text of this cell, as redo in an editor does.
 */
cell_id?: (CellId | null)
}
} | {
AddComment: AddComment
} | {
EditComment: EditComment
} | {
DeleteComment: {
thread_id: ThreadId
comment_id: CommentId
}
} | {
ResolveThread: {
thread_id: ThreadId
}
} | {
ReopenThread: {
thread_id: ThreadId
}
} | {
MoveThread: {
thread_id: ThreadId
place: CommentPlace
}
} | {
RequestExecution: RequestExecution
} | {
CancelExecution: {
execution_id: ExecutionId
}
} | {
GiveUpExecution: {
execution_id: ExecutionId
}
} | {
AnswerInput: {
execution_id: ExecutionId
/**
 * The answer, at most 64 KiB, without the line break. Answers to a password request are not recorded.
 */
value: string
}
} | {
RecordExecution: {
cell_id: CellId
/**
 * The run's outputs, at most 64 MiB together.
 */
outputs: Output[]
/**
 * The number in `In [3]:`. Absent: not known.
 */
execution_count?: (number | null)
}
} | {
LaunchKernel: LaunchKernel
} | {
InterruptKernel: {
kernel_session: KernelSessionId
}
} | {
RestartKernel: RestartKernel
} | {
ShutDownKernel: {
kernel_session: KernelSessionId
}
} | {
StopAll: {

}
} | {
ClaimKernelLaunch: {
kernel_session: KernelSessionId
}
} | {
ReportKernelStarted: {
kernel_session: KernelSessionId
language_info: AnyObject
sandbox?: AnyObject
/**
 * The kernel's software, in an uploaded blob. Only for a server with the feature `kernel_environments`. Absent: not known.
 */
environment?: (KernelEnvironment | null)
}
} | {
ReportKernelLaunchFailed: {
kernel_session: KernelSessionId
cause: KernelCause
/**
 * More about it, in a sentence, such as the end of the kernel's stderr; at most 2,000 characters are kept.
 */
detail?: (string | null)
}
} | {
ReportKernelEnded: {
kernel_session: KernelSessionId
cause: KernelCause
/**
 * More about it, in a sentence; at most 2,000 characters are kept.
 */
detail?: (string | null)
}
} | {
ReportExecution: {
execution_id: ExecutionId
/**
 * The version of the session's KernelSessionStarted. `stale_fence`: the session has ended, or is not the sender's.
 */
fence: number
/**
 * Number of the report: 1, 2, 3 … for each execution.
 */
seq: number
report: ExecutionReport
}
} | {
ReportEffectRefused: RefusalReport
} | {
ReportNextInput: NextInput
} | {
ReconcileKernels: {
/**
 * Sessions of this notebook that are alive. Ids that the notebook does not know change nothing.
 */
alive: KernelSessionId[]
}
} | {
SaveWidgets: {
kernel_session: KernelSessionId
state: AnyObject
}
} | {
RegisterFunctions: {
kernel_session: KernelSessionId
/**
 * The version of the session's KernelSessionStarted.
 */
fence: number
/**
 * At most 64 functions with different names. A malformed one refuses the whole command (`invalid_value`).
 */
functions: UserFunction[]
/**
 * Places in the code that define the functions, as far as the kernel knows them.
 */
places?: FunctionPlace[]
}
} | {
SetSchedule: SetSchedule
} | {
RemoveSchedule: RemoveSchedule
} | {
RunSchedule: RunSchedule
} | {
StartScheduledRun: StartScheduledRun
} | {
EndScheduledRun: EndScheduledRun
} | {
StartTurn: StartTurn
} | {
CancelTurn: {
turn_id: TurnId
}
} | {
FlagMessage: FlagMessage
} | {
SetReactivity: {
reactivity: Reactivity
}
} | {
SetKernelSettings: SetKernelSettings
} | {
SetPolicy: {
policy: Policy
}
} | {
ConfirmToolCall: {
call_id: ToolCallId
arguments_hash: Hash
}
} | {
DenyToolCall: {
call_id: ToolCallId
/**
 * The reason, at most 2,000 characters; the rest is cut off.
 */
detail?: (string | null)
}
} | {
WithdrawToolCall: {
call_id: ToolCallId
/**
 * The reason, at most 2,000 characters; the rest is cut off.
 */
detail?: (string | null)
}
} | {
IssueGrant: {
/**
 * The id that the client chooses. Absent: the server chooses one.
 */
grant_id?: (GrantId | null)
conversation_id: ConversationId
/**
 * Names of the functions that the grant covers. Empty: every function.
 */
functions?: string[]
/**
 * Kinds of effects that the covered calls may ask for. Only kinds that destroy nothing (`invalid_value` otherwise). Empty: none.
 */
kinds?: Effect[]
/**
 * Time at which the grant ends, in milliseconds since 1970; at most seven days ahead.
 */
expires_at: number
}
} | {
RevokeGrant: {
grant_id: GrantId
}
} | {
RequestToolCall: RequestToolCall
} | {
StartToolCall: {
call_id: ToolCallId
}
} | {
ReportToolCall: {
call_id: ToolCallId
end: ToolCallEnd
/**
 * The result that the model reads; at most 256 KiB.
 */
result: string
}
} | {
SweepToolCalls: {

}
} | {
WithdrawRevoked: {
revoked: Revoked
}
} | {
MoveOutputs: MoveOutputs
} | {
StartModelCall: {
turn_id: TurnId
/**
 * The provider's name, such as `anthropic`.
 */
provider: string
/**
 * The provider's name of the model.
 */
model: string
}
} | {
ReportModelCall: {
turn_id: TurnId
/**
 * The cause if there is no answer. Absent: the model has answered.
 */
failure?: (TurnFailure | null)
/**
 * More about the failure, in a sentence for people.
 */
detail?: (string | null)
usage?: Usage
}
} | {
PostReply: {
turn_id: TurnId
role: MessageRole
/**
 * The message's content, at most 1 MiB as JSON.
 */
blocks: MessageBlock[]
}
} | {
EndTurn: {
turn_id: TurnId
end: TurnEnd
}
} | {
Batch: {
/**
 * At most 60,000 commands, each decided on the state after the one before. Batch, Undo and Redo are not allowed.
 */
commands: Command[]
}
})
export type AnyObject = { [key: string]: unknown }
/**
 * Content that an owner has named for redaction.
 * 
 */
export type RedactedTarget = ({
event: {
/**
 * The event's version.
 */
version: number
}
} | {
text: {

}
} | {
cell: {
cell_id: CellId
}
})
/**
 * Holder of a role in a notebook's access list.
 * 
 */
export type Subject = ({
kind: "user"
id: UserId
} | {
kind: "share_link"
id: ShareLinkId
} | {
kind: "workspace"
id: WorkspaceId
} | {
kind: "agent"
id: AgentId
})
/**
 * Id of a person with an account.
 * 
 */
export type UserId = string
/**
 * Id of a share link, by which people without an account take part.
 * 
 */
export type ShareLinkId = string
/**
 * Id of a workspace: a group of notebooks and people.
 * 
 */
export type WorkspaceId = string
/**
 * Id of a runtime agent.
 * 
 */
export type AgentId = string
/**
 * Role of a subject in one notebook.
 * 
 */
export type Role = ("viewer" | "commenter" | "runner" | "author" | "editor" | "owner" | "agent")
/**
 * Type of a cell. `.ipynb` files have `sql` as code and `prompt` as Markdown, with Notarium's mark in the metadata.
 * 
 */
export type CellType = ("code" | "markdown" | "raw" | "sql" | "prompt")
/**
 * A place for a cell, in page order.
 * 
 */
export type Place = ("start" | "end" | {
before: CellId
} | {
after: CellId
})
/**
 * Id of a turn: an assistant's work on one message, with its model calls and tool calls.
 * 
 */
export type TurnId = string
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenReplyStatus = (ReplyStatus | (string | {

}))
/**
 * Status of a reply in a prompt cell.
 * 
 */
export type ReplyStatus = ("running" | "finished" | "stopped" | "failed")
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenStopReason = (StopReason | (string | {

}))
/**
 * Reason why the model stopped, at the end of a turn.
 * 
 */
export type StopReason = ("end_turn" | "max_turns" | "max_tokens" | "refusal")
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenTurnFailure = (TurnFailure | (string | {

}))
/**
 * Cause of a model call without an answer, of a failed turn, or of a reply that was cut off.
 * 
 */
export type TurnFailure = ("wrong_key" | "quota_exhausted" | "unknown_model" | "rate_limited" | "unavailable" | "context_too_long" | "bad_request" | "unreachable" | "timed_out" | "took_too_long" | "cut_stream" | "malformed_stream" | "reply_too_long" | "empty_reply" | "no_model" | "not_asked" | "server_stopped" | "cap_reached" | "refused" | "copied" | "cell_deleted")
export type ChangeSet = (number | [number, ...string[]])[]
/**
 * The place of a new comment.
 * 
 */
export type CommentTarget = ({
cell: CommentPlace
} | {
thread: {
thread_id: ThreadId
}
})
export type TextRange = [number, number]
/**
 * Id of a thread of comments.
 * 
 */
export type ThreadId = string
/**
 * Id of a comment in a thread.
 * 
 */
export type CommentId = string
/**
 * Id of one execution of some source on a kernel.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export type ExecutionId = string
/**
 * The code of a run. A request for a cell names the cell and carries no code.
 * 
 */
export type ExecutionTarget = ({
cell: {
cell_id: CellId
/**
 * Refuse with `conflict` unless the cell is at this version.
 */
cell_version?: (number | null)
}
} | {
scratch: {
/**
 * Code in the kernel's language, at most 1 MiB.
 */
source: string
/**
 * The purpose of the run, for people; 1 to 255 characters on one line.
 */
purpose: string
}
} | {
function: {
/**
 * The function's name.
 */
name: string
arguments: AnyObject
/**
 * True: a person has seen the function and its arguments. Required for functions that are registered as destructive.
 */
confirmed?: boolean
}
})
/**
 * Id of a kernel session: one life of a kernel, from launch to end. A restart begins a new session.
 * 
 */
export type KernelSessionId = string
/**
 * Effects that a person allows to a run.
 * 
 */
export type RequestedEffects = "free"
export type AnyJson = unknown
export type Hash = string
/**
 * Cause of the end of a kernel session, or of a failed launch.
 * 
 */
export type KernelCause = ("shut_down" | "restarted" | "idle" | "died" | "agent_stopped" | "agent_lost" | "given_up" | "not_installed" | "cannot_start" | "no_answer")
/**
 * One step of an execution, as its runtime agent reports it.
 * 
 */
export type ExecutionReport = ({
started: {

}
} | {
output: {
/**
 * The outputs in order, at most 4 MiB in one report. Upload a part above 8 KiB as a blob first.
 */
outputs: Output[]
}
} | {
update_display: {
/**
 * The id that the kernel has chosen.
 */
display_id: string
output: Output
}
} | {
clear: {
/**
 * True: they are cleared when the next output comes. False: now.
 */
wait: boolean
}
} | {
input_request: {
/**
 * The question, as shown to people.
 */
prompt: string
/**
 * True: hide the answer while it is typed. It is not recorded.
 */
password: boolean
}
} | {
completed: {
outcome: ExecutionOutcome
/**
 * The number in `In [3]:`. Absent: the kernel gave none.
 */
execution_count?: (number | null)
/**
 * A sentence for people about the outputs, for example that some were cut off.
 */
notice?: (string | null)
}
} | {
holds_open: {
/**
 * The open files, mappings and connections, for people; at most 2,000 characters together are kept.
 */
open: string[]
}
} | {
lost: {
cause: EndCause
/**
 * More about the cause, in a sentence for people.
 */
detail?: (string | null)
}
})
/**
 * Result of a run that the kernel has ended.
 * 
 */
export type ExecutionOutcome = ("ok" | "error" | "interrupted" | "timed_out")
/**
 * Cause of an execution's end other than its own result.
 * 
 */
export type EndCause = ("requested" | "interrupted" | "timed_out" | "cell_deleted" | "kernel_not_started" | "kernel_restarted" | "kernel_shut_down" | "kernel_died" | "agent_stopped" | "agent_lost" | "given_up" | "effects_not_held" | "holds_open")
/**
 * Kind of an effect outside the kernel's memory.
 * 
 */
export type Effect = ("create" | "write" | "remove" | "network" | "signal" | "database" | "open")
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenRisk = (Risk | (string | {

}))
/**
 * Risk of a tool call, from harmless to irreversible.
 * 
 */
export type Risk = ("read" | "edit" | "sensitive" | "destructive")
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenEffect = (Effect | (string | {

}))
/**
 * Id of a schedule by which a notebook runs by itself.
 * 
 */
export type ScheduleId = string
/**
 * End of a scheduled run.
 * 
 */
export type ScheduledRunOutcome = ("succeeded" | "failed" | "lost" | "cancelled" | "timed_out" | "not_started" | "refused" | "missed")
/**
 * Id of a conversation with an assistant.
 * 
 */
export type ConversationId = string
/**
 * Id of a message in a conversation.
 * 
 */
export type MessageId = string
/**
 * Setting of a notebook: which other cells a run of a cell also updates.
 * 
 */
export type Reactivity = ("off" | "lazy" | "eager")
/**
 * Setting of a notebook: what happens to a kernel with variables if its runtime agent is unreachable.
 * 
 */
export type KernelReplacement = ("ask" | "replace" | "wait")
/**
 * Policy of a notebook: which tool calls need no confirmation. Destructive calls need one under every policy.
 * 
 */
export type Policy = ("guarded" | "ask_for_every_edit" | "trusted")
/**
 * Id of one call of a tool by an assistant.
 * 
 */
export type ToolCallId = string
/**
 * Id of a grant: a person's permission, given in advance, for tool calls of one conversation.
 * 
 */
export type GrantId = string
/**
 * Id of a token. It is not the token's secret.
 * 
 */
export type TokenId = string
/**
 * End of a tool call that had started.
 * 
 */
export type ToolCallEnd = ("ok" | "error" | "outcome_unknown")
/**
 * A credential or account that has ended.
 * 
 */
export type Revoked = ({
token: TokenId
} | {
user: UserId
})
/**
 * Author of a message.
 * 
 */
export type MessageRole = ("user" | "assistant" | "tool")
/**
 * One block of a message. In JSON: an object whose only key is the block's kind.
 * 
 */
export type MessageBlock = ({
text: {
/**
 * Markdown.
 */
text: string
}
} | {
opaque: {
/**
 * The provider that sent the data. Other providers do not get it.
 */
provider: string
data: AnyJson
}
} | {
tool_call: {
/**
 * The model's own name for the call; its result carries it too.
 */
provider_id: string
call_id: ToolCallId
/**
 * The name of the tool or function.
 */
function: string
/**
 * The arguments as the model wrote them; not always valid JSON. ToolCallRequested has them too, but this
 * message is recorded before its calls are requested.
 */
arguments: string
/**
 * Further data of the provider, which it must get back unchanged. Absent: none.
 */
extra?: (string | null)
}
} | {
tool_result: {
/**
 * The model's own name for the call.
 */
provider_id: string
call_id: ToolCallId
/**
 * The result. Absent: the same text as `result` in the call's ToolCallExecuted.
 */
text?: (string | null)
/**
 * True: the call failed, was refused, or its outcome is unknown.
 */
is_error?: boolean
}
} | {
attachment: Attachment
})
/**
 * The end of a turn, as the reactor reports it.
 * 
 */
export type TurnEnd = ({
finished: StopReason
} | {
failed: {
cause: TurnFailure
/**
 * More about the cause, in a sentence for people.
 */
detail?: (string | null)
}
})
/**
 * Kind of a question, with its parameters.
 * 
 */
export type QuestionKind = ({
complete: {

}
} | {
inspect: {
/**
 * 0: signature and documentation; 1: the source too, where the kernel has it.
 */
detail?: number
}
} | {
describe: {
/**
 * A connection that the kernel's runtime agent offers, `duckdb` (in the kernel's memory), or a file of the working folder, as SQL
 * cells name it after `-- @`. At most 1 KiB.
 */
connection: string
/**
 * Returns only tables whose `schema.name` contains this text, ignoring case. At most 1 KiB.
 */
matching?: string
}
} | {
variables: {

}
} | {
read_table: ReadTable
} | {
summarize_column: SummarizeColumn
} | {
format: FormatCells
})
/**
 * Comparison of a value.
 * 
 */
export type TableOperator = ("contains" | "lacks" | "equal" | "not_equal" | "less" | "at_most" | "more" | "at_least" | "empty" | "not_empty")
/**
 * Ability of a kernel's agent to hold the effects of the kernel's runs.
 * 
 */
export type KernelEffects = ("held" | {
not_held: {
cause: OpenUnheldCause
}
})
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenUnheldCause = (UnheldCause | (string | {

}))
/**
 * Cause for which an agent holds no effects of its kernels' runs.
 * 
 */
export type UnheldCause = ("switched_off" | "not_supported" | "not_permitted" | "other_kernel")
/**
 * A change of a kernel's comms.
 * 
 */
export type CommChange = ({
opened: OpenComm
} | {
message: CommMessage
} | {
closed: {
/**
 * Id of its comm.
 */
comm_id: string
}
})
/**
 * A kernel's answer to a question, or a refusal.
 * 
 */
export type KernelAnswer = ({
completed: Completion
} | {
inspected: Inspection
} | {
described: ConnectionSchema
} | {
variables: VariableList
} | {
table_read: TablePage
} | {
column_summarized: ColumnSummary
} | {
formatted: FormattedCells
} | {
refused: {
code: QuestionRefusal
/**
 * One sentence for people that says what to do.
 */
message: string
/**
 * Facts of the refusal. Absent: `code` says all. A kind that is unknown counts as absent.
 */
details?: (RejectionDetails | null)
}
})
/**
 * Reason for a refusal. Each description ends with the HTTP status.
 * 
 */
export type QuestionRefusal = ("forbidden" | "unknown_notebook" | "unknown_kernel_session" | "unknown_connection" | "unknown_table" | "connection_failed" | "not_runnable" | "no_kernel" | "kernel_busy" | "agent_unreachable" | "agent_too_old" | "timeout" | "cancelled" | "limit_exceeded" | "invalid_value" | "rate_limited" | "kernel_failed" | "unavailable")
/**
 * Facts of a refusal, for programs. Ignore an unknown kind: `code` and `message` have the rest.
 * 
 */
export type RejectionDetails = ({
kind: "missing_scope"
scope: Scope
} | {
kind: "fresh_sign_in"
scope: Scope
} | {
kind: "missing_right"
role: Role
} | {
kind: "retry_after"
/**
 * Seconds to wait.
 */
seconds: number
} | {
kind: "nothing_to_undo"
} | {
kind: "nothing_to_redo"
} | {
kind: "limit"
limit: LimitName
/**
 * Its value on this server.
 */
max: number
unit: LimitUnit
} | {
kind: "cells"
/**
 * The cells, in the order in which the message names them.
 */
cells: CellId[]
} | {
kind: "erased"
erasure: Erasure
} | {
kind: "argument"
/**
 * Its place in the arguments, as in `at.x` or `rows[2].name`. Empty: the arguments as a whole.
 */
place: string
/**
 * The mistake, without the name of the tool or function.
 */
problem: string
})
/**
 * Scope of a token: the operations that it allows at most. An interactive session has all scopes but `agent`.
 * 
 */
export type Scope = ("read" | "edit" | "run" | "confirm" | "manage" | "admin" | "agent")
/**
 * A limit that a rejection names.
 * 
 */
export type LimitName = ("source" | "metadata" | "attachments" | "title" | "cells" | "batch_commands" | "queued_executions" | "kernels" | "report_outputs" | "run_outputs" | "recorded_outputs" | "agent_outputs" | "input" | "widgets" | "access_entries" | "named_versions" | "functions" | "conversations" | "outside_conversations" | "message" | "question_attachments" | "picture" | "attached_text" | "flagged_messages" | "waiting_tool_calls" | "tool_result" | "saved_data" | "grants" | "threads" | "thread_comments" | "comments" | "comment" | "comment_text" | "mentions" | "named_subjects" | "schedules" | "schedule_parameters" | "notebook_state" | "account_notebooks" | "account_log" | "account_blobs" | "spent_tokens" | "spent_money" | "blob" | "frame" | "request" | "import")
/**
 * Unit of a limit.
 * 
 */
export type LimitUnit = ("bytes" | "characters" | "count" | "nanos")
/**
 * The author of an event. Ids are opaque; the accounts have the names.
 * 
 */
export type Actor = ({
kind: "user"
id: UserId
} | {
kind: "guest"
share_link: ShareLinkId
} | {
kind: "assistant"
for_user: UserId
conversation: ConversationId
} | {
kind: "agent"
id: AgentId
} | {
kind: "system"
})
/**
 * A runtime agent's answer to a file request.
 * 
 */
export type FileAnswer = ({
listed: FolderPage
} | {
found: FileEntry
} | {
written: WrittenFile
} | {
moved: MovedFile
} | {
trashed: TrashedFile
} | {
trash: TrashPage
} | {
refused: {
code: FileRefusal
/**
 * One sentence for people that says what to do.
 */
message: string
}
})
/**
 * Kind of a folder's entry.
 * 
 */
export type FileKind = ("file" | "folder" | "other")
/**
 * Reason for a refusal. Each description ends with the HTTP status.
 * 
 */
export type FileRefusal = ("invalid_path" | "out_of_reach" | "not_found" | "wrong_kind" | "file_exists" | "too_large" | "disk_full" | "system_refused" | "broken_off" | "notebook_archived" | "no_kernel" | "unknown_kernel_session" | "agent_unreachable" | "agent_too_old" | "busy" | "timeout")
/**
 * A message from server to client.
 * 
 */
export type ServerMessage = ({
welcome: WelcomeMessage
} | {
subscribed: SubscribedMessage
} | {
events: EventsMessage
} | {
ack: AckMessage
} | {
reject: RejectMessage
} | {
checked: CheckedMessage
} | {
presence: {
notebook: NotebookId
/**
 * Peers that came or moved, each with its whole state.
 */
peers?: PeerState[]
/**
 * Connections that left, named as in `PeerState.connection`.
 */
left?: string[]
}
} | {
kernels: {
notebook: NotebookId
/**
 * All kernels of the notebook: replaces the list sent before.
 */
kernels: KernelStatus[]
}
} | {
measure_kernels: {
notebook: NotebookId
/**
 * True while a client that is not an agent follows the notebook.
 */
wanted: boolean
}
} | {
kernel_answer: KernelAnswerMessage
} | {
comms: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * All open comms, in the order in which they were opened.
 */
comms: OpenComm[]
/**
 * Reason why the comms are unknown now, in a sentence for people. Comms known before stay valid.
 */
problem?: (string | null)
}
} | {
comm: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * Changes in the order in which they happened.
 */
changes: CommChange[]
}
} | {
comms_wanted: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * Key for the answer. Absent: no client follows any more, send nothing.
 */
asker?: (string | null)
}
} | {
send_comm: SendCommMessage
} | {
activity: {
notebook: NotebookId
/**
 * Activity in the order in which it happened.
 */
activity: TurnActivity[]
}
} | {
access: {
notebook: NotebookId
/**
 * The highest of your current roles.
 */
role?: (Role | null)
}
} | {
resync: {
notebook: NotebookId
/**
 * Reason, in a sentence for people.
 */
reason: string
}
} | {
slow_down: {
/**
 * Number of unanswered commands of this connection.
 */
unanswered: number
}
} | {
work: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * Name of one of your offered kernelspecs.
 */
kernelspec: string
}
} | {
input_value: {
notebook: NotebookId
execution_id: ExecutionId
/**
 * Entered text, without a line break at its end.
 */
value: string
}
} | {
kernel_question: KernelQuestionMessage
} | {
file_request: {
/**
 * Request id, chosen by the server; the answer carries it.
 */
id: number
notebook: NotebookId
request: FileRequest
}
} | {
error: ErrorMessage
})
/**
 * Key for the place of a cell: ASCII text that sorts byte by byte, with ties sorted by cell id. The server chooses it.
 * 
 */
export type OrderKey = string
/**
 * The exact code of an execution.
 * 
 */
export type ExecutionSubject = ({
kind: "cell"
cell_id: CellId
/**
 * The `cell_version` that had this source.
 */
cell_version: number
/**
 * The complete text to run. Later edits of the cell do not change it.
 */
source: string
} | {
kind: "scratch"
/**
 * The complete text to run.
 */
source: string
/**
 * The purpose of the run, for people.
 */
purpose: string
} | {
kind: "tool"
/**
 * The tool's name; `call_function` for functions of users.
 */
tool: string
digest: Hash
call_id: ToolCallId
})
/**
 * Status of an execution. The last five values are ends.
 * 
 */
export type ExecutionStatus = ("queued" | "assigned" | "running" | "ok" | "error" | "cancelled" | "blocked" | "lost")
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenExecutionCause = (ExecutionCause | (string | {

}))
/**
 * Cause of an execution.
 * 
 */
export type ExecutionCause = ("requested" | "imported" | "functions_restored" | {
dependency: {
/**
 * The requested run of the same plan. Absent: the run follows the deletion of a cell.
 */
of?: (ExecutionId | null)
}
})
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenEffects = (Effects | (string | {

}))
/**
 * Effects that a run may have.
 * 
 */
export type Effects = ("free" | {
held: {
/**
 * The allowed kinds, each once, in the order of their definition. Empty: none.
 */
allowed: Effect[]
}
} | {
expected: {
/**
 * The kinds that the text can lead to, each once, in the order of their definition.
 */
kinds: Effect[]
}
})
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenEndCause = (EndCause | (string | {

}))
/**
 * Phase of a kernel session that has not ended.
 * 
 */
export type KernelPhase = ("requested" | "claimed" | "started" | "ending")
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenKernelCause = (KernelCause | (string | {

}))
/**
 * Id of one life of a server process, which holds leases of notebooks and makes claims.
 * 
 */
export type InstanceId = string
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenTarget = (Target | (string | {

}))
/**
 * Target of a tool call, in the version that it had at the request. A change of the target makes the call void.
 * 
 */
export type Target = ({
kind: "cell"
cell_id: CellId
/**
 * The cell's `cell_version` at the request.
 */
cell_version: number
} | {
kind: "code"
/**
 * Number of these cells at the request.
 */
cells: number
/**
 * The highest `cell_version` of these cells.
 */
newest_version: number
} | {
kind: "kernel"
kernel_session: KernelSessionId
} | {
kind: "function"
/**
 * The function's name.
 */
name: string
/**
 * The version of the event that registered the function in its present form.
 */
registered_version: number
} | {
kind: "file"
/**
 * The path in the call's arguments. A relative path begins at the kernel's working folder.
 */
path: string
/**
 * SHA-256 of the file's content, in lower-case hex. Absent: the file must not exist yet.
 */
sha256?: (string | null)
})
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenGate = (Gate | (string | {

}))
/**
 * Decision at the request of a call: it passes, or waits for a person.
 * 
 */
export type Gate = ({
kind: "passes"
} | {
kind: "waits_for_person"
/**
 * Time at which the call expires, in milliseconds since 1970.
 */
until: number
})
/**
 * Phase of a tool call that has not ended.
 * 
 */
export type ToolCallPhase = ({
phase: "waiting"
} | {
phase: "confirmed"
by: Actor
} | {
phase: "passed"
} | {
phase: "started"
/**
 * Time of the start, in milliseconds since 1970.
 */
at: number
claimant: InstanceId
})
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenScheduledRunOutcome = (ScheduledRunOutcome | (string | {

}))
/**
 * Code of a rejection, in `snake_case`. Each code maps to one HTTP status, given after the sentence.
 * 
 */
export type RejectionCode = ("forbidden" | "unknown_notebook" | "notebook_exists" | "notebook_archived" | "erased" | "conflict" | "version_in_future" | "base_too_old" | "unknown_thread" | "unknown_comment" | "unknown_cell" | "cell_deleted" | "cell_not_deleted" | "cell_exists" | "invalid_place" | "invalid_change" | "not_runnable" | "dependency_cycle" | "unknown_execution" | "execution_state" | "unknown_kernel_session" | "kernel_state" | "already_claimed" | "agent_not_wanted" | "stale_fence" | "report_gap" | "output_limit" | "no_input_requested" | "nothing_to_undo" | "nothing_to_redact" | "command_id_reused" | "limit_exceeded" | "invalid_value" | "unknown_tool" | "invalid_arguments" | "unknown_message" | "unknown_conversation" | "unknown_turn" | "unknown_tool_call" | "tool_call_state" | "turn_state" | "unknown_schedule" | "schedule_state" | "rate_limited" | "last_owner" | "unknown_subject" | "subject_ended" | "read_only" | "unavailable")
/**
 * Kind of activity. `block` is the index of the block in one model call's reply, from 0.
 * 
 */
export type ActivityKind = ({
type: "text_start"
/**
 * Index of the block.
 */
block: number
} | {
type: "text_delta"
/**
 * Index of the block.
 */
block: number
/**
 * Text to append to the block.
 */
text: string
} | {
type: "thinking_delta"
/**
 * Index of the block.
 */
block: number
/**
 * Text to append to the block.
 */
text: string
} | {
type: "tool_start"
/**
 * Index of the block that the call is.
 */
block: number
/**
 * The model's id of the call, as in the message's `tool_call` block.
 */
provider_id: string
/**
 * Tool that is called; its arguments are still being written.
 */
function: string
} | {
type: "block_stop"
/**
 * Index of the block.
 */
block: number
} | {
type: "attempt_failed"
/**
 * Cause, in a sentence for people.
 */
cause: string
} | {
type: "tool_update"
call_id: ToolCallId
/**
 * Notice, a sentence for people.
 */
message: string
})
/**
 * A request to a runtime agent about a file.
 * 
 */
export type FileRequest = ({
list: {
/**
 * Path below the working folder; empty: that folder itself.
 */
path: string
/**
 * Lower bound: the name after which the page begins.
 */
after?: (string | null)
/**
 * Maximum number of entries.
 */
limit: number
/**
 * True: includes names that begin with a dot.
 */
all?: boolean
}
} | {
look: {
/**
 * Path below the working folder.
 */
path: string
}
} | {
read: {
/**
 * Path below the working folder.
 */
path: string
/**
 * Id of the transfer.
 */
transfer: string
}
} | {
write: {
/**
 * Path below the working folder. Missing folders are created.
 */
path: string
/**
 * Id of the transfer.
 */
transfer: string
/**
 * True: an existing file is replaced.
 */
overwrite: boolean
/**
 * Size in bytes, if known.
 */
size_bytes?: (number | null)
/**
 * Maximum size in bytes; a larger file is refused.
 */
max_bytes: number
}
} | {
move: {
/**
 * Path below the working folder.
 */
from: string
/**
 * New path below the working folder. Missing folders are created.
 */
to: string
}
} | {
remove: {
/**
 * Path below the working folder.
 */
path: string
}
} | {
trash: {
/**
 * Maximum number of entries.
 */
limit: number
}
} | {
restore: {
/**
 * Id of the entry in the trash.
 */
id: string
/**
 * Path for the restored entry; absent: the former one.
 */
to?: (string | null)
}
} | {
empty_trash: {
/**
 * Id of one entry; absent: all.
 */
id?: (string | null)
}
})
/**
 * Code of an error of a message or a connection; refused commands have a `RejectionCode`.
 * 
 */
export type ErrorCode = ("malformed" | "unknown_message" | "frame_too_large" | "unsupported_protocol" | "hello_timeout" | "unauthenticated" | "forbidden" | "unknown_notebook" | "version_in_future" | "version_too_old" | "too_many_requests" | "agent_connected" | "unavailable")
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenRedactedTarget = (RedactedTarget | (string | {

}))
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenExecutionOutcome = (ExecutionOutcome | (string | {

}))
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenMessageRole = (MessageRole | (string | {

}))
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenMessageBlock = (MessageBlock | (string | {

}))
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenDoor = (Door | (string | {

}))
/**
 * Kind of program with which a person uses the server.
 * 
 */
export type Door = ("page" | "terminal" | "rest" | "socket")
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenWithdrawalCause = (WithdrawalCause | (string | {

}))
/**
 * Cause of the withdrawal of a tool call that had not started.
 * 
 */
export type WithdrawalCause = ("requested" | "turn_cancelled" | "turn_ended" | "access_revoked")
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenVoidCause = (VoidCause | (string | {

}))
/**
 * Cause that makes a tool call void, confirmed or not.
 * 
 */
export type VoidCause = ("target_changed" | "tool_changed" | "risk_grew" | "right_lost" | "confirmation_lost" | "gate_closed" | "archived")
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenPassed = (Passed | (string | {

}))
/**
 * Reason why a call may start.
 * 
 */
export type Passed = ({
kind: "policy"
} | {
kind: "grant"
grant_id: GrantId
} | {
kind: "confirmation"
by: Actor
})
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenToolCallEnd = (ToolCallEnd | (string | {

}))

/**
 * First message of a client. It alone ignores unknown fields: a newer client's additions must not hide which protocols it speaks.
 * 
 */
export interface HelloMessage {
protocols: ProtocolRange
/**
 * The token. Absent when it came as the subprotocol `notarium.bearer.<token>`.
 */
token?: (string | null)
/**
 * Name and version of the client program, for diagnosis.
 */
client: string
/**
 * From runtime agents: a name of this process, 1 to 64 characters, chosen anew at every start. A new connection of the same process
 * replaces the one before. A connection of another process is refused while the first is alive.
 */
instance?: (string | null)
/**
 * Optional parts of the protocol that the client knows. Unknown names are ignored.
 */
features?: string[]
/**
 * From guests: the display name, 1 to 40 characters on one line. Others see it with the label of the link. Ignored for all other
 * clients.
 */
name?: (string | null)
}
/**
 * Major versions of this protocol, both ends included.
 * 
 */
export interface ProtocolRange {
/**
 * The oldest major version.
 */
min: number
/**
 * The newest major version.
 */
max: number
}
/**
 * Subscription to a notebook, from the client's last event on.
 * 
 */
export interface SubscribeMessage {
notebook: NotebookId
/**
 * The last event that the client has; absent: it has none.
 */
since?: (LastEvent | null)
/**
 * Cells with text that is not acked. Their changes since `base` are sent even if the answer is a snapshot.
 */
unconfirmed?: UnconfirmedText[]
}
/**
 * An event by version and id. After a restore from a backup, another event may have the same version.
 * 
 */
export interface LastEvent {
/**
 * 1 or more.
 */
version: number
event_id: EventId
}
/**
 * A cell in which the client has text that is not acked.
 * 
 */
export interface UnconfirmedText {
cell_id: CellId
/**
 * Version to which that text is mapped: the `base` of the change that was sent, else the client's own version.
 */
base: number
}
/**
 * One command. A repeat with the same id and the same bytes of `body` gets the same answer.
 * 
 */
export interface CommandMessage {
id: CommandId
notebook: NotebookId
/**
 * Refuse the command unless the notebook is at this version.
 */
expected_version?: (number | null)
/**
 * The undo group; absent: the command forms a group alone.
 */
correlation_id?: (CorrelationId | null)
body: Command
}
/**
 * The notebook and version from which a new notebook was copied.
 * 
 */
export interface ForkOrigin {
notebook: NotebookId
/**
 * The copied version.
 */
version: number
}
/**
 * A restoration: cells, their order and the notebook's metadata become as they were. Title, runs, outputs, replies, comments, access and
 * conversations stay, newer cells go to the trash, and one undo takes it back.
 * 
 */
export interface RestoreNotebook {
/**
 * A version from 1 to the notebook's present one (`version_in_future` otherwise).
 */
version: number
}
/**
 * Removes content from the record for good. The server sends it for `POST /api/notebooks/{notebook}/redactions`, with what it has found in
 * the record.
 * 
 */
export interface RedactContent {
/**
 * 1 to 500 characters, which the record keeps.
 */
reason: string
target: RedactedTarget
}
/**
 * An erasure: all events, outputs and files of the record are deleted, but for the event that says so. Kernels, runs and turns end, and
 * nothing takes it back.
 * 
 */
export interface EraseNotebook {
/**
 * The reason, which people who had access may read: 1 to 1,000 characters.
 */
reason: string
}
/**
 * A new cell, and its place.
 * 
 */
export interface InsertCell {
/**
 * The id that the client chooses, to show the cell before the ack. Absent: the server chooses one.
 */
cell_id?: (CellId | null)
cell_type: CellType
/**
 * The cell's source, at most 1 MiB, with `\n` line breaks only.
 */
source?: string
place?: Place
metadata?: AnyObject
/**
 * File name to MIME bundle, as in nbformat; at most 16 MiB.
 */
attachments?: (AnyObject | null)
flags?: CellFlagChanges
/**
 * The reply of a prompt cell that comes from a file or another notebook. Absent: none.
 */
reply?: (CellReply | null)
}
/**
 * Flags of a cell to change. Absent flags stay as they are.
 * 
 */
export interface CellFlagChanges {
/**
 * Always in the assistant's context.
 */
pinned?: (boolean | null)
/**
 * Never in the assistant's context.
 */
skipped?: (boolean | null)
/**
 * Only the outputs are shown.
 */
source_hidden?: (boolean | null)
/**
 * Only the source is shown.
 */
outputs_hidden?: (boolean | null)
/**
 * For a heading: the cells below it, up to the next heading, are not shown.
 */
heading_collapsed?: (boolean | null)
/**
 * A flag for exporters. Notarium stores it and does not use it.
 */
exported?: (boolean | null)
/**
 * Number of a bookmark, 1 to 9. 0 removes the bookmark.
 */
bookmark?: (number | null)
}
/**
 * Reply of an assistant in a prompt cell, as far as it was recorded.
 * 
 */
export interface CellReply {
/**
 * The turn that gave the reply. Absent: the reply came from a file or another notebook.
 */
turn_id?: (TurnId | null)
status: OpenReplyStatus
/**
 * The reason why the model stopped, for the status `finished`. Absent otherwise.
 */
stop_reason?: (OpenStopReason | null)
/**
 * The cause if the reply failed or was cut off. Absent otherwise.
 */
cause?: (OpenTurnFailure | null)
/**
 * More about the cause, in a sentence for people. Absent: the cause is all that is known.
 */
detail?: (string | null)
/**
 * The cell's source at the start of the turn. If the cell's source differs now, the reply is stale.
 */
prompt: string
/**
 * The texts of the turn's messages so far, separated by empty lines.
 */
text: string
/**
 * True: the conversation's messages have more text than `text`.
 */
is_cut?: boolean
}
/**
 * A change of a cell's text, made at a version that may be older than the notebook's.
 * 
 */
export interface EditSource {
cell_id: CellId
/**
 * The version of the notebook at which the change was made. `base_too_old`: the server no longer has the edits since.
 */
base: number
change: ChangeSet
/**
 * Id of the sender's group that the editor undoes with this change; it is recorded as that group's undo. A group
 * of another actor, or one that touches other cells: an ordinary edit.
 */
undoes?: (CorrelationId | null)
/**
 * Id of the sender's undo that the editor takes back with this change. If that id has nothing to redo: an ordinary edit.
 */
redoes?: (CorrelationId | null)
}
/**
 * A new comment, and its place.
 * 
 */
export interface AddComment {
target: CommentTarget
/**
 * Markdown, 1 to 10,000 characters. Blanks at both ends are removed.
 */
text: string
/**
 * Accounts that the comment mentions, at most 50 active ones (`unknown_subject` or `subject_ended` otherwise). A
 * mention gives no right.
 */
mentions?: UserId[]
}
/**
 * A cell, or a range of its text.
 * 
 */
export interface CommentPlace {
cell_id: CellId
/**
 * `[start, end]` in the cell's source, in UTF-16 code units; not empty for a new thread. Absent: the whole cell.
 */
range?: (TextRange | null)
/**
 * The version of the notebook to whose text the range refers; later edits move the range. Absent: the server's present text.
 */
base?: (number | null)
}
/**
 * The new text and mentions of a comment.
 * 
 */
export interface EditComment {
thread_id: ThreadId
comment_id: CommentId
/**
 * The whole new text: Markdown, 1 to 10,000 characters. Blanks at both ends are removed.
 */
text: string
/**
 * All accounts that the comment then mentions, at most 50. Accounts that it mentioned before need not be active.
 */
mentions?: UserId[]
}
/**
 * A request for a run: its code and its kernel.
 * 
 */
export interface RequestExecution {
/**
 * The id that the client chooses. Absent: the server chooses one.
 */
execution_id?: (ExecutionId | null)
target: ExecutionTarget
/**
 * The kernel for the run. Absent: the notebook's oldest kernel, or a new one if there is none.
 */
kernel_session?: (KernelSessionId | null)
/**
 * Running time in milliseconds after which the kernel is interrupted; above 0. Absent: no limit.
 */
timeout_ms?: (number | null)
/**
 * True: if another run of the same batch does not succeed while this one is queued, this one is blocked.
 */
stop_on_error?: boolean
/**
 * The effects that the person allows. Absent: in a kernel that ran an assistant's code, those to which the code's text
 * can lead; else all. `forbidden` unless a person sends it.
 */
effects?: (RequestedEffects | null)
}
/**
 * One output of a run, as in nbformat.
 * 
 */
export interface Output {
content: AnyJson
/**
 * The parts that are missing in `content`: each part above 8 KiB is a blob.
 */
blobs?: BlobPart[]
/**
 * The id by which later updates name this `display_data`. Absent: it has none.
 */
display_id?: (string | null)
}
/**
 * One part of an output that is stored in a blob instead of the event.
 * 
 */
export interface BlobPart {
/**
 * JSON pointer (RFC 6901) into `content`, to the place of the missing value.
 */
pointer: string
/**
 * Lower-case hex of the SHA-256 of the blob's bytes.
 */
sha256: string
/**
 * Size of the blob, in bytes.
 */
size_bytes: number
/**
 * False: the bytes are the UTF-8 text of a JSON string. True: the bytes are JSON.
 */
json?: boolean
}
/**
 * A launch of a kernel: its kernelspec, and the runtime agents that may start it.
 * 
 */
export interface LaunchKernel {
/**
 * The kernelspec's name. Absent: that of the notebook's metadata, else `python3`.
 */
kernelspec?: (string | null)
/**
 * The only agent that may start the kernel. If it is not connected, the launch waits for it. Absent: any.
 */
agent?: (AgentId | null)
/**
 * Labels that the agent must have, at most 16. Absent: those of the notebook's settings, or none if `agent` is named.
 */
labels?: ({
[k: string]: string
} | null)
}
/**
 * A restart of a kernel: on its own agent, or where `agent` and `labels` say. Queued runs are cancelled, unless the kernel was
 * never claimed.
 * 
 */
export interface RestartKernel {
kernel_session: KernelSessionId
/**
 * The only agent that may start the new kernel. If it is not connected, the launch waits for it.
 */
agent?: (AgentId | null)
/**
 * Labels that the agent of the new kernel must have, at most 16. Empty: any agent may start it.
 */
labels?: ({
[k: string]: string
} | null)
}
/**
 * The software of a kernel: a blob with its Python, its platform and the installed distributions.
 * 
 */
export interface KernelEnvironment {
sha256: Hash
/**
 * Size of the blob, in bytes.
 */
size_bytes: number
}
/**
 * An effect of a run that was refused. The first effect of each kind is recorded at once, with the number 1; once more, with the final
 * number, if there were several. Further reports on the kind change nothing.
 * 
 */
export interface RefusalReport {
execution_id: ExecutionId
/**
 * The version of the session's KernelSessionStarted. `stale_fence`: the session has ended, or is not the sender's.
 */
fence: number
kind: Effect
/**
 * The target of the first effect of this kind, as the code named it. The first 1,024 bytes are kept.
 */
target: string
/**
 * Number of refused effects of this kind so far; at least 1.
 */
count: number
}
/**
 * Text that a run offers for a cell: Jupyter's `set_next_input`, as `%load` and `%recall` do. It replaces the source of the run's
 * cell, if that is still what ran, else it becomes a new cell below. Refused (`invalid_value`) unless a person who may edit
 * requested the run of a cell: show the text as an output then.
 * 
 */
export interface NextInput {
execution_id: ExecutionId
/**
 * The version of the session's KernelSessionStarted. `stale_fence`: the session has ended, or is not the sender's.
 */
fence: number
/**
 * The text. Line breaks become `\n`.
 */
text: string
/**
 * True: the text is meant in place of the cell's source. False: for a new cell below.
 */
replace: boolean
}
/**
 * A registered function, as its kernel describes it.
 * 
 */
export interface UserFunction {
/**
 * The function's name: 1 to 64 ASCII letters, digits and `_`, a letter first.
 */
name: string
/**
 * A text that changes when the function changes; at most 100 characters.
 */
version?: string
/**
 * Description for the model and for people: what the function does and when to use it. At most 4,000 characters.
 */
description?: string
schema: AnyObject
risk: OpenRisk
/**
 * Kinds of effects that a call may have, if the risk is `sensitive` or `destructive`; calls of a lower risk have none.
 * Absent: none.
 */
effects?: OpenEffect[]
}
/**
 * Place in code of a registered function, as its kernel reports it.
 * 
 */
export interface FunctionPlace {
/**
 * The function's name.
 */
name: string
/**
 * The cell whose run registered the function. Absent: code of no cell did, or the kernel does not report it.
 */
cell_id?: (CellId | null)
/**
 * The module that defines the function. Absent: the notebook's code defines it.
 */
module?: (string | null)
/**
 * The line in that cell or module, from 1. Absent: not known.
 */
line?: (number | null)
}
/**
 * A schedule, new or changed. Its runs are in the name of the sender, with the rights that the sender has at the time of each run.
 * 
 */
export interface SetSchedule {
schedule_id: ScheduleId
/**
 * The times, as a line of cron with five fields: minute, hour, day of the month, month, day of the week. Refused (`invalid_value`)
 * if the line never comes, or comes more often than every five minutes.
 */
cron: string
/**
 * The time zone of the line, by its IANA name. Absent: `UTC`.
 */
timezone?: (string | null)
/**
 * The version that runs. Absent: the newest at the time of the run.
 */
version?: (number | null)
parameters?: AnyObject
/**
 * The only runtime agent that may start the kernel. Absent: any.
 */
agent?: (AgentId | null)
/**
 * Labels that the agent must have, at most 16. Absent: those of the notebook's settings, or none if `agent` is named.
 */
labels?: ({
[k: string]: string
} | null)
/**
 * True: of the runs that were missed, the last one runs late.
 */
catch_up?: boolean
/**
 * Minutes after which an unfinished run is stopped: 1 to 10,080. Absent: 1,440.
 */
max_run_minutes?: (number | null)
/**
 * Number of notebooks of runs that stay in the list, 1 to 1,000; older ones are archived. Absent: 30.
 */
kept_runs?: (number | null)
}
/**
 * Removal of a schedule.
 * 
 */
export interface RemoveSchedule {
schedule_id: ScheduleId
}
/**
 * A run of a schedule at a person's request.
 * 
 */
export interface RunSchedule {
schedule_id: ScheduleId
run: NotebookId
}
/**
 * The server's claim of a run.
 * 
 */
export interface StartScheduledRun {
schedule_id: ScheduleId
run: NotebookId
/**
 * The minute, which has come and was not dealt with (`schedule_state` otherwise).
 */
due: number
}
/**
 * An end of a scheduled run, from the server.
 * 
 */
export interface EndScheduledRun {
schedule_id: ScheduleId
/**
 * The notebook of the run that is under way; another changes nothing. Absent: no run was claimed.
 */
run?: (NotebookId | null)
/**
 * The minute for which it was scheduled; of several missed ones the last. Without `run`, one that was dealt with changes nothing.
 */
due?: (number | null)
outcome: ScheduledRunOutcome
/**
 * The cell that failed.
 */
cell_id?: (CellId | null)
/**
 * Name of the error.
 */
error?: (string | null)
/**
 * More about the end, in a sentence; at most 2,000 characters are kept.
 */
detail?: (string | null)
/**
 * Number of missed runs. Absent: this one run.
 */
missed?: (number | null)
}
/**
 * A message to an assistant, which begins a turn. A conversation that does not exist is created.
 * 
 */
export interface StartTurn {
conversation_id: ConversationId
/**
 * The id that the client chooses. Absent: the server chooses one.
 */
turn_id?: (TurnId | null)
/**
 * The message. Absent for a prompt cell, whose source is the message.
 */
text?: (string | null)
/**
 * A prompt cell: its source is the message, and the cell shows the reply.
 */
cell_id?: (CellId | null)
/**
 * The model: `PROVIDER`, `PROVIDER/MODEL`, or a model of the first provider. Absent: the server's default.
 */
model?: (string | null)
/**
 * At most 8 pictures and files, uploaded as blobs of this notebook. Pictures (PNG, JPEG, GIF, WebP) have at most
 * 3,750,000 bytes, text files at most 256 KiB.
 */
attachments?: Attachment[]
}
/**
 * A picture or file that is attached to a message, stored as a blob of the notebook.
 * 
 */
export interface Attachment {
/**
 * SHA-256 of the bytes, in lower-case hex, which names the blob.
 */
sha256: string
/**
 * Size in bytes.
 */
size_bytes: number
/**
 * Media type, such as `image/png`.
 */
media_type: string
/**
 * Name of the person's file, 1 to 255 characters.
 */
name: string
}
/**
 * Flags of a message for the assistant's context. Absent flags stay as they are.
 * 
 */
export interface FlagMessage {
conversation_id: ConversationId
message_id: MessageId
/**
 * Always in the assistant's context. Not together with `skipped`.
 */
pinned?: (boolean | null)
/**
 * Never in the assistant's context.
 */
skipped?: (boolean | null)
}
/**
 * Changes of the settings of a notebook's kernels. Absent settings stay.
 * 
 */
export interface SetKernelSettings {
/**
 * The fate of a kernel with variables if its runtime agent is unreachable: `ask`, `replace` or `wait`.
 */
replacement?: (KernelReplacement | null)
/**
 * Labels that a launch asks for if it names neither an agent nor labels, at most 16. Empty: none.
 */
labels?: ({
[k: string]: string
} | null)
}
/**
 * A request of an assistant to call a tool. Assistants cannot send the commands of people.
 * 
 */
export interface RequestToolCall {
/**
 * The id that the sender chooses. Absent: the server chooses one.
 */
call_id?: (ToolCallId | null)
/**
 * The turn of the call. Absent for outside assistants, which have no turns.
 */
turn_id?: (TurnId | null)
/**
 * The name of a built-in tool or of a registered function (`unknown_tool` otherwise).
 */
function: string
arguments?: AnyObject
/**
 * A call of the same conversation that must end first, with any result. An ended call has no effect.
 */
after?: (ToolCallId | null)
/**
 * Title of the conversation if it begins with this call, for outside assistants.
 */
conversation_title?: (string | null)
/**
 * Id of the token that the outside assistant's client has used. For a call in a turn, the turn's token counts instead.
 */
token?: (TokenId | null)
}
/**
 * Large values of a run's outputs that leave the state.
 * 
 */
export interface MoveOutputs {
execution_id: ExecutionId
/**
 * The execution's `output_seq` when the outputs were read (`execution_state` if it is higher now).
 */
output_seq: number
/**
 * The replacements, in the order of the outputs, without overlaps.
 */
moved: MovedOutputs[]
}
/**
 * Consecutive outputs, and the output that replaces them.
 * 
 */
export interface MovedOutputs {
/**
 * Index of the first replaced output, from 0, before any replacement of this event.
 */
first: number
/**
 * Number of replaced outputs. Several are pieces of the same stream.
 */
count: number
output: Output
}
/**
 * Tokens that a model call used.
 * 
 */
export interface Usage {
/**
 * Number of tokens that the model read.
 */
input_tokens?: number
/**
 * Number of tokens that the model wrote.
 */
output_tokens?: number
/**
 * The part of `input_tokens` that came from the provider's cache. Absent: none, or the provider reported none.
 */
cached_tokens?: number
/**
 * True: the server's estimate, because the provider reported no numbers.
 */
estimated?: boolean
}
/**
 * Compares the client's state at a version with the server's. The client must follow the notebook.
 * 
 */
export interface CheckMessage {
notebook: NotebookId
/**
 * The version that the client holds.
 */
version: number
/**
 * Digest of the client's own state. If the server's digest differs, it sends the whole state after its answer.
 */
digest?: (Hash | null)
}
/**
 * Position of a client in a notebook. All fields may be absent: the client is present, and nothing more is known.
 * 
 */
export interface PresenceState {
/**
 * The cell that has the focus.
 */
cell_id?: (CellId | null)
/**
 * Selection in that cell's source, UTF-16 code units: `[anchor, head]`.
 * 
 * @minItems 2
 * @maxItems 2
 */
selection?: (number[] | null)
/**
 * True while text is being entered.
 */
typing?: boolean
}
/**
 * A question to a kernel. The next one about code of the same connection to the same kernel cancels it.
 * 
 */
export interface AskKernelMessage {
/**
 * Question id, chosen by the client; the answer carries it.
 */
id: number
notebook: NotebookId
/**
 * The cell that contains the code. A cell that cannot run is refused.
 */
cell_id?: (CellId | null)
/**
 * Kernel that is asked; absent: the kernel that the cell would run on now.
 */
kernel_session?: (KernelSessionId | null)
/**
 * Text in the editor; it may differ from the cell's source.
 */
code?: string
/**
 * Cursor position in `code`, in UTF-16 code units.
 */
cursor?: number
kind: QuestionKind
}
/**
 * Requests rows of a table that pass search and filters, sorted.
 * 
 */
export interface ReadTable {
of: TableName
/**
 * Offset of the first row, among the matching rows in sort order; from 0.
 */
first?: number
/**
 * Number of rows; at most 10,000.
 */
count: number
/**
 * Sort order; absent: the order of the table.
 */
sort?: (TableSort | null)
/**
 * Filters, all of which a row must pass; at most 20.
 */
filters?: TableFilter[]
/**
 * Returns only rows in which the text of a column contains this, ignoring case. At most 1 KiB.
 */
search?: string
}
/**
 * Name of a table in a kernel's memory: exactly one of the two fields.
 * 
 */
export interface TableName {
/**
 * The `table` that the output carries: the very frame that it shows, even if its variable holds another by now.
 */
table?: (string | null)
/**
 * A variable that holds a data frame or a series of pandas or polars.
 */
variable?: (string | null)
}
/**
 * Sort order by one column. Rows without a value come last; equal rows keep their order.
 * 
 */
export interface TableSort {
/**
 * Index in `columns`, from 0.
 */
column: number
/**
 * Sorts from the largest to the smallest.
 */
is_descending?: boolean
}
/**
 * Condition on the value of a column.
 * 
 */
export interface TableFilter {
/**
 * Index in `columns`, from 0.
 */
column: number
operator: TableOperator
/**
 * Value to compare with; empty for `empty` and `not_empty`. At most 1 KiB.
 */
value?: string
}
/**
 * Requests a summary of a column.
 * 
 */
export interface SummarizeColumn {
of: TableName
/**
 * Index in `columns`, from 0.
 */
column: number
}
/**
 * Cells to format.
 * 
 */
export interface FormatCells {
/**
 * Texts of the cells as the editor has them; at most 500 cells and 256 KiB.
 */
cells: string[]
}
/**
 * A client's message on a comm, on its way to the kernel.
 * 
 */
export interface SendCommMessage {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * Chosen by the client. Answers of the kernel carry it in `parent`, behind the connection.
 */
id: number
/**
 * Connection of the sender. The server sets it.
 */
sender?: (string | null)
message: CommMessage
}
/**
 * A message on a comm.
 * 
 */
export interface CommMessage {
/**
 * Id of an open comm.
 */
comm_id: string
data: AnyObject
/**
 * Binary buffers of the message, base64; at most 64.
 */
buffers?: string[]
/**
 * From a kernel: the client message that it answers, as `connection.id`.
 */
parent?: (string | null)
}
/**
 * Kernels, databases and the machine that a runtime agent offers.
 * 
 */
export interface OfferMessage {
/**
 * Kernelspecs, at most 200.
 */
kernelspecs: OfferedKernelspec[]
/**
 * Databases that SQL cells can name, at most 200.
 */
connections?: OfferedConnection[]
/**
 * Labels for which launches can ask, at most 16. Send them only to a server with the feature `agent_machines`.
 */
labels?: {
[k: string]: string
}
/**
 * The machine, for people. Send it only to a server with the feature `agent_machines`.
 */
machine?: (OfferedMachine | null)
}
/**
 * A kernel that a runtime agent can launch, as Jupyter describes it.
 * 
 */
export interface OfferedKernelspec {
/**
 * Directory name of the kernelspec, as in `python3`; `LaunchKernel` takes it.
 */
name: string
/**
 * Display name, as in `Python 3 (ipykernel)`.
 */
display_name: string
/**
 * Language of the code, as in `python`.
 */
language: string
/**
 * Says that the agent holds the effects of these kernels' runs, or why it does not. Absent: an older agent, which
 * holds none. Send it only to a server with the feature `kernel_effects`.
 */
effects?: (KernelEffects | null)
}
/**
 * A database connection that the operator of a runtime agent has named: the part that people and programs may see.
 * 
 */
export interface OfferedConnection {
/**
 * Name as an SQL cell has it in its first line: `-- @warehouse`.
 */
name: string
/**
 * `postgresql`, `sqlite` or `duckdb`.
 */
kind: string
/**
 * True if a cell with `write` after the name, as in `-- @warehouse write`, may write.
 */
writes?: boolean
}
/**
 * The machine of a runtime agent.
 * 
 */
export interface OfferedMachine {
/**
 * Processors that kernels may use.
 */
cores: number
/**
 * Main memory.
 */
memory_bytes: number
/**
 * Graphics processors, at most 64.
 */
gpus?: OfferedGpu[]
}
/**
 * A graphics processor.
 * 
 */
export interface OfferedGpu {
/**
 * Name as its driver has it.
 */
name: string
/**
 * Its own memory.
 */
memory_bytes: number
}
/**
 * Load of a machine, by all its programs.
 * 
 */
export interface MachineLoad {
/**
 * Use of all processors together, 0 to 100. Absent: not measured yet.
 */
cpu_percent?: (number | null)
/**
 * Used main memory.
 */
memory_used_bytes: number
/**
 * Load of each graphics processor, in the order of the offer.
 */
gpus?: GpuLoad[]
}
/**
 * Load of a graphics processor.
 * 
 */
export interface GpuLoad {
/**
 * Use of the processor, 0 to 100. Absent: the driver does not say.
 */
busy_percent?: (number | null)
/**
 * Used memory.
 */
memory_used_bytes: number
}
/**
 * Memory and CPU use of a kernel.
 * 
 */
export interface KernelUsage {
/**
 * Resident memory, in bytes.
 */
memory_bytes: number
/**
 * CPU use in percent of one processor: 200 means two processors fully used. Absent after the first measurement, which has no interval.
 */
cpu_percent?: (number | null)
}
/**
 * An open comm with the state that the kernel has sent so far.
 * 
 */
export interface OpenComm {
/**
 * Id of the comm; for widgets the `model_id`.
 */
comm_id: string
/**
 * Target of the comm; absent: a widget. `notarium.progress`: progress of a run.
 */
target?: (string | null)
/**
 * The run whose progress this is; only for `notarium.progress`.
 */
execution_id?: (ExecutionId | null)
state: AnyObject
/**
 * Attributes that are bytes; `state` does not contain them.
 */
buffers?: CommBuffer[]
}
/**
 * Bytes and their path in a state.
 * 
 */
export interface CommBuffer {
/**
 * Attribute names and list indexes (as text), from the outermost in.
 */
path: string[]
/**
 * Base64, standard alphabet, with padding.
 */
base64: string
}
/**
 * Completions for a piece of the code.
 * 
 */
export interface Completion {
/**
 * Start of the piece that a match replaces, in UTF-16 code units of the code.
 */
from: number
/**
 * End of the piece, exclusive.
 */
to: number
/**
 * Matches in the kernel's order; at most 500.
 */
matches: CompletionMatch[]
/**
 * The kernel has more matches: they were left out.
 */
is_cut?: boolean
}
/**
 * One completion.
 * 
 */
export interface CompletionMatch {
/**
 * Text that replaces the piece.
 */
text: string
/**
 * Type of the completion as the kernel names it: `function`, `class`, `instance`, `module`, `keyword`, `param`, `path`, `magic` …
 */
type?: (string | null)
/**
 * Signature of a function, as in `(a, b=1)`.
 */
signature?: (string | null)
}
/**
 * Documentation of a name.
 * 
 */
export interface Inspection {
/**
 * False: the kernel does not know the name.
 */
found: boolean
/**
 * The description by MIME type: `text/plain` (with ANSI colours), `text/html`, `text/markdown`; each at most 64 KiB.
 */
data?: {
[k: string]: string
}
/**
 * The description was longer: its end was left out.
 */
is_cut?: boolean
}
/**
 * Tables and views of a connection, with their columns. Left out: system schemas, partitions, and tables that the account may not read.
 * 
 */
export interface ConnectionSchema {
/**
 * `postgresql`, `sqlite` or `duckdb`.
 */
kind: string
/**
 * At most 1,000; tables that need no schema before their name come first.
 */
tables: Table[]
/**
 * Number of further tables that were left out.
 */
tables_left_out?: number
}
/**
 * A table or a view.
 * 
 */
export interface Table {
/**
 * Catalog, if it is not the default one: a database that DuckDB has attached, or `temp`.
 */
catalog?: (string | null)
/**
 * Schema of the table.
 */
schema: string
/**
 * Unquoted name; SQL may need quotes around it.
 */
name: string
/**
 * `table`, `view`, `materialized_view` or `foreign_table`.
 */
kind: string
/**
 * True if SQL finds the table by its name alone.
 */
is_visible: boolean
/**
 * Columns in table order; at most 10,000 over all tables.
 */
columns: Column[]
/**
 * Number of further columns that were left out.
 */
columns_left_out?: number
}
/**
 * A column of a table.
 * 
 */
export interface Column {
/**
 * Unquoted name; SQL may need quotes around it.
 */
name: string
/**
 * Type as the database names it, at most 200 characters. Empty: SQLite has columns without a type.
 */
type: string
/**
 * True if the column may hold NULL.
 */
nullable: boolean
}
/**
 * Variables of a kernel: the user's own, without modules, functions, classes, and names that begin with `_`.
 * 
 */
export interface VariableList {
/**
 * Variables in the order of their first assignment; at most 200, the latest.
 */
variables: Variable[]
/**
 * Number of further variables that were left out.
 */
left_out?: number
}
/**
 * A variable.
 * 
 */
export interface Variable {
/**
 * Variable name.
 */
name: string
/**
 * Type name, with its module unless it is a built-in of Python.
 */
type: string
/**
 * Length of each axis; for arrays and tables.
 */
shape?: (number[] | null)
/**
 * Number of elements or characters; for containers and texts.
 */
length?: (number | null)
/**
 * Size in memory in bytes, without referenced objects; absent if it is expensive to compute.
 */
bytes?: (number | null)
/**
 * Beginning of the value as text. `[hidden]`: the variable's name suggests a secret.
 */
preview?: (string | null)
/**
 * True if `read_table` can read it.
 */
is_table?: boolean
}
/**
 * Rows of a table, as it is in the kernel now.
 * 
 */
export interface TablePage {
/**
 * Name of the table in later questions.
 */
table: string
/**
 * Type of the table: `pandas.DataFrame`, `polars.Series` …
 */
kind: string
/**
 * Number of rows of the table.
 */
rows: number
/**
 * Number of rows that pass search and filters.
 */
matching: number
/**
 * Offset of the first row of `data` among the matching rows.
 */
first: number
/**
 * Columns, at most 2,000.
 */
columns: TableColumn[]
/**
 * Number of further columns that were left out.
 */
columns_left_out?: number
/**
 * Rows, each with a value per column: `null` where there is none, a number, a boolean, or a text. Integers beyond 2^53 and numbers
 * that are not finite (`inf`, `-inf`, `NaN`) are texts.
 */
data: AnyJson[][]
/**
 * The answer has fewer rows than requested because of its size: request the next ones from behind the last.
 */
is_cut?: boolean
/**
 * Shape, types or first rows differ from those that the output showed.
 */
is_changed?: boolean
}
/**
 * A column of a table. Index columns come first.
 * 
 */
export interface TableColumn {
/**
 * Column name as text; not necessarily unique, and empty for an unnamed index.
 */
name: string
/**
 * Type as the library names it: `int64`, `datetime64[ns, UTC]`, `String` …
 */
type: string
/**
 * `integer`, `number`, `boolean`, `datetime`, `text` or `any`; more may be added.
 */
kind: string
/**
 * Text that the library prints for a missing value. Absent: `NaN`.
 */
missing?: (string | null)
/**
 * True for a column of the index.
 */
is_index?: boolean
}
/**
 * Summary of a column. Values that make no sense for its type, or take too long to compute, are absent.
 * 
 */
export interface ColumnSummary {
column: TableColumn
/**
 * Number of rows of the table.
 */
rows: number
/**
 * Number of rows without a value.
 */
missing: number
/**
 * Number of distinct values.
 */
distinct?: (number | null)
/**
 * The smallest value.
 */
min?: (AnyJson | null)
/**
 * The largest value.
 */
max?: (AnyJson | null)
/**
 * The arithmetic mean.
 */
mean?: (AnyJson | null)
/**
 * The sample standard deviation.
 */
std?: (AnyJson | null)
/**
 * The first, second and third quartile.
 */
quartiles?: AnyJson[]
/**
 * The most frequent values, at most 5.
 */
top?: ValueCount[]
}
/**
 * A value and its frequency.
 * 
 */
export interface ValueCount {
value: AnyJson
/**
 * Number of rows with this value.
 */
count: number
}
/**
 * Formatted cells.
 * 
 */
export interface FormattedCells {
/**
 * Name and version of the formatter, as in `black 26.1.0`. Absent: the kernel's Python has none, and `cells` is empty.
 */
formatter?: (string | null)
/**
 * Texts in the order of the question; `null` for a cell that the formatter cannot parse or does not change.
 */
cells: (string | null)[]
}
/**
 * Erasure of a notebook: who, when and why, and the end of the record that was erased.
 * 
 */
export interface Erasure {
by: Actor
/**
 * Time of the event, in milliseconds since 1970.
 */
at: number
/**
 * The reason, in words of the author.
 */
reason: string
/**
 * Version of the last erased event.
 */
version: number
hash: Hash
}
/**
 * A page of a folder.
 * 
 */
export interface FolderPage {
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
}
/**
 * An entry of a folder.
 * 
 */
export interface FileEntry {
/**
 * Name without the folder.
 */
name: string
kind: FileKind
/**
 * Size in bytes; only for files.
 */
size_bytes?: (number | null)
/**
 * Time of the last change of its content by the clock of that machine, in milliseconds since 1970.
 */
modified_at?: (number | null)
}
/**
 * A stored file.
 * 
 */
export interface WrittenFile {
/**
 * Path below the working folder.
 */
path: string
/**
 * Total size in bytes.
 */
size_bytes: number
/**
 * SHA-256 of its bytes, in lower-case hex.
 */
sha256: string
/**
 * True if it replaced an existing file.
 */
replaced: boolean
}
/**
 * A moved file, folder or link.
 * 
 */
export interface MovedFile {
/**
 * Former path, below the working folder.
 */
from: string
/**
 * New path, below the working folder.
 */
path: string
kind: FileKind
}
/**
 * An entry of the trash.
 * 
 */
export interface TrashedFile {
/**
 * Id for restoring it.
 */
id: string
/**
 * Former path, below the working folder.
 */
path: string
kind: FileKind
/**
 * Total size in bytes; for a folder with very many files, of the counted ones.
 */
size_bytes: number
/**
 * Time of removal by the clock of that machine, in milliseconds since 1970.
 */
removed_at: number
}
/**
 * Entries of the trash of a working folder, with its limits.
 * 
 */
export interface TrashPage {
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
}
/**
 * The client's identity and its limits.
 * 
 */
export interface WelcomeMessage {
/**
 * The version of `hello.protocols` that both sides use from now on.
 */
protocol: number
/**
 * Name and version of the server.
 */
server: string
/**
 * Name of this connection in presence.
 */
connection: string
actor: Actor
/**
 * Scopes of the token; the role in a notebook may allow less.
 */
scopes: Scope[]
/**
 * Expiry of the token, in milliseconds since 1970; send `refresh` before.
 */
expires_at?: (number | null)
/**
 * Maximum size of a frame. A larger one is refused with `frame_too_large`; one of twice the size ends the connection.
 */
max_frame_bytes: number
/**
 * Interval of the server's pings, in milliseconds. A client that receives nothing for three intervals reconnects.
 */
heartbeat_ms: number
/**
 * Optional parts of the protocol that this server has, such as `assistants`. Ignore unknown names.
 */
features: string[]
/**
 * Limits of this server for what a client sends. Absent: an older server.
 */
limits?: (SendLimits | null)
}
/**
 * Limits of what a client sends; a client checks them before it does. Texts count in bytes as UTF-8, where nothing else is said.
 * 
 */
export interface SendLimits {
/**
 * A cell's source, or code of no cell.
 */
max_source_bytes: number
/**
 * Metadata of a cell or of the notebook, as JSON.
 */
max_metadata_bytes: number
/**
 * All attachments of a cell together, as JSON.
 */
max_attachments_bytes: number
/**
 * A title or a name, in Unicode characters.
 */
max_title_characters: number
/**
 * Cells of a notebook.
 */
max_cells: number
/**
 * Commands of one `Batch`.
 */
max_batch_commands: number
/**
 * An answer to an input request of running code.
 */
max_input_bytes: number
/**
 * All blocks of a message to an assistant.
 */
max_message_bytes: number
/**
 * Attachments of one question to an assistant.
 */
max_question_attachments: number
/**
 * A picture of a question.
 */
max_picture_bytes: number
/**
 * A text file of a question.
 */
max_attached_text_bytes: number
/**
 * All outputs of one report.
 */
max_output_bytes_per_report: number
/**
 * One blob.
 */
max_blob_bytes: number
/**
 * The body of a REST request, except for imports, blobs and files.
 */
max_request_bytes: number
/**
 * An imported file.
 */
max_import_bytes: number
/**
 * A file in the folder of kernels.
 */
max_working_file_bytes: number
}
/**
 * Start of a subscription: everything that the client needs to be at `version`.
 * 
 */
export interface SubscribedMessage {
notebook: NotebookId
/**
 * Version after which events follow.
 */
version: number
event_id: EventId
/**
 * True: the event in `since` is not in this log, which was restored from a backup. The snapshot replaces the client's state, its
 * unconfirmed texts belong to another branch (`base_too_old`), and acked commands may be lost.
 */
diverged?: boolean
role: Role
/**
 * [`crate::DOCUMENT`]: version of the rules by which the state is folded.
 */
document: number
/**
 * Version of the notebook's last redaction. If it is above the one that you know, drop everything that you hold of the notebook, also what is
 * stored. Absent: 0, none.
 */
redaction_epoch?: number
/**
 * Digest of the snapshot; absent if it has no canonical form.
 */
digest?: (Hash | null)
/**
 * For people: the next steps to undo and redo.
 */
undo?: (NextSteps | null)
/**
 * True: a newer server has written this notebook. `version` is the last one before the first event that this server does not know. No
 * more events follow, and every command is refused with `read_only`.
 */
read_only?: boolean
/**
 * State at `version`. Absent: the client's state at `since` is valid, and the missing events follow.
 */
snapshot?: (Document | null)
/**
 * With a snapshot: events of the unconfirmed cells that the client named, since their base.
 */
unconfirmed_events?: EventMessage[]
/**
 * Cells whose base is too old: offer the text as a conflict copy.
 */
base_too_old?: CellId[]
/**
 * Other clients in the notebook.
 */
peers?: PeerState[]
/**
 * Reachability and activity of each kernel.
 */
kernels?: KernelStatus[]
}
/**
 * The next undo and the next redo of an actor.
 * 
 */
export interface NextSteps {
/**
 * The group that `Undo` takes next. Absent: there is nothing to undo.
 */
undo?: (NextStep | null)
/**
 * The group that `Redo` takes next. Absent: there is nothing to redo.
 */
redo?: (NextStep | null)
}
/**
 * One group that can be undone or redone.
 * 
 */
export interface NextStep {
correlation_id: CorrelationId
/**
 * The version of the group's last event.
 */
version: number
/**
 * The cells that the group touches. Empty: it changes the notebook itself.
 */
cells?: CellId[]
}
/**
 * The document of one notebook at one version.
 * 
 */
export interface Document {
notebook_id: NotebookId
/**
 * Version of the last applied event; 0 before the notebook exists.
 */
version: number
/**
 * The title: 1 to 255 characters on one line; empty before the first event.
 */
title: string
/**
 * True: the notebook can be read, exported and forked, but neither changed nor run.
 */
archived?: boolean
/**
 * The erasure, after which nothing else is left but `access`. Absent: the notebook was not erased.
 */
erased?: (Erasure | null)
metadata: AnyObject
/**
 * Time of the first event, in milliseconds since 1970.
 */
created_at?: number
/**
 * Time of the last event, in milliseconds since 1970.
 */
updated_at?: number
/**
 * The access list, sorted by subject.
 */
access: AccessEntry[]
/**
 * The live cells by id. The trash is a projection of the log.
 */
cells: {
[k: string]: Cell
}
/**
 * Cell ids in page order: by order key, then id. Derived from `cells`.
 */
order: CellId[]
/**
 * The latest execution of each live cell, whose outputs the cell shows.
 */
latest: {
[k: string]: ExecutionId
}
/**
 * Threads of comments, also resolved ones and those of cells in the trash.
 */
threads?: {
[k: string]: Thread
}
/**
 * Executions that are unfinished, or the latest of a live cell.
 */
executions: {
[k: string]: Execution
}
/**
 * The kernel sessions that have not ended, also unclaimed ones.
 */
kernels: {
[k: string]: KernelSession
}
/**
 * The last unrequested end or failed launch of a kernel. Absent: none since a kernel started.
 */
kernel_notice?: (KernelNotice | null)
/**
 * Functions that kernels have registered as tools, by name; also those of ended kernels.
 */
functions?: {
[k: string]: RegisteredFunction
}
/**
 * Names of versions, by version.
 */
named_versions?: {
/**
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^\d+$".
 */
[k: string]: string
}
/**
 * Version of the last redaction: what was read before it may have content that is gone. Absent: none.
 */
redaction_epoch?: number
policy?: Policy
reactivity?: Reactivity
kernel_settings?: KernelSettings
/**
 * Conversations, without their messages, which are a projection of the log.
 */
conversations?: {
[k: string]: Conversation
}
/**
 * Turns that have not ended.
 */
turns?: {
[k: string]: Turn
}
/**
 * Tool calls that have not ended.
 */
tool_calls?: {
[k: string]: ToolCall
}
/**
 * Grants that are not revoked. Expired ones may still be here: check `expires_at`.
 */
grants?: {
[k: string]: AssistantGrant
}
/**
 * Schedules by which the notebook runs by itself.
 */
schedules?: {
[k: string]: Schedule
}
}
/**
 * One entry of the access list.
 * 
 */
export interface AccessEntry {
subject: Subject
role: Role
/**
 * Time at which the role ends, in milliseconds since 1970. Absent: until it is revoked.
 */
expires_at?: (number | null)
}
/**
 * A live cell. In JSON the fields of its content are beside the versions.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface Cell {
cell_type: CellType
/**
 * The cell's source, at most 1 MiB, with `\n` line breaks only. May be empty.
 */
source: string
order_key: OrderKey
metadata?: AnyObject
/**
 * File name to MIME bundle, as in nbformat. Absent: none.
 */
attachments?: (AnyObject | null)
flags?: CellFlags
/**
 * The reply that a prompt cell shows. Absent: none.
 */
reply?: (CellReply | null)
/**
 * Version of the last event that changed source, type, place or existence. Preconditions use it.
 */
cell_version: number
/**
 * Version of the last event that changed the source. A change whose base is not older needs no transform.
 */
source_version: number
}
/**
 * Flags of a cell: its display and its use, not its content.
 * 
 */
export interface CellFlags {
/**
 * Always in the assistant's context.
 */
pinned?: boolean
/**
 * Never in the assistant's context.
 */
skipped?: boolean
/**
 * Only the outputs are shown.
 */
source_hidden?: boolean
/**
 * Only the source is shown.
 */
outputs_hidden?: boolean
/**
 * For a heading: the cells below it, up to the next heading, are not shown.
 */
heading_collapsed?: boolean
/**
 * A flag for exporters. Notarium stores it and does not use it.
 */
exported?: boolean
/**
 * Number of a bookmark, 1 to 9. Absent: none.
 */
bookmark?: (number | null)
}
/**
 * A thread of comments on a cell, or on a range of its text. It is not shown while its cell is in the trash.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface Thread {
cell_id: CellId
/**
 * The range of text, which edits move. Empty: the text was deleted. Absent: the thread is about the whole cell.
 */
range?: (TextRange | null)
/**
 * The text of the range when the thread began, cut to 500 characters. Absent: the thread began without a range.
 */
quote?: (string | null)
/**
 * The comments, in the order in which they were posted.
 */
comments: Comment[]
/**
 * The thread's resolution. Absent: the thread is open.
 */
resolved?: (Resolution | null)
}
/**
 * A comment in a thread.
 * 
 */
export interface Comment {
comment_id: CommentId
/**
 * The comment's text, as Markdown.
 */
text: string
/**
 * Accounts that the comment mentions, sorted.
 */
mentions?: UserId[]
author: Actor
/**
 * Time of posting, in milliseconds since 1970.
 */
posted_at: number
/**
 * Time of the author's last change, in milliseconds since 1970. Absent: never changed.
 */
edited_at?: (number | null)
}
/**
 * The resolution of a thread: actor and time.
 * 
 */
export interface Resolution {
by: Actor
/**
 * Time of the resolution, in milliseconds since 1970.
 */
at: number
}
/**
 * One execution: the exact source that it runs, its outputs, and its end.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface Execution {
subject: ExecutionSubject
status: ExecutionStatus
cause: OpenExecutionCause
effects: OpenEffects
requested_by: Actor
/**
 * Time of the request, in milliseconds since 1970.
 */
requested_at: number
/**
 * The version of the request. Queued runs are executed in this order.
 */
requested_version: number
correlation_id: CorrelationId
/**
 * The kernel session of the run. Absent for imported runs, and while a run waits for a default kernel whose agent
 * was away at the request.
 */
kernel_session?: (KernelSessionId | null)
/**
 * The only agent that may report on the run. Absent: the run is not assigned.
 */
agent?: (AgentId | null)
/**
 * The fence of the session to which the run is assigned. Reports on the run must carry it. Absent: the run is not assigned.
 */
fence?: (number | null)
/**
 * Running time in milliseconds after which the kernel is interrupted. Absent: no limit.
 */
timeout_ms?: (number | null)
/**
 * True: if another run of the same correlation does not succeed while this one is queued, this one is blocked.
 */
stop_on_error?: boolean
/**
 * True: a cancel was requested, and the agent interrupts the run.
 */
cancel_requested?: boolean
/**
 * Time at which the kernel began the run, in milliseconds since 1970. Absent: it has not begun.
 */
started_at?: (number | null)
/**
 * Time of the end, in milliseconds since 1970. Absent: the run has not ended.
 */
ended_at?: (number | null)
/**
 * The number in `In [3]:`. Absent: the kernel gave none.
 */
execution_count?: (number | null)
/**
 * The cause if the run was cancelled, lost, interrupted or timed out. Absent otherwise.
 */
end_cause?: (OpenEndCause | null)
/**
 * The earlier run that did not succeed, so that this one is blocked. Absent: the run is not blocked.
 */
blocked_by?: (ExecutionId | null)
/**
 * A sentence for people about an unusual end. Absent: none.
 */
notice?: (string | null)
/**
 * The refused effects, one entry for each kind, in the order of their first refusals.
 */
refused?: RefusedEffect[]
/**
 * The highest number of the agent's reports in the log. 0: none.
 */
output_seq?: number
/**
 * The outputs that are shown, in order.
 */
outputs?: Output[]
/**
 * True after `clear_output(wait=True)`: the next output replaces all outputs.
 */
clear_on_next_output?: boolean
/**
 * The open request for input. Absent: none.
 */
pending_input?: (PendingInput | null)
}
/**
 * Refused effects of one kind in a run.
 * 
 */
export interface RefusedEffect {
kind: OpenEffect
/**
 * The target of the first of them, such as a path or an address, as the code named it.
 */
target: string
/**
 * Number of refused effects of this kind.
 */
count: number
}
/**
 * A request for input on stdin that has no answer yet.
 * 
 */
export interface PendingInput {
/**
 * The question, as shown to people.
 */
prompt: string
/**
 * True: hide the answer while it is typed. It is not recorded.
 */
password: boolean
}
/**
 * One life of a kernel.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface KernelSession {
/**
 * The kernelspec's name, such as `python3`.
 */
kernelspec: string
phase: KernelPhase
/**
 * The version of the launch request; a restart keeps it. The session with the lowest version is the default kernel.
 */
requested_version: number
/**
 * The runtime agent that has claimed the session. Absent: none has.
 */
agent?: (AgentId | null)
/**
 * The version of KernelSessionStarted, which reports on the session must carry. Absent: the kernel has not started.
 */
fence?: (number | null)
language_info?: AnyObject
sandbox?: AnyObject
placement?: KernelPlacement
}
/**
 * Runtime agents that may start a kernel.
 * 
 */
export interface KernelPlacement {
/**
 * The only agent that may start it. Absent: any.
 */
agent?: (AgentId | null)
/**
 * Labels that the agent must have. Empty: none.
 */
labels?: {
[k: string]: string
}
}
/**
 * The last unrequested end or failed launch of a kernel, for people. The next start of a kernel removes it.
 * 
 */
export interface KernelNotice {
kernel_session: KernelSessionId
cause: OpenKernelCause
/**
 * More about the cause, in a sentence for people. Absent: the cause is all that is known.
 */
detail?: (string | null)
/**
 * The version of the event of the end or failure.
 */
version: number
}
/**
 * A function that a kernel has registered as a tool.
 * 
 */
export interface RegisteredFunction {
function: UserFunction
/**
 * The version of the event that registered the function in its present form.
 */
registered_version: number
/**
 * The kernel that runs the function. Absent: that kernel has ended, and the function cannot be called until a
 * kernel registers it again.
 */
kernel_session?: (KernelSessionId | null)
}
/**
 * Settings of a notebook about its kernels.
 * 
 */
export interface KernelSettings {
replacement: KernelReplacement
/**
 * Labels that a launch asks for if it names neither an agent nor labels.
 */
labels: {
[k: string]: string
}
}
/**
 * A conversation. Its messages are a projection of the log, not part of the document.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface Conversation {
/**
 * The beginning of the first message, or the name of the outside assistant. 1 to 255 characters on one line.
 */
title: string
started_by: Actor
/**
 * Time of the start, in milliseconds since 1970.
 */
started_at: number
/**
 * The unfinished turn. Absent: none.
 */
turn?: (TurnId | null)
/**
 * True: the conversation began with a call of an outside assistant, and no person has written in it.
 */
is_outside?: boolean
/**
 * Flags of the messages that are pinned or skipped, by message.
 */
flagged?: {
[k: string]: MessageFlags
}
}
/**
 * Flags of a message for the assistant's context.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface MessageFlags {
/**
 * True: the message is always in the assistant's context.
 */
pinned?: boolean
/**
 * True: the message is never in the assistant's context.
 */
skipped?: boolean
}
/**
 * A turn that has not ended.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface Turn {
conversation_id: ConversationId
message_id: MessageId
requested_by: Actor
/**
 * The version of the turn's TurnStarted.
 */
started_version: number
/**
 * Time of the start, in milliseconds since 1970.
 */
started_at: number
/**
 * The prompt cell that the turn answers. Absent: the message came from a chat.
 */
cell_id?: (CellId | null)
/**
 * The model that the person chose. Absent: the server's default.
 */
model?: (string | null)
/**
 * Scopes of the token or session that began the turn, of read, edit and run. Calls that need another scope are refused.
 */
scopes: Scope[]
/**
 * True: that token is bound to some notebooks, so the turn cannot create or list notebooks.
 */
is_bound: boolean
/**
 * Number of model calls that have begun.
 */
model_calls: number
/**
 * Number of attempts of the last model call.
 */
attempts: number
/**
 * The server instance that makes the last model call. Absent: no model call is under way.
 */
model_call_claimant?: (InstanceId | null)
/**
 * True: the last attempt failed, and the next is another attempt of the same model call.
 */
is_model_call_failed?: boolean
}
/**
 * A tool call that has not ended.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface ToolCall {
/**
 * The name of a built-in tool or of a registered function.
 */
function: string
arguments: AnyObject
arguments_hash: Hash
risk: OpenRisk
/**
 * The reasons for the risk, as sentences for people.
 */
reasons?: string[]
/**
 * The objects that the call touches, in the versions that they had at the request.
 */
targets?: OpenTarget[]
requested_by: Actor
/**
 * Time of the request, in milliseconds since 1970.
 */
requested_at: number
/**
 * The version of the call's ToolCallRequested.
 */
requested_version: number
/**
 * The turn that requested the call. Absent for outside assistants.
 */
turn_id?: (TurnId | null)
gate: OpenGate
/**
 * The call that must end before this one starts. Absent: none.
 */
after?: (ToolCallId | null)
phase: ToolCallPhase
}
/**
 * A person's permission for calls of one conversation, for a limited time.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface AssistantGrant {
conversation_id: ConversationId
for_user: UserId
/**
 * Names of the functions that the grant covers. Empty: every function.
 */
functions?: string[]
/**
 * Kinds of effects that the covered calls may ask for. Empty: none.
 */
kinds?: OpenEffect[]
/**
 * Time at which the grant ends, in milliseconds since 1970.
 */
expires_at: number
issued_by: Actor
}
/**
 * A schedule that was not removed.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface Schedule {
maker: Actor
settings: ScheduleSettings
/**
 * Time up to which no run is due any more: that of the last ScheduleSet, or the minute of the last run if that is later.
 */
after: number
/**
 * The run that is under way. Absent: none.
 */
run?: (ScheduledRun | null)
/**
 * The last end of a run. Absent: none has ended.
 */
last?: (LastScheduledRun | null)
/**
 * True: the maker's rights have ended, and nothing runs until the schedule is set again.
 */
stopped?: boolean
}
/**
 * Times of a schedule, and what runs at each of them.
 * 
 */
export interface ScheduleSettings {
/**
 * The times, as a line of cron: minute, hour, day of the month, month, day of the week.
 */
cron: string
/**
 * The time zone of the line, by its IANA name, such as `Europe/Berlin`.
 */
timezone: string
/**
 * The version that runs. Absent: the newest at the time of the run.
 */
version?: (number | null)
parameters?: AnyObject
/**
 * The only runtime agent that may start the kernel. Absent: any.
 */
agent?: (AgentId | null)
/**
 * Labels that the agent must have. Absent with `agent` absent: those of the notebook's settings.
 */
labels?: ({
[k: string]: string
} | null)
/**
 * True: of the runs that were missed, the last one runs late. Absent: none does.
 */
catch_up?: boolean
/**
 * Minutes after which an unfinished run is stopped.
 */
max_run_minutes: number
/**
 * Number of notebooks of runs that stay in the list. Older ones are archived.
 */
kept_runs: number
}
/**
 * A run that is under way.
 * 
 */
export interface ScheduledRun {
notebook: NotebookId
/**
 * The version of this notebook that runs.
 */
version: number
/**
 * The minute for which it was scheduled. Absent: a person asked for it.
 */
due?: (number | null)
/**
 * Time of ScheduledRunStarted, in milliseconds since 1970.
 */
started_at: number
actor: Actor
settings: ScheduleSettings
}
/**
 * The last end of a run.
 * 
 */
export interface LastScheduledRun {
/**
 * The notebook of the run. Absent: no run was claimed.
 */
notebook?: (NotebookId | null)
/**
 * The minute for which it was scheduled; of several missed ones the last. Absent: a person asked for it.
 */
due?: (number | null)
outcome: OpenScheduledRunOutcome
/**
 * Time of ScheduledRunEnded, in milliseconds since 1970.
 */
ended_at: number
/**
 * The cell that failed. Absent: none did, or it is not known.
 */
cell_id?: (CellId | null)
/**
 * Name of the error. Absent: there was none.
 */
error?: (string | null)
/**
 * More about the end, in a sentence for people.
 */
detail?: (string | null)
/**
 * Number of missed runs. Absent: this one run.
 */
missed?: (number | null)
}
/**
 * An event for clients: without the notebook's id (the frame has it) and the hashes (the record has them).
 * 
 */
export interface EventMessage {
/**
 * Version, one more than that of the event before.
 */
version: number
id: EventId
/**
 * Name of the event, as in `CellInserted`: it selects the shape of `payload`.
 */
type: string
/**
 * Version of the payload's schema, for each type from 1. A client cannot fold an unknown higher version.
 */
schema: number
actor: Actor
command_id: CommandId
correlation_id: CorrelationId
/**
 * Id of the event that caused this one. Absent if a client's command did.
 */
causation_id?: (EventId | null)
/**
 * Correlation id of the group that this event undoes or redoes.
 */
undoes?: (CorrelationId | null)
/**
 * Server time in milliseconds since 1970; never before that of the previous event.
 */
recorded_at: number
payload: AnyJson
}
/**
 * A client in the notebook.
 * 
 */
export interface PeerState {
/**
 * Connection, as in its `welcome`: one person may have several.
 */
connection: string
actor: Actor
/**
 * Display name.
 */
name: string
state?: PresenceState
}
/**
 * Status of a kernel that is not in the log.
 * 
 */
export interface KernelStatus {
kernel_session: KernelSessionId
/**
 * Display name of its runtime agent. Absent: the agent has not connected since the server loaded the notebook.
 */
agent_name?: (string | null)
/**
 * False: its runtime agent has been silent for some seconds.
 */
reachable: boolean
/**
 * Time since when it is unreachable, in milliseconds since 1970; absent while it is reachable.
 */
unreachable_since?: (number | null)
/**
 * True if its agent reports an execution. False while it is unreachable.
 */
busy: boolean
/**
 * Memory and CPU use, a few seconds old. Absent: not measured, or unreachable.
 */
usage?: (KernelUsage | null)
}
/**
 * Events of one notebook, without gaps.
 * 
 */
export interface EventsMessage {
notebook: NotebookId
/**
 * Version of the first event; there are no gaps.
 */
from: number
/**
 * Events, oldest first; never empty.
 */
events: EventMessage[]
}
/**
 * A command was accepted.
 * 
 */
export interface AckMessage {
id: CommandId
notebook: NotebookId
/**
 * The notebook's version after the command.
 */
version: number
outcome?: Outcome
/**
 * For people: the next steps to undo and redo. Of several acks sent together only the last has it; the answer to a repeated command
 * may omit it.
 */
undo?: (NextSteps | null)
}
/**
 * Information for the sender in the ack: ids that the server chose, and notices about effects that are incomplete.
 * 
 */
export interface Outcome {
/**
 * Cells that the command made or restored, in the order of its parts.
 */
cells?: CellId[]
/**
 * Executions that the command requested, in the order of its parts.
 */
executions?: ExecutionId[]
/**
 * The session that the command launched, or in which its run is queued.
 */
kernel_session?: (KernelSessionId | null)
/**
 * The thread that the command began, or in which it replied.
 */
thread?: (ThreadId | null)
/**
 * The comment that the command posted.
 */
comment?: (CommentId | null)
/**
 * The turn that the command started.
 */
turn?: (TurnId | null)
/**
 * The tool call that the command requested or decided on.
 */
tool_call?: (ToolCallId | null)
/**
 * Sentences for people, for example about parts of an undo that other edits had overwritten.
 */
notices?: string[]
}
/**
 * A command was refused.
 * 
 */
export interface RejectMessage {
id: CommandId
notebook: NotebookId
code: RejectionCode
/**
 * One sentence that says what to do.
 */
message: string
/**
 * Expected version in the command, of the notebook or of a cell; only for `conflict`.
 */
expected_version?: (number | null)
/**
 * Actual version of the same thing; only for `conflict`.
 */
actual_version?: (number | null)
/**
 * Required number of the execution's next report; only for `report_gap`.
 */
expected_seq?: (number | null)
/**
 * Number of the refused command in a `Batch`, from 1.
 */
part?: (number | null)
/**
 * Facts of the refusal. Absent: `code` says all. A kind that is unknown counts as absent.
 */
details?: (RejectionDetails | null)
}
/**
 * Digest of the state at a version.
 * 
 */
export interface CheckedMessage {
notebook: NotebookId
/**
 * The version of `check`.
 */
version: number
/**
 * Digest; absent if the state has no canonical form.
 */
digest?: (Hash | null)
/**
 * True: the digest in `check` differs. A `resync` and the whole state follow.
 */
differs?: boolean
}
/**
 * The answer to `ask_kernel`.
 * 
 */
export interface KernelAnswerMessage {
/**
 * The question's `id`.
 */
id: number
notebook: NotebookId
answer: KernelAnswer
}
/**
 * One piece of a turn's activity.
 * 
 */
export interface TurnActivity {
conversation_id: ConversationId
turn_id: TurnId
/**
 * Number of the model call in the turn, from 1.
 */
model_call: number
/**
 * Number of the attempt of the model call, from 1. Another attempt writes its text anew.
 */
attempt: number
what: ActivityKind
}
/**
 * A question on its way to the runtime agent of a kernel.
 * 
 */
export interface KernelQuestionMessage {
/**
 * Question id, chosen by the server; the agent's answer carries it.
 */
id: number
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * Key of the requester. A new question replaces the earlier one with the same key, which then needs no answer.
 */
asker: string
/**
 * Text around the cursor.
 */
code: string
/**
 * Cursor position in `code`, in UTF-16 code units.
 */
cursor: number
kind: QuestionKind
/**
 * Time that the server waits for an answer, in milliseconds.
 */
timeout_ms: number
}
/**
 * An error of a message or the connection. Errors in a command's body are sent as `reject`.
 * 
 */
export interface ErrorMessage {
code: ErrorCode
/**
 * One sentence for people that says what to do.
 */
message: string
/**
 * The notebook. Absent: the error concerns the connection or a message.
 */
notebook?: (NotebookId | null)
/**
 * Both ranges, with `unsupported_protocol`.
 */
protocols?: (NoCommonProtocol | null)
/**
 * Facts of the error. Absent: `code` says all. A kind that is unknown counts as absent.
 */
details?: (RejectionDetails | null)
/**
 * True: the server closes the connection after this.
 */
fatal?: boolean
}
/**
 * Two protocol ranges without overlap.
 * 
 */
export interface NoCommonProtocol {
client: ProtocolRange
server: ProtocolRange
}
/**
 * The payload of each event type, schema 1.
 * 
 */
export interface EventPayloads {
NotebookCreated?: NotebookCreated
NotebookRenamed?: NotebookRenamed
NotebookMetadataSet?: NotebookMetadataSet
NotebookArchived?: NotebookArchived
NotebookUnarchived?: NotebookUnarchived
NotebookVersionNamed?: NotebookVersionNamed
NotebookRestored?: NotebookRestored
ContentRedacted?: ContentRedacted
NotebookErased?: NotebookErased
AccessGranted?: AccessGranted
AccessRevoked?: AccessRevoked
NotebookPolicyChanged?: NotebookPolicyChanged
NotebookReactivitySet?: NotebookReactivitySet
NotebookKernelSettingsSet?: NotebookKernelSettingsSet
UndoSkipped?: UndoSkipped
CellInserted?: CellInserted
CellSourceEdited?: CellSourceEdited
CellMoved?: CellMoved
CellTypeChanged?: CellTypeChanged
CellDeleted?: CellDeleted
CellRestored?: CellRestored
CellMetadataSet?: CellMetadataSet
CellAttachmentsSet?: CellAttachmentsSet
CellFlagsSet?: CellFlagsSet
CellOutputsCleared?: CellOutputsCleared
ThreadStarted?: ThreadStarted
ThreadMoved?: ThreadMoved
ThreadResolved?: ThreadResolved
ThreadReopened?: ThreadReopened
CommentPosted?: CommentPosted
CommentEdited?: CommentEdited
CommentDeleted?: CommentDeleted
ExecutionRequested?: ExecutionRequested
ExecutionAssigned?: ExecutionAssigned
ExecutionStarted?: ExecutionStarted
ExecutionOutputAppended?: ExecutionOutputAppended
ExecutionOutputUpdated?: ExecutionOutputUpdated
ExecutionOutputsCleared?: ExecutionOutputsCleared
ExecutionInputRequested?: ExecutionInputRequested
ExecutionInputAnswered?: ExecutionInputAnswered
ExecutionEffectRefused?: ExecutionEffectRefused
ExecutionCompleted?: ExecutionCompleted
ExecutionCancelRequested?: ExecutionCancelRequested
ExecutionCancelled?: ExecutionCancelled
ExecutionBlocked?: ExecutionBlocked
ExecutionLost?: ExecutionLost
ExecutionOutputRecovered?: ExecutionOutputRecovered
ExecutionOutputsMoved?: ExecutionOutputsMoved
KernelLaunchRequested?: KernelLaunchRequested
KernelLaunchClaimed?: KernelLaunchClaimed
KernelSessionStarted?: KernelSessionStarted
KernelLaunchFailed?: KernelLaunchFailed
KernelInterruptRequested?: KernelInterruptRequested
KernelRestartRequested?: KernelRestartRequested
KernelShutdownRequested?: KernelShutdownRequested
KernelSessionEnded?: KernelSessionEnded
KernelFunctionsRegistered?: KernelFunctionsRegistered
KernelFunctionsForgotten?: KernelFunctionsForgotten
ConversationStarted?: ConversationStarted
ConversationClosed?: ConversationClosed
MessagePosted?: MessagePosted
MessageFlagged?: MessageFlagged
TurnStarted?: TurnStarted
TurnModelCallStarted?: TurnModelCallStarted
TurnModelCallFinished?: TurnModelCallFinished
TurnFinished?: TurnFinished
TurnCancelled?: TurnCancelled
TurnFailed?: TurnFailed
ToolCallRequested?: ToolCallRequested
ToolCallConfirmed?: ToolCallConfirmed
ToolCallDenied?: ToolCallDenied
ToolCallWithdrawn?: ToolCallWithdrawn
ToolCallVoided?: ToolCallVoided
ToolCallExpired?: ToolCallExpired
ToolCallStarted?: ToolCallStarted
ToolCallExecuted?: ToolCallExecuted
GrantIssued?: GrantIssued
GrantRevoked?: GrantRevoked
GrantExpired?: GrantExpired
ScheduleSet?: ScheduleSet
ScheduleRemoved?: ScheduleRemoved
ScheduledRunStarted?: ScheduledRunStarted
ScheduledRunEnded?: ScheduledRunEnded
}
/**
 * The notebook was created. This is the first event of every log.
 * 
 */
export interface NotebookCreated {
/**
 * The title: 1 to 255 characters on one line.
 */
title: string
metadata: AnyObject
owner: Subject
/**
 * The notebook and version that were copied. Later events of the same command carry the content. Absent: not a fork.
 */
forked_from?: (ForkOrigin | null)
}
/**
 * The notebook was renamed.
 * 
 */
export interface NotebookRenamed {
/**
 * The title: 1 to 255 characters on one line.
 */
title: string
/**
 * The previous title, for undo.
 */
previous: string
}
/**
 * The notebook's whole metadata was replaced.
 * 
 */
export interface NotebookMetadataSet {
metadata: AnyObject
previous: AnyObject
}
/**
 * The notebook was archived: it can be read, exported and forked, but neither changed nor run.
 * 
 */
export interface NotebookArchived {

}
/**
 * The archiving ended: the notebook can be changed and run again.
 * 
 */
export interface NotebookUnarchived {

}
/**
 * A version was named. A name that it had before is replaced.
 * 
 */
export interface NotebookVersionNamed {
/**
 * The named version, which is below that of this event.
 */
version: number
/**
 * The name: 1 to 255 characters on one line.
 */
name: string
}
/**
 * The notebook was taken back to an earlier version: the events after it of the same group make its cells, their order and
 * the notebook's metadata as they were. By itself it changes nothing.
 * 
 */
export interface NotebookRestored {
/**
 * The version whose content returns, which is below that of this event.
 */
version: number
}
/**
 * Content of earlier events was removed for good. Their payloads are stand-ins since: `█` for each UTF-16 code unit that went, with the same
 * line breaks. It changes no state by itself: take a snapshot, and drop what you hold of the notebook.
 * 
 */
export interface ContentRedacted {
/**
 * The owner's reason: 1 to 500 characters.
 */
reason: string
target: OpenRedactedTarget
/**
 * Events with a stand-in, in the order of versions.
 */
redactions: RedactedEvent[]
/**
 * Blobs that were removed with the content, sorted.
 */
blobs?: Hash[]
}
/**
 * An event with a stand-in.
 * 
 */
export interface RedactedEvent {
/**
 * The event's version.
 */
version: number
stand_in: Hash
}
/**
 * The notebook was erased. This is the last event of the log: the server deletes all events before it with everything that derives
 * from them, so that a reader may find this event alone.
 * 
 */
export interface NotebookErased {
/**
 * The reason, in words of the person who erased it: 1 to 1,000 characters.
 */
reason: string
/**
 * Version of the event before this one.
 */
version: number
hash: Hash
/**
 * People and workspaces that had access, sorted by subject. They may still read who erased the notebook, when and why.
 */
access: AccessEntry[]
}
/**
 * A subject got a role. A role that it had before is replaced.
 * 
 */
export interface AccessGranted {
subject: Subject
role: Role
/**
 * Time at which the role ends, in milliseconds since 1970; no event follows then. Absent: until it is revoked.
 */
expires_at?: (number | null)
/**
 * The owner whom an administrator has replaced by the subject, because the owner's account had ended. Absent: an
 * owner has granted the role.
 */
taken_over_from?: (UserId | null)
}
/**
 * A subject was removed from the access list.
 * 
 */
export interface AccessRevoked {
subject: Subject
}
/**
 * The policy changed: which tool calls of assistants need no confirmation.
 * 
 */
export interface NotebookPolicyChanged {
policy: Policy
previous: Policy
}
/**
 * The setting changed that says which other cells a run of a cell also updates.
 * 
 */
export interface NotebookReactivitySet {
reactivity: Reactivity
previous: Reactivity
}
/**
 * The settings of the notebook's kernels changed.
 * 
 */
export interface NotebookKernelSettingsSet {
settings: KernelSettings
previous: KernelSettings
}
/**
 * An undo or redo had no effect, because other edits had replaced the whole group. The group still leaves its stack.
 * 
 */
export interface UndoSkipped {

}
/**
 * A cell was inserted, or an undo or redo inserted it again.
 * 
 */
export interface CellInserted {
cell_id: CellId
cell: CellContent
/**
 * The reply of a prompt cell that came from a file or another notebook. Absent: none.
 */
reply?: (CellReply | null)
}
/**
 * Content of a cell, as events carry it.
 * 
 */
export interface CellContent {
cell_type: CellType
/**
 * The cell's source, at most 1 MiB, with `\n` line breaks only. May be empty.
 */
source: string
order_key: OrderKey
metadata?: AnyObject
/**
 * File name to MIME bundle, as in nbformat. Absent: none.
 */
attachments?: (AnyObject | null)
flags?: CellFlags
}
/**
 * The cell's text changed. The change is transformed already: it applies to the text just before this event.
 * 
 */
export interface CellSourceEdited {
cell_id: CellId
change: ChangeSet
/**
 * The texts that the deleting sections of `change` removed, in order. They allow clients to invert the change.
 */
removed?: string[]
}
/**
 * The cell was moved.
 * 
 */
export interface CellMoved {
cell_id: CellId
order_key: OrderKey
previous: OrderKey
}
/**
 * The cell's type changed. Source, metadata and outputs stay.
 * 
 */
export interface CellTypeChanged {
cell_id: CellId
cell_type: CellType
previous: CellType
}
/**
 * The cell was moved to the trash. The event carries the whole cell: the trash is a projection of these events.
 * 
 */
export interface CellDeleted {
cell_id: CellId
cell: CellContent
/**
 * The execution whose outputs the cell showed. Absent: none.
 */
latest_execution?: (ExecutionId | null)
/**
 * The reply that a prompt cell showed. Absent: none.
 */
reply?: (CellReply | null)
}
/**
 * A cell was restored from the trash.
 * 
 */
export interface CellRestored {
cell_id: CellId
cell: CellContent
/**
 * The execution whose outputs the cell shows again. Absent: none.
 */
latest_execution?: (ExecutionId | null)
/**
 * The execution itself, if it has left the document since. Absent: the document has it.
 */
execution?: (PastExecution | null)
/**
 * The reply that the prompt cell shows, with progress since the deletion. Absent: none.
 */
reply?: (CellReply | null)
}
/**
 * A finished execution, which is restored together with the cell that showed it.
 * 
 */
export interface PastExecution {
subject: ExecutionSubject
status: ExecutionStatus
cause: OpenExecutionCause
effects: OpenEffects
requested_by: Actor
/**
 * Time of the request, in milliseconds since 1970.
 */
requested_at: number
/**
 * The version of the execution's ExecutionRequested.
 */
requested_version: number
correlation_id: CorrelationId
/**
 * The kernel session of the run. Absent: the run was imported, or never bound to a session.
 */
kernel_session?: (KernelSessionId | null)
/**
 * The agent of that session. Absent: the run was never assigned.
 */
agent?: (AgentId | null)
/**
 * The fence of that session. Absent: the run was never assigned.
 */
fence?: (number | null)
/**
 * Time at which the kernel began the run, in milliseconds since 1970. Absent: it never began.
 */
started_at?: (number | null)
/**
 * Time of the end, in milliseconds since 1970.
 */
ended_at?: (number | null)
/**
 * The number in `In [3]:`. Absent: the kernel gave none.
 */
execution_count?: (number | null)
/**
 * The cause if the run was cancelled, lost, interrupted or timed out. Absent otherwise.
 */
end_cause?: (OpenEndCause | null)
/**
 * The earlier run that did not succeed, so that this one was blocked. Absent: the run was not blocked.
 */
blocked_by?: (ExecutionId | null)
/**
 * A sentence for people about an unusual end. Absent: none.
 */
notice?: (string | null)
/**
 * The refused effects, one entry for each kind, in the order of their first refusals.
 */
refused?: RefusedEffect[]
/**
 * The highest number of the agent's reports in the log. 0: none.
 */
output_seq: number
/**
 * The outputs at the end, in order.
 */
outputs?: Output[]
}
/**
 * The cell's whole metadata was replaced.
 * 
 */
export interface CellMetadataSet {
cell_id: CellId
metadata: AnyObject
previous: AnyObject
}
/**
 * All attachments of the cell were replaced.
 * 
 */
export interface CellAttachmentsSet {
cell_id: CellId
/**
 * File name to MIME bundle, as in nbformat. Null: the cell has no attachments any more.
 */
attachments?: (AnyObject | null)
/**
 * The previous attachments, for undo. Null: none.
 */
previous?: (AnyObject | null)
}
/**
 * The cell's flags changed.
 * 
 */
export interface CellFlagsSet {
cell_id: CellId
flags: CellFlags
previous: CellFlags
}
/**
 * The cell's outputs were cleared. Their execution stays in the record.
 * 
 */
export interface CellOutputsCleared {
cell_id: CellId
execution_id: ExecutionId
}
/**
 * A thread of comments begins. Its first comment follows in the same command.
 * 
 */
export interface ThreadStarted {
thread_id: ThreadId
cell_id: CellId
/**
 * The range in the cell's source at this version; not empty. Absent: the thread is about the whole cell.
 */
range?: (TextRange | null)
/**
 * The text of the range, cut to 500 characters. Absent: there is no range.
 */
quote?: (string | null)
}
/**
 * A thread was moved along with its text, because cells were split or merged.
 * 
 */
export interface ThreadMoved {
thread_id: ThreadId
cell_id: CellId
/**
 * The range in the cell's source at this version. Absent: the whole cell.
 */
range?: (TextRange | null)
previous: ThreadPlace
}
/**
 * The place of a thread: a cell, and a range of its source.
 * 
 */
export interface ThreadPlace {
cell_id: CellId
/**
 * The range in the cell's source. Absent: the whole cell.
 */
range?: (TextRange | null)
}
/**
 * A thread was marked as resolved.
 * 
 */
export interface ThreadResolved {
thread_id: ThreadId
}
/**
 * A resolved thread was reopened.
 * 
 */
export interface ThreadReopened {
thread_id: ThreadId
}
/**
 * A comment was posted in a thread.
 * 
 */
export interface CommentPosted {
thread_id: ThreadId
comment_id: CommentId
/**
 * Markdown, with `\n` line breaks only; not empty.
 */
text: string
/**
 * Accounts that the comment mentions, sorted. A mention gives no right.
 */
mentions?: UserId[]
}
/**
 * The author of a comment changed it.
 * 
 */
export interface CommentEdited {
thread_id: ThreadId
comment_id: CommentId
/**
 * The whole new text. The record has the previous text.
 */
text: string
/**
 * All accounts that the comment mentions now, sorted.
 */
mentions?: UserId[]
}
/**
 * A comment was deleted: it is no longer shown, and stays in the record.
 * 
 */
export interface CommentDeleted {
thread_id: ThreadId
comment_id: CommentId
}
/**
 * A run was requested. It is queued after earlier runs of its kernel.
 * 
 */
export interface ExecutionRequested {
execution_id: ExecutionId
subject: ExecutionSubject
cause: OpenExecutionCause
effects: OpenEffects
/**
 * The session in whose queue the run is. Absent for imported runs, and if the agent of the default kernel was
 * away. Such a run waits until that kernel, or its replacement, gets it.
 */
kernel_session?: (KernelSessionId | null)
/**
 * Running time in milliseconds after which the kernel is interrupted. Absent: no limit.
 */
timeout_ms?: (number | null)
/**
 * True: if another run of the same correlation does not succeed while this one is queued, this one is blocked.
 */
stop_on_error?: boolean
/**
 * Runs from which this one reads, in a reactive notebook. If one of them does not succeed, this one is blocked.
 */
waits_for?: ExecutionId[]
/**
 * Names that the source binds in the kernel, in a reactive notebook. Absent: they are not known.
 */
leaves?: (string[] | null)
}
/**
 * A run was assigned to one kernel session. Reports on the run must carry that session's fence.
 * 
 */
export interface ExecutionAssigned {
execution_id: ExecutionId
kernel_session: KernelSessionId
agent: AgentId
/**
 * The version of the session's KernelSessionStarted.
 */
fence: number
}
/**
 * The kernel began the run.
 * 
 */
export interface ExecutionStarted {
execution_id: ExecutionId
/**
 * Number of the agent's report: 1, 2, 3 … for each execution.
 */
output_seq: number
}
/**
 * Outputs were appended to those of the run.
 * 
 */
export interface ExecutionOutputAppended {
execution_id: ExecutionId
/**
 * Number of the agent's report: 1, 2, 3 … for each execution.
 */
output_seq: number
/**
 * The new outputs in order. Parts above 8 KiB are in blobs.
 */
outputs: Output[]
/**
 * True: the output is the server's notice that the run has reached its output quota.
 */
is_limit_notice?: boolean
}
/**
 * All outputs of the notebook with this `display_id` got new content.
 * 
 */
export interface ExecutionOutputUpdated {
execution_id: ExecutionId
/**
 * Number of the agent's report: 1, 2, 3 … for each execution.
 */
output_seq: number
/**
 * The id that the kernel has chosen.
 */
display_id: string
output: Output
}
/**
 * The outputs of the run were cleared.
 * 
 */
export interface ExecutionOutputsCleared {
execution_id: ExecutionId
/**
 * Number of the agent's report: 1, 2, 3 … for each execution.
 */
output_seq: number
/**
 * True: they are cleared when the next output comes. False: now.
 */
wait: boolean
}
/**
 * The code requested a line of input, and waits for it.
 * 
 */
export interface ExecutionInputRequested {
execution_id: ExecutionId
/**
 * Number of the agent's report: 1, 2, 3 … for each execution.
 */
output_seq: number
/**
 * The question, as shown to people.
 */
prompt: string
/**
 * True: hide the answer while it is typed. It is not recorded.
 */
password: boolean
}
/**
 * The request for input was answered.
 * 
 */
export interface ExecutionInputAnswered {
execution_id: ExecutionId
/**
 * The answer. Absent for a password, which is never recorded.
 */
value?: (string | null)
}
/**
 * An effect of the run was refused, and the run went on. Recorded for the first effect of each kind, and once more
 * with the final number if there were several.
 * 
 */
export interface ExecutionEffectRefused {
execution_id: ExecutionId
kind: OpenEffect
/**
 * The target of the first effect of this kind, such as a path or an address, as the code named it. At most 1 KiB.
 */
target: string
/**
 * Number of refused effects of this kind so far.
 */
count: number
}
/**
 * The run ended with a result, successful or not.
 * 
 */
export interface ExecutionCompleted {
execution_id: ExecutionId
/**
 * Number of the agent's report: 1, 2, 3 … for each execution.
 */
output_seq: number
outcome: OpenExecutionOutcome
/**
 * The number in `In [3]:`. Absent: the kernel gave none.
 */
execution_count?: (number | null)
/**
 * A sentence for people about an unusual end, for example a timeout or lost outputs. Absent: none.
 */
notice?: (string | null)
}
/**
 * A cancel was requested for a run that its kernel has. The agent interrupts it. Queued runs get ExecutionCancelled directly.
 * 
 */
export interface ExecutionCancelRequested {
execution_id: ExecutionId
}
/**
 * The run was cancelled before it began, or ended early on request.
 * 
 */
export interface ExecutionCancelled {
execution_id: ExecutionId
cause: OpenEndCause
/**
 * More about the cause, in a sentence for people. Absent: the cause is all that is known.
 */
detail?: (string | null)
}
/**
 * The run never began, because an earlier run did not succeed.
 * 
 */
export interface ExecutionBlocked {
execution_id: ExecutionId
blocked_by: ExecutionId
}
/**
 * The run was lost: it ended without a result, or its end is not known.
 * 
 */
export interface ExecutionLost {
execution_id: ExecutionId
cause: OpenEndCause
/**
 * More about the cause, in a sentence for people. Absent: the cause is all that is known.
 */
detail?: (string | null)
}
/**
 * Outputs came after the execution was lost. They are recorded, but not shown as the run's outputs.
 * 
 */
export interface ExecutionOutputRecovered {
execution_id: ExecutionId
/**
 * Number of the agent's report: 1, 2, 3 … for each execution.
 */
output_seq: number
/**
 * The late outputs, in order.
 */
outputs: Output[]
/**
 * True: the output is the server's notice that the run has reached its output quota.
 */
is_limit_notice?: boolean
}
/**
 * Large values of a finished run's outputs were moved to blobs. The outputs show the same.
 * 
 */
export interface ExecutionOutputsMoved {
execution_id: ExecutionId
/**
 * The replacements, in the order of the outputs, without overlaps.
 */
moved: MovedOutputs[]
}
/**
 * A kernel was requested. A runtime agent that offers the kernelspec may claim it: any, or the one that is named, or one
 * with these labels.
 * 
 */
export interface KernelLaunchRequested {
kernel_session: KernelSessionId
/**
 * The kernelspec's name, such as `python3`.
 */
kernelspec: string
/**
 * The last kernel that had run code and ended unrequested: its variables are lost. Present only in the first
 * launch after that end.
 */
replaces?: (LostKernel | null)
/**
 * The only agent that may claim the launch. Absent: any.
 */
agent?: (AgentId | null)
/**
 * Labels that the claiming agent must have. Absent: none.
 */
labels?: {
[k: string]: string
}
}
/**
 * A kernel that has ended with all its variables.
 * 
 */
export interface LostKernel {
kernel_session: KernelSessionId
cause: OpenKernelCause
/**
 * More about the cause, in a sentence for people. Absent: the cause is all that is known.
 */
detail?: (string | null)
}
/**
 * An agent claimed the launch, before it starts the kernel. Only one claim is accepted.
 * 
 */
export interface KernelLaunchClaimed {
kernel_session: KernelSessionId
agent: AgentId
}
/**
 * The kernel started. The version of this event is the fence that all later reports on the session must carry.
 * 
 */
export interface KernelSessionStarted {
kernel_session: KernelSessionId
agent: AgentId
/**
 * The kernelspec's name, such as `python3`.
 */
kernelspec: string
language_info: AnyObject
sandbox?: AnyObject
/**
 * Functions of an earlier kernel that this one lacks. A person can register them again.
 */
missing_functions?: MissingFunctions[]
/**
 * The software that the kernel finds, in a blob. Absent: it is not known.
 */
environment?: (KernelEnvironment | null)
}
/**
 * Functions that a new kernel lacks and that are not registered again automatically.
 * 
 */
export interface MissingFunctions {
/**
 * Names of the functions.
 */
names: string[]
/**
 * The cell that registered the functions; a person can run it. Absent: the cell is in the trash, or no cell registered them.
 */
cell_id?: (CellId | null)
/**
 * The reason why the cell was not run automatically, for people.
 */
reason: string
}
/**
 * The kernel could not be started, so the session has ended.
 * 
 */
export interface KernelLaunchFailed {
kernel_session: KernelSessionId
cause: OpenKernelCause
/**
 * More about the cause, in a sentence for people. Absent: the cause is all that is known.
 */
detail?: (string | null)
}
/**
 * An interrupt of the kernel's running code was requested.
 * 
 */
export interface KernelInterruptRequested {
kernel_session: KernelSessionId
}
/**
 * A restart was requested: the kernel ends, and another session replaces it.
 * 
 */
export interface KernelRestartRequested {
kernel_session: KernelSessionId
next: KernelSessionId
}
/**
 * The end of the kernel was requested.
 * 
 */
export interface KernelShutdownRequested {
kernel_session: KernelSessionId
}
/**
 * The kernel ended with all its variables.
 * 
 */
export interface KernelSessionEnded {
kernel_session: KernelSessionId
cause: OpenKernelCause
/**
 * More about the cause, in a sentence for people. Absent: the cause is all that is known.
 */
detail?: (string | null)
}
/**
 * A kernel registered functions. They replace all that it had registered before.
 * 
 */
export interface KernelFunctionsRegistered {
kernel_session: KernelSessionId
/**
 * All functions of the kernel: at most 64, with different names.
 */
functions: UserFunction[]
/**
 * Places in the code that define the functions, as far as the kernel knows them. The document does not keep them.
 */
places?: FunctionPlace[]
}
/**
 * Functions whose kernels have ended were removed to make room for others.
 * 
 */
export interface KernelFunctionsForgotten {
/**
 * Names of the removed functions: the oldest without a kernel.
 */
names: string[]
}
/**
 * A conversation began: a person wrote to an assistant, or an outside assistant called its first tool.
 * 
 */
export interface ConversationStarted {
conversation_id: ConversationId
/**
 * 1 to 255 characters on one line.
 */
title: string
}
/**
 * The idle conversation of an outside assistant was closed to make room for another. Its next call begins it again.
 * 
 */
export interface ConversationClosed {
conversation_id: ConversationId
}
/**
 * A message was posted in a conversation.
 * 
 */
export interface MessagePosted {
conversation_id: ConversationId
message_id: MessageId
/**
 * The turn that the message begins or belongs to. This server always sets it.
 */
turn_id?: (TurnId | null)
role: OpenMessageRole
/**
 * The message's content. Show an unknown block by its name; models do not get it.
 */
blocks: OpenMessageBlock[]
/**
 * Length of the text that the prompt cell shows, in UTF-16 code units. Absent: all of it.
 */
reply_units?: (number | null)
/**
 * True: the beginning of an answer whose turn ended while the model wrote it. The end of the turn follows. Absent:
 * the message is complete.
 */
is_partial?: boolean
}
/**
 * The flags of a message changed: always in the assistant's context, never, or as there is room.
 * 
 */
export interface MessageFlagged {
conversation_id: ConversationId
message_id: MessageId
flags: MessageFlags
previous: MessageFlags
}
/**
 * An assistant began to work on a message.
 * 
 */
export interface TurnStarted {
turn_id: TurnId
conversation_id: ConversationId
message_id: MessageId
/**
 * The prompt cell that the turn answers. Absent: the message came from a chat.
 */
cell_id?: (CellId | null)
/**
 * The model that the person chose. Absent: the server's default.
 */
model?: (string | null)
/**
 * Scopes of the token or session that began the turn, of read, edit and run. Calls that need another scope are refused.
 */
scopes: Scope[]
/**
 * True: that token is bound to some notebooks, so the turn cannot create or list notebooks.
 */
is_bound: boolean
/**
 * Id of the token or session that began the turn. The turn ends when it is revoked. Absent: not known.
 */
token?: (TokenId | null)
}
/**
 * A server instance claimed a model call, before it calls the model.
 * 
 */
export interface TurnModelCallStarted {
turn_id: TurnId
claimant: InstanceId
/**
 * Number of the model call in its turn: 1, 2, 3 …
 */
number: number
/**
 * Number of the attempt of this model call: 1, 2, 3 …
 */
attempt: number
/**
 * The provider's name, such as `anthropic`.
 */
provider: string
/**
 * The provider's name of the model.
 */
model: string
}
/**
 * A model call ended, with or without an answer.
 * 
 */
export interface TurnModelCallFinished {
turn_id: TurnId
/**
 * Number of the model call in its turn: 1, 2, 3 …
 */
number: number
/**
 * Number of the attempt of this model call: 1, 2, 3 …
 */
attempt: number
/**
 * The cause if there is no answer. Absent: the model has answered.
 */
failure?: (OpenTurnFailure | null)
/**
 * More about the cause, in a sentence for people. Absent: the cause is all that is known.
 */
detail?: (string | null)
usage: Usage
}
/**
 * A turn ended by itself: the model finished or had to stop.
 * 
 */
export interface TurnFinished {
turn_id: TurnId
stop_reason: OpenStopReason
}
/**
 * A person stopped a turn: nothing more of it starts.
 * 
 */
export interface TurnCancelled {
turn_id: TurnId
}
/**
 * A turn could not continue.
 * 
 */
export interface TurnFailed {
turn_id: TurnId
cause: OpenTurnFailure
/**
 * More about the cause, in a sentence for people. Absent: the cause is all that is known.
 */
detail?: (string | null)
}
/**
 * An assistant requested a tool call. It has had no effect yet.
 * 
 */
export interface ToolCallRequested {
call_id: ToolCallId
/**
 * The turn that requested the call. Absent for outside assistants.
 */
turn_id?: (TurnId | null)
/**
 * The name of a built-in tool or of a registered function.
 */
function: string
arguments: AnyObject
arguments_hash: Hash
risk: OpenRisk
/**
 * The reasons for the risk, as sentences for people.
 */
reasons?: string[]
/**
 * The objects that the call touches, in the versions that the assistant and the confirming person see.
 */
targets?: OpenTarget[]
gate: OpenGate
/**
 * The call that must end before this one starts. Absent: none.
 */
after?: (ToolCallId | null)
/**
 * Id of the token or session behind the request: that of the turn, or of the outside assistant's client. When it
 * is revoked, a call that has not started is withdrawn. Absent: not known.
 */
token?: (TokenId | null)
}
/**
 * A person with the right to confirm has confirmed the call, once and for exactly these arguments.
 * 
 */
export interface ToolCallConfirmed {
call_id: ToolCallId
arguments_hash: Hash
/**
 * The program and the session or token with which the person decided. Absent: not known.
 */
by_means?: (Means | null)
}
/**
 * Means of a person's decision, as the server saw them. Later versions may add fields.
 * 
 */
export interface Means {
door: OpenDoor
/**
 * The kind of token: `session`, `api`, `share` …
 */
credential: string
/**
 * The owner's name for that session or token. Absent: none.
 */
label?: string
}
/**
 * A person with the right to confirm has denied the call. It never starts.
 * 
 */
export interface ToolCallDenied {
call_id: ToolCallId
/**
 * The program and the session or token with which the person decided. Absent: not known.
 */
by_means?: (Means | null)
/**
 * The person's reason. Absent: none given.
 */
detail?: (string | null)
}
/**
 * The call was withdrawn before it started, by a user or assistant or because its turn or its access ended.
 * 
 */
export interface ToolCallWithdrawn {
call_id: ToolCallId
cause: OpenWithdrawalCause
/**
 * More about the cause, in a sentence for people. Absent: the cause is all that is known.
 */
detail?: (string | null)
}
/**
 * The call became void: a target has changed, or a needed right has ended. A confirmation no longer counts.
 * 
 */
export interface ToolCallVoided {
call_id: ToolCallId
cause: OpenVoidCause
/**
 * More about the cause, in a sentence for people. Absent: the cause is all that is known.
 */
detail?: (string | null)
}
/**
 * The call expired without a decision. It never starts.
 * 
 */
export interface ToolCallExpired {
call_id: ToolCallId
}
/**
 * A server instance claimed the call and executes it now. A call starts only once.
 * 
 */
export interface ToolCallStarted {
call_id: ToolCallId
passed_by: OpenPassed
claimant: InstanceId
}
/**
 * A started call ended.
 * 
 */
export interface ToolCallExecuted {
call_id: ToolCallId
end: OpenToolCallEnd
/**
 * The complete result for the model.
 */
result: string
/**
 * Time from ToolCallStarted to this event, in milliseconds.
 */
duration_ms: number
}
/**
 * A person lets calls of one conversation pass without confirmation for a limited time.
 * 
 */
export interface GrantIssued {
grant_id: GrantId
conversation_id: ConversationId
/**
 * Names of the tools that the grant covers. Empty: all. Destructive calls still wait.
 */
functions: string[]
/**
 * Kinds of effects that the covered calls may ask for, of those that destroy nothing. Empty: none.
 */
kinds: OpenEffect[]
/**
 * Time at which the grant ends, in milliseconds since 1970.
 */
expires_at: number
for_user: UserId
}
/**
 * A person revoked the grant.
 * 
 */
export interface GrantRevoked {
grant_id: GrantId
}
/**
 * A grant expired. The event is recorded when the next grant is issued; before, `expires_at` counts.
 * 
 */
export interface GrantExpired {
grant_id: GrantId
}
/**
 * A schedule was set, or one of this id was changed. Its runs act in the name of the event's author, with the rights that the author
 * has at the time of the run.
 * 
 */
export interface ScheduleSet {
schedule_id: ScheduleId
settings: ScheduleSettings
}
/**
 * A schedule was removed. A run of it that is under way is stopped.
 * 
 */
export interface ScheduleRemoved {
schedule_id: ScheduleId
}
/**
 * A run of a schedule was claimed: this event is its only beginning. The cells run in a notebook of their own.
 * 
 */
export interface ScheduledRunStarted {
schedule_id: ScheduleId
run: NotebookId
/**
 * The version of this notebook that runs.
 */
version: number
/**
 * The minute for which it was scheduled, in milliseconds since 1970. Absent: a person asked for it.
 */
due?: (number | null)
}
/**
 * A run of a schedule ended, or did not take place.
 * 
 */
export interface ScheduledRunEnded {
schedule_id: ScheduleId
/**
 * The notebook of the run, as in ScheduledRunStarted. Absent: no run was claimed.
 */
run?: (NotebookId | null)
/**
 * The minute for which it was scheduled; of several missed ones the last. Absent: a person asked for it.
 */
due?: (number | null)
outcome: OpenScheduledRunOutcome
/**
 * The cell that failed. Absent: none did, or it is not known.
 */
cell_id?: (CellId | null)
/**
 * Name of the error, such as `ValueError`. Absent: there was none.
 */
error?: (string | null)
/**
 * More about the end, in a sentence for people.
 */
detail?: (string | null)
/**
 * Number of missed runs, up to that of `due`. Absent: this one run.
 */
missed?: (number | null)
}
