//! Withdraws requests to assistants as soon as their token is revoked or expires, or their person's account is closed.
//! Each node does it in the notebooks that it owns.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use notarium_core::{Command, Millis, NotebookId, Rejection, RejectionCode, Revoked, TokenId, ToolCallPhase};
use notarium_store::CatalogQuery;
use tokio::time::MissedTickBehavior;

use super::AssistantState;
use crate::cluster::{ClusterNotice, ClusterNotices};
use crate::notebooks::Notebooks;
use crate::rooms::ReadState;

/// Interval of retries after a failure, and of looks at the clock for expiries: the clock may be set, or its machine
/// may sleep.
const PAUSE: Duration = Duration::from_secs(1);

/// A token or account whose requests are to be withdrawn.
#[derive(Debug, Clone)]
struct EndedAccess {
    revoked: Revoked,
    /// Absent: in every notebook of this node.
    notebook: Option<NotebookId>,
}

/// Notebooks whose open tokens are still to be compared with the accounts, after a change there.
#[derive(Debug, Default)]
struct Unchecked {
    /// The list of notebooks could not be read.
    is_unlisted: bool,
    notebooks: BTreeSet<NotebookId>,
}

/// Withdraws the requests of everything that ends, until the server stops.
pub async fn follow(notebooks: Arc<Notebooks>, assistants: Arc<AssistantState>, mut notices: ClusterNotices) {
    let (mut todo, mut failed): (VecDeque<EndedAccess>, VecDeque<EndedAccess>) = Default::default();
    let (mut unchecked, mut expiries) = (Unchecked::default(), Expiries::default());
    let mut ticks = tokio::time::interval(PAUSE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = notebooks.stopping.cancelled() => return,
            Some(notice) = notices.recv() => match notice {
                ClusterNotice::AccessEnded(revoked) => todo.push_back(EndedAccess { revoked, notebook: None }),
                ClusterNotice::AccessChanged => {
                    unchecked.is_unlisted = true;
                    todo.extend(unchecked.look(&notebooks).await);
                }
            },
            notice = assistants.expiring.take() => expiries.look(&notebooks, notice.notebook).await,
            _ = ticks.tick(), if !failed.is_empty() || unchecked.is_waiting() || expiries.is_waiting() => {
                todo.append(&mut failed);
                todo.extend(unchecked.look(&notebooks).await);
                expiries.look_again(&notebooks).await;
            }
        }
        todo.extend(expiries.due(notebooks.accounts.now()));
        for ended in todo.drain(..) {
            failed.extend(withdraw(&notebooks, ended).await);
        }
    }
}

/// Withdraws in every notebook where requests may be open: notebooks that are open now, and those with work. Returns what is to be tried
/// again: one notebook that cannot be read keeps no other waiting.
async fn withdraw(server: &Notebooks, ended: EndedAccess) -> Vec<EndedAccess> {
    let notebooks = match &ended.notebook {
        Some(notebook) => Ok(vec![notebook.clone()]),
        None => with_requests(server).await,
    };
    let notebooks = match notebooks {
        Ok(notebooks) => notebooks,
        Err(rejection) => {
            tracing::warn!(%rejection, ?ended, "calls of what has ended are not withdrawn yet");
            return vec![ended];
        }
    };
    let mut again = Vec::new();
    for notebook in notebooks {
        if let Err(rejection) = withdraw_in(server, &notebook, &ended.revoked).await {
            // `AssistantHost` refuses to start such calls until they are withdrawn.
            tracing::warn!(%rejection, %notebook, ?ended, "calls of what has ended are not withdrawn here");
            // Another refusal stays: a notebook of a newer server, which that one withdraws in.
            if rejection.code == RejectionCode::Unavailable {
                again.push(EndedAccess { revoked: ended.revoked.clone(), notebook: Some(notebook) });
            }
        }
    }
    again
}

/// Notebooks of this node in which requests may be open.
async fn with_requests(server: &Notebooks) -> Result<Vec<NotebookId>, Rejection> {
    let mut notebooks: BTreeSet<NotebookId> = server.rooms.open_ids().into_iter().collect();
    let with_work = CatalogQuery { has_work: Some(true), ..CatalogQuery::default() };
    let listed = server.each_listed(with_work, |entry| _ = notebooks.insert(entry.notebook_id)).await;
    listed.map_err(|error| {
        Rejection::new(RejectionCode::Unavailable, format!("the list of notebooks could not be read: {error}"))
    })?;
    let owned = server.cluster.owned(notebooks.into_iter().collect()).await;
    owned.map_err(|error| Rejection::new(RejectionCode::Unavailable, error.to_string()))
}

impl Unchecked {
    fn is_waiting(&self) -> bool {
        self.is_unlisted || !self.notebooks.is_empty()
    }

    /// Finds tokens of open requests that have ended. What cannot be read now is left for the next look.
    async fn look(&mut self, server: &Notebooks) -> Vec<EndedAccess> {
        if self.is_unlisted {
            match with_requests(server).await {
                Ok(listed) => {
                    self.is_unlisted = false;
                    self.notebooks.extend(listed);
                }
                Err(rejection) => tracing::warn!(%rejection, "calls of tokens that have ended are not found yet"),
            }
        }
        let mut ended = Vec::new();
        for notebook in std::mem::take(&mut self.notebooks) {
            match ended_tokens(server, &notebook).await {
                Ok(tokens) => ended.extend(
                    tokens
                        .into_iter()
                        .map(|token| EndedAccess { revoked: Revoked::Token(token), notebook: Some(notebook.clone()) }),
                ),
                Err(rejection) => {
                    // `AssistantHost` refuses to start such calls in any case.
                    tracing::warn!(%rejection, %notebook, "calls of tokens that have ended are not found yet");
                    self.notebooks.insert(notebook);
                }
            }
        }
        ended
    }
}

/// Tokens of a notebook's open requests that have ended.
async fn ended_tokens(server: &Notebooks, notebook: &NotebookId) -> Result<Vec<TokenId>, Rejection> {
    let Some(state) = read(server, notebook).await? else { return Ok(Vec::new()) };
    let mut ended = Vec::new();
    for token in state.open_tokens {
        let living = server.accounts.living_token(&token).await;
        let living = living.map_err(|error| Rejection::new(RejectionCode::Unavailable, error.to_string()))?;
        if living.is_none() {
            ended.push(token);
        }
    }
    Ok(ended)
}

async fn withdraw_in(server: &Notebooks, notebook: &NotebookId, revoked: &Revoked) -> Result<(), Rejection> {
    let Some(ReadState { notebook: state, epoch, .. }) = read(server, notebook).await? else { return Ok(()) };
    let waits = state.tool_calls.values().any(|call| !matches!(call.phase, ToolCallPhase::Started { .. }));
    if state.turns.is_empty() && !waits {
        return Ok(());
    }
    let withdraw = Command::WithdrawRevoked { revoked: revoked.clone() };
    server.execute_by_server_in_epoch(epoch, notebook, withdraw).await.map(drop)
}

/// `None`: another node owns the notebook, or it does not exist.
async fn read(server: &Notebooks, notebook: &NotebookId) -> Result<Option<ReadState>, Rejection> {
    match server.cluster.owns(notebook).await {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        Err(error) => return Err(Rejection::new(RejectionCode::Unavailable, error.to_string())),
    }
    match server.read_by_server(notebook).await {
        Ok(read) => Ok(Some(read)),
        Err(rejection) if rejection.code == RejectionCode::Unavailable => Err(rejection),
        Err(_) => Ok(None),
    }
}

/// Limit of cached expiry times. At this number all are cleared, and read again.
const MAX_KNOWN_TOKENS: usize = 10_000;

/// Open requests of assistants by token, until it expires.
#[derive(Debug, Default)]
struct Expiries {
    /// Tokens by expiry time, with a notebook. A token that no longer exists has time 0.
    waiting: BTreeSet<(Millis, TokenId, NotebookId)>,
    /// Cached expiry times. `None`: the token does not expire.
    known: HashMap<TokenId, Option<Millis>>,
    /// Notebooks that could not be read and are tried again.
    unread: BTreeSet<NotebookId>,
}

impl Expiries {
    fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || !self.unread.is_empty()
    }

    /// Reads the tokens of a notebook's open requests, after a notice about its assistants.
    async fn look(&mut self, server: &Notebooks, notebook: NotebookId) {
        if let Err(rejection) = self.look_at(server, &notebook).await {
            tracing::warn!(%rejection, %notebook, "when the tokens of its open calls expire is not known yet");
            self.unread.insert(notebook);
        }
    }

    async fn look_again(&mut self, server: &Notebooks) {
        for notebook in std::mem::take(&mut self.unread) {
            self.look(server, notebook).await;
        }
    }

    async fn look_at(&mut self, server: &Notebooks, notebook: &NotebookId) -> Result<(), Rejection> {
        let Some(state) = read(server, notebook).await? else { return Ok(()) };
        for token in &state.open_tokens {
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
    fn due(&mut self, now: Millis) -> Vec<EndedAccess> {
        let mut due = Vec::new();
        while self.waiting.first().is_some_and(|(at, ..)| *at <= now) {
            let ended = self.waiting.pop_first();
            due.extend(
                ended.map(|(_, id, notebook)| EndedAccess { revoked: Revoked::Token(id), notebook: Some(notebook) }),
            );
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use notarium_core::UserId;

    use super::*;
    use crate::cluster::tests::{nobody_s, one_of_two, ours, theirs};

    #[tokio::test]
    async fn the_owner_of_a_notebook_withdraws_and_no_other_node() {
        let server = one_of_two().await;
        let notebooks = &server.app().notebooks;
        let heads = async || {
            let version = async |id| notebooks.store.head(&id).await.unwrap().unwrap().version;
            (version(ours()).await, version(theirs()).await)
        };
        let before = heads().await;
        let revoked = Revoked::User(UserId::new("ann").unwrap());
        for notebook in [None, Some(theirs())] {
            let again = withdraw(notebooks, EndedAccess { revoked: revoked.clone(), notebook }).await;
            assert!(again.is_empty(), "{again:?}");
        }
        assert_eq!(heads().await, (before.0 + 1, before.1), "the turn of one was cancelled");
        server.shut_down().await;
    }

    #[tokio::test]
    async fn a_notebook_that_cannot_be_read_is_tried_again_and_keeps_no_other_waiting() {
        let server = one_of_two().await;
        let notebooks = &server.app().notebooks;
        let revoked = Revoked::User(UserId::new("ann").unwrap());
        let ended = EndedAccess { revoked, notebook: Some(nobody_s()) };
        let again = withdraw(notebooks, ended).await;
        assert_eq!(again.iter().map(|ended| ended.notebook.clone()).collect::<Vec<_>>(), [Some(nobody_s())]);
        let mut unchecked = Unchecked { is_unlisted: true, notebooks: [nobody_s()].into() };
        assert!(unchecked.look(notebooks).await.is_empty(), "a session of the test has no token");
        assert!(!unchecked.is_unlisted && unchecked.notebooks == [nobody_s()].into(), "{unchecked:?}");
        server.shut_down().await;
    }
}
