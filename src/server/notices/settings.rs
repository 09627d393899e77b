//! A person's choices about notices: topics and channels, the address for mail, webhooks.

use std::time::Duration;

use notarium_core::{Millis, UserId, wire_word};
use notarium_store::StoreError;
use notarium_store::accounts::{AccountChange, AccountError, NewAddress, NoticeChoice, StoredWebhook, WebhookSecret};
use notarium_wire::rest::{
    self, FailedNotice, IssuedWebhook, MailSettings, NewWebhook, NoticeChannel, NoticeSettings, NoticeSettingsChange,
    NoticeTopic, WebhookTest,
};
use sha2::{Digest, Sha256};

use super::Notices;
use super::guard::{self, WebhookAddressError};
use super::projection::LONG_RUN_SECONDS;
use super::webhook::new_secret;
use crate::auth::Authenticated;
use crate::limits::clock::millis;

/// Webhooks of one person.
const MAX_WEBHOOKS: usize = 10;
const MAX_LABEL_CHARACTERS: usize = 100;
/// Time for which the secret from before a rotation signs too.
const OLD_SECRET_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Deliveries that were given up, in one answer.
const MAX_FAILED: usize = 20;
/// Bounds of the time from which a run is long.
const LONG_RUN_BOUNDS: std::ops::RangeInclusive<u64> = 5..=86_400;
/// Validity of a code, and the time before another is sent.
const CODE_FOR: Duration = Duration::from_secs(15 * 60);
const CODE_AGAIN: Duration = Duration::from_secs(60);
/// Codes that may be tried.
const MAX_CODES: u64 = 5;

/// Reason why a change of settings is refused.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Limit(String),
    #[error("this server sends no mail: its operator can set it up (--mail-server)")]
    NoMail,
    #[error("the code was not sent: {0}")]
    NotSent(String),
    #[error("there is no webhook of that id: list them to see what there is")]
    UnknownWebhook,
    #[error("a code was sent a moment ago: wait a minute")]
    TooSoon,
    #[error("this code is wrong or too old: enter the last one, or ask for another")]
    WrongCode,
    #[error(transparent)]
    Address(#[from] WebhookAddressError),
    #[error(transparent)]
    Accounts(#[from] AccountError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Notices {
    pub async fn settings(&self, user: &UserId) -> Result<NoticeSettings, StoreError> {
        let choices = self.choices_of(user).await?;
        let of_topic = |topic| NoticeChannel::ALL.into_iter().map(move |channel| (topic, channel));
        let mut topics: std::collections::BTreeMap<NoticeTopic, std::collections::BTreeMap<NoticeChannel, bool>> =
            Default::default();
        for (topic, channel) in NoticeTopic::ALL.into_iter().flat_map(of_topic) {
            topics.entry(topic).or_default().insert(channel, choices.wants(topic, channel));
        }
        let failed = self.store.failed_deliveries(user, MAX_FAILED).await?.into_iter().map(|failed| FailedNotice {
            notice: failed.notice_id,
            channel: failed.channel,
            at: failed.at,
            problem: failed.problem,
        });
        let person = choices.person;
        let now = self.notebooks.clock.now();
        let open = person.new_address.filter(|new| now < new.expires_at);
        let mail = MailSettings {
            is_possible: self.mail.is_some(),
            address: person.address,
            new_address: open.map(|new| new.address),
        };
        let long_run_seconds = person.long_run_seconds.unwrap_or(LONG_RUN_SECONDS);
        Ok(NoticeSettings { topics, long_run_seconds, mail, failed: failed.collect() })
    }

    pub async fn change_settings(
        &self,
        who: &Authenticated,
        user: &UserId,
        change: NoticeSettingsChange,
    ) -> Result<NoticeSettings, SettingsError> {
        let mut changes = Vec::new();
        let choices = change.topics.iter().flat_map(|(topic, channels)| {
            channels.iter().map(move |(channel, is_on)| NoticeChoice {
                topic: wire_word(topic),
                channel: wire_word(channel),
                is_on: *is_on,
            })
        });
        let choices: Vec<NoticeChoice> = choices.collect();
        if !choices.is_empty() {
            changes.push(AccountChange::SetNoticeChoices { user: user.clone(), choices });
        }
        if let Some(seconds) = change.long_run_seconds {
            if !LONG_RUN_BOUNDS.contains(&seconds) {
                return Err(SettingsError::Invalid("long_run_seconds is 5 to 86,400".to_owned()));
            }
            changes.push(AccountChange::SetLongRun { user: user.clone(), seconds: Some(seconds) });
        }
        if !changes.is_empty() {
            self.change(who, &changes, "notice.settings", user).await?;
        }
        Ok(self.settings(user).await?)
    }

    async fn change(
        &self,
        who: &Authenticated,
        changes: &[AccountChange],
        action: &str,
        subject: impl ToString,
    ) -> Result<(), AccountError> {
        let accounts = &self.notebooks.accounts;
        accounts.change(changes, accounts.audit(&who.actor, action, subject)).await
    }

    // --- mail ---

    /// Sends a code to a new address.
    pub async fn set_address(&self, who: &Authenticated, user: &UserId, address: &str) -> Result<(), SettingsError> {
        let mail = self.mail.as_ref().ok_or(SettingsError::NoMail)?;
        mail.check(address).map_err(|error| SettingsError::Invalid(error.0))?;
        let now = self.notebooks.clock.now();
        let sent = self.store.notice_person(user).await?.code_expires_at.map(|at| at.saturating_sub(millis(CODE_FOR)));
        if sent.is_some_and(|sent| now < sent + millis(CODE_AGAIN)) {
            return Err(SettingsError::TooSoon);
        }
        let code = new_code();
        let new_address = NewAddress {
            address: address.to_owned(),
            code_hash: code_hash(user, address, &code),
            expires_at: now + millis(CODE_FOR),
            attempts: 0,
        };
        let change = AccountChange::SetNewAddress { user: user.clone(), new_address: Some(new_address) };
        self.change(who, &[change], "notice.new_address", user).await?;
        let id = format!("code-{}", ulid::Ulid::generate());
        mail.send_code(&id, address, &code).await.map_err(SettingsError::NotSent)
    }

    /// Takes the address whose code the person has entered.
    pub async fn confirm_address(&self, who: &Authenticated, user: &UserId, code: &str) -> Result<(), SettingsError> {
        if !self.store.count_code(user, MAX_CODES).await? {
            return Err(SettingsError::WrongCode);
        }
        let now = self.notebooks.clock.now();
        let open = self.store.notice_person(user).await?.new_address.filter(|new| now < new.expires_at);
        let new = open.ok_or(SettingsError::WrongCode)?;
        if code_hash(user, &new.address, code.trim()) != new.code_hash {
            return Err(SettingsError::WrongCode);
        }
        let change = AccountChange::SetNoticeAddress { user: user.clone(), address: Some(new.address), at: now };
        Ok(self.change(who, &[change], "notice.address", user).await?)
    }

    /// Ends mail to the person.
    pub async fn remove_address(&self, who: &Authenticated, user: &UserId) -> Result<(), SettingsError> {
        let change =
            AccountChange::SetNoticeAddress { user: user.clone(), address: None, at: self.notebooks.clock.now() };
        Ok(self.change(who, &[change], "notice.address", user).await?)
    }

    // --- webhooks ---

    pub async fn list_webhooks(&self, user: &UserId) -> Result<Vec<rest::Webhook>, StoreError> {
        let now = self.notebooks.clock.now();
        Ok(self.store.webhooks(user).await?.into_iter().map(|webhook| shown(webhook, now)).collect())
    }

    pub async fn create_webhook(
        &self,
        who: &Authenticated,
        user: &UserId,
        new: NewWebhook,
    ) -> Result<IssuedWebhook, SettingsError> {
        guard::checked(&new.url, self.http.allows_private())?;
        let label = new.label.trim();
        if label.chars().count() > MAX_LABEL_CHARACTERS || label.chars().any(char::is_control) {
            return Err(SettingsError::Invalid("label has at most 100 characters on one line".to_owned()));
        }
        if self.store.webhooks(user).await?.len() >= MAX_WEBHOOKS {
            return Err(SettingsError::Limit(format!("you have {MAX_WEBHOOKS} webhooks: delete one first")));
        }
        let secret = new_secret();
        let webhook = StoredWebhook {
            id: ulid::Ulid::generate().to_string(),
            user: user.clone(),
            url: new.url,
            label: label.to_owned(),
            secrets: vec![WebhookSecret { secret: secret.clone(), until: None }],
            created_at: self.notebooks.clock.now(),
            tried_at: None,
            problem: None,
        };
        self.change(who, &[AccountChange::CreateWebhook(webhook.clone())], "webhook.create", &webhook.id).await?;
        Ok(IssuedWebhook { webhook: shown(webhook, self.notebooks.clock.now()), secret })
    }

    /// Gives the webhook a new secret. The one from before signs too for a day.
    pub async fn rotate_webhook(
        &self,
        who: &Authenticated,
        user: &UserId,
        id: &str,
    ) -> Result<IssuedWebhook, SettingsError> {
        let mut webhook = self.own_webhook(user, id).await?;
        let (secret, now) = (new_secret(), self.notebooks.clock.now());
        let old = webhook.secrets.into_iter().next();
        let old = old.map(|old| WebhookSecret { until: Some(now + millis(OLD_SECRET_FOR)), ..old });
        webhook.secrets = [WebhookSecret { secret: secret.clone(), until: None }].into_iter().chain(old).collect();
        self.change(who, &[AccountChange::ChangeWebhook(webhook.clone())], "webhook.rotate", id).await?;
        Ok(IssuedWebhook { webhook: shown(webhook, now), secret })
    }

    pub async fn delete_webhook(&self, who: &Authenticated, user: &UserId, id: &str) -> Result<(), SettingsError> {
        self.own_webhook(user, id).await?;
        let change = AccountChange::DeleteWebhook { user: user.clone(), webhook: id.to_owned() };
        Ok(self.change(who, &[change], "webhook.delete", id).await?)
    }

    /// Sends a test message now, once.
    pub async fn test_webhook(&self, user: &UserId, id: &str) -> Result<WebhookTest, SettingsError> {
        let webhook = self.own_webhook(user, id).await?;
        let sent = self.send_test(&webhook).await;
        let now = self.notebooks.clock.now();
        self.store.webhook_tried(id, now, sent.as_ref().err().map(String::as_str)).await?;
        Ok(WebhookTest { is_accepted: sent.is_ok(), problem: sent.err() })
    }

    async fn own_webhook(&self, user: &UserId, id: &str) -> Result<StoredWebhook, SettingsError> {
        let found = self.store.webhook(id).await?.filter(|webhook| webhook.user == *user);
        found.ok_or(SettingsError::UnknownWebhook)
    }
}

fn shown(webhook: StoredWebhook, now: Millis) -> rest::Webhook {
    let old_secret_until = webhook.secrets.iter().filter_map(|secret| secret.until).find(|until| now < *until);
    rest::Webhook {
        id: webhook.id,
        url: webhook.url,
        label: webhook.label,
        created_at: webhook.created_at,
        old_secret_until,
        tried_at: webhook.tried_at,
        problem: webhook.problem,
    }
}

/// Six digits, each as likely as any other.
fn new_code() -> String {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("the operating system has entropy");
    format!("{:06}", u64::from_le_bytes(bytes) % 1_000_000)
}

fn code_hash(user: &UserId, address: &str, code: &str) -> Vec<u8> {
    Sha256::digest(format!("{user}\n{address}\n{code}")).to_vec()
}
