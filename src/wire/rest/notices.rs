//! Notices to people: the inbox, choices by topic and channel, mail, webhooks.

use std::collections::BTreeMap;

use notarium_core::{
    Actor, AgentId, CellId, CommentId, ConversationId, ExecutionId, Millis, NotebookId, ThreadId, ToolCallId, UserId,
    Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fact that a notice is about. Programs show an unknown kind by the text of its notice.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NoticeKind {
    /// An assistant's tool call waits for a decision that you may make.
    CallWaits {
        /// The call.
        call: ToolCallId,
        /// Tool or function.
        function: String,
        /// The person for whom the assistant acts.
        for_user: Option<UserId>,
        /// Time at which the call expires, in milliseconds since 1970.
        expires_at: Option<Millis>,
    },
    /// A comment or a message mentions you.
    Mentioned {
        /// Author of the comment or message.
        by: Actor,
        /// The commented cell.
        cell: Option<CellId>,
        /// The thread of the comment.
        thread: Option<ThreadId>,
        /// The comment; absent: a message to an assistant.
        comment: Option<CommentId>,
        /// The conversation of the message.
        conversation: Option<ConversationId>,
    },
    /// A long run of yours succeeded.
    RunEnded {
        /// The run.
        execution: ExecutionId,
        /// Its cell; absent: it ran for no cell.
        cell: Option<CellId>,
        /// Running time.
        seconds: u64,
    },
    /// A long run of yours failed, or a run was lost.
    RunFailed {
        /// The run.
        execution: ExecutionId,
        /// Its cell; absent: it ran for no cell.
        cell: Option<CellId>,
        /// Running time, as far as it is known.
        seconds: u64,
        /// True: its end is not known, or it could not run.
        is_lost: bool,
        /// The reason, as a word of the events; absent: its code failed.
        cause: Option<String>,
    },
    /// A runtime agent is gone, with the kernels that it ran.
    AgentGone {
        /// The agent.
        agent: AgentId,
        /// Its name.
        name: String,
    },
    /// A cap of your spending was reached.
    CapReached {
        /// The cap in words, as in "10 USD a day".
        cap: String,
        /// Time at which spending goes on, in milliseconds since 1970; absent: when somebody raises the cap.
        resets_at: Option<Millis>,
    },
    /// A scheduled run failed.
    ScheduleFailed {
        /// The schedule.
        schedule: String,
        /// The reason in one sentence.
        reason: String,
    },
    /// Scheduled runs did not take place.
    ScheduleMissed {
        /// The schedule.
        schedule: String,
        /// Time at which the last of them was due, in milliseconds since 1970.
        due_at: Millis,
        /// Number of runs that were missed.
        count: u64,
    },
}

/// Topic of notices, for which people choose channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeTopic {
    /// A call waits for your decision.
    CallWaits,
    /// You are mentioned.
    Mentioned,
    /// A long run succeeded.
    RunEnded,
    /// A long run failed, or a run was lost.
    RunFailed,
    /// A runtime agent is gone.
    AgentGone,
    /// A spending cap was reached.
    CapReached,
    /// A scheduled run failed.
    ScheduleFailed,
    /// A scheduled run was missed.
    ScheduleMissed,
}

impl NoticeTopic {
    /// All topics, in the order of the page.
    pub const ALL: [NoticeTopic; 8] = [
        NoticeTopic::CallWaits,
        NoticeTopic::Mentioned,
        NoticeTopic::RunEnded,
        NoticeTopic::RunFailed,
        NoticeTopic::AgentGone,
        NoticeTopic::CapReached,
        NoticeTopic::ScheduleFailed,
        NoticeTopic::ScheduleMissed,
    ];
}

/// Way by which notices reach a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeChannel {
    /// The inbox on the page.
    Inbox,
    /// A notification of the browser, while a page is open there.
    Browser,
    /// A digest by mail.
    Mail,
    /// Your webhooks.
    Webhook,
}

impl NoticeChannel {
    /// All channels, in the order of the page.
    pub const ALL: [NoticeChannel; 4] =
        [NoticeChannel::Inbox, NoticeChannel::Browser, NoticeChannel::Mail, NoticeChannel::Webhook];
}

impl NoticeKind {
    /// Topic of the kind.
    pub fn topic(&self) -> NoticeTopic {
        match self {
            Self::CallWaits { .. } => NoticeTopic::CallWaits,
            Self::Mentioned { .. } => NoticeTopic::Mentioned,
            Self::RunEnded { .. } => NoticeTopic::RunEnded,
            Self::RunFailed { .. } => NoticeTopic::RunFailed,
            Self::AgentGone { .. } => NoticeTopic::AgentGone,
            Self::CapReached { .. } => NoticeTopic::CapReached,
            Self::ScheduleFailed { .. } => NoticeTopic::ScheduleFailed,
            Self::ScheduleMissed { .. } => NoticeTopic::ScheduleMissed,
        }
    }
}

/// A notice to you.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InboxNotice {
    /// Id of the notice; the id of its webhooks too.
    pub id: String,
    /// Time of the fact, in milliseconds since 1970.
    pub at: Millis,
    /// The fact.
    pub about: NoticeKind,
    /// The fact in one sentence.
    pub text: String,
    /// Notebook of the fact. Absent: there is none, or you may not read it any more.
    pub notebook: Option<NoticePlace>,
    /// Address on the page, from its root on; absent without a notebook.
    pub link: Option<String>,
    /// True: you have read it.
    pub is_read: bool,
    /// True: nothing is left to do, for example because somebody has decided on the call.
    pub is_settled: bool,
}

/// Notebook and version of the event that a notice is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoticePlace {
    /// Notebook id.
    pub id: NotebookId,
    /// The notebook's current title.
    pub title: String,
    /// Version of the event.
    pub version: Version,
}

/// Page of your inbox, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoticesQuery {
    /// Value of `next` of the page before.
    pub before: Option<String>,
    /// 1 to 200; absent: 30.
    pub limit: Option<usize>,
    /// True: only unread notices.
    #[serde(default)]
    pub unread: bool,
}

/// Notices of your inbox, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NoticePage {
    /// The notices.
    pub notices: Vec<InboxNotice>,
    /// Number of unread notices in the whole inbox.
    pub unread: u64,
    /// Value of `before` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Event of the stream of your notices.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NoticeNews {
    /// Number of unread notices.
    pub unread: u64,
    /// A new notice. Absent: only the number may have changed.
    pub notice: Option<InboxNotice>,
    /// True: you want a notification of the browser for this notice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub notify: bool,
}

/// Notices to mark as read or unread.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkNotices {
    /// Ids of notices, at most 100. Absent: all up to `until`.
    pub ids: Option<Vec<String>>,
    /// Time of the newest notice that you have seen, in milliseconds since 1970, to mark it and all before as read.
    pub until: Option<Millis>,
    /// False: marks them as unread; only with `ids`. Absent: true.
    pub read: Option<bool>,
}

/// Your choices about notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoticeSettings {
    /// For each topic the channels that are on.
    pub topics: BTreeMap<NoticeTopic, BTreeMap<NoticeChannel, bool>>,
    /// Running time in seconds from which a run is long.
    pub long_run_seconds: u64,
    /// Mail: the address, and the limits of this server.
    pub mail: MailSettings,
    /// Deliveries that were given up after a day, newest first; at most 20.
    pub failed: Vec<FailedNotice>,
}

/// Mail of notices.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailSettings {
    /// True: this server sends mail.
    pub is_possible: bool,
    /// Address to which digests go. Absent: none.
    pub address: Option<String>,
    /// Address to which a code was sent, until you enter the code. Absent: none.
    pub new_address: Option<String>,
}

/// A notice that did not arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedNotice {
    /// Id of the notice.
    pub notice: String,
    /// `mail`, or the id of a webhook.
    pub channel: String,
    /// Time of the last attempt, in milliseconds since 1970.
    pub at: Millis,
    /// The problem in one sentence.
    pub problem: String,
}

/// Choices to change; all others stay.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoticeSettingsChange {
    /// For some topics some channels, on (true) or off.
    #[serde(default)]
    pub topics: BTreeMap<NoticeTopic, BTreeMap<NoticeChannel, bool>>,
    /// Running time in seconds from which a run is long: 5 to 86,400.
    pub long_run_seconds: Option<u64>,
}

/// Address for notices by mail.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMailAddress {
    /// Address, to which a code is sent. At most 254 characters.
    pub address: String,
}

/// Code from the mail to a new address.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MailCode {
    /// Six digits.
    pub code: String,
}

/// A webhook: an address of yours to which this server posts notices.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Webhook {
    /// Id.
    pub id: String,
    /// Address.
    pub url: String,
    /// Label for people.
    pub label: String,
    /// Milliseconds since 1970.
    pub created_at: Millis,
    /// Time until which the secret from before the last rotation signs too. Absent: the current one signs alone.
    pub old_secret_until: Option<Millis>,
    /// Time of the last delivery. Absent: none yet.
    pub tried_at: Option<Millis>,
    /// Problem of the last delivery. Absent: it arrived.
    pub problem: Option<String>,
}

/// A webhook to create.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWebhook {
    /// Address, as in `https://example.org/hooks/notarium`; at most 2,000 characters.
    pub url: String,
    /// Label for people, at most 100 characters.
    #[serde(default)]
    pub label: String,
}

/// A webhook with its new secret.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct IssuedWebhook {
    /// The webhook.
    pub webhook: Webhook,
    /// Secret by which you verify signatures, as in `whsec_…`. Shown once.
    pub secret: String,
}

/// Result of a test of a webhook.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookTest {
    /// True: it was accepted.
    pub is_accepted: bool,
    /// The problem in one sentence. Absent: none.
    pub problem: Option<String>,
}

/// Body of a webhook, as Standard Webhooks have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookBody {
    /// `notice.` and the kind, as in `notice.call_waits`; `notice.test` of a test.
    #[serde(rename = "type")]
    pub event: String,
    /// Time of the fact, as in `2026-11-29T17:30:00Z`.
    pub timestamp: String,
    /// The notice in one sentence with its address, for programs that show a text.
    pub text: String,
    /// The notice. Absent: a test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<InboxNotice>,
}
