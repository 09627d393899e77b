//! Sends what is due, to webhooks and by mail. A delivery is claimed in the store first, so that one node sends it.
//!
//! Ids of messages are the same for each attempt: a receiver that got a message whose end was lost in a crash knows it again.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use notarium_core::{Document, Millis, wire_word};
use notarium_store::StoreError;
use notarium_store::accounts::{AttemptResult, ClaimedMail, DeliveryOutcome, MailPace, NoticeDelivery, StoredNotice};
use notarium_wire::rest::{InboxNotice, NoticeKind, WebhookBody};

use super::Notices;
use super::mail::Digest;
use super::webhook::WebhookMessage;
use super::words::timestamp;
use crate::limits::clock::millis;
use crate::outage::Outage;

/// Deliveries that are looked at together.
const LOOK_AT: usize = 256;
/// Messages under way at once, and to one webhook.
const AT_ONCE: usize = 16;
const AT_ONCE_PER_WEBHOOK: usize = 2;
/// Mails per look.
const MAILS_AT_ONCE: usize = 20;
/// Longest time between two looks, and shortest. Other nodes may have died with what they had claimed.
const LOOK_EVERY: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Time of a claim beyond that of the attempt.
const CLAIM_EXTRA: Duration = Duration::from_secs(50);
/// First pause before another attempt; each further one is four times as long, up to the last.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(6 * 60 * 60);
/// Age at which a delivery is given up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// Retention of deliveries that have ended.
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const FORGET_EVERY: Duration = Duration::from_secs(60 * 60);

/// Sends what is due until the server stops.
pub async fn follow(notices: Arc<Notices>) {
    let stopping = notices.notebooks.stopping.clone();
    stopping.run_until_cancelled(async { tokio::join!(post(&notices), mail(&notices), forget(&notices)) }).await;
}

async fn forget(notices: &Notices) {
    loop {
        let before = notices.notebooks.clock.now().saturating_sub(millis(KEPT_FOR));
        if let Err(error) = notices.store.forget_deliveries(before).await {
            tracing::warn!(%error, "deliveries that have ended were not deleted: it is tried again later");
        }
        tokio::time::sleep(FORGET_EVERY).await;
    }
}

/// Sends to webhooks.
async fn post(notices: &Notices) {
    if notices.notebooks.cluster.peers().is_none()
        && let Err(error) = notices.store.free_claims().await
    {
        tracing::warn!(%error, "deliveries that were under way at the last end are sent later");
    }
    let mut outage = Outage::new("webhooks that are due were not read", "webhooks that are due are read again");
    loop {
        outage.log(notices.send_webhooks().await);
        let at = notices.next_look().await;
        tokio::select! {
            () = notices.due.notified() => {}
            () = notices.notebooks.clock.sleep_until(at) => {}
        }
    }
}

async fn mail(notices: &Notices) {
    if notices.mail.is_none() {
        return;
    }
    let mut outage = Outage::new("mails that are due were not read", "mails that are due are read again");
    loop {
        outage.log(notices.send_mails().await);
        let at = notices.next_look().await;
        notices.notebooks.clock.sleep_until(at).await;
    }
}

fn count(busy: &[String], channel: &str) -> usize {
    busy.iter().filter(|busy| *busy == channel).count()
}

/// Content of a notice for one reader, if it is still to be sent.
enum Sendable {
    Notice { notice: Box<InboxNotice>, title: Option<String> },
    LeftOut,
}

impl Notices {
    async fn next_look(&self) -> Millis {
        let now = self.notebooks.clock.now();
        let (soon, late) = (now + millis(LOOK_AGAIN), now + millis(LOOK_EVERY));
        match self.store.next_delivery().await {
            Ok(Some(at)) => at.clamp(soon, late),
            Ok(None) | Err(_) => late,
        }
    }

    /// Sends to webhooks until nothing more is due.
    async fn send_webhooks(&self) -> Result<(), StoreError> {
        let mut under_way = FuturesUnordered::new();
        let mut busy: Vec<String> = Vec::new();
        loop {
            let mut found = 0;
            if under_way.len() < AT_ONCE {
                let is_full = |channel: &String| count(&busy, channel) >= AT_ONCE_PER_WEBHOOK;
                let full: Vec<String> = busy.iter().filter(|channel| is_full(channel)).cloned().collect();
                let due = self.store.due_deliveries(self.notebooks.clock.now(), &full, LOOK_AT).await?;
                let has_more = due.len() == LOOK_AT;
                for delivery in due {
                    if under_way.len() >= AT_ONCE || count(&busy, &delivery.channel) >= AT_ONCE_PER_WEBHOOK {
                        continue;
                    }
                    let claim = ulid::Ulid::generate().to_string();
                    let claimed_for = millis(self.notebooks.limits.webhook_timeout + CLAIM_EXTRA);
                    if self.store.claim_delivery(&delivery, &claim, claimed_for).await? {
                        found += 1;
                        busy.push(delivery.channel.clone());
                        under_way.push(self.deliver(delivery, claim));
                    }
                }
                // Those of one webhook may be in front of the others'.
                if has_more && found > 0 {
                    continue;
                }
            }
            if under_way.is_empty() && found == 0 {
                return Ok(());
            }
            tokio::select! {
                Some(channel) = under_way.next() => {
                    if let Some(at) = busy.iter().position(|busy| *busy == channel) {
                        busy.swap_remove(at);
                    }
                }
                // One that hangs does not hold up the others.
                () = self.due.notified() => {}
            }
        }
    }

    /// Makes one attempt; returns the channel.
    async fn deliver(&self, delivery: NoticeDelivery, claim: String) -> String {
        match self.attempt(&delivery).await {
            Ok(result) => self.note(&delivery, &claim, &result).await,
            // The claim ends by itself.
            Err(error) => tracing::warn!(%error, "a notice was not sent: it is tried again later"),
        }
        delivery.channel
    }

    async fn attempt(&self, delivery: &NoticeDelivery) -> Result<AttemptResult, StoreError> {
        let now = self.notebooks.clock.now();
        let ended = |outcome| AttemptResult::Ended { outcome, at: now, problem: None };
        let Some(webhook) = self.store.webhook(&delivery.channel).await?.filter(|it| it.user == delivery.user) else {
            return Ok(ended(DeliveryOutcome::LeftOut));
        };
        let Some(stored) = self.store.notice(&delivery.user, &delivery.notice_id).await? else {
            return Ok(ended(DeliveryOutcome::LeftOut));
        };
        let notice = match self.sendable(&stored).await {
            Ok(Sendable::Notice { notice, .. }) => notice,
            Ok(Sendable::LeftOut) => return Ok(ended(DeliveryOutcome::LeftOut)),
            Err(error) => return Ok(after_failure(delivery, now, error.to_string(), jitter())),
        };
        let body = self.body(*notice);
        let message = WebhookMessage { id: &stored.id, body: &body, url: &webhook.url, secrets: &webhook.secrets, now };
        let sent = self.http.send(message).await;
        let at = self.notebooks.clock.now();
        if let Err(error) = self.store.webhook_tried(&webhook.id, at, sent.as_ref().err().map(String::as_str)).await {
            tracing::warn!(%error, "the time of an attempt at a webhook was not written");
        }
        Ok(match sent {
            Ok(()) => AttemptResult::Ended { outcome: DeliveryOutcome::Done, at, problem: None },
            Err(problem) => after_failure(delivery, at, problem, jitter()),
        })
    }

    async fn note(&self, delivery: &NoticeDelivery, claim: &str, result: &AttemptResult) {
        match self.store.end_attempt(delivery, claim, result).await {
            Ok(true) => {}
            Ok(false) => tracing::debug!(notice = %delivery.notice_id, "another node has claimed a delivery meanwhile"),
            Err(error) => {
                tracing::warn!(%error, "the end of a delivery was not written: it is sent again, with its id")
            }
        }
    }

    fn body(&self, notice: InboxNotice) -> String {
        let link = notice.link.as_ref().map(|link| format!(" {}{link}", self.public_url())).unwrap_or_default();
        let body = WebhookBody {
            event: format!("notice.{}", wire_word(&notice.about.topic())),
            timestamp: timestamp(notice.at),
            text: format!("{}{link}", notice.text),
            data: Some(InboxNotice {
                link: notice.link.as_ref().map(|link| format!("{}{link}", self.public_url())),
                ..notice
            }),
        };
        serde_json::to_string(&body).unwrap_or_default()
    }

    /// Sends a test to a webhook; the error is a sentence for its owner.
    pub(super) async fn send_test(&self, webhook: &notarium_store::accounts::StoredWebhook) -> Result<(), String> {
        let (id, now) = (format!("test-{}", ulid::Ulid::generate()), self.notebooks.clock.now());
        let body = WebhookBody {
            event: "notice.test".to_owned(),
            timestamp: timestamp(now),
            text: "This is a test of your webhook at Notarium.".to_owned(),
            data: None,
        };
        let body = serde_json::to_string(&body).unwrap_or_default();
        self.http.send(WebhookMessage { id: &id, body: &body, url: &webhook.url, secrets: &webhook.secrets, now }).await
    }

    /// Looks once more if a notice is to be sent: it may be settled, and the right to read may have ended.
    async fn sendable(&self, stored: &StoredNotice) -> Result<Sendable, StoreError> {
        if stored.settled_at.is_some() {
            return Ok(Sendable::LeftOut);
        }
        let account = self.notebooks.accounts.store().user(&stored.user).await.map_err(super::people::unread)?;
        if account.is_none_or(|account| account.deactivated_at.is_some()) {
            return Ok(Sendable::LeftOut);
        }
        let mut title = None;
        if let Some((notebook, _)) = &stored.place {
            let Some(document) = self.document_of(notebook).await? else { return Ok(Sendable::LeftOut) };
            if !self.may_read(&stored.user, &document).await? {
                return Ok(Sendable::LeftOut);
            }
            title = Some(document.title.clone());
        }
        let Some(notice) = self.shown(stored, title.clone()).await else { return Ok(Sendable::LeftOut) };
        Ok(Sendable::Notice { notice: Box::new(notice), title })
    }

    /// The notebook as it is; `None`: it is gone.
    pub(super) async fn document_of(
        &self,
        notebook: &notarium_core::NotebookId,
    ) -> Result<Option<Arc<Document>>, StoreError> {
        use notarium_core::RejectionCode as Code;
        match self.notebooks.read_by_server(notebook).await {
            Ok(state) => Ok(Some(state.notebook)),
            Err(rejection) if rejection.code == Code::Unavailable => {
                Err(StoreError::Unavailable { reason: rejection.message })
            }
            Err(_) => Ok(None),
        }
    }

    // --- mail ---

    async fn send_mails(&self) -> Result<(), StoreError> {
        let interval = millis(self.notebooks.limits.mail_interval);
        let pace = || MailPace { now: self.notebooks.clock.now(), interval };
        for user in self.store.due_mails(pace(), MAILS_AT_ONCE).await? {
            let claim = ulid::Ulid::generate().to_string();
            let claimed_for = millis(self.notebooks.limits.mail_timeout + CLAIM_EXTRA);
            if let Some(mail) = self.store.claim_mail(&user, pace(), &claim, claimed_for).await? {
                self.send_digest(mail, &claim).await?;
            }
        }
        Ok(())
    }

    async fn send_digest(&self, claimed: ClaimedMail, claim: &str) -> Result<(), StoreError> {
        let (mut sent, mut lines) = (Vec::new(), Vec::new());
        let now = self.notebooks.clock.now();
        let Some(user) = claimed.deliveries.first().map(|delivery| delivery.user.clone()) else { return Ok(()) };
        for delivery in claimed.deliveries {
            let stored = self.store.notice(&delivery.user, &delivery.notice_id).await?;
            let sendable = match &stored {
                Some(stored) => self.sendable(stored).await,
                None => Ok(Sendable::LeftOut),
            };
            match sendable {
                Ok(Sendable::Notice { notice, title }) => {
                    lines.push((*notice, title));
                    sent.push(delivery);
                }
                // A notice that cannot be sent holds up no other.
                Err(error) => {
                    let failed = after_failure(&delivery, now, error.to_string(), 1.0);
                    self.note(&delivery, claim, &failed).await;
                }
                Ok(Sendable::LeftOut) => {
                    let left_out = AttemptResult::Ended { outcome: DeliveryOutcome::LeftOut, at: now, problem: None };
                    self.note(&delivery, claim, &left_out).await;
                }
            }
        }
        let address = self.store.notice_person(&user).await?.address;
        let (Some(mail), Some(address), false) = (&self.mail, address, lines.is_empty()) else { return Ok(()) };
        let digest = Digest { id: &claimed.batch, address: &address, notices: &lines };
        let result = mail.send_digest(digest).await;
        let at = self.notebooks.clock.now();
        for delivery in &sent {
            let result = match &result {
                Ok(()) => AttemptResult::Ended { outcome: DeliveryOutcome::Done, at, problem: None },
                Err(problem) => after_failure(delivery, at, problem.clone(), 1.0),
            };
            self.note(delivery, claim, &result).await;
        }
        Ok(())
    }

    pub(super) fn public_url(&self) -> &str {
        self.options.public_url.trim_end_matches('/')
    }
}

/// Kind of a stored notice; `None`: this build does not know it.
pub(super) fn kind_of(stored: &StoredNotice) -> Option<NoticeKind> {
    serde_json::from_str(&stored.kind).ok()
}

/// Next attempt, or the end after a day.
fn after_failure(delivery: &NoticeDelivery, at: Millis, problem: String, jitter: f64) -> AttemptResult {
    let exponent = i32::try_from(delivery.attempts.min(20)).unwrap_or(20);
    let pause = FIRST_PAUSE.as_secs_f64() * 4_f64.powi(exponent);
    let pause = Duration::from_secs_f64(pause.min(LONGEST_PAUSE.as_secs_f64()) * jitter);
    let last_at = delivery.created_at + millis(GIVEN_UP_AFTER);
    let due_at = (at + millis(pause)).min(last_at);
    if at >= last_at {
        return AttemptResult::Ended { outcome: DeliveryOutcome::GivenUp, at, problem: Some(problem) };
    }
    AttemptResult::Retry { due_at, problem }
}

/// Factor between 1 and 1.25, so that many deliveries do not come back together.
fn jitter() -> f64 {
    let mut byte = [0];
    getrandom::fill(&mut byte).expect("the operating system has entropy");
    1.0 + f64::from(byte[0]) / 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(attempts: u64) -> NoticeDelivery {
        NoticeDelivery {
            user: "ann".parse().unwrap(),
            notice_id: "n".to_owned(),
            channel: "hook".to_owned(),
            created_at: 0,
            due_at: 0,
            attempts,
            batch: None,
        }
    }

    #[test]
    fn attempts_come_from_five_seconds_on_for_a_day() {
        let (mut at, mut pauses) = (0, Vec::new());
        loop {
            match after_failure(&delivery(pauses.len() as u64), at, "no".to_owned(), 1.0) {
                AttemptResult::Retry { due_at, .. } => {
                    pauses.push((due_at - at) / 1000);
                    at = due_at;
                }
                AttemptResult::Ended { outcome, .. } => {
                    assert_eq!(outcome, DeliveryOutcome::GivenUp);
                    break;
                }
            }
        }
        assert_eq!(pauses, [5, 20, 80, 320, 1_280, 5_120, 20_480, 21_600, 21_600, 15_895]);
        assert_eq!(at, 24 * 60 * 60 * 1000, "the last one is after a day");
        assert!((1.0..1.25).contains(&jitter()));
    }
}
