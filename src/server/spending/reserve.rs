//! Reservations of model calls, and the check before a turn begins.

use std::time::Duration;

use notarium_assistant::host::PlannedModelCall;
use notarium_core::{Actor, Command, Millis, NotebookId, Rejection, RejectionCode, UserId};
use notarium_store::StoreError;
use notarium_store::spending::{Cap, CapUnit, ModelCallKey, ModelPrice, Reservation, ReservedCall, TokenCounts};

use super::calendar::day_of;
use super::caps::{AppliedCap, applicable};
use super::{CapReached, Spending, refusals};

/// Time after which a reservation counts no more for others: no call takes as long.
pub(super) const STALE_MS: Millis = 6 * 60 * 60 * 1_000;

/// Pause before a reservation is tried again while calls under way may use up the rest of a cap.
const BUSY_PAUSE: Duration = Duration::from_millis(500);

/// Attempts at a reservation: half an hour.
const MAX_BUSY_ATTEMPTS: u32 = 3_600;

/// Factor by which a request may have more tokens than was estimated.
const INPUT_MARGIN: u64 = 2;

impl Spending {
    /// Reserves a model call for a person. Waits while calls under way may use up the rest of a cap.
    pub async fn reserve(
        &self,
        person: &UserId,
        notebook: &NotebookId,
        planned: &PlannedModelCall,
    ) -> Result<(), Rejection> {
        for _ in 0..MAX_BUSY_ATTEMPTS {
            if self.try_to_reserve(person, notebook, planned).await? {
                return Ok(());
            }
            tokio::time::sleep(BUSY_PAUSE).await;
        }
        let message = "calls under way have taken up the rest of a spending cap for half an hour: ask again later";
        Err(Rejection::new(RejectionCode::Unavailable, message))
    }

    /// False: calls under way may use up the rest of a cap.
    async fn try_to_reserve(
        &self,
        person: &UserId,
        notebook: &NotebookId,
        planned: &PlannedModelCall,
    ) -> Result<bool, Rejection> {
        // The notebook's earlier calls have ended: their usage counts, not their bounds.
        self.count(notebook).await.map_err(unread)?;
        let now = self.clock.now();
        let call = self.reserved_call(person, notebook, planned, now);
        let caps = self.met(&call).await?;
        let checks: Vec<_> = caps.iter().map(|applied| applied.check.clone()).collect();
        self.note_open(notebook);
        match self.store.reserve(&call, &checks, now.saturating_sub(STALE_MS)).await.map_err(unread)? {
            Reservation::Made => Ok(true),
            Reservation::Busy => Ok(false),
            Reservation::Reached { cap, used } => Err(self.refuse(person, notebook, &caps[cap], used)),
        }
    }

    fn reserved_call(
        &self,
        person: &UserId,
        notebook: &NotebookId,
        planned: &PlannedModelCall,
        now: Millis,
    ) -> ReservedCall {
        let PlannedModelCall { turn_id, number, provider, model, .. } = planned;
        let price = self.settings.prices.of(provider, model).cloned();
        let input = planned.input_tokens.saturating_mul(INPUT_MARGIN).min(planned.context_tokens);
        let bound = TokenCounts { input, cached: 0, output: planned.max_output_tokens };
        ReservedCall {
            key: ModelCallKey { notebook_id: notebook.clone(), turn_id: turn_id.clone(), number: *number },
            person: person.clone(),
            workspace: self.accounts.workspace_of(notebook),
            provider: provider.clone(),
            model: model.clone(),
            estimated_input_tokens: planned.input_tokens,
            reserved_tokens: bound.total(),
            reserved_nanos: price.as_ref().map_or(0, |price| at_most(price, bound)),
            price,
            reserved_at: now,
        }
    }

    /// Caps that the call meets. `Err`: the model has no price for one of them.
    async fn met(&self, call: &ReservedCall) -> Result<Vec<AppliedCap>, Rejection> {
        let mut caps = self.applicable(&call.person, &call.key.notebook_id).await.map_err(unread)?;
        if call.price.as_ref().is_some_and(is_free) {
            caps.retain(|applied| applied.check.unit == CapUnit::Tokens);
        }
        let currency = call.price.as_ref().map(|price| price.currency.as_str());
        let unpriced = caps.iter().find(|applied| match &applied.check.unit {
            CapUnit::Tokens => false,
            CapUnit::Money(of_cap) => currency != Some(of_cap),
        });
        match unpriced {
            Some(applied) => Err(refusals::no_price(applied, &call.provider, &call.model)),
            None => Ok(caps),
        }
    }

    async fn applicable(&self, person: &UserId, notebook: &NotebookId) -> Result<Vec<AppliedCap>, StoreError> {
        let caps: Vec<Cap> = self.caps().await?.into_iter().map(|(cap, _)| cap).collect();
        let workspace = self.accounts.workspace_of(notebook);
        Ok(applicable(&caps, Some(person), workspace.as_ref(), day_of(self.clock.now())))
    }

    fn refuse(&self, person: &UserId, notebook: &NotebookId, applied: &AppliedCap, used: u64) -> Rejection {
        let rejection = refusals::reached(applied, used);
        self.announce_once(&CapReached {
            person: person.clone(),
            notebook: notebook.clone(),
            workspace: self.accounts.workspace_of(notebook),
            cap: applied.cap.clone(),
            used,
            ends_at: applied.ends_at,
            cap_words: refusals::cap_words(applied),
            sentence: rejection.message.clone(),
        });
        rejection
    }

    /// Refuses a turn that a person begins while a cap is reached. Other commands pass.
    pub async fn check(&self, actor: &Actor, notebook: &NotebookId, command: &Command) -> Result<(), Rejection> {
        let (Actor::User { id: person }, Command::StartTurn(start)) = (actor, command) else { return Ok(()) };
        let is_free = self.chosen_price(start.model.as_deref()).is_some_and(is_free);
        let stale_before = self.clock.now().saturating_sub(STALE_MS);
        for applied in self.applicable(person, notebook).await.map_err(unread)? {
            if is_free && applied.check.unit != CapUnit::Tokens {
                continue;
            }
            let used = self.store.cap_use(&applied.check, stale_before).await.map_err(unread)?.used;
            if used >= applied.check.amount {
                return Err(self.refuse(person, notebook, &applied, used));
            }
        }
        Ok(())
    }

    /// Price of the model that a turn would use.
    fn chosen_price(&self, wanted: Option<&str>) -> Option<&ModelPrice> {
        let first = self.models.first()?;
        let named = |name: &str| self.models.iter().find(|model| model.provider == name);
        let (provider, model) = match wanted {
            None => (&*first.provider, &*first.model),
            Some(wanted) => match (named(wanted), wanted.split_once('/')) {
                (Some(default), _) => (&*default.provider, &*default.model),
                (None, Some((provider, model))) if named(provider).is_some() => (provider, model),
                _ => (&*first.provider, wanted),
            },
        };
        self.settings.prices.of(provider, model)
    }
}

/// Cost of these tokens, whether or not some are cached.
fn at_most(price: &ModelPrice, tokens: TokenCounts) -> u64 {
    let all_cached = TokenCounts { cached: tokens.input, ..tokens };
    price.cost_nanos(tokens).max(price.cost_nanos(all_cached))
}

fn is_free(price: &ModelPrice) -> bool {
    (price.input, price.cached, price.output) == (0, 0, 0)
}

fn unread(error: StoreError) -> Rejection {
    tracing::error!(%error, "spending was not read");
    let message = "what may be spent could not be read, so the model is not asked: try again later";
    Rejection::new(RejectionCode::Unavailable, message)
}
