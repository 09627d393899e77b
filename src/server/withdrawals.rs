//! What was asked of assistants with a token that is revoked, or for a person whose account is closed, is taken back at once.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use notarium_core::{Actor, Authority, Command, NotebookId, RawJson, Rejection, RejectionCode, Revoked, ToolCallPhase};
use notarium_store::CatalogQuery;
use notarium_wire::CommandMessage;
use tokio::sync::mpsc;

use crate::app::App;
use crate::rooms::Identity;

/// Before what could not be stored is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Follows what ends, for as long as the server runs.
pub async fn follow(app: App, mut ended: mpsc::UnboundedReceiver<Revoked>) {
    let mut left: VecDeque<Revoked> = VecDeque::new();
    loop {
        let next = match left.is_empty() {
            true => app.stopping.run_until_cancelled(ended.recv()).await,
            false => app.stopping.run_until_cancelled(tokio::time::sleep(PAUSE)).await.map(|()| left.pop_front()),
        };
        let Some(Some(revoked)) = next else { return };
        if let Err(rejection) = withdraw(&app, &revoked).await {
            // Until then the start of such a call is refused: see `AssistantHost`.
            tracing::warn!(%rejection, ?revoked, "calls of what was revoked are not withdrawn yet");
            left.push_back(revoked);
        }
    }
}

/// In every notebook where something of assistants may be open: those that are open now, and those that were left with work.
async fn withdraw(app: &App, revoked: &Revoked) -> Result<(), Rejection> {
    let mut notebooks: BTreeSet<NotebookId> = app.rooms.open_ids().into_iter().collect();
    let mut query = CatalogQuery { has_work: Some(true), ..CatalogQuery::default() };
    loop {
        let page = app.store.catalog(query.clone()).await.map_err(|error| {
            Rejection::new(RejectionCode::Unavailable, format!("the list of notebooks could not be read: {error}"))
        })?;
        notebooks.extend(page.entries.into_iter().map(|entry| entry.notebook_id));
        if page.next.is_none() {
            break;
        }
        query.after = page.next;
    }
    for notebook in &notebooks {
        withdraw_in(app, notebook, revoked).await?;
    }
    Ok(())
}

async fn withdraw_in(app: &App, notebook: &NotebookId, revoked: &Revoked) -> Result<(), Rejection> {
    let state = match app.rooms.open(notebook).read(by_server()).await {
        Ok(read) => read.notebook,
        Err(rejection) if rejection.code == RejectionCode::Unavailable => return Err(rejection),
        // A room of a notebook that was never made.
        Err(_) => return Ok(()),
    };
    let waits = state.tool_calls.values().any(|call| !matches!(call.phase, ToolCallPhase::Started { .. }));
    if state.turns.is_empty() && !waits {
        return Ok(());
    }
    let body = RawJson::of(&Command::WithdrawRevoked { revoked: revoked.clone() })
        .map_err(|error| Rejection::new(RejectionCode::InvalidValue, error.to_string()))?;
    let message = CommandMessage::new(ulid::Ulid::generate().into(), notebook.clone(), body);
    app.execute_as(by_server(), message).await.map(drop)
}

fn by_server() -> Arc<Identity> {
    let (name, connection) = ("server".to_owned(), String::new());
    Arc::new(Identity { actor: Actor::System, authority: Authority::default(), name, connection })
}
