//! [`NoticeStore`]: notices to people, their choices, webhooks, and the outbox of what is still to be sent.
//!
//! Every backend passes the suite in `tests/contract/notices.rs`.
//!
//! Invariants:
//! - Notices of a notebook are written together with the version up to which they are, once.
//! - A delivery is claimed before it is tried, until a time of the store's clock. A claim that its process did not end passes to another.
//! - No row has a text of a notebook.
//!
//! Choices and webhooks are changed by [`super::AccountChange`], with an entry in the audit.

use async_trait::async_trait;
use notarium_record::{Millis, NotebookId, UserId, Version};
use serde::{Deserialize, Serialize};

use crate::StoreError;

/// Maximum number of notices of a person. Above it the oldest go, read ones first.
pub const MAX_NOTICES: usize = 500;

/// Channel of deliveries by mail; other channels are ids of webhooks.
pub const MAIL_CHANNEL: &str = "mail";

/// A notice to one person, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredNotice {
    pub user: UserId,
    /// Derived from the fact that the notice is about: the same fact leads to one notice.
    pub id: String,
    /// The notebook and the version of the event, if the notice is about one.
    pub place: Option<(NotebookId, Version)>,
    /// The thing that the notice is about; notices of a notebook with the same subject are settled together.
    pub subject: String,
    /// JSON: the kind with its ids.
    pub kind: String,
    pub at: Millis,
    /// True if the inbox shows it.
    pub in_inbox: bool,
    pub read_at: Option<Millis>,
    /// The time from which nothing is left to do.
    pub settled_at: Option<Millis>,
}

/// A new notice, with the channels by which it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNotice {
    pub notice: StoredNotice,
    pub created_at: Millis,
    /// [`MAIL_CHANNEL`] or ids of webhooks, with the time at which each is due.
    pub channels: Vec<(String, Millis)>,
}

/// Progress through the log of a notebook, written with its notices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeProgress {
    pub notebook: NotebookId,
    /// Version up to which notices are written already.
    pub after: Version,
    /// Version up to which they are from then on.
    pub to: Version,
    /// Subjects of which nothing is left to do, with the time since when.
    pub settled: Vec<(String, Millis)>,
}

/// Part of the notices of a person, from the newest on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoticeQuery {
    /// Time and id of the last notice of the page before.
    pub before: Option<(Millis, String)>,
    pub only_unread: bool,
    pub limit: usize,
}

/// A person's choice for one topic and channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeChoice {
    pub topic: String,
    pub channel: String,
    pub is_on: bool,
}

/// A person's settings besides the choices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoticePerson {
    /// Address for mail, which the person has proved to read.
    pub address: Option<String>,
    pub new_address: Option<NewAddress>,
    /// Time at which the last code ends that was sent, also one whose address was taken back.
    pub code_expires_at: Option<Millis>,
    /// Seconds from which a run is long; absent: the default.
    pub long_run_seconds: Option<u64>,
}

/// An address that a code was sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAddress {
    pub address: String,
    /// SHA-256 of the code.
    pub code_hash: Vec<u8>,
    pub expires_at: Millis,
    /// Number of codes that were tried.
    pub attempts: u64,
}

/// A secret with which a webhook signs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookSecret {
    /// Text of the form `whsec_…`.
    pub secret: String,
    /// Time at which it stops to sign; absent: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
}

/// An address of a person's program that gets notices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredWebhook {
    pub id: String,
    pub user: UserId,
    pub url: String,
    pub label: String,
    /// The newest first.
    pub secrets: Vec<WebhookSecret>,
    pub created_at: Millis,
    /// Time of the last delivery.
    pub tried_at: Option<Millis>,
    /// Problem of the last delivery; absent: it arrived.
    pub problem: Option<String>,
}

/// A delivery of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeDelivery {
    pub user: UserId,
    pub notice_id: String,
    pub channel: String,
    pub created_at: Millis,
    pub due_at: Millis,
    /// Number of attempts that have begun.
    pub attempts: u64,
    /// The mail of which it is a part.
    pub batch: Option<String>,
}

/// End of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Done,
    /// It did not arrive for too long.
    GivenUp,
    /// It was not sent: decided meanwhile, or the right to read has ended.
    LeftOut,
}

impl DeliveryOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::GivenUp => "given_up",
            Self::LeftOut => "left_out",
        }
    }
}

/// Result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptResult {
    Ended { outcome: DeliveryOutcome, at: Millis, problem: Option<String> },
    Retry { due_at: Millis, problem: String },
}

/// A mail that is due: the claimed deliveries of a person, as one digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedMail {
    /// The same for every attempt.
    pub batch: String,
    pub deliveries: Vec<NoticeDelivery>,
}

/// Pace of digests, now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailPace {
    pub now: Millis,
    /// Least time between two mails to one person.
    pub interval: Millis,
}

/// Store of notices.
#[async_trait]
pub trait NoticeStore: Send + Sync + 'static {
    /// Writes notices with their deliveries, and the progress, atomically. A notice that is there already stays as it is; accounts that
    /// are unknown or deactivated get none. False: the notices of the notebook are not written up to `after`, and nothing was done.
    async fn put_notices(&self, notices: &[NewNotice], progress: Option<&NoticeProgress>) -> Result<bool, StoreError>;

    /// Returns the version up to which notices of the notebook are written; 0: none.
    async fn notice_position(&self, notebook: &NotebookId) -> Result<Version, StoreError>;

    /// Returns the people whose notices about a subject are not settled.
    async fn open_notices_of(&self, notebook: &NotebookId, subject: &str) -> Result<Vec<UserId>, StoreError>;

    /// Returns notebooks with events after that version, by id, after `after`.
    async fn notice_lag(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<NotebookId>, StoreError>;

    /// Returns notices of the person's inbox, newest first.
    async fn notices(&self, user: &UserId, query: &NoticeQuery) -> Result<Vec<StoredNotice>, StoreError>;

    async fn notice(&self, user: &UserId, id: &str) -> Result<Option<StoredNotice>, StoreError>;

    /// Returns the number of unread notices in the person's inbox.
    async fn unread_notices(&self, user: &UserId) -> Result<u64, StoreError>;

    /// Marks notices as read, or as unread (`at` is absent).
    async fn mark_notices(&self, user: &UserId, ids: &[String], at: Option<Millis>) -> Result<(), StoreError>;

    /// Marks all notices up to a time as read.
    async fn mark_all_notices(&self, user: &UserId, until: Millis, at: Millis) -> Result<(), StoreError>;

    async fn notice_choices(&self, user: &UserId) -> Result<Vec<NoticeChoice>, StoreError>;

    async fn notice_person(&self, user: &UserId) -> Result<NoticePerson, StoreError>;

    /// Counts an attempt at a code for a new address; false: no code is open, or this was tried `max_attempts` times.
    async fn count_code(&self, user: &UserId, max_attempts: u64) -> Result<bool, StoreError>;

    /// Returns the webhooks of a person, oldest first.
    async fn webhooks(&self, user: &UserId) -> Result<Vec<StoredWebhook>, StoreError>;

    async fn webhook(&self, id: &str) -> Result<Option<StoredWebhook>, StoreError>;

    /// Notes the last delivery of a webhook, and its problem.
    async fn webhook_tried(&self, id: &str, at: Millis, problem: Option<&str>) -> Result<(), StoreError>;

    /// Returns deliveries to webhooks that are due and not claimed, the longest due first; but none to these webhooks.
    async fn due_deliveries(
        &self,
        now: Millis,
        but_to: &[String],
        limit: usize,
    ) -> Result<Vec<NoticeDelivery>, StoreError>;

    /// Claims a delivery for one attempt; `claim` is new for each. False: somebody else has it, or it has ended.
    async fn claim_delivery(&self, delivery: &NoticeDelivery, claim: &str, for_ms: Millis) -> Result<bool, StoreError>;

    /// Notes the result of an attempt; false: the claim was lost.
    async fn end_attempt(
        &self,
        delivery: &NoticeDelivery,
        claim: &str,
        result: &AttemptResult,
    ) -> Result<bool, StoreError>;

    /// Frees what processes that have died had claimed: for a server that is alone with its store, at its start.
    async fn free_claims(&self) -> Result<(), StoreError>;

    /// Returns the time at which the next delivery is due; `None`: nothing is to be sent.
    async fn next_delivery(&self) -> Result<Option<Millis>, StoreError>;

    /// Returns people to whom a digest is due.
    async fn due_mails(&self, pace: MailPace, limit: usize) -> Result<Vec<UserId>, StoreError>;

    /// Claims what is to be mailed to a person: the digest whose attempt has failed, else a new one. `None`: somebody else does it, or
    /// nothing is due.
    async fn claim_mail(
        &self,
        user: &UserId,
        pace: MailPace,
        claim: &str,
        for_ms: Millis,
    ) -> Result<Option<ClaimedMail>, StoreError>;

    /// Deletes deliveries that ended before a time, and notices that only were their source.
    async fn forget_deliveries(&self, before: Millis) -> Result<u64, StoreError>;

    /// Returns deliveries of a person that were given up, newest first.
    async fn failed_deliveries(&self, user: &UserId, limit: usize) -> Result<Vec<FailedDelivery>, StoreError>;
}

/// A delivery that was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedDelivery {
    pub notice_id: String,
    pub channel: String,
    pub at: Millis,
    pub problem: String,
}
