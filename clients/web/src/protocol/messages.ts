// Written by generate/generate.mjs from protocol/. Do not edit: run `npm run generate`.

/**
 * What a client sends.
 * 
 */
export type ClientMessage = ({
hello: HelloMessage
} | {
refresh: {
/**
 * The new one. A token of another account ends the connection.
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
offer: {
/**
 * At most 200.
 */
kernelspecs: OfferedKernelspec[]
/**
 * Databases that SQL cells can name, at most 200.
 */
connections?: OfferedConnection[]
}
} | {
kernel_status: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * Whether the kernel is executing something, whoever asked for it.
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
 * As `comms_wanted` named it.
 */
asker: string
/**
 * In the order in which they were opened.
 */
comms: OpenComm[]
}
} | {
comm: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * In the order in which it happened.
 */
changes: CommChange[]
}
} | {
answer_question: {
/**
 * That of the question. One that nobody waits for any more is passed over.
 */
id: number
answer: KernelAnswer
}
} | {
answer_file: {
/**
 * That of the request. One that nobody waits for any more is passed over.
 */
id: number
answer: FileAnswer
}
})
/**
 * A notebook. New ones are named by the client, so that a repeated creation is the same creation.
 * 
 */
export type NotebookId = string
/**
 * An event.
 * 
 */
export type EventId = string
/**
 * A cell, as in nbformat 4.5.
 * 
 */
export type CellId = string
/**
 * A command, named by the client that sends it; a repeat with the same id is applied once.
 * 
 */
export type CommandId = string
/**
 * A group of commands that is undone as one: a typing burst, a turn, an import.
 * 
 */
export type CorrelationId = string
/**
 * What somebody wants. The actor is the connection's; there is no field for it.
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
 * Where the content comes from that follows in the same batch.
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
 * 1 up to the notebook's own version (`version_in_future` above it).
 */
version: number
/**
 * 1 to 255 characters on one line; replaces the name that the version has.
 */
name: string
}
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
 * The `cell_version` that was read; `conflict` names another one.
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
 * File name to MIME bundle, as in nbformat, at most 16 MiB; absent: none any more.
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
 * How many groups, 1 to 100. Without effect beside `correlation_id` or `turn_id`.
 */
steps?: number
/**
 * A group of anybody's: of a tool call it is the call's id.
 */
correlation_id?: (CorrelationId | null)
/**
 * All that an assistant did in one turn.
 */
turn_id?: (TurnId | null)
/**
 * Of the sender's groups those that changed text and touch this cell: undo as an editor of the cell does it.
 */
cell_id?: (CellId | null)
}
} | {
Redo: {
/**
 * How many groups, 1 to 100.
 */
steps?: number
/**
 * As in `Undo`.
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
 * At most 64 KiB, without the line break. Of a password the record keeps nothing.
 */
value: string
}
} | {
RecordExecution: {
cell_id: CellId
/**
 * At most 64 MiB together.
 */
outputs: Output[]
/**
 * The number in `In [3]:`.
 */
execution_count?: (number | null)
}
} | {
LaunchKernel: {
/**
 * Absent: the notebook's own, else `python3`.
 */
kernelspec?: (string | null)
}
} | {
InterruptKernel: {
kernel_session: KernelSessionId
}
} | {
RestartKernel: {
kernel_session: KernelSessionId
}
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
 * The version of the session's KernelSessionStarted; `stale_fence` where the session has ended.
 */
fence: number
/**
 * From 1, counted for each run.
 */
seq: number
report: ExecutionReport
}
} | {
ReconcileKernels: {
/**
 * At most what the notebook has; ids that it does not know change nothing.
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
 * At most 64, no two of one name. One that is malformed refuses all (`invalid_value`).
 */
functions: UserFunction[]
/**
 * Where they stand, as far as the kernel knows.
 */
places?: FunctionPlace[]
}
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
 * Why, at most 2,000 characters.
 */
detail?: (string | null)
}
} | {
WithdrawToolCall: {
call_id: ToolCallId
/**
 * Why, at most 2,000 characters.
 */
detail?: (string | null)
}
} | {
IssueGrant: {
/**
 * Chosen by the client, or by the server.
 */
grant_id?: (GrantId | null)
conversation_id: ConversationId
/**
 * Empty: every function.
 */
functions?: string[]
/**
 * Milliseconds since 1970, at most seven days ahead.
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
 * What the assistant reads; at most 256 KiB.
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
 * The name of the provider, as in `anthropic`.
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
 * Why there is no answer. Absent: there is one.
 */
failure?: (TurnFailure | null)
/**
 * More about the failure, in a sentence.
 */
detail?: (string | null)
usage?: Usage
}
} | {
PostReply: {
turn_id: TurnId
role: MessageRole
/**
 * At most 1 MiB together.
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
 * At most 60,000, each decided on what those before it led to. No Batch, Undo or Redo among them.
 */
commands: Command[]
}
})
export type AnyObject = { [key: string]: unknown }
/**
 * Whom a notebook's access list names.
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
 * A person with an account.
 * 
 */
export type UserId = string
/**
 * A link by which somebody without an account takes part.
 * 
 */
export type ShareLinkId = string
/**
 * A workspace: a group of notebooks and people.
 * 
 */
export type WorkspaceId = string
/**
 * A runtime agent.
 * 
 */
export type AgentId = string
/**
 * What somebody is in one notebook.
 * 
 */
export type Role = ("viewer" | "commenter" | "runner" | "author" | "editor" | "owner" | "agent")
/**
 * What a cell is. `sql` and `prompt` are written to `.ipynb` as code and markdown with our mark in the metadata.
 * 
 */
export type CellType = ("code" | "markdown" | "raw" | "sql" | "prompt")
/**
 * Where a cell goes.
 * 
 */
export type Place = ("start" | "end" | {
before: CellId
} | {
after: CellId
})
/**
 * An assistant's work on one message: model calls and tool calls, until it stops.
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
 * How a reply stands.
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
 * Why a turn came to its end.
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
 * Why a model call gave no answer, why a turn failed, or why a reply has no more text.
 * 
 */
export type TurnFailure = ("wrong_key" | "quota_exhausted" | "unknown_model" | "rate_limited" | "unavailable" | "context_too_long" | "bad_request" | "unreachable" | "timed_out" | "took_too_long" | "cut_stream" | "malformed_stream" | "reply_too_long" | "empty_reply" | "no_model" | "not_asked" | "server_stopped" | "refused" | "copied" | "cell_deleted")
export type ChangeSet = (number | [number, ...string[]])[]
/**
 * Where a comment goes.
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
 * A thread of comments.
 * 
 */
export type ThreadId = string
/**
 * What somebody said in a thread.
 * 
 */
export type CommentId = string
/**
 * One execution of some source on a kernel.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export type ExecutionId = string
/**
 * What to execute. A request for a cell names it and never carries code.
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
 * In the kernel's language, at most 1 MiB.
 */
source: string
/**
 * In a few words, for people; at most 255 characters.
 */
purpose: string
}
} | {
function: {
/**
 * By which it is registered.
 */
name: string
arguments: AnyObject
/**
 * A function that is registered as destructive is called only if this is true: somebody has seen what is called with what.
 */
confirmed?: boolean
}
})
/**
 * One life of a kernel, from launch to end. A restart begins a new session.
 * 
 */
export type KernelSessionId = string
export type AnyJson = unknown
/**
 * Why a kernel session is over, or never began.
 * 
 */
export type KernelCause = ("shut_down" | "restarted" | "idle" | "died" | "agent_stopped" | "agent_lost" | "given_up" | "not_installed" | "cannot_start" | "no_answer")
/**
 * What an agent reports of one execution.
 * 
 */
export type ExecutionReport = ({
started: {

}
} | {
output: {
/**
 * In order. At most 4 MiB in one report; a part above 8 KiB is uploaded as a blob first.
 */
outputs: Output[]
}
} | {
update_display: {
/**
 * As the kernel chose it.
 */
display_id: string
output: Output
}
} | {
clear: {
/**
 * True: not now, but when the next output comes.
 */
wait: boolean
}
} | {
input_request: {
/**
 * What it asks, as it is to be shown.
 */
prompt: string
/**
 * The answer is to be hidden while it is typed, and is not recorded.
 */
password: boolean
}
} | {
completed: {
outcome: ExecutionOutcome
/**
 * The number in `In [3]:`; absent where the kernel gave none.
 */
execution_count?: (number | null)
/**
 * A sentence for people about the outputs: that some were cut off, for instance.
 */
notice?: (string | null)
}
} | {
lost: {
cause: EndCause
/**
 * More about it, in a sentence.
 */
detail?: (string | null)
}
})
/**
 * How a run came to its own end.
 * 
 */
export type ExecutionOutcome = ("ok" | "error" | "interrupted" | "timed_out")
/**
 * Why an execution ended without a result, or before its own end.
 * 
 */
export type EndCause = ("requested" | "interrupted" | "timed_out" | "cell_deleted" | "kernel_not_started" | "kernel_restarted" | "kernel_shut_down" | "kernel_died" | "agent_stopped" | "agent_lost" | "given_up")
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenRisk = (Risk | (string | {

}))
/**
 * What a tool call can do, from harmless to what cannot be taken back.
 * 
 */
export type Risk = ("read" | "edit" | "sensitive" | "destructive")
/**
 * A conversation with an assistant.
 * 
 */
export type ConversationId = string
/**
 * What a person or an assistant said in a conversation.
 * 
 */
export type MessageId = string
/**
 * Whether running a cell brings the cells that hang together with it up to date.
 * 
 */
export type Reactivity = ("off" | "lazy" | "eager")
/**
 * How much an assistant may do unasked in a notebook. What destroys asks under every policy.
 * 
 */
export type Policy = ("guarded" | "ask_for_every_edit" | "trusted")
/**
 * One call of a tool by an assistant.
 * 
 */
export type ToolCallId = string
export type Hash = string
/**
 * A person's leave, given beforehand, for tool calls of a kind.
 * 
 */
export type GrantId = string
/**
 * A token, without its secret.
 * 
 */
export type TokenId = string
/**
 * How a call that started came to its end.
 * 
 */
export type ToolCallEnd = ("ok" | "error" | "outcome_unknown")
/**
 * What holds no more.
 * 
 */
export type Revoked = ({
token: TokenId
} | {
user: UserId
})
/**
 * Who said something.
 * 
 */
export type MessageRole = ("user" | "assistant" | "tool")
/**
 * A part of a message. Externally tagged: serde cannot read raw JSON out of an internally tagged enum.
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
 * The provider whose it is: others are not sent it.
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
 * The tool that is called.
 */
function: string
/**
 * As the model wrote them; not always JSON. ToolCallRequested has them once more: this message is recorded before its
 * calls are requested one after the other, and a server that dies in between must not lose what the model wrote.
 */
arguments: string
/**
 * What else the provider attached and wants back word for word.
 */
extra?: (string | null)
}
} | {
tool_result: {
/**
 * As in the call.
 */
provider_id: string
call_id: ToolCallId
/**
 * Absent: it is the `result` of the ToolCallExecuted of that call, word for word.
 */
text?: (string | null)
/**
 * The call failed, was refused, or nobody knows what came of it.
 */
is_error?: boolean
}
} | {
attachment: Attachment
})
/**
 * How the reactor ends a turn.
 * 
 */
export type TurnEnd = ({
finished: StopReason
} | {
failed: {
cause: TurnFailure
/**
 * More about it, in a sentence.
 */
detail?: (string | null)
}
})
/**
 * What is asked about the code at the cursor.
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
 * A connection that the kernel's runtime agent offers, `duckdb` (in the kernel's memory), or a file of the working folder:
 * what may stand behind `-- @`. At most 1 KiB.
 */
connection: string
/**
 * Only tables with this in `schema.name`, in small letters or capitals. At most 1 KiB.
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
 * How a value is compared.
 * 
 */
export type TableOperator = ("contains" | "lacks" | "equal" | "not_equal" | "less" | "at_most" | "more" | "at_least" | "empty" | "not_empty")
/**
 * What happened on a kernel's comms.
 * 
 */
export type CommChange = ({
opened: OpenComm
} | {
message: CommMessage
} | {
closed: {
/**
 * Its id.
 */
comm_id: string
}
})
/**
 * What a kernel says, or why it says nothing.
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
}
})
/**
 * Why a question has no answer. Each ends with its HTTP status.
 * 
 */
export type QuestionRefusal = ("forbidden" | "unknown_notebook" | "unknown_kernel_session" | "unknown_connection" | "unknown_table" | "connection_failed" | "not_runnable" | "no_kernel" | "kernel_busy" | "agent_unreachable" | "agent_too_old" | "timeout" | "cancelled" | "limit_exceeded" | "invalid_value" | "rate_limited" | "kernel_failed" | "unavailable")
/**
 * What a runtime agent says to it.
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
 * What stands under a name.
 * 
 */
export type FileKind = ("file" | "folder" | "other")
/**
 * Why nothing was done. Each ends with its HTTP status.
 * 
 */
export type FileRefusal = ("invalid_path" | "out_of_reach" | "not_found" | "wrong_kind" | "file_exists" | "too_large" | "disk_full" | "system_refused" | "broken_off" | "notebook_archived" | "no_kernel" | "unknown_kernel_session" | "agent_unreachable" | "agent_too_old" | "busy" | "timeout")
/**
 * What the server sends.
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
 * Those that came or moved, each with all of their state.
 */
peers?: PeerState[]
/**
 * Names of connections, as in `PeerState.connection`.
 */
left?: string[]
}
} | {
kernels: {
notebook: NotebookId
/**
 * All kernels of the notebook: replaces what was sent before.
 */
kernels: KernelStatus[]
}
} | {
measure_kernels: {
notebook: NotebookId
/**
 * False: nobody looks any more.
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
 * All that are open, in the order in which they were opened.
 */
comms: OpenComm[]
/**
 * Why nothing can be known now, in a sentence for people. What was known before stays.
 */
problem?: (string | null)
}
} | {
comm: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * In the order in which it happened.
 */
changes: CommChange[]
}
} | {
comms_wanted: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * To be named in the answer. Absent: nobody follows any more, send nothing.
 */
asker?: (string | null)
}
} | {
send_comm: SendCommMessage
} | {
activity: {
notebook: NotebookId
/**
 * In the order in which it happened.
 */
activity: TurnActivity[]
}
} | {
access: {
notebook: NotebookId
/**
 * The highest of the roles that you have now.
 */
role?: (Role | null)
}
} | {
resync: {
notebook: NotebookId
/**
 * Why, in a sentence for people.
 */
reason: string
}
} | {
slow_down: {
/**
 * Commands of this connection that are not answered yet.
 */
unanswered: number
}
} | {
work: {
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * One of the names that you offered.
 */
kernelspec: string
}
} | {
input_value: {
notebook: NotebookId
execution_id: ExecutionId
/**
 * What was typed, without a line break at its end.
 */
value: string
}
} | {
kernel_question: KernelQuestionMessage
} | {
file_request: {
/**
 * Chosen by the server: the answer names it.
 */
id: number
notebook: NotebookId
request: FileRequest
}
} | {
error: ErrorMessage
})
/**
 * The author of an event. Ids are opaque; names live in the accounts.
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
 * What a token is for. An interactive session holds all but `Agent`.
 * 
 */
export type Scope = ("read" | "edit" | "run" | "confirm" | "manage" | "admin" | "agent")
/**
 * ASCII text that compares byte by byte. Chosen by the server in `decide`; ties are broken by cell id.
 * 
 */
export type OrderKey = string
/**
 * What was executed, word for word.
 * 
 */
export type ExecutionSubject = ({
kind: "cell"
cell_id: CellId
/**
 * The `cell_version` that the source is of.
 */
cell_version: number
/**
 * In full: this text runs, whatever the cell says later.
 */
source: string
} | {
kind: "scratch"
/**
 * In full.
 */
source: string
/**
 * What for, in a few words for people.
 */
purpose: string
} | {
kind: "tool"
/**
 * Its name in the table of tools; `call_function` for functions of users.
 */
tool: string
digest: Hash
call_id: ToolCallId
})
/**
 * How a run stands. The last five are its end.
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
 * Why something was executed.
 * 
 */
export type ExecutionCause = ("requested" | "imported" | "functions_restored" | {
dependency: {
/**
 * The run that somebody asked for, planned at the same version. Absent: a cell was deleted.
 */
of?: (ExecutionId | null)
}
})
/**
 * A later version may add variants: keep what you do not know.
 * 
 */
export type OpenEndCause = (EndCause | (string | {

}))
/**
 * How far a session has come.
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
 * One life of a server process: who holds a notebook's lease, and whose a claim is.
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
 * Something that a call touches, as it was when the call was requested. A change of it voids the call.
 * 
 */
export type Target = ({
kind: "cell"
cell_id: CellId
/**
 * The `cell_version` that it had.
 */
cell_version: number
} | {
kind: "code"
/**
 * How many there were.
 */
cells: number
/**
 * The highest `cell_version` among them.
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
 * The version of the event since which it is as it is.
 */
registered_version: number
} | {
kind: "file"
/**
 * As the tool was given it: relative paths begin where the kernel runs.
 */
path: string
/**
 * Lower-case hex.
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
 * Whether anybody is asked before a call starts, as it was judged when the call was requested.
 * 
 */
export type Gate = ({
kind: "passes"
} | {
kind: "waits_for_person"
/**
 * Then it expires.
 */
until: number
})
/**
 * How far a call has come that has not ended.
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
 * Milliseconds since 1970.
 */
at: number
claimant: InstanceId
})
/**
 * The kinds of refusal. `snake_case` on the wire; each maps to one HTTP status.
 * 
 */
export type RejectionCode = ("forbidden" | "unknown_notebook" | "notebook_exists" | "notebook_archived" | "conflict" | "version_in_future" | "base_too_old" | "unknown_thread" | "unknown_comment" | "unknown_cell" | "cell_deleted" | "cell_not_deleted" | "cell_exists" | "invalid_place" | "invalid_change" | "not_runnable" | "dependency_cycle" | "unknown_execution" | "execution_state" | "unknown_kernel_session" | "kernel_state" | "already_claimed" | "stale_fence" | "report_gap" | "output_limit" | "no_input_requested" | "nothing_to_undo" | "command_id_reused" | "limit_exceeded" | "invalid_value" | "unknown_tool" | "invalid_arguments" | "unknown_message" | "unknown_conversation" | "unknown_turn" | "unknown_tool_call" | "tool_call_state" | "turn_state" | "rate_limited" | "last_owner" | "unknown_subject" | "subject_ended" | "read_only" | "unavailable")
/**
 * `block` counts the blocks of one model call's reply, from 0.
 * 
 */
export type ActivityKind = ({
type: "text_start"
/**
 * Its number.
 */
block: number
} | {
type: "text_delta"
/**
 * The block that it belongs to.
 */
block: number
/**
 * To be joined to what the block has.
 */
text: string
} | {
type: "thinking_delta"
/**
 * The block that it belongs to.
 */
block: number
/**
 * To be joined to what the block has.
 */
text: string
} | {
type: "tool_start"
/**
 * The number of the block that the call is.
 */
block: number
/**
 * The same as in the message's `tool_call` block.
 */
provider_id: string
/**
 * The tool that is called; its arguments are still being written.
 */
function: string
} | {
type: "block_stop"
/**
 * Its number.
 */
block: number
} | {
type: "attempt_failed"
/**
 * What went wrong, in a sentence for people.
 */
cause: string
} | {
type: "tool_update"
call_id: ToolCallId
/**
 * A sentence for people.
 */
message: string
})
/**
 * What a runtime agent is asked to do with a file.
 * 
 */
export type FileRequest = ({
list: {
/**
 * Below the working folder; empty: that folder itself.
 */
path: string
/**
 * The name after which the page begins.
 */
after?: (string | null)
/**
 * Entries at most.
 */
limit: number
/**
 * Those too whose names begin with a dot.
 */
all?: boolean
}
} | {
look: {
/**
 * Below the working folder.
 */
path: string
}
} | {
read: {
/**
 * Below the working folder.
 */
path: string
/**
 * The name of the transfer.
 */
transfer: string
}
} | {
write: {
/**
 * Below the working folder. Folders on the way are made.
 */
path: string
/**
 * The name of the transfer.
 */
transfer: string
/**
 * Whether a file of this name is replaced.
 */
overwrite: boolean
/**
 * How large it will be, where that is known.
 */
size_bytes?: (number | null)
/**
 * A larger one is refused.
 */
max_bytes: number
}
} | {
move: {
/**
 * Below the working folder.
 */
from: string
/**
 * Below the working folder, with the new name. Folders on the way are made.
 */
to: string
}
} | {
remove: {
/**
 * Below the working folder.
 */
path: string
}
} | {
trash: {
/**
 * Entries at most.
 */
limit: number
}
} | {
restore: {
/**
 * Its entry in the trash.
 */
id: string
/**
 * Where to; absent: where it was.
 */
to?: (string | null)
}
} | {
empty_trash: {
/**
 * One entry; absent: all.
 */
id?: (string | null)
}
})
/**
 * What can be wrong with a message or a connection, beside rejections of commands.
 * 
 */
export type ErrorCode = ("malformed" | "unknown_message" | "frame_too_large" | "unsupported_protocol" | "hello_timeout" | "unauthenticated" | "forbidden" | "unknown_notebook" | "version_in_future" | "version_too_old" | "too_many_requests" | "agent_connected" | "unavailable")
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
 * Where somebody comes in.
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
 * Why a tool call was taken back before it started.
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
 * Why a tool call counts no more, confirmed or not.
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
 * What let a call through.
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

export interface Everything {
ClientMessage?: ClientMessage
HelloMessage?: HelloMessage
ProtocolRange?: ProtocolRange
SubscribeMessage?: SubscribeMessage
NotebookId?: NotebookId
LastEvent?: LastEvent
EventId?: EventId
UnconfirmedText?: UnconfirmedText
CellId?: CellId
CommandMessage?: CommandMessage
CommandId?: CommandId
CorrelationId?: CorrelationId
Command?: Command
AnyObject?: AnyObject
ForkOrigin?: ForkOrigin
Subject?: Subject
UserId?: UserId
ShareLinkId?: ShareLinkId
WorkspaceId?: WorkspaceId
AgentId?: AgentId
Role?: Role
InsertCell?: InsertCell
CellType?: CellType
Place?: Place
CellFlagChanges?: CellFlagChanges
CellReply?: CellReply
TurnId?: TurnId
OpenReplyStatus?: OpenReplyStatus
ReplyStatus?: ReplyStatus
OpenStopReason?: OpenStopReason
StopReason?: StopReason
OpenTurnFailure?: OpenTurnFailure
TurnFailure?: TurnFailure
EditSource?: EditSource
ChangeSet?: ChangeSet
AddComment?: AddComment
CommentTarget?: CommentTarget
CommentPlace?: CommentPlace
TextRange?: TextRange
ThreadId?: ThreadId
EditComment?: EditComment
CommentId?: CommentId
RequestExecution?: RequestExecution
ExecutionId?: ExecutionId
ExecutionTarget?: ExecutionTarget
KernelSessionId?: KernelSessionId
Output?: Output
AnyJson?: AnyJson
BlobPart?: BlobPart
KernelCause?: KernelCause
ExecutionReport?: ExecutionReport
ExecutionOutcome?: ExecutionOutcome
EndCause?: EndCause
UserFunction?: UserFunction
OpenRisk?: OpenRisk
Risk?: Risk
FunctionPlace?: FunctionPlace
StartTurn?: StartTurn
ConversationId?: ConversationId
Attachment?: Attachment
FlagMessage?: FlagMessage
MessageId?: MessageId
Reactivity?: Reactivity
Policy?: Policy
ToolCallId?: ToolCallId
Hash?: Hash
GrantId?: GrantId
RequestToolCall?: RequestToolCall
TokenId?: TokenId
ToolCallEnd?: ToolCallEnd
Revoked?: Revoked
MoveOutputs?: MoveOutputs
MovedOutputs?: MovedOutputs
Usage?: Usage
MessageRole?: MessageRole
MessageBlock?: MessageBlock
TurnEnd?: TurnEnd
CheckMessage?: CheckMessage
PresenceState?: PresenceState
AskKernelMessage?: AskKernelMessage
QuestionKind?: QuestionKind
ReadTable?: ReadTable
TableName?: TableName
TableSort?: TableSort
TableFilter?: TableFilter
TableOperator?: TableOperator
SummarizeColumn?: SummarizeColumn
FormatCells?: FormatCells
SendCommMessage?: SendCommMessage
CommMessage?: CommMessage
OfferedKernelspec?: OfferedKernelspec
OfferedConnection?: OfferedConnection
KernelUsage?: KernelUsage
OpenComm?: OpenComm
CommBuffer?: CommBuffer
CommChange?: CommChange
KernelAnswer?: KernelAnswer
Completion?: Completion
CompletionMatch?: CompletionMatch
Inspection?: Inspection
ConnectionSchema?: ConnectionSchema
Table?: Table
Column?: Column
VariableList?: VariableList
Variable?: Variable
TablePage?: TablePage
TableColumn?: TableColumn
ColumnSummary?: ColumnSummary
ValueCount?: ValueCount
FormattedCells?: FormattedCells
QuestionRefusal?: QuestionRefusal
FileAnswer?: FileAnswer
FolderPage?: FolderPage
FileEntry?: FileEntry
FileKind?: FileKind
WrittenFile?: WrittenFile
MovedFile?: MovedFile
TrashedFile?: TrashedFile
TrashPage?: TrashPage
FileRefusal?: FileRefusal
ServerMessage?: ServerMessage
WelcomeMessage?: WelcomeMessage
Actor?: Actor
Scope?: Scope
SubscribedMessage?: SubscribedMessage
NextSteps?: NextSteps
NextStep?: NextStep
Document?: Document
AccessEntry?: AccessEntry
Cell?: Cell
OrderKey?: OrderKey
CellFlags?: CellFlags
Reply?: Reply
Thread?: Thread
Comment?: Comment
Resolution?: Resolution
Execution?: Execution
ExecutionSubject?: ExecutionSubject
ExecutionStatus?: ExecutionStatus
OpenExecutionCause?: OpenExecutionCause
ExecutionCause?: ExecutionCause
OpenEndCause?: OpenEndCause
PendingInput?: PendingInput
KernelSession?: KernelSession
KernelPhase?: KernelPhase
KernelNotice?: KernelNotice
OpenKernelCause?: OpenKernelCause
RegisteredFunction?: RegisteredFunction
Conversation?: Conversation
MessageFlags?: MessageFlags
Turn?: Turn
InstanceId?: InstanceId
ToolCall?: ToolCall
OpenTarget?: OpenTarget
Target?: Target
OpenGate?: OpenGate
Gate?: Gate
ToolCallPhase?: ToolCallPhase
AssistantGrant?: AssistantGrant
EventMessage?: EventMessage
PeerState?: PeerState
KernelStatus?: KernelStatus
EventsMessage?: EventsMessage
AckMessage?: AckMessage
Outcome?: Outcome
RejectMessage?: RejectMessage
RejectionCode?: RejectionCode
CheckedMessage?: CheckedMessage
KernelAnswerMessage?: KernelAnswerMessage
TurnActivity?: TurnActivity
ActivityKind?: ActivityKind
KernelQuestionMessage?: KernelQuestionMessage
FileRequest?: FileRequest
ErrorMessage?: ErrorMessage
ErrorCode?: ErrorCode
NoCommonProtocol?: NoCommonProtocol
EventPayloads?: EventPayloads
NotebookCreated?: NotebookCreated
NotebookRenamed?: NotebookRenamed
NotebookMetadataSet?: NotebookMetadataSet
NotebookArchived?: NotebookArchived
NotebookUnarchived?: NotebookUnarchived
NotebookVersionNamed?: NotebookVersionNamed
AccessGranted?: AccessGranted
AccessRevoked?: AccessRevoked
NotebookPolicyChanged?: NotebookPolicyChanged
NotebookReactivitySet?: NotebookReactivitySet
UndoSkipped?: UndoSkipped
CellInserted?: CellInserted
CellContent?: CellContent
CellSourceEdited?: CellSourceEdited
CellMoved?: CellMoved
CellTypeChanged?: CellTypeChanged
CellDeleted?: CellDeleted
CellRestored?: CellRestored
PastExecution?: PastExecution
CellMetadataSet?: CellMetadataSet
CellAttachmentsSet?: CellAttachmentsSet
CellFlagsSet?: CellFlagsSet
CellOutputsCleared?: CellOutputsCleared
ThreadStarted?: ThreadStarted
ThreadMoved?: ThreadMoved
ThreadPlace?: ThreadPlace
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
ExecutionCompleted?: ExecutionCompleted
OpenExecutionOutcome?: OpenExecutionOutcome
ExecutionCancelRequested?: ExecutionCancelRequested
ExecutionCancelled?: ExecutionCancelled
ExecutionBlocked?: ExecutionBlocked
ExecutionLost?: ExecutionLost
ExecutionOutputRecovered?: ExecutionOutputRecovered
ExecutionOutputsMoved?: ExecutionOutputsMoved
KernelLaunchRequested?: KernelLaunchRequested
LostKernel?: LostKernel
KernelLaunchClaimed?: KernelLaunchClaimed
KernelSessionStarted?: KernelSessionStarted
MissingFunctions?: MissingFunctions
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
OpenMessageRole?: OpenMessageRole
OpenMessageBlock?: OpenMessageBlock
MessageFlagged?: MessageFlagged
TurnStarted?: TurnStarted
TurnModelCallStarted?: TurnModelCallStarted
TurnModelCallFinished?: TurnModelCallFinished
TurnFinished?: TurnFinished
TurnCancelled?: TurnCancelled
TurnFailed?: TurnFailed
ToolCallRequested?: ToolCallRequested
ToolCallConfirmed?: ToolCallConfirmed
Means?: Means
OpenDoor?: OpenDoor
Door?: Door
ToolCallDenied?: ToolCallDenied
ToolCallWithdrawn?: ToolCallWithdrawn
OpenWithdrawalCause?: OpenWithdrawalCause
WithdrawalCause?: WithdrawalCause
ToolCallVoided?: ToolCallVoided
OpenVoidCause?: OpenVoidCause
VoidCause?: VoidCause
ToolCallExpired?: ToolCallExpired
ToolCallStarted?: ToolCallStarted
OpenPassed?: OpenPassed
Passed?: Passed
ToolCallExecuted?: ToolCallExecuted
OpenToolCallEnd?: OpenToolCallEnd
GrantIssued?: GrantIssued
GrantRevoked?: GrantRevoked
GrantExpired?: GrantExpired
}
/**
 * The one message whose unknown fields are ignored: what a newer client adds must not hide which protocols it speaks.
 * 
 */
export interface HelloMessage {
protocols: ProtocolRange
/**
 * Absent when it came as the subprotocol `notarium.bearer.<token>`.
 */
token?: (string | null)
/**
 * Name and version of the program, for people who look for a fault.
 */
client: string
/**
 * From runtime agents: a name of this process, 1 to 64 characters, chosen anew at every start. A connection of the
 * same process takes over from the one before; another process is refused while that lives.
 */
instance?: (string | null)
/**
 * Optional parts of the protocol that the client knows. Unknown names are ignored.
 */
features?: string[]
/**
 * From guests: what they want to be called, 1 to 40 characters on one line. Others see it with the label of the link.
 * Of everybody else it is passed over.
 */
name?: (string | null)
}
/**
 * Major versions of this protocol, both ends included.
 * 
 */
export interface ProtocolRange {
/**
 * The oldest.
 */
min: number
/**
 * The newest.
 */
max: number
}
/**
 * Asks to follow a notebook, from what the client already has.
 * 
 */
export interface SubscribeMessage {
notebook: NotebookId
/**
 * The last event that the client has; absent: none.
 */
since?: (LastEvent | null)
/**
 * Cells with text that is not acked: their changes since the base come even when a snapshot does.
 */
unconfirmed?: UnconfirmedText[]
}
/**
 * An event by its place and its name: after a restore from a backup another event may stand at that place.
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
 * A cell that the client has text for which is not acked.
 * 
 */
export interface UnconfirmedText {
cell_id: CellId
/**
 * The version to which that text is mapped: the `base` of the change that was sent, else the client's own version.
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
 * The undo group; absent: the command is a group of its own.
 */
correlation_id?: (CorrelationId | null)
body: Command
}
/**
 * The version of another notebook that a new one was copied from.
 * 
 */
export interface ForkOrigin {
notebook: NotebookId
/**
 * The version of it that was copied.
 */
version: number
}
/**
 * What `InsertCell` makes.
 * 
 */
export interface InsertCell {
/**
 * Named by the client when it shows the cell before the ack; else by the server.
 */
cell_id?: (CellId | null)
cell_type: CellType
/**
 * At most 1 MiB, with `\n` line breaks only.
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
 * Of a prompt cell that comes with the reply that a file or another notebook has of it.
 */
reply?: (CellReply | null)
}
/**
 * Flags to change; absent ones stay.
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
 * Of a heading: the cells below it, up to the next heading, are not shown.
 */
heading_collapsed?: (boolean | null)
/**
 * A mark for exporters; Notarium itself keeps it and does nothing with it.
 */
exported?: (boolean | null)
/**
 * 1 to 9; 0 removes it.
 */
bookmark?: (number | null)
}
/**
 * What an assistant has answered to a prompt cell, as far as it had come.
 * 
 */
export interface CellReply {
/**
 * The turn that gave it; absent: a file or another notebook brought it.
 */
turn_id?: (TurnId | null)
status: OpenReplyStatus
/**
 * Why the model stopped, when it finished.
 */
stop_reason?: (OpenStopReason | null)
/**
 * Why there is no more of it, when it failed or was cut off.
 */
cause?: (OpenTurnFailure | null)
/**
 * More about the cause, in a sentence for people.
 */
detail?: (string | null)
/**
 * The cell's source when it was asked: another one now means that the reply is stale.
 */
prompt: string
/**
 * The texts of the turn's messages so far, with an empty line between them.
 */
text: string
/**
 * The conversation's messages hold more than `text`.
 */
is_cut?: boolean
}
/**
 * A change of a cell's text by somebody who may be behind.
 * 
 */
export interface EditSource {
cell_id: CellId
/**
 * The notebook's version that the sender has applied. `base_too_old` where over 10,000 edits of the cell came since.
 */
base: number
change: ChangeSet
/**
 * The sender's group in this cell that the sender's editor takes back with this change. Recorded as that group's undo.
 * An ordinary edit where the group is another's, or touches more than this cell.
 */
undoes?: (CorrelationId | null)
/**
 * The sender's undo that the sender's editor takes back with this change. An ordinary edit where there is nothing to
 * redo under that id.
 */
redoes?: (CorrelationId | null)
}
/**
 * What `AddComment` says, and where.
 * 
 */
export interface AddComment {
target: CommentTarget
/**
 * Markdown, 1 to 10,000 characters. Blanks at its ends go.
 */
text: string
/**
 * The accounts that it names, at most 50 (`unknown_subject`, `subject_ended`). A mention gives nobody a right.
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
 * `[start, end]` in the cell's source, in UTF-16 code units; of a new thread not empty. Absent: the whole cell.
 */
range?: (TextRange | null)
/**
 * The notebook's version whose text the range is of; it moves with later edits. Absent: the text as the server has it.
 */
base?: (number | null)
}
/**
 * What `EditComment` makes of a comment.
 * 
 */
export interface EditComment {
thread_id: ThreadId
comment_id: CommentId
/**
 * As in `AddComment`.
 */
text: string
/**
 * All that it names from then on; those that it named already may have left.
 */
mentions?: UserId[]
}
/**
 * What `RequestExecution` runs, and where.
 * 
 */
export interface RequestExecution {
/**
 * Chosen by the client, or by the server.
 */
execution_id?: (ExecutionId | null)
target: ExecutionTarget
/**
 * Absent: the notebook's first kernel; one is launched where there is none.
 */
kernel_session?: (KernelSessionId | null)
/**
 * The kernel is interrupted after so many milliseconds of running; absent: never.
 */
timeout_ms?: (number | null)
/**
 * When this run fails, those of the same batch behind it are blocked.
 */
stop_on_error?: boolean
}
/**
 * One output, as nbformat has it, opaque.
 * 
 */
export interface Output {
content: AnyJson
/**
 * What is missing in `content`; a part above 8 KiB is kept as a blob.
 */
blobs?: BlobPart[]
/**
 * Of `display_data` that may be updated later.
 */
display_id?: (string | null)
}
/**
 * One part of an output that lives in a blob instead of the event.
 * 
 */
export interface BlobPart {
/**
 * JSON pointer (RFC 6901) into `content`, where the value was taken out.
 */
pointer: string
/**
 * Lower-case hex of the SHA-256 of the blob's bytes.
 */
sha256: string
/**
 * Of the blob.
 */
size_bytes: number
/**
 * False: the bytes are the UTF-8 text of a JSON string. True: the bytes are JSON.
 */
json?: boolean
}
/**
 * A function as its kernel describes it.
 * 
 */
export interface UserFunction {
/**
 * An identifier of ASCII letters, digits and `_`.
 */
name: string
/**
 * Any text that changes when the function does.
 */
version?: string
/**
 * What it does and when to use it, for the model and for people.
 */
description?: string
schema: AnyObject
risk: OpenRisk
}
/**
 * Where a registered function stands, as its kernel says.
 * 
 */
export interface FunctionPlace {
/**
 * Of the function.
 */
name: string
/**
 * The cell whose run registered it; absent: code of no cell did, or the kernel does not say.
 */
cell_id?: (CellId | null)
/**
 * The module that defines it; absent: the notebook does.
 */
module?: (string | null)
/**
 * The line there, from 1.
 */
line?: (number | null)
}
/**
 * Says something to an assistant and begins its turn. A conversation that does not exist begins.
 * 
 */
export interface StartTurn {
conversation_id: ConversationId
/**
 * Chosen by the client, or by the server.
 */
turn_id?: (TurnId | null)
/**
 * What is asked; absent for a prompt cell, whose source it is.
 */
text?: (string | null)
/**
 * A prompt cell: its source is what is asked, and it shows the reply.
 */
cell_id?: (CellId | null)
/**
 * `NAME`, `NAME/MODEL`, or a model of the first provider; absent: the server's default.
 */
model?: (string | null)
/**
 * Pictures and files that go with it, at most 8: blobs that were uploaded for this notebook. Pictures (PNG, JPEG, GIF, WebP) of
 * at most 3,750,000 bytes, text of at most 256 KiB.
 */
attachments?: Attachment[]
}
/**
 * A picture or a file that goes with a question: a blob of the notebook.
 * 
 */
export interface Attachment {
/**
 * Of its bytes, in lower-case hex: the name of the blob.
 */
sha256: string
/**
 * How large it is.
 */
size_bytes: number
/**
 * What it is, as in `image/png`.
 */
media_type: string
/**
 * As the person's file is called.
 */
name: string
}
/**
 * What becomes of a message in the assistant's context; what is absent stays.
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
 * The only way in which an assistant acts.
 * 
 */
export interface RequestToolCall {
/**
 * Chosen by the sender, or by the server.
 */
call_id?: (ToolCallId | null)
/**
 * The turn that it is part of; absent for outside assistants, which have none.
 */
turn_id?: (TurnId | null)
/**
 * A built-in tool, or a function that a user has registered (`unknown_tool` otherwise).
 */
function: string
arguments?: AnyObject
/**
 * Not before that call of the same conversation has ended, however it ends. One that has ended holds nothing back.
 */
after?: (ToolCallId | null)
/**
 * What a conversation is called that begins with this call: an outside assistant's, which nobody speaks to here.
 */
conversation_title?: (string | null)
/**
 * The token that the outside assistant's client has shown to the server, by its id. Of a call in a turn it is the turn's.
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
 * As it was when the outputs were read: no others have come since.
 */
output_seq: number
/**
 * In the order of the outputs, none over another.
 */
moved: MovedOutputs[]
}
/**
 * Outputs that follow one another, and what stands in their place.
 * 
 */
export interface MovedOutputs {
/**
 * The place of the first, counted from 0 before anything is moved.
 */
first: number
/**
 * How many; more than one are pieces of the same stream.
 */
count: number
output: Output
}
/**
 * What a model call took, in tokens.
 * 
 */
export interface Usage {
/**
 * Of what the model read.
 */
input_tokens?: number
/**
 * Of what the model wrote.
 */
output_tokens?: number
/**
 * The provider did not say: this is our estimate.
 */
estimated?: boolean
}
/**
 * Asks whether the client's state at a version is the right one. The client must follow the notebook.
 * 
 */
export interface CheckMessage {
notebook: NotebookId
/**
 * The version that the client holds.
 */
version: number
/**
 * Of the client's own state. Where the server's is another, it sends the whole state afterwards.
 */
digest?: (Hash | null)
}
/**
 * Where a client is in a notebook. Everything may be absent: somebody is here, and nothing more is known.
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
 * Text is being entered at this moment.
 */
typing?: boolean
}
/**
 * A question to a kernel. The next one about code of the same connection to the same kernel cancels it.
 * 
 */
export interface AskKernelMessage {
/**
 * Chosen by the client: the answer names it.
 */
id: number
notebook: NotebookId
/**
 * The cell that the code is of. One that does not run is refused.
 */
cell_id?: (CellId | null)
/**
 * Absent: the kernel that the cell would run on now.
 */
kernel_session?: (KernelSessionId | null)
/**
 * The text as it stands in the editor: it need not be the cell's source.
 */
code?: string
/**
 * The place in `code`, in UTF-16 code units.
 */
cursor?: number
kind: QuestionKind
}
/**
 * Asks for rows of a table, in an order, of those that pass.
 * 
 */
export interface ReadTable {
of: TableName
/**
 * The first row wanted, of those that pass in their order.
 */
first?: number
/**
 * How many rows; at most 10,000.
 */
count: number
/**
 * Absent: the order of the table.
 */
sort?: (TableSort | null)
/**
 * All of them must pass; at most 20.
 */
filters?: TableFilter[]
/**
 * Only rows with this in the text of a column, in small letters or capitals. At most 1 KiB.
 */
search?: string
}
/**
 * Names a table in a kernel's memory: exactly one of both.
 * 
 */
export interface TableName {
/**
 * What the output says in `table`: the very frame that it shows, whatever its variable holds by now.
 */
table?: (string | null)
/**
 * A variable that holds a data frame or a series of pandas or polars.
 */
variable?: (string | null)
}
/**
 * By which column rows are sorted. Rows without a value come last, equal ones keep their order.
 * 
 */
export interface TableSort {
/**
 * Its place in `columns`.
 */
column: number
/**
 * From the largest to the smallest.
 */
is_descending?: boolean
}
/**
 * What the value of a column must be.
 * 
 */
export interface TableFilter {
/**
 * Its place in `columns`.
 */
column: number
operator: TableOperator
/**
 * Empty for `empty` and `not_empty`. At most 1 KiB.
 */
value?: string
}
/**
 * Asks what a column of a table holds.
 * 
 */
export interface SummarizeColumn {
of: TableName
/**
 * Its place in `columns`.
 */
column: number
}
/**
 * Cells to format.
 * 
 */
export interface FormatCells {
/**
 * The text of each, as it stands in the editor; at most 500 cells and 256 KiB.
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
 * Chosen by the client: the kernel's answers name it, with the connection, as `parent`.
 */
id: number
/**
 * Who sends it, by connection. The server sets it.
 */
sender?: (string | null)
message: CommMessage
}
/**
 * What is said on a comm.
 * 
 */
export interface CommMessage {
/**
 * An open one.
 */
comm_id: string
data: AnyObject
/**
 * Bytes that belong to it, base64; at most 64.
 */
buffers?: string[]
/**
 * From a kernel: which message of a client it answers, as `connection.id`.
 */
parent?: (string | null)
}
/**
 * A kernel that a runtime agent can launch, as Jupyter describes it.
 * 
 */
export interface OfferedKernelspec {
/**
 * The kernelspec's directory name, as in `python3`: what `LaunchKernel` names.
 */
name: string
/**
 * For people, as in `Python 3 (ipykernel)`.
 */
display_name: string
/**
 * Of the code, as in `python`.
 */
language: string
}
/**
 * A connection to a database that the operator of a runtime agent has named: what people and programs may know of it.
 * 
 */
export interface OfferedConnection {
/**
 * As an SQL cell names it in its first line: `-- @warehouse`.
 */
name: string
/**
 * `postgresql`, `sqlite` or `duckdb`.
 */
kind: string
/**
 * Whether a cell that says `write` may write.
 */
writes?: boolean
}
/**
 * What a kernel takes of its machine.
 * 
 */
export interface KernelUsage {
/**
 * Resident memory, in bytes.
 */
memory_bytes: number
/**
 * Of one processor, in percent: 200 is two of them, all the time. Absent: it was measured once so far.
 */
cpu_percent?: (number | null)
}
/**
 * A comm that is open, with what the kernel has said on it so far.
 * 
 */
export interface OpenComm {
/**
 * For widgets the `model_id`.
 */
comm_id: string
/**
 * What is talked about; absent: a widget. `notarium.progress`: how far a run has come.
 */
target?: (string | null)
/**
 * Of progress: the run.
 */
execution_id?: (ExecutionId | null)
state: AnyObject
/**
 * Attributes that are bytes: they are not in `state`.
 */
buffers?: CommBuffer[]
}
/**
 * Bytes, and where in a state they belong.
 * 
 */
export interface CommBuffer {
/**
 * Names of attributes and places in lists (as text), from the outermost in.
 */
path: string[]
/**
 * Base64, standard alphabet, with padding.
 */
base64: string
}
/**
 * What could stand in place of a piece of the code.
 * 
 */
export interface Completion {
/**
 * Where the piece begins that a match replaces, in UTF-16 code units of the code.
 */
from: number
/**
 * Where it ends.
 */
to: number
/**
 * In the kernel's order; at most 500.
 */
matches: CompletionMatch[]
/**
 * The kernel has more matches: they were left out.
 */
is_cut?: boolean
}
/**
 * One text that could stand there.
 * 
 */
export interface CompletionMatch {
/**
 * Replaces the piece.
 */
text: string
/**
 * What it is, in the kernel's words: `function`, `class`, `instance`, `module`, `keyword`, `param`, `path`, `magic` …
 */
type?: (string | null)
/**
 * How it is called, as in `(a, b=1)`.
 */
signature?: (string | null)
}
/**
 * What a name is.
 * 
 */
export interface Inspection {
/**
 * False: the kernel knows nothing by that name.
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
 * The tables and views of a connection, with their columns. System schemas, the partitions of a table, and what the connection's
 * account may not read are not among them.
 * 
 */
export interface ConnectionSchema {
/**
 * `postgresql`, `sqlite` or `duckdb`.
 */
kind: string
/**
 * At most 1,000: first those that need no schema before their name.
 */
tables: Table[]
/**
 * How many more there are.
 */
tables_left_out?: number
}
/**
 * A table or a view.
 * 
 */
export interface Table {
/**
 * The database, where it is another than the one that names without a catalog are of: one that DuckDB has attached, or `temp`.
 */
catalog?: (string | null)
/**
 * Its schema.
 */
schema: string
/**
 * Its name, as it is: SQL may want it in quotes.
 */
name: string
/**
 * `table`, `view`, `materialized_view` or `foreign_table`.
 */
kind: string
/**
 * Whether SQL finds it by its name alone.
 */
is_visible: boolean
/**
 * In their order; at most 10,000 of all tables.
 */
columns: Column[]
/**
 * How many more it has.
 */
columns_left_out?: number
}
/**
 * A column of a table.
 * 
 */
export interface Column {
/**
 * Its name, as it is: SQL may want it in quotes.
 */
name: string
/**
 * In the words of the database; at most 200 characters. Empty: SQLite has columns without a type.
 */
type: string
/**
 * Whether it may hold NULL.
 */
nullable: boolean
}
/**
 * The variables of a kernel: the user's own, no modules, functions or classes, and none that begins with `_`.
 * 
 */
export interface VariableList {
/**
 * In the order in which they were made first; at most 200, those made last.
 */
variables: Variable[]
/**
 * How many more there are.
 */
left_out?: number
}
/**
 * A variable.
 * 
 */
export interface Variable {
/**
 * Its name.
 */
name: string
/**
 * Its type, with the module where it is not Python's own.
 */
type: string
/**
 * Of arrays and tables: the length of each axis.
 */
shape?: (number[] | null)
/**
 * Of containers and texts.
 */
length?: (number | null)
/**
 * Of memory, without what it refers to; absent where that is not known cheaply.
 */
bytes?: (number | null)
/**
 * The beginning of what it holds. `[hidden]`: its name says that it is a secret.
 */
preview?: (string | null)
/**
 * `read_table` reads it.
 */
is_table?: boolean
}
/**
 * Rows of a table, as it is in the kernel now.
 * 
 */
export interface TablePage {
/**
 * Names the table in later questions.
 */
table: string
/**
 * What it is: `pandas.DataFrame`, `polars.Series` …
 */
kind: string
/**
 * How many rows it has.
 */
rows: number
/**
 * How many of them pass.
 */
matching: number
/**
 * The place of the first row of `data` among those that pass.
 */
first: number
/**
 * At most 2,000.
 */
columns: TableColumn[]
/**
 * How many more columns it has.
 */
columns_left_out?: number
/**
 * Row by row, a value for each column: `null` where there is none, a number, a truth value, or a text. Whole numbers
 * beyond 2^53 and numbers that are not finite (`inf`, `-inf`, `NaN`) are texts.
 */
data: AnyJson[][]
/**
 * Fewer rows than asked for fit in one answer: ask on behind the last.
 */
is_cut?: boolean
/**
 * Its shape, its types or its first rows are others than when the output showed it.
 */
is_changed?: boolean
}
/**
 * A column of a table. The columns of the index come first.
 * 
 */
export interface TableColumn {
/**
 * As text; names need not differ, and that of an index may be empty.
 */
name: string
/**
 * In the library's words: `int64`, `datetime64[ns, UTC]`, `String` …
 */
type: string
/**
 * `integer`, `number`, `boolean`, `datetime`, `text` or `any`; others may come.
 */
kind: string
/**
 * What the library writes where there is no value. Absent: `NaN`.
 */
missing?: (string | null)
/**
 * It is of the index.
 */
is_index?: boolean
}
/**
 * What a column holds. What makes no sense for its type, or takes too long, is absent.
 * 
 */
export interface ColumnSummary {
column: TableColumn
/**
 * Of the table.
 */
rows: number
/**
 * Rows without a value.
 */
missing: number
/**
 * How many different values there are.
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
 * The standard deviation of a sample.
 */
std?: (AnyJson | null)
/**
 * Below which a quarter, half and three quarters of the values lie.
 */
quartiles?: AnyJson[]
/**
 * The most frequent values, at most 5.
 */
top?: ValueCount[]
}
/**
 * How often a value is there.
 * 
 */
export interface ValueCount {
value: AnyJson
/**
 * In so many rows.
 */
count: number
}
/**
 * What the formatter made of them.
 * 
 */
export interface FormattedCells {
/**
 * Its name and version, `black 26.1.0`. Absent: the kernel's Python has none, and `cells` is empty.
 */
formatter?: (string | null)
/**
 * In the order of the question; `null` for one that the formatter cannot read, or leaves alone.
 */
cells: (string | null)[]
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
 * By name.
 */
files: FileEntry[]
/**
 * There is more: ask for what comes `after` this name.
 */
next?: (string | null)
/**
 * The folder holds more than is looked through: what is beyond is not listed, but found by its name.
 */
is_cut?: boolean
}
/**
 * Something in a folder.
 * 
 */
export interface FileEntry {
/**
 * Its name, without the folder.
 */
name: string
kind: FileKind
/**
 * Of a file.
 */
size_bytes?: (number | null)
/**
 * When its content changed last, by the clock of that machine.
 */
modified_at?: (number | null)
}
/**
 * A file that was stored.
 * 
 */
export interface WrittenFile {
/**
 * Below the working folder.
 */
path: string
/**
 * All of it.
 */
size_bytes: number
/**
 * Of its bytes, in lower-case hex.
 */
sha256: string
/**
 * It took the place of another.
 */
replaced: boolean
}
/**
 * A file, folder or link that has another name or place.
 * 
 */
export interface MovedFile {
/**
 * Where it was, below the working folder.
 */
from: string
/**
 * Where it is.
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
 * By which it is restored.
 */
id: string
/**
 * Where it was, below the working folder.
 */
path: string
kind: FileKind
/**
 * All of it; of a folder with very many files, of those that were counted.
 */
size_bytes: number
/**
 * By the clock of that machine.
 */
removed_at: number
}
/**
 * What the trash of a working folder holds.
 * 
 */
export interface TrashPage {
/**
 * The last removed first.
 */
files: TrashedFile[]
/**
 * Entries in all.
 */
count: number
/**
 * Of all entries.
 */
size_bytes: number
/**
 * Entries are deleted for good after so long.
 */
kept_days: number
/**
 * The oldest are deleted for good when all are larger; the last one stays.
 */
max_bytes: number
}
/**
 * Who the client is, and what the server allows it.
 * 
 */
export interface WelcomeMessage {
/**
 * The one of `hello.protocols` that is spoken from here on.
 */
protocol: number
/**
 * Name and version of the server.
 */
server: string
/**
 * The name of this connection in presence.
 */
connection: string
actor: Actor
/**
 * What the token is good for; a role in a notebook may allow less.
 */
scopes: Scope[]
/**
 * When the token ends; send `refresh` before.
 */
expires_at?: (number | null)
/**
 * A larger frame is refused with `frame_too_large`; one of twice the size ends the connection.
 */
max_frame_bytes: number
/**
 * The server sends a ping this often; a client that hears nothing for three times as long reconnects.
 */
heartbeat_ms: number
/**
 * Optional parts of the protocol that this server has, such as `assistants`. Pass over names that you do not know.
 */
features: string[]
}
/**
 * A subscription has begun: what the client needs to be at `version`.
 * 
 */
export interface SubscribedMessage {
notebook: NotebookId
/**
 * The events that follow come after this version.
 */
version: number
event_id: EventId
/**
 * The event in `since` is not in this log, which was restored from a backup: the snapshot replaces what the client has,
 * its unconfirmed texts are of another branch (`base_too_old`), and commands that were acked may be gone.
 */
diverged?: boolean
role: Role
/**
 * [`crate::DOCUMENT`]: by which rules the state is folded.
 */
document: number
/**
 * Of the snapshot; absent where that has no canonical form.
 */
digest?: (Hash | null)
/**
 * To a person: what they can undo and redo next.
 */
undo?: (NextSteps | null)
/**
 * True: a newer server has written this notebook. `version` is the last one before the first event that this server does
 * not know; no more events come, and every command is refused with `read_only`.
 */
read_only?: boolean
/**
 * The state at `version`. Absent: the client's own state at `since` is good, and the missing events follow.
 */
snapshot?: (Document | null)
/**
 * With a snapshot: the events since their base of the cells that the client named as unconfirmed.
 */
unconfirmed_events?: EventMessage[]
/**
 * Cells whose base was too far back: offer the text as a conflict copy.
 */
base_too_old?: CellId[]
/**
 * Who is here, without yourself.
 */
peers?: PeerState[]
/**
 * Which kernels can be reached and are busy.
 */
kernels?: KernelStatus[]
}
/**
 * What a person can undo and redo next.
 * 
 */
export interface NextSteps {
/**
 * Absent: there is nothing to undo.
 */
undo?: (NextStep | null)
/**
 * Absent: there is nothing to redo.
 */
redo?: (NextStep | null)
}
/**
 * One undoable group, as its author is told.
 * 
 */
export interface NextStep {
correlation_id: CorrelationId
/**
 * Of its last event.
 */
version: number
/**
 * The cells that it touches; none: it is about the notebook itself.
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
 * 1 to 255 characters on one line; empty before the first event.
 */
title: string
/**
 * True: it is read, exported and forked, and neither changed nor run.
 */
archived?: boolean
metadata: AnyObject
/**
 * When the first event was recorded. Milliseconds since 1970.
 */
created_at?: number
/**
 * When the last event was recorded. Milliseconds since 1970.
 */
updated_at?: number
/**
 * Sorted by subject.
 */
access: AccessEntry[]
/**
 * The live ones. The trash is a projection of the log.
 */
cells: {
[k: string]: Cell
}
/**
 * Cell ids in the order of the page: by order key, then id. Derived from `cells`.
 */
order: CellId[]
/**
 * The latest execution of each live cell (the one whose outputs it shows).
 */
latest: {
[k: string]: ExecutionId
}
/**
 * Threads of comments, resolved ones too. One whose cell is in the trash comes back with it.
 */
threads?: {
[k: string]: Thread
}
/**
 * Latest and unfinished executions.
 */
executions: {
[k: string]: Execution
}
/**
 * The sessions that have not ended, or were not claimed yet.
 */
kernels: {
[k: string]: KernelSession
}
/**
 * The last thing that went wrong with a kernel. Absent once one has started.
 */
kernel_notice?: (KernelNotice | null)
/**
 * By name: what users have registered as tools, also of kernels that have ended.
 */
functions?: {
[k: string]: RegisteredFunction
}
/**
 * Names given to versions.
 */
named_versions?: {
/**
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^\d+$".
 */
[k: string]: string
}
policy?: Policy
reactivity?: Reactivity
/**
 * Without their messages, which are a projection of the log.
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
 * Those that hold, or have expired unnoticed: `expires_at` counts.
 */
grants?: {
[k: string]: AssistantGrant
}
}
/**
 * One line of the access list. A list, because JSON keys cannot be subjects.
 * 
 */
export interface AccessEntry {
subject: Subject
role: Role
/**
 * Milliseconds since 1970; absent: until it is revoked.
 */
expires_at?: (number | null)
}
/**
 * A live cell. In JSON its content stands beside the versions.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface Cell {
cell_type: CellType
/**
 * At most 1 MiB, with `\n` line breaks only. May be empty.
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
 * What an assistant answered, of a prompt cell.
 */
reply?: (Reply | null)
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
 * Marks on a cell that change how it is shown or used, never what it says.
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
 * Of a heading: the cells below it, up to the next heading, are not shown.
 */
heading_collapsed?: boolean
/**
 * A mark for exporters; Notarium itself keeps it and does nothing with it.
 */
exported?: boolean
/**
 * 1 to 9.
 */
bookmark?: (number | null)
}
/**
 * What an assistant has answered to a prompt cell, as far as it has come.
 * 
 */
export interface Reply {
/**
 * The turn that gives it; absent: a file or another notebook brought it.
 */
turn_id?: (TurnId | null)
status: OpenReplyStatus
/**
 * Why the model stopped, when it finished.
 */
stop_reason?: (OpenStopReason | null)
/**
 * Why there is no more of it, when it failed or was stopped.
 */
cause?: (OpenTurnFailure | null)
/**
 * More about the cause, in a sentence for people.
 */
detail?: (string | null)
/**
 * The cell's source when it was asked: another one now means that the reply is stale.
 */
prompt: string
/**
 * The texts of the turn's messages so far, with an empty line between them.
 */
text: string
/**
 * The conversation's messages hold more than `text`.
 */
is_cut?: boolean
}
/**
 * A thread of comments on a cell, or on a range of its text. While its cell is in the trash, so is the thread.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface Thread {
cell_id: CellId
/**
 * Moves with the text. Empty: the text is gone. Absent: the thread is about the whole cell.
 */
range?: (TextRange | null)
/**
 * The text of the range when the thread began, or its beginning.
 */
quote?: (string | null)
/**
 * In the order in which they were posted.
 */
comments: Comment[]
/**
 * Absent: it is open.
 */
resolved?: (Resolution | null)
}
/**
 * What somebody said in a thread.
 * 
 */
export interface Comment {
comment_id: CommentId
/**
 * Markdown.
 */
text: string
/**
 * The accounts that it names, sorted.
 */
mentions?: UserId[]
author: Actor
/**
 * Milliseconds since 1970.
 */
posted_at: number
/**
 * When its author changed it last; absent: never. Milliseconds since 1970.
 */
edited_at?: (number | null)
}
/**
 * Who settled a thread, and when.
 * 
 */
export interface Resolution {
by: Actor
/**
 * Milliseconds since 1970.
 */
at: number
}
/**
 * One execution: a record with its own id, the exact source it ran, its outputs, its end.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface Execution {
subject: ExecutionSubject
status: ExecutionStatus
cause: OpenExecutionCause
requested_by: Actor
/**
 * Milliseconds since 1970.
 */
requested_at: number
/**
 * Version of the request: the order of the queue.
 */
requested_version: number
correlation_id: CorrelationId
/**
 * Where it runs, or is to. Absent: a file brought it, or it waits for a default kernel whose agent was away.
 */
kernel_session?: (KernelSessionId | null)
/**
 * The only agent that may write about it.
 */
agent?: (AgentId | null)
/**
 * Of the assignment: writes about the execution must carry it.
 */
fence?: (number | null)
/**
 * Its kernel is interrupted after so long; absent: never.
 */
timeout_ms?: (number | null)
/**
 * When it fails, runs of the same correlation that still wait are blocked.
 */
stop_on_error?: boolean
/**
 * Somebody wants it cancelled; its agent interrupts it.
 */
cancel_requested?: boolean
/**
 * Milliseconds since 1970; absent: the kernel has not begun.
 */
started_at?: (number | null)
/**
 * Milliseconds since 1970; absent: it has not ended.
 */
ended_at?: (number | null)
/**
 * The number in `In [3]:`; absent where the kernel gave none.
 */
execution_count?: (number | null)
/**
 * Why it was cancelled or lost, or has no result of its own.
 */
end_cause?: (OpenEndCause | null)
/**
 * The run before it that did not succeed.
 */
blocked_by?: (ExecutionId | null)
/**
 * A sentence about an odd end.
 */
notice?: (string | null)
/**
 * The highest write of the agent that is in the log.
 */
output_seq?: number
/**
 * Those that are shown, in order.
 */
outputs?: Output[]
/**
 * `clear_output(wait=True)`: the next output replaces all.
 */
clear_on_next_output?: boolean
/**
 * The question that waits for an answer.
 */
pending_input?: (PendingInput | null)
}
/**
 * A question that waits for an answer on stdin.
 * 
 */
export interface PendingInput {
/**
 * What the code asks, as it is to be shown.
 */
prompt: string
/**
 * The answer is to be hidden while it is typed, and does not enter the log.
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
 * The kernelspec's name, as in `python3`.
 */
kernelspec: string
phase: KernelPhase
/**
 * Version of the launch request, kept over restarts: the lowest is the default kernel.
 */
requested_version: number
/**
 * The runtime agent that has claimed it. Absent: none has.
 */
agent?: (AgentId | null)
/**
 * Version of `KernelSessionStarted`; every write about the session carries it.
 */
fence?: (number | null)
language_info?: AnyObject
sandbox?: AnyObject
}
/**
 * The last thing that went wrong with a kernel, so that everybody sees the cause. Cleared by the next start.
 * 
 */
export interface KernelNotice {
kernel_session: KernelSessionId
cause: OpenKernelCause
/**
 * More about it, in a sentence for people.
 */
detail?: (string | null)
/**
 * Of the event that says so.
 */
version: number
}
/**
 * A function that the notebook knows.
 * 
 */
export interface RegisteredFunction {
function: UserFunction
/**
 * Version of the event since which it is as it is.
 */
registered_version: number
/**
 * The kernel that runs it. Absent: it ended, and the function cannot be called until a kernel registers it again.
 */
kernel_session?: (KernelSessionId | null)
}
/**
 * A conversation. Its messages are a projection.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface Conversation {
/**
 * What the first message begins with, or the name of the assistant outside.
 */
title: string
started_by: Actor
/**
 * Milliseconds since 1970.
 */
started_at: number
/**
 * The unfinished turn.
 */
turn?: (TurnId | null)
/**
 * It began with a call of an outside assistant, and nobody has spoken in it.
 */
is_outside?: boolean
/**
 * Messages that are pinned or skipped.
 */
flagged?: {
[k: string]: MessageFlags
}
}
/**
 * Marks on a message that say whether it is in the assistant's context.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface MessageFlags {
/**
 * Always.
 */
pinned?: boolean
/**
 * Never.
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
 * The version of its TurnStarted.
 */
started_version: number
/**
 * Milliseconds since 1970.
 */
started_at: number
/**
 * The prompt cell that it answers; absent: it was asked in a chat.
 */
cell_id?: (CellId | null)
/**
 * As the person chose; absent: the server's default.
 */
model?: (string | null)
/**
 * Its calls do nothing beyond these.
 */
scopes: Scope[]
/**
 * Its calls reach no other notebook.
 */
is_bound: boolean
/**
 * Model calls that have begun.
 */
model_calls: number
/**
 * Attempts of the last one.
 */
attempts: number
/**
 * The server instance that makes the last one; absent: it is over.
 */
model_call_claimant?: (InstanceId | null)
/**
 * The last one failed: the next is another attempt of it.
 */
is_model_call_failed?: boolean
}
/**
 * A call that has not ended.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface ToolCall {
/**
 * A built-in tool, or a function that a user has registered.
 */
function: string
arguments: AnyObject
arguments_hash: Hash
risk: OpenRisk
/**
 * Sentences: why the risk is what it is.
 */
reasons?: string[]
/**
 * What it touches, as it was when the call was requested.
 */
targets?: OpenTarget[]
requested_by: Actor
/**
 * Milliseconds since 1970.
 */
requested_at: number
/**
 * The version of its ToolCallRequested.
 */
requested_version: number
/**
 * The turn that asked for it; absent for assistants outside.
 */
turn_id?: (TurnId | null)
gate: OpenGate
/**
 * It does not start before this call has ended.
 */
after?: (ToolCallId | null)
phase: ToolCallPhase
}
/**
 * A person's leave for the calls of one conversation.
 * 
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9_-]{1,64}$".
 * 
 */
export interface AssistantGrant {
conversation_id: ConversationId
for_user: UserId
/**
 * Empty: every function.
 */
functions?: string[]
/**
 * Milliseconds since 1970.
 */
expires_at: number
issued_by: Actor
}
/**
 * An event as clients see it: without the notebook's id (the frame has it) and the hashes (the record has them).
 * 
 */
export interface EventMessage {
/**
 * One more than that of the event before.
 */
version: number
id: EventId
/**
 * The name of the event, as in `CellInserted`: it selects the shape of `payload`.
 */
type: string
/**
 * Counted for each type, from 1. A higher number than you know cannot be folded.
 */
schema: number
actor: Actor
command_id: CommandId
correlation_id: CorrelationId
/**
 * The `id` of the event that led to this one. Absent where a client's command did.
 */
causation_id?: (EventId | null)
/**
 * The correlation id of the group that this event undoes, or undoes the undoing of.
 */
undoes?: (CorrelationId | null)
/**
 * Milliseconds since 1970, by the server's clock; never before the event before.
 */
recorded_at: number
payload: AnyJson
}
/**
 * Somebody who is in the notebook.
 * 
 */
export interface PeerState {
/**
 * The connection, by the name in its `welcome`: one person may have several.
 */
connection: string
actor: Actor
/**
 * For people to read.
 */
name: string
state?: PresenceState
}
/**
 * What is known of a kernel beside the log.
 * 
 */
export interface KernelStatus {
kernel_session: KernelSessionId
/**
 * What its runtime agent is called, for people to read. Absent: it has not been here since the server loaded the notebook.
 */
agent_name?: (string | null)
/**
 * False: its runtime agent has not been heard of for some seconds.
 */
reachable: boolean
/**
 * Where it cannot be reached: since when, in milliseconds since 1970.
 */
unreachable_since?: (number | null)
/**
 * Its agent says that it is executing. False while it cannot be reached.
 */
busy: boolean
/**
 * What it takes of its machine, a few seconds ago. Absent: not measured, or it cannot be reached.
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
 * The version of the first event; they are gapless.
 */
from: number
/**
 * Oldest first; never empty.
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
 * To a person: what they can undo and redo next. Absent in all but the last of several acks that come together; may be
 * absent in the answer to a repeated command.
 */
undo?: (NextSteps | null)
}
/**
 * What the sender learns with the ack: ids that the server chose, and what could not be done in full.
 * 
 */
export interface Outcome {
/**
 * Cells that the command made or restored, in the order of its parts.
 */
cells?: CellId[]
/**
 * The runs that it requested, in the order of its parts.
 */
executions?: ExecutionId[]
/**
 * The session that it launched, or in which its run is queued.
 */
kernel_session?: (KernelSessionId | null)
/**
 * The thread that it began or replied in.
 */
thread?: (ThreadId | null)
/**
 * The comment that it posted.
 */
comment?: (CommentId | null)
/**
 * The turn that it started.
 */
turn?: (TurnId | null)
/**
 * The tool call that it requested or decided on.
 */
tool_call?: (ToolCallId | null)
/**
 * Sentences for people: parts of an undo that others had overwritten, and the like.
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
 * Of a `conflict`: the version that the command named, of the notebook or of a cell.
 */
expected_version?: (number | null)
/**
 * Of a `conflict`: the version that is, of the same thing.
 */
actual_version?: (number | null)
/**
 * Of a `report_gap`: the number that the execution's next report must have.
 */
expected_seq?: (number | null)
/**
 * Of a `Batch`: which of its commands was refused, from 1.
 */
part?: (number | null)
}
/**
 * The digest of the state at a version.
 * 
 */
export interface CheckedMessage {
notebook: NotebookId
/**
 * The version of `check`.
 */
version: number
/**
 * Absent where the state has no canonical form.
 */
digest?: (Hash | null)
/**
 * The digest in `check` was another: a `resync` and the whole state follow.
 */
differs?: boolean
}
/**
 * The answer to `ask_kernel`.
 * 
 */
export interface KernelAnswerMessage {
/**
 * That of the question.
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
 * The model call of the turn, from 1, and its attempt: another attempt writes its text anew.
 */
model_call: number
/**
 * Counts from 1 in each model call.
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
 * Chosen by the server: the agent's answer names it.
 */
id: number
notebook: NotebookId
kernel_session: KernelSessionId
/**
 * Who asks. A question replaces the one before of the same asker, which needs no answer any more.
 */
asker: string
/**
 * The text.
 */
code: string
/**
 * The place in `code`, in UTF-16 code units.
 */
cursor: number
kind: QuestionKind
/**
 * How long an answer is waited for, in milliseconds.
 */
timeout_ms: number
}
/**
 * A message or the connection is wrong. What is wrong with a command's body comes as a `reject`.
 * 
 */
export interface ErrorMessage {
code: ErrorCode
/**
 * One sentence for people that says what to do.
 */
message: string
/**
 * The notebook that it is about. Absent: the connection or a message.
 */
notebook?: (NotebookId | null)
/**
 * With `unsupported_protocol`.
 */
protocols?: (NoCommonProtocol | null)
/**
 * True: the server closes the connection after this.
 */
fatal?: boolean
}
/**
 * Two ranges without overlap.
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
AccessGranted?: AccessGranted
AccessRevoked?: AccessRevoked
NotebookPolicyChanged?: NotebookPolicyChanged
NotebookReactivitySet?: NotebookReactivitySet
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
}
/**
 * The first event of every log.
 * 
 */
export interface NotebookCreated {
/**
 * 1 to 255 characters on one line.
 */
title: string
metadata: AnyObject
owner: Subject
/**
 * Where the content came from; the events that follow in the same command carry it.
 */
forked_from?: (ForkOrigin | null)
}
/**
 * The notebook has another title.
 * 
 */
export interface NotebookRenamed {
/**
 * 1 to 255 characters on one line.
 */
title: string
/**
 * What it was before, for undo.
 */
previous: string
}
/**
 * The metadata is replaced as a whole.
 * 
 */
export interface NotebookMetadataSet {
metadata: AnyObject
previous: AnyObject
}
/**
 * From here on the notebook is read, exported and forked, and neither changed nor run.
 * 
 */
export interface NotebookArchived {

}
/**
 * The notebook is changed and run again.
 * 
 */
export interface NotebookUnarchived {

}
/**
 * A version has a name, in place of the one that it may have had.
 * 
 */
export interface NotebookVersionNamed {
/**
 * The version that is named: below that of this event.
 */
version: number
/**
 * 1 to 255 characters on one line.
 */
name: string
}
/**
 * A subject has a role, in place of the one that it may have had.
 * 
 */
export interface AccessGranted {
subject: Subject
role: Role
/**
 * Milliseconds since 1970; absent: until it is revoked. No event follows when the time comes.
 */
expires_at?: (number | null)
/**
 * An administrator has put the subject in the place of this owner, whose account had ended. Absent: an owner has granted it.
 */
taken_over_from?: (UserId | null)
}
/**
 * A subject has no role of its own any more.
 * 
 */
export interface AccessRevoked {
subject: Subject
}
/**
 * Assistants may do more unasked, or less.
 * 
 */
export interface NotebookPolicyChanged {
policy: Policy
previous: Policy
}
/**
 * Running a cell now brings other cells up to date, or does so no longer.
 * 
 */
export interface NotebookReactivitySet {
reactivity: Reactivity
previous: Reactivity
}
/**
 * Nothing of the group that this undoes was left to invert. The group leaves its stack all the same.
 * 
 */
export interface UndoSkipped {

}
/**
 * A new cell, or one that an undo or redo brings back.
 * 
 */
export interface CellInserted {
cell_id: CellId
cell: CellContent
/**
 * Of a prompt cell that a file or another notebook brought with its reply.
 */
reply?: (CellReply | null)
}
/**
 * A cell as an event carries it.
 * 
 */
export interface CellContent {
cell_type: CellType
/**
 * At most 1 MiB, with `\n` line breaks only. May be empty.
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
 * The change is the transformed one: it applies to the text as it is in the log just before.
 * 
 */
export interface CellSourceEdited {
cell_id: CellId
change: ChangeSet
/**
 * The text that each deleting section of `change` removed, in order: with it the change can be inverted.
 */
removed?: string[]
}
/**
 * The cell has another place.
 * 
 */
export interface CellMoved {
cell_id: CellId
order_key: OrderKey
previous: OrderKey
}
/**
 * The cell has another type; source, metadata and outputs stay.
 * 
 */
export interface CellTypeChanged {
cell_id: CellId
cell_type: CellType
previous: CellType
}
/**
 * Carries the whole cell: the trash is a projection of these.
 * 
 */
export interface CellDeleted {
cell_id: CellId
cell: CellContent
/**
 * The execution whose outputs it showed.
 */
latest_execution?: (ExecutionId | null)
/**
 * What an assistant had answered, of a prompt cell.
 */
reply?: (CellReply | null)
}
/**
 * A deleted cell is back.
 * 
 */
export interface CellRestored {
cell_id: CellId
cell: CellContent
/**
 * The execution whose outputs it shows again.
 */
latest_execution?: (ExecutionId | null)
/**
 * That execution, where it has left the document since.
 */
execution?: (PastExecution | null)
/**
 * What an assistant has answered, of a prompt cell.
 */
reply?: (CellReply | null)
}
/**
 * An execution that has ended, as it comes back with the cell that showed it.
 * 
 */
export interface PastExecution {
subject: ExecutionSubject
status: ExecutionStatus
cause: OpenExecutionCause
requested_by: Actor
/**
 * Milliseconds since 1970.
 */
requested_at: number
/**
 * The version of its ExecutionRequested.
 */
requested_version: number
correlation_id: CorrelationId
/**
 * Where it ran; absent: it never began.
 */
kernel_session?: (KernelSessionId | null)
/**
 * Whose kernel ran it; absent: it was never assigned.
 */
agent?: (AgentId | null)
/**
 * Of the assignment.
 */
fence?: (number | null)
/**
 * Milliseconds since 1970; absent: it never began.
 */
started_at?: (number | null)
/**
 * Milliseconds since 1970.
 */
ended_at?: (number | null)
/**
 * The number in `In [3]:`.
 */
execution_count?: (number | null)
/**
 * Why it was cancelled or lost, or has no result of its own.
 */
end_cause?: (OpenEndCause | null)
/**
 * The run before it that did not succeed.
 */
blocked_by?: (ExecutionId | null)
/**
 * A sentence about an odd end.
 */
notice?: (string | null)
/**
 * The highest write of the agent that is in the log.
 */
output_seq: number
/**
 * Those that it showed at the end.
 */
outputs?: Output[]
}
/**
 * The cell's metadata is replaced as a whole.
 * 
 */
export interface CellMetadataSet {
cell_id: CellId
metadata: AnyObject
previous: AnyObject
}
/**
 * The cell's attachments are replaced as a whole.
 * 
 */
export interface CellAttachmentsSet {
cell_id: CellId
/**
 * File name to MIME bundle, as in nbformat; null: none any more.
 */
attachments?: (AnyObject | null)
/**
 * What it was before, for undo.
 */
previous?: (AnyObject | null)
}
/**
 * The cell has other marks.
 * 
 */
export interface CellFlagsSet {
cell_id: CellId
flags: CellFlags
previous: CellFlags
}
/**
 * The cell shows no outputs from here on; the execution that it showed stays in the record.
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
 * Of the cell's source as it is then, not empty; absent: the thread is about the whole cell.
 */
range?: (TextRange | null)
/**
 * The text of the range, or its beginning; absent without a range.
 */
quote?: (string | null)
}
/**
 * A thread follows its text to another place: cells were split or merged.
 * 
 */
export interface ThreadMoved {
thread_id: ThreadId
cell_id: CellId
/**
 * Of the cell's source as it is then; absent: the whole cell.
 */
range?: (TextRange | null)
previous: ThreadPlace
}
/**
 * Where a thread is: a cell, and a range of its source.
 * 
 */
export interface ThreadPlace {
cell_id: CellId
/**
 * Absent: the whole cell.
 */
range?: (TextRange | null)
}
/**
 * What a thread was about is settled.
 * 
 */
export interface ThreadResolved {
thread_id: ThreadId
}
/**
 * A resolved thread is open again.
 * 
 */
export interface ThreadReopened {
thread_id: ThreadId
}
/**
 * Somebody said something in a thread.
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
 * The accounts that it names, sorted. A mention gives nobody a right.
 */
mentions?: UserId[]
}
/**
 * Its author has changed a comment.
 * 
 */
export interface CommentEdited {
thread_id: ThreadId
comment_id: CommentId
/**
 * The whole new text. What it was before is in the record.
 */
text: string
/**
 * All accounts that it names now, sorted.
 */
mentions?: UserId[]
}
/**
 * A comment is no longer shown. It stays in the record.
 * 
 */
export interface CommentDeleted {
thread_id: ThreadId
comment_id: CommentId
}
/**
 * Somebody wants code to run. The run queues behind those of its kernel.
 * 
 */
export interface ExecutionRequested {
execution_id: ExecutionId
subject: ExecutionSubject
cause: OpenExecutionCause
/**
 * The session in whose queue it stands. Absent: a file brought the run, or the agent of the default kernel was away when it
 * was asked for; the run then waits until that kernel, or another in its place, is given it.
 */
kernel_session?: (KernelSessionId | null)
/**
 * Interrupt the run after so long; absent means never.
 */
timeout_ms?: (number | null)
/**
 * When it fails, executions of the same correlation that still wait are blocked.
 */
stop_on_error?: boolean
/**
 * In a reactive notebook: runs of the same plan from which it reads. If one of them does not succeed, this one is blocked.
 */
waits_for?: ExecutionId[]
/**
 * In a reactive notebook: the names that its source binds in the kernel. Absent: nobody has looked.
 */
leaves?: (string[] | null)
}
/**
 * One winner: the session that runs it. Writes about it must carry that session's fence.
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
 * The kernel has begun.
 * 
 */
export interface ExecutionStarted {
execution_id: ExecutionId
/**
 * The agent's number of this write: 1, 2, 3 … for each execution.
 */
output_seq: number
}
/**
 * New outputs, behind those that the run has.
 * 
 */
export interface ExecutionOutputAppended {
execution_id: ExecutionId
/**
 * The agent's number of this write, 1, 2, 3 … per execution.
 */
output_seq: number
/**
 * In order; parts above 8 KiB are in blobs.
 */
outputs: Output[]
/**
 * They are the server's: the notice that the run has written all that is recorded of one run.
 */
is_limit_notice?: boolean
}
/**
 * All outputs of the notebook that carry this `display_id` show this now.
 * 
 */
export interface ExecutionOutputUpdated {
execution_id: ExecutionId
/**
 * The agent's number of this write: 1, 2, 3 … for each execution.
 */
output_seq: number
/**
 * As the kernel chose it.
 */
display_id: string
output: Output
}
/**
 * The run's outputs go.
 * 
 */
export interface ExecutionOutputsCleared {
execution_id: ExecutionId
/**
 * The agent's number of this write: 1, 2, 3 … for each execution.
 */
output_seq: number
/**
 * Clear when the next output comes.
 */
wait: boolean
}
/**
 * The code asks for a line of text and waits.
 * 
 */
export interface ExecutionInputRequested {
execution_id: ExecutionId
/**
 * The agent's number of this write: 1, 2, 3 … for each execution.
 */
output_seq: number
/**
 * What it asks, as it is to be shown.
 */
prompt: string
/**
 * The answer is to be hidden while it is typed, and does not enter the log.
 */
password: boolean
}
/**
 * The question is answered, and not open any more.
 * 
 */
export interface ExecutionInputAnswered {
execution_id: ExecutionId
/**
 * Absent for a password: that value never enters the log.
 */
value?: (string | null)
}
/**
 * The run came to its own end, good or bad.
 * 
 */
export interface ExecutionCompleted {
execution_id: ExecutionId
/**
 * The agent's number of this write: 1, 2, 3 … for each execution.
 */
output_seq: number
outcome: OpenExecutionOutcome
/**
 * The number in `In [3]:`; absent where the kernel gave none.
 */
execution_count?: (number | null)
/**
 * A sentence about an odd end: outputs lost by the kernel, a timeout.
 */
notice?: (string | null)
}
/**
 * Somebody wants a run cancelled that its kernel has; the agent interrupts it. A run that waits is cancelled at once.
 * 
 */
export interface ExecutionCancelRequested {
execution_id: ExecutionId
}
/**
 * It never began, or ended because somebody wanted it.
 * 
 */
export interface ExecutionCancelled {
execution_id: ExecutionId
cause: OpenEndCause
/**
 * More about it, in a sentence for people.
 */
detail?: (string | null)
}
/**
 * It never began, because that run before it did not succeed.
 * 
 */
export interface ExecutionBlocked {
execution_id: ExecutionId
blocked_by: ExecutionId
}
/**
 * Nobody knows how it ended, or that it ended.
 * 
 */
export interface ExecutionLost {
execution_id: ExecutionId
cause: OpenEndCause
/**
 * More about it, in a sentence for people.
 */
detail?: (string | null)
}
/**
 * Output that came after the execution was lost: kept, not shown as the run's own.
 * 
 */
export interface ExecutionOutputRecovered {
execution_id: ExecutionId
/**
 * The agent's number of this write: 1, 2, 3 … for each execution.
 */
output_seq: number
/**
 * In order.
 */
outputs: Output[]
/**
 * They are the server's: the notice that the run has written all that is recorded of one run.
 */
is_limit_notice?: boolean
}
/**
 * Outputs of a run that has ended stand shorter, with their large values in blobs: what they show is the same.
 * 
 */
export interface ExecutionOutputsMoved {
execution_id: ExecutionId
/**
 * In the order of the outputs, none over another.
 */
moved: MovedOutputs[]
}
/**
 * A kernel is wanted: any runtime agent that offers the kernelspec may claim it.
 * 
 */
export interface KernelLaunchRequested {
kernel_session: KernelSessionId
/**
 * The kernelspec's name, as in `python3`.
 */
kernelspec: string
/**
 * A kernel that code had run in has ended, and nobody had asked for it: what the code had made there is gone. Said once, by the
 * first launch after it.
 */
replaces?: (LostKernel | null)
}
/**
 * A kernel that has ended with all that its code had made.
 * 
 */
export interface LostKernel {
kernel_session: KernelSessionId
cause: OpenKernelCause
/**
 * More about it, in a sentence for people.
 */
detail?: (string | null)
}
/**
 * An agent's claim, before it acts: one wins.
 * 
 */
export interface KernelLaunchClaimed {
kernel_session: KernelSessionId
agent: AgentId
}
/**
 * The kernel answers. The version of this event is the fence of every later write about the session.
 * 
 */
export interface KernelSessionStarted {
kernel_session: KernelSessionId
agent: AgentId
/**
 * The kernelspec's name, as in `python3`.
 */
kernelspec: string
language_info: AnyObject
sandbox?: AnyObject
/**
 * Functions of a kernel before it that it does not have, and that a person may register again.
 */
missing_functions?: MissingFunctions[]
}
/**
 * Functions that a new kernel does not have, and that nothing registers by itself.
 * 
 */
export interface MissingFunctions {
/**
 * By which they are called.
 */
names: string[]
/**
 * The cell that registered them: run it, if that is right. Absent: it is gone, or no cell did.
 */
cell_id?: (CellId | null)
/**
 * Why the cell was not run by itself, in a sentence for people.
 */
reason: string
}
/**
 * The session is over before it began.
 * 
 */
export interface KernelLaunchFailed {
kernel_session: KernelSessionId
cause: OpenKernelCause
/**
 * More about it, in a sentence for people.
 */
detail?: (string | null)
}
/**
 * Whatever runs in the kernel is to be interrupted.
 * 
 */
export interface KernelInterruptRequested {
kernel_session: KernelSessionId
}
/**
 * The kernel is to end, and another to follow in its place.
 * 
 */
export interface KernelRestartRequested {
kernel_session: KernelSessionId
next: KernelSessionId
}
/**
 * The kernel is to end.
 * 
 */
export interface KernelShutdownRequested {
kernel_session: KernelSessionId
}
/**
 * The kernel is gone, and with it all that its code has made.
 * 
 */
export interface KernelSessionEnded {
kernel_session: KernelSessionId
cause: OpenKernelCause
/**
 * More about it, in a sentence for people.
 */
detail?: (string | null)
}
/**
 * All functions that the kernel has registered by now, in place of those before.
 * 
 */
export interface KernelFunctionsRegistered {
kernel_session: KernelSessionId
/**
 * At most 64, no two of one name.
 */
functions: UserFunction[]
/**
 * Where they stand, as far as the kernel knows. No part of the state.
 */
places?: FunctionPlace[]
}
/**
 * Functions whose kernels have ended made room for others.
 * 
 */
export interface KernelFunctionsForgotten {
/**
 * Those that have been without a kernel for longest.
 */
names: string[]
}
/**
 * Somebody speaks to an assistant, or an assistant outside calls its first tool.
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
 * The conversation of an outside assistant that had been idle made room for another. It begins anew with its next call.
 * 
 */
export interface ConversationClosed {
conversation_id: ConversationId
}
/**
 * Something was said.
 * 
 */
export interface MessagePosted {
conversation_id: ConversationId
message_id: MessageId
/**
 * The turn that it belongs to; absent for the message of a person that begins one.
 */
turn_id?: (TurnId | null)
role: OpenMessageRole
/**
 * One that a reader does not know is shown by its name, and not told to models.
 */
blocks: OpenMessageBlock[]
/**
 * How much of its text the prompt cell shows, in UTF-16 code units; absent: all.
 */
reply_units?: (number | null)
/**
 * The beginning of an answer whose turn ended while it was written: its end follows. Absent: the message is whole.
 */
is_partial?: boolean
}
/**
 * It is always in the assistant's context, or never, or as there is room for it.
 * 
 */
export interface MessageFlagged {
conversation_id: ConversationId
message_id: MessageId
flags: MessageFlags
previous: MessageFlags
}
/**
 * An assistant begins to work on a message.
 * 
 */
export interface TurnStarted {
turn_id: TurnId
conversation_id: ConversationId
message_id: MessageId
/**
 * The prompt cell that it answers, where it was not asked in a chat.
 */
cell_id?: (CellId | null)
/**
 * Which model, as the person chose; absent: the server's default.
 */
model?: (string | null)
/**
 * What the token or session of who began it allows, of read, edit and run: nothing in the turn goes beyond.
 */
scopes: Scope[]
/**
 * That token is good for some notebooks only: the turn makes no notebook and lists none.
 */
is_bound: boolean
/**
 * Which token or session that was, by its id; absent: not known. When it is revoked, the turn goes on no more.
 */
token?: (TokenId | null)
}
/**
 * The claim before a model is called.
 * 
 */
export interface TurnModelCallStarted {
turn_id: TurnId
claimant: InstanceId
/**
 * Of the turn's model calls, 1, 2, 3 …
 */
number: number
/**
 * Of the same call, 1, 2, 3 …
 */
attempt: number
/**
 * The provider's name, as in `anthropic`.
 */
provider: string
/**
 * The provider's name of the model.
 */
model: string
}
/**
 * The model has answered, or failed to.
 * 
 */
export interface TurnModelCallFinished {
turn_id: TurnId
/**
 * Of the turn's model calls, 1, 2, 3 …
 */
number: number
/**
 * Of the same call, 1, 2, 3 …
 */
attempt: number
/**
 * Absent: it answered. Else why there is no answer.
 */
failure?: (OpenTurnFailure | null)
/**
 * More about it, in a sentence for people.
 */
detail?: (string | null)
usage: Usage
}
/**
 * The model has said what it had to say, or had to stop.
 * 
 */
export interface TurnFinished {
turn_id: TurnId
stop_reason: OpenStopReason
}
/**
 * A person stopped it: nothing of it starts any more.
 * 
 */
export interface TurnCancelled {
turn_id: TurnId
}
/**
 * The turn could not go on.
 * 
 */
export interface TurnFailed {
turn_id: TurnId
cause: OpenTurnFailure
/**
 * More about it, in a sentence for people.
 */
detail?: (string | null)
}
/**
 * An assistant wants to call a tool. Nothing has happened yet.
 * 
 */
export interface ToolCallRequested {
call_id: ToolCallId
/**
 * The turn that asked for it; absent for assistants outside.
 */
turn_id?: (TurnId | null)
/**
 * A built-in tool, or a function that a user has registered.
 */
function: string
arguments: AnyObject
arguments_hash: Hash
risk: OpenRisk
/**
 * Sentences: why the risk is what it is.
 */
reasons?: string[]
/**
 * What it touches, in the version that the assistant and the confirming person see.
 */
targets?: OpenTarget[]
gate: OpenGate
/**
 * Present: it starts when that call has ended, not before.
 */
after?: (ToolCallId | null)
/**
 * The token or session by which it was asked for, by its id: of an outside assistant's client, or of who began the turn.
 * When it is revoked, a call that has not started is withdrawn. Absent: not known.
 */
token?: (TokenId | null)
}
/**
 * A permitted person said yes, once, to exactly these arguments.
 * 
 */
export interface ToolCallConfirmed {
call_id: ToolCallId
arguments_hash: Hash
/**
 * Where the person came in, and with which session or token; absent: not known.
 */
by_means?: (Means | null)
}
/**
 * How a person decided, as the server saw it. Later versions may add fields.
 * 
 */
export interface Means {
door: OpenDoor
/**
 * The kind of what was shown there: `session`, `api`, `share` …
 */
credential: string
/**
 * What its owner calls that session or token.
 */
label?: string
}
/**
 * A permitted person said no: it never starts.
 * 
 */
export interface ToolCallDenied {
call_id: ToolCallId
/**
 * Where the person came in, and with which session or token; absent: not known.
 */
by_means?: (Means | null)
/**
 * The person's own reason.
 */
detail?: (string | null)
}
/**
 * Taken back before it started: by who asked, or because the turn was stopped.
 * 
 */
export interface ToolCallWithdrawn {
call_id: ToolCallId
cause: OpenWithdrawalCause
/**
 * More about it, in a sentence for people.
 */
detail?: (string | null)
}
/**
 * What it would touch changed, or a right that it needs is gone: a confirmation counts no more.
 * 
 */
export interface ToolCallVoided {
call_id: ToolCallId
cause: OpenVoidCause
/**
 * More about it, in a sentence for people.
 */
detail?: (string | null)
}
/**
 * Nobody decided in time: it never starts.
 * 
 */
export interface ToolCallExpired {
call_id: ToolCallId
}
/**
 * The claim: from here on it happens, once.
 * 
 */
export interface ToolCallStarted {
call_id: ToolCallId
passed_by: OpenPassed
claimant: InstanceId
}
/**
 * The call has ended after its start.
 * 
 */
export interface ToolCallExecuted {
call_id: ToolCallId
end: OpenToolCallEnd
/**
 * What the model is told, in full.
 */
result: string
/**
 * From ToolCallStarted to this event, in milliseconds.
 */
duration_ms: number
}
/**
 * A person lets calls of one conversation pass for a while.
 * 
 */
export interface GrantIssued {
grant_id: GrantId
conversation_id: ConversationId
/**
 * Tools by name; empty: all. What is destructive waits all the same.
 */
functions: string[]
/**
 * Milliseconds since 1970.
 */
expires_at: number
for_user: UserId
}
/**
 * A person ended the grant before its time.
 * 
 */
export interface GrantRevoked {
grant_id: GrantId
}
/**
 * The time of a grant came. Recorded when the next one is issued: `expires_at` counts before.
 * 
 */
export interface GrantExpired {
grant_id: GrantId
}
