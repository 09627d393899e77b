//! Withdraws requests to assistants as soon as their token is revoked or expires, or their person's account is closed.

mod expiries;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use notarium_core::{Command, NotebookId, Rejection, RejectionCode, Revoked, ToolCallPhase};
use notarium_store::CatalogQuery;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use crate::app::App;
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
pub async fn follow(app: App, mut ended: mpsc::UnboundedReceiver<Revoked>) {
    let (mut todo, mut failed): (VecDeque<Ended>, VecDeque<Ended>) = Default::default();
    let mut expiries = Expiries::default();
    let mut ticks = tokio::time::interval(PAUSE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = app.stopping.cancelled() => return,
            Some(revoked) = ended.recv() => todo.push_back(Ended { revoked, notebook: None }),
            notice = app.expiring.take() => expiries.look(&app, notice.notebook).await,
            _ = ticks.tick(), if !failed.is_empty() || expiries.is_waiting() => {
                todo.append(&mut failed);
                expiries.look_again(&app).await;
            }
        }
        todo.extend(expiries.due(app.accounts.now()));
        for ended in todo.drain(..) {
            if let Err(rejection) = withdraw(&app, &ended).await {
                // `AssistantHost` refuses to start such calls until they are withdrawn.
                tracing::warn!(%rejection, ?ended, "calls of what has ended are not withdrawn yet");
                failed.push_back(ended);
            }
        }
    }
}

/// Withdraws in every notebook where requests may be open: notebooks that are open now, and those with work.
async fn withdraw(app: &App, Ended { revoked, notebook }: &Ended) -> Result<(), Rejection> {
    if let Some(notebook) = notebook {
        return withdraw_in(app, notebook, revoked).await;
    }
    let mut notebooks: BTreeSet<NotebookId> = app.rooms.open_ids().into_iter().collect();
    let with_work = CatalogQuery { has_work: Some(true), ..CatalogQuery::default() };
    let listed = app.each_listed(with_work, |entry| _ = notebooks.insert(entry.notebook_id)).await;
    listed.map_err(|error| {
        Rejection::new(RejectionCode::Unavailable, format!("the list of notebooks could not be read: {error}"))
    })?;
    for notebook in &notebooks {
        withdraw_in(app, notebook, revoked).await?;
    }
    Ok(())
}

async fn withdraw_in(app: &App, notebook: &NotebookId, revoked: &Revoked) -> Result<(), Rejection> {
    let Some(state) = read(app, notebook).await? else { return Ok(()) };
    let state = state.notebook;
    let waits = state.tool_calls.values().any(|call| !matches!(call.phase, ToolCallPhase::Started { .. }));
    if state.turns.is_empty() && !waits {
        return Ok(());
    }
    app.execute_by_server(notebook, &Command::WithdrawRevoked { revoked: revoked.clone() }).await.map(drop)
}

/// `None`: the room belongs to a notebook that does not exist.
async fn read(app: &App, notebook: &NotebookId) -> Result<Option<ReadState>, Rejection> {
    match app.read_by_server(notebook).await {
        Ok(read) => Ok(Some(read)),
        Err(rejection) if rejection.code == RejectionCode::Unavailable => Err(rejection),
        Err(_) => Ok(None),
    }
}
