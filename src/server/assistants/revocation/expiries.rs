//! Expiry times of tokens with which assistants were asked for something that is still open.

use std::collections::{BTreeSet, HashMap};

use notarium_core::{Millis, NotebookId, Rejection, RejectionCode, Revoked, TokenId};

use super::{Ended, read};
use crate::notebooks::Notebooks;

/// Limit of cached expiry times. At this number all are cleared, and read again.
const MAX_KNOWN_TOKENS: usize = 10_000;

/// Open requests of assistants by token, until it expires.
#[derive(Debug, Default)]
pub(super) struct Expiries {
    /// Tokens by expiry time, with a notebook. A token that no longer exists has time 0.
    waiting: BTreeSet<(Millis, TokenId, NotebookId)>,
    /// Cached expiry times. `None`: the token does not expire.
    known: HashMap<TokenId, Option<Millis>>,
    /// Notebooks that could not be read and are tried again.
    unread: BTreeSet<NotebookId>,
}

impl Expiries {
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || !self.unread.is_empty()
    }

    /// Reads the tokens of a notebook's open requests, after a notice about its assistants.
    pub(super) async fn look(&mut self, server: &Notebooks, notebook: NotebookId) {
        if let Err(rejection) = self.look_at(server, &notebook).await {
            tracing::warn!(%rejection, %notebook, "when the tokens of its open calls expire is not known yet");
            self.unread.insert(notebook);
        }
    }

    pub(super) async fn look_again(&mut self, server: &Notebooks) {
        for notebook in std::mem::take(&mut self.unread) {
            self.look(server, notebook).await;
        }
    }

    async fn look_at(&mut self, server: &Notebooks, notebook: &NotebookId) -> Result<(), Rejection> {
        let Some(state) = read(server, notebook).await? else { return Ok(()) };
        for token in state.notebook.ledger.open_tokens() {
            if let Some(at) = self.expiry(server, token).await? {
                self.waiting.insert((at, token.clone(), notebook.clone()));
            }
        }
        Ok(())
    }

    async fn expiry(&mut self, server: &Notebooks, id: &TokenId) -> Result<Option<Millis>, Rejection> {
        if let Some(known) = self.known.get(id) {
            return Ok(*known);
        }
        let token = server.accounts.store().token(id).await;
        let token = token.map_err(|error| Rejection::new(RejectionCode::Unavailable, error.to_string()))?;
        // A token without a record ended long ago. Revocations reach the server otherwise.
        let expiry = token.map_or(Some(0), |token| token.expires_at);
        if self.known.len() >= MAX_KNOWN_TOKENS {
            self.known.clear();
        }
        self.known.insert(id.clone(), expiry);
        Ok(expiry)
    }

    /// Tokens that have expired by now, each with a notebook.
    pub(super) fn due(&mut self, now: Millis) -> Vec<Ended> {
        let mut due = Vec::new();
        while self.waiting.first().is_some_and(|(at, ..)| *at <= now) {
            let ended = self.waiting.pop_first();
            due.extend(ended.map(|(_, id, notebook)| Ended { revoked: Revoked::Token(id), notebook: Some(notebook) }));
        }
        due
    }
}
