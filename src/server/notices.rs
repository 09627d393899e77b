//! Notices to people: a projection of the log, an inbox, and an outbox for mail and webhooks.
//!
//! - `projection` follows the commits of this node's notebooks. It turns `facts` of events into notices for `people`, and writes them
//!   together with the version up to which they are: a crash leads neither to a loss nor to doubles.
//! - `outbox` sends what is due: `webhook` (with `guard` against private addresses), and `mail` as digests.
//! - `words` makes sentences. A notice has ids alone, so that no text of a notebook stays in it. Sentences are made when they are read or
//!   sent, with the reader's rights of that moment.
//!
//! Other parts call [`Notices::tell`] for what is in no notebook's log, such as a spending cap.

mod facts;
mod guard;
mod inbox;
mod mail;
mod news;
mod outbox;
mod people;
mod projection;
mod settings;
mod webhook;
mod words;

use std::sync::Arc;

use notarium_core::{Millis, NotebookId, UserId, Version};
use notarium_store::StoreError;
use notarium_store::accounts::{NewNotice, NoticeStore, StoredNotice};
use notarium_store::spending::Spender;
use notarium_wire::rest::{NoticeChannel, NoticeKind};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::{Notify, broadcast};

use crate::limits::clock::millis;
use crate::notebooks::Notebooks;
use crate::spending::CapTeller;

pub use inbox::InboxError;
pub use mail::{InvalidMail, MailSender, MailServer};
pub use outbox::follow as follow_outbox;
pub use projection::follow;
pub use settings::SettingsError;

/// News for open streams that a slow one may lag behind. Beyond that it reads the number of unread notices again.
const NEWS_QUEUE: usize = 256;

notarium_core::with_defaults! {
    /// Settings of a server about notices.
    #[derive(Clone)]
    pub struct NoticeOptions {
        /// Beginning of addresses in mails and webhooks, as in `https://notes.example.org`.
        pub public_url: String = String::new(),
        /// True: webhooks may have addresses of private networks and of this machine, and `http`.
        pub allow_private_webhooks: bool = false,
        /// Sends mail; absent: this server sends none.
        pub mail: Option<MailServer> = None,
    }
}

/// A notice that another part of the server tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The person.
    pub user: UserId,
    /// Text that is the same for every telling of the same fact, such as the cap and its day: it is told once.
    pub key: String,
    /// The notebook, and the version of the event.
    pub place: Option<(NotebookId, Version)>,
    /// Thing that the notice is about; notices of a notebook with one subject are settled together.
    pub subject: String,
    pub kind: NoticeKind,
    pub at: Millis,
}

/// Notices of a server.
pub struct Notices {
    notebooks: Arc<Notebooks>,
    store: Arc<dyn NoticeStore>,
    options: NoticeOptions,
    mail: Option<MailSender>,
    http: webhook::WebhookClient,
    /// People with new notices, for open streams.
    news: broadcast::Sender<NoticeNewsFor>,
    /// Wakes the outbox.
    due: Notify,
    read_versions: projection::ReadVersions,
}

/// News of one person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeNewsFor {
    pub user: UserId,
    /// Id of a new notice; absent: some were read or settled.
    pub notice: Option<String>,
}

impl Notices {
    /// # Errors
    /// The settings of mail cannot be used.
    pub fn new(
        notebooks: Arc<Notebooks>,
        store: Arc<dyn NoticeStore>,
        options: NoticeOptions,
    ) -> Result<Arc<Self>, InvalidMail> {
        let mail = options
            .mail
            .as_ref()
            .map(|server| MailSender::new(server, &options.public_url, notebooks.limits.mail_timeout))
            .transpose()?;
        let http = webhook::WebhookClient::new(options.allow_private_webhooks, notebooks.limits.webhook_timeout);
        let news = broadcast::channel(NEWS_QUEUE).0;
        Ok(Arc::new(Self {
            notebooks,
            store,
            options,
            mail,
            http,
            news,
            due: Notify::new(),
            read_versions: Default::default(),
        }))
    }

    /// Tells people of something, each fact once. They may have chosen not to hear of it.
    pub async fn tell(&self, told: Vec<Told>) -> Result<(), StoreError> {
        let mut new = Vec::new();
        for told in told {
            new.extend(self.addressed(told).await?);
        }
        if new.is_empty() {
            return Ok(());
        }
        self.store.put_notices(&new, None).await?;
        self.announce(&new);
        Ok(())
    }

    /// Function that tells a person that a spending cap was reached. The notebooks have it, so it does not keep them.
    pub fn cap_teller(self: &Arc<Self>) -> CapTeller {
        let notices = Arc::downgrade(self);
        Box::new(move |reached| {
            let Some(notices) = notices.upgrade() else { return };
            tokio::spawn(async move {
                let workspace = match (&reached.cap.key.spender, &reached.workspace) {
                    (Spender::EachWorkspace, Some(workspace)) => format!(":{workspace}"),
                    _ => String::new(),
                };
                let told = Told {
                    key: format!("cap:{}:{}{workspace}", reached.cap_words, reached.ends_at),
                    user: reached.person,
                    place: None,
                    subject: "cap".to_owned(),
                    kind: NoticeKind::CapReached { cap: reached.cap_words, resets_at: Some(reached.ends_at) },
                    at: notices.notebooks.clock.now(),
                };
                if let Err(error) = notices.tell(vec![told]).await {
                    tracing::warn!(%error, "nobody was told of a spending cap");
                }
            });
        })
    }

    /// The notice with its channels, by the person's choices. `None`: the person wants it by no channel.
    async fn addressed(&self, told: Told) -> Result<Option<NewNotice>, StoreError> {
        let topic = told.kind.topic();
        let choices = self.choices_of(&told.user).await?;
        let (now, mut channels) = (self.notebooks.clock.now(), Vec::new());
        if choices.wants(topic, NoticeChannel::Mail) && choices.person.address.is_some() && self.mail.is_some() {
            let wait = millis(self.notebooks.limits.mail_wait);
            channels.push((notarium_store::accounts::MAIL_CHANNEL.to_owned(), now + wait));
        }
        if choices.wants(topic, NoticeChannel::Webhook) {
            channels.extend(self.store.webhooks(&told.user).await?.into_iter().map(|webhook| (webhook.id, now)));
        }
        let in_inbox = choices.wants(topic, NoticeChannel::Inbox);
        if !in_inbox && channels.is_empty() && !choices.wants(topic, NoticeChannel::Browser) {
            return Ok(None);
        }
        let Ok(kind) = serde_json::to_string(&told.kind) else { return Ok(None) };
        let notice = StoredNotice {
            id: notice_id(&told.user, &told.key),
            user: told.user,
            place: told.place,
            subject: told.subject,
            kind,
            at: told.at,
            in_inbox,
            read_at: None,
            settled_at: None,
        };
        Ok(Some(NewNotice { notice, created_at: now, channels }))
    }

    /// Wakes the outbox and the streams of the people, on this node and others.
    fn announce(&self, new: &[NewNotice]) {
        if new.iter().any(|new| !new.channels.is_empty()) {
            self.due.notify_one();
        }
        let news = new.iter().map(|NewNotice { notice, .. }| NoticeNewsFor {
            user: notice.user.clone(),
            notice: Some(notice.id.clone()),
        });
        self.publish(news.collect());
    }
}

/// Id of a notice: the same for the same person and fact.
fn notice_id(user: &UserId, key: &str) -> String {
    hex::encode(Sha256::digest(format!("{user}\n{key}")))[..32].to_owned()
}
