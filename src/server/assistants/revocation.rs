//! Withdraws requests to assistants as soon as their token is revoked or expires, or their person's account is closed.

mod expiries;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use notarium_core::{Command, NotebookId, Rejection, RejectionCode, Revoked, ToolCallPhase};
use notarium_store::CatalogQuery;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use crate::assistants::Assistants;
use crate::notebooks::Notebooks;
use crate::rooms::ReadState;
use expiries::Expiries;

/// Interval of retries after a failure, and of looks at the clock for expiries: the clock may be set, or its machine
/// may sleep.
const PAUSE: Duration = Duration::from_secs(1);

/// A token or account whose requests are to be withdrawn.
#[derive(Debug, Clone)]
struct Ended {
    revoked: Revoked,
    /// Absent: in every notebook.
    notebook: Option<NotebookId>,
}

/// Withdraws the requests of everything that ends, until the server stops.
pub async fn follow(
    notebooks: Arc<Notebooks>,
    assistants: Arc<Assistants>,
    mut ended: mpsc::UnboundedReceiver<Revoked>,
) {
    let (mut todo, mut failed): (VecDeque<Ended>, VecDeque<Ended>) = Default::default();
    let mut expiries = Expiries::default();
    let mut ticks = tokio::time::interval(PAUSE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = notebooks.stopping.cancelled() => return,
            Some(revoked) = ended.recv() => todo.push_back(Ended { revoked, notebook: None }),
            notice = assistants.expiring.take() => expiries.look(&notebooks, notice.notebook).await,
            _ = ticks.tick(), if !failed.is_empty() || expiries.is_waiting() => {
                todo.append(&mut failed);
                expiries.look_again(&notebooks).await;
            }
        }
        todo.extend(expiries.due(notebooks.accounts.now()));
        for ended in todo.drain(..) {
            if let Err(rejection) = withdraw(&notebooks, &ended).await {
                // `AssistantHost` refuses to start such calls until they are withdrawn.
                tracing::warn!(%rejection, ?ended, "calls of what has ended are not withdrawn yet");
                failed.push_back(ended);
            }
        }
    }
}

/// Withdraws in every notebook where requests may be open: notebooks that are open now, and those with work.
async fn withdraw(server: &Notebooks, Ended { revoked, notebook }: &Ended) -> Result<(), Rejection> {
    if let Some(notebook) = notebook {
        return withdraw_in(server, notebook, revoked).await;
    }
    let mut notebooks: BTreeSet<NotebookId> = server.rooms.open_ids().into_iter().collect();
    let with_work = CatalogQuery { has_work: Some(true), ..CatalogQuery::default() };
    let listed = server.each_listed(with_work, |entry| _ = notebooks.insert(entry.notebook_id)).await;
    listed.map_err(|error| {
        Rejection::new(RejectionCode::Unavailable, format!("the list of notebooks could not be read: {error}"))
    })?;
    for notebook in &notebooks {
        withdraw_in(server, notebook, revoked).await?;
    }
    Ok(())
}

async fn withdraw_in(server: &Notebooks, notebook: &NotebookId, revoked: &Revoked) -> Result<(), Rejection> {
    let Some(state) = read(server, notebook).await? else { return Ok(()) };
    let state = state.notebook;
    let waits = state.tool_calls.values().any(|call| !matches!(call.phase, ToolCallPhase::Started { .. }));
    if state.turns.is_empty() && !waits {
        return Ok(());
    }
    server.execute_by_server(notebook, &Command::WithdrawRevoked { revoked: revoked.clone() }).await.map(drop)
}

/// `None`: the room belongs to a notebook that does not exist.
async fn read(server: &Notebooks, notebook: &NotebookId) -> Result<Option<ReadState>, Rejection> {
    match server.read_by_server(notebook).await {
        Ok(read) => Ok(Some(read)),
        Err(rejection) if rejection.code == RejectionCode::Unavailable => Err(rejection),
        Err(_) => Ok(None),
    }
}
