//! When the tokens expire with which something was asked of assistants that is still open.

use std::collections::{BTreeSet, HashMap};

use notarium_core::{Millis, NotebookId, Rejection, RejectionCode, Revoked, TokenId};

use super::{Ended, read};
use crate::app::App;

/// Tokens whose expiry is remembered; more, and all are asked for anew.
const MAX_KNOWN_TOKENS: usize = 10_000;

/// What was asked with which token, until that expires.
#[derive(Debug, Default)]
pub(super) struct Expiries {
    /// By time. What has ended long since stands at 0.
    waiting: BTreeSet<(Millis, TokenId, NotebookId)>,
    /// `None`: the token does not expire.
    known: HashMap<TokenId, Option<Millis>>,
    /// Notebooks that could not be looked at.
    unread: BTreeSet<NotebookId>,
}

impl Expiries {
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || !self.unread.is_empty()
    }

    /// Something of assistants has changed there.
    pub(super) async fn look(&mut self, app: &App, notebook: NotebookId) {
        if let Err(rejection) = self.look_at(app, &notebook).await {
            tracing::warn!(%rejection, %notebook, "when the tokens of its open calls expire is not known yet");
            self.unread.insert(notebook);
        }
    }

    pub(super) async fn look_again(&mut self, app: &App) {
        for notebook in std::mem::take(&mut self.unread) {
            self.look(app, notebook).await;
        }
    }

    async fn look_at(&mut self, app: &App, notebook: &NotebookId) -> Result<(), Rejection> {
        let Some(state) = read(app, notebook).await? else { return Ok(()) };
        for token in state.notebook.ledger.open_tokens() {
            if let Some(at) = self.expiry(app, token).await? {
                self.waiting.insert((at, token.clone(), notebook.clone()));
            }
        }
        Ok(())
    }

    async fn expiry(&mut self, app: &App, id: &TokenId) -> Result<Option<Millis>, Rejection> {
        if let Some(known) = self.known.get(id) {
            return Ok(*known);
        }
        let token = app.accounts.store().token(id).await;
        let token = token.map_err(|error| Rejection::new(RejectionCode::Unavailable, error.to_string()))?;
        // One that nobody remembers has ended long since. Of what is revoked the server is told.
        let expiry = token.map_or(Some(0), |token| token.expires_at);
        if self.known.len() >= MAX_KNOWN_TOKENS {
            self.known.clear();
        }
        self.known.insert(id.clone(), expiry);
        Ok(expiry)
    }

    /// What has expired by now.
    pub(super) fn due(&mut self, now: Millis) -> Vec<Ended> {
        let mut due = Vec::new();
        while self.waiting.first().is_some_and(|(at, ..)| *at <= now) {
            let ended = self.waiting.pop_first();
            due.extend(ended.map(|(_, id, notebook)| Ended { revoked: Revoked::Token(id), notebook: Some(notebook) }));
        }
        due
    }
}
