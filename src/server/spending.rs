//! Spending on models: usage by person, workspace, model and day, and caps that stop turns.
//!
//! Invariants:
//! - Every model call is reserved before it is sent, and counted from the record by the node that owns its notebook. A cap admits a call
//!   while its usage and the upper bounds of all calls under way stay below it. So usage exceeds a cap by one call at most.
//! - A call whose end is not recorded (its turn was stopped, its server was killed) counts with the estimate of its request.
//! - The price of a call is that of its reservation.
//!
//! Files: `amounts` (decimal texts and integers), `calendar` (days and months in UTC), `prices`, `caps` (which of them apply), `turns` (the
//! end of a call in the record), `refusals` (sentences), `count` (the job that counts), `reserve`, `report` (rows and CSV), `status` (caps with their usage).

pub mod amounts;
pub mod calendar;
pub mod caps;
pub mod count;
pub mod prices;
mod refusals;
pub mod report;
mod reserve;
mod status;
mod turns;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use notarium_core::{Millis, NotebookId, UserId, WorkspaceId};
use notarium_store::EventStore;
use notarium_store::spending::{Cap, Spender, SpendingStore};
use notarium_wire::rest::Model;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::auth::Accounts;
use crate::cluster::Cluster;
use crate::limits::clock::Clock;
use prices::PriceList;

/// Settings of spending.
#[derive(Debug, Clone, Default)]
pub struct SpendingSettings {
    pub prices: PriceList,
    /// Caps of the server's options, which stand beside those in the store.
    pub caps: Vec<Cap>,
}

/// Spending of a server.
pub struct Spending {
    pub(crate) store: Arc<dyn SpendingStore>,
    events: Arc<dyn EventStore>,
    cluster: Arc<dyn Cluster>,
    accounts: Accounts,
    clock: Clock,
    settings: SpendingSettings,
    /// Models of the assistants here, the default first.
    models: Vec<Model>,
    /// Notebooks with reserved calls that this node knows of.
    open: Mutex<BTreeSet<NotebookId>>,
    /// Notebooks whose record may have the end of a call.
    due: Mutex<BTreeSet<NotebookId>>,
    came: Notify,
    /// Caps that were announced, with the first day of their period.
    announced: Mutex<BTreeSet<(String, u64)>>,
    /// Tells people of caps that were reached.
    teller: OnceLock<CapTeller>,
}

/// Function that tells a person of a cap.
pub type CapTeller = Box<dyn Fn(CapReached) + Send + Sync>;

/// Parts of a server that spending needs.
pub struct SpendingParts {
    pub store: Arc<dyn SpendingStore>,
    pub events: Arc<dyn EventStore>,
    pub cluster: Arc<dyn Cluster>,
    pub accounts: Accounts,
    pub clock: Clock,
    pub models: Vec<Model>,
}

/// Notice that a cap was reached, once in its period and on each node that meets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapReached {
    /// The person whose turn was stopped or not begun.
    pub person: UserId,
    pub notebook: NotebookId,
    pub workspace: Option<WorkspaceId>,
    pub cap: Cap,
    /// Usage, in the unit of the cap.
    pub used: u64,
    /// Start of the next period.
    pub ends_at: Millis,
    /// The cap in words, as in "your cap of 5.00 USD a day".
    pub cap_words: String,
    /// Sentence for people.
    pub sentence: String,
}

impl Spending {
    pub fn new(settings: SpendingSettings, parts: SpendingParts) -> Self {
        let SpendingParts { store, events, cluster, accounts, clock, models } = parts;
        Self {
            store,
            events,
            cluster,
            accounts,
            clock,
            settings,
            models,
            open: Mutex::default(),
            due: Mutex::default(),
            came: Notify::new(),
            announced: Mutex::default(),
            teller: OnceLock::new(),
        }
    }

    /// Sets the function that tells people of caps, once.
    pub fn tell_with(&self, teller: CapTeller) {
        let _ = self.teller.set(teller);
    }

    pub fn prices(&self) -> &PriceList {
        &self.settings.prices
    }

    /// Caps of the store and of the server's options; true: of the options.
    pub async fn caps(&self) -> Result<Vec<(Cap, bool)>, notarium_store::StoreError> {
        let stored = self.store.caps().await?.into_iter().map(|cap| (cap, false));
        let fixed = self.settings.caps.iter().cloned().map(|cap| (cap, true));
        Ok(stored.chain(fixed).collect())
    }

    /// Tells the person that a cap was reached.
    fn announce(&self, reached: &CapReached) {
        let CapReached { person, notebook, sentence, .. } = reached;
        tracing::warn!(%person, %notebook, reason = sentence, "a spending cap is reached");
        if let Some(tell) = self.teller.get() {
            tell(reached.clone());
        }
    }

    /// Announces a cap once in its period.
    fn announce_once(&self, reached: &CapReached) {
        let key = &reached.cap.key;
        let spender = match key.spender {
            Spender::EachPerson => format!("user:{}", reached.person),
            Spender::EachWorkspace => {
                format!("workspace:{}", reached.workspace.as_ref().map_or("", WorkspaceId::as_str))
            }
            ref spender => spender.key(),
        };
        let amount = reached.cap.amount;
        let name = format!("{spender} {} {} {} {amount}", key.period.as_str(), key.unit.key(), key.by_owner);
        if self.announced.lock().insert((name, reached.ends_at)) {
            self.announce(reached);
        }
    }
}
