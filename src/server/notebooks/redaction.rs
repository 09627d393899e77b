//! Redaction: reads the record twice for a plan, has the notebook's room decide, and then removes what is left of the content in files.

use std::sync::Arc;

use futures_util::TryStreamExt;
use notarium_core::{
    Command, Hash, NotebookId, RedactContent, RedactionPlan, RedactionSearch, RedactionTarget, RejectionCode, Stored,
    Version,
};
use notarium_store::StoreError;
use notarium_wire::CommandMessage;
use notarium_wire::rest::Redaction;
use ulid::Ulid;

use super::{Notebooks, body_of};
use crate::auth::Authenticated;
use crate::http::problem::Problem;
use crate::rooms::{DecodedCommand, OutsideFacts, identity};

/// Events per read.
const PAGE: usize = 2_000;

/// Attempts while the content is written again.
const ATTEMPTS: usize = 5;

impl Notebooks {
    /// Returns what a redaction would change. Nothing is changed.
    pub async fn preview_redaction(
        &self,
        notebook: &NotebookId,
        target: RedactionTarget,
    ) -> Result<Redaction, Problem> {
        let plan = self.plan_redaction(notebook, target).await?;
        Ok(answer(&plan, None))
    }

    /// Removes content for good; returns when it is gone from the files too.
    pub async fn redact(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        target: RedactionTarget,
        reason: String,
    ) -> Result<Redaction, Problem> {
        let command = Command::RedactContent(RedactContent { reason, target: target.without_text() });
        let mut attempts = 1;
        let (plan, ack) = loop {
            let plan = Arc::new(self.plan_redaction(notebook, target.clone()).await?);
            let message = CommandMessage::new(Ulid::generate().into(), notebook.clone(), body_of(&command)?);
            let facts = OutsideFacts { redaction: Some(plan.clone()), ..OutsideFacts::default() };
            let decoded = DecodedCommand::of(message, command.clone());
            let identity = identity(authenticated, notebook, "");
            match self.rooms.open(notebook).execute(identity, decoded, facts).await {
                Ok(ack) => break (plan, ack),
                Err(rejection) if rejection.code == RejectionCode::Conflict && attempts < ATTEMPTS => attempts += 1,
                Err(rejection) => return Err(rejection.into()),
            }
        };
        self.purge().await?;
        Ok(answer(&plan, Some(ack.version)))
    }

    /// Removes what is left of redacted content in files.
    pub async fn purge(&self) -> Result<(), Problem> {
        for (notebook, sha256) in self.store.blobs_to_purge().await? {
            self.blobs.delete(&notebook, &sha256).await?;
            self.store.blob_purged(&notebook, &sha256).await?;
        }
        self.store.purge().await.map_err(|error| {
            tracing::error!(%error, "what was redacted may still be in free pages of the database: the next start removes it");
            let detail = "the content is redacted, but its old bytes are still in the server's files: the next start removes them";
            Problem::unavailable(detail)
        })
    }

    async fn plan_redaction(&self, notebook: &NotebookId, target: RedactionTarget) -> Result<RedactionPlan, Problem> {
        target.check()?;
        let head = self.store.head(notebook).await?.map_or(0, |head| head.version);
        let search = RedactionSearch::new(target.clone());
        let search = self
            .each_page(notebook, head, search, |search, stored| stored.typed().map(|recorded| search.see(&recorded)));
        let plan = search.await?.plan(target.clone());
        let plan = self.each_page(notebook, head, plan, |plan, stored| {
            stored.typed().map(|recorded| plan.see(&recorded, stored.payload.get()))
        });
        let mut plan = plan.await?;
        if let RedactionTarget::Text { .. } = target {
            for sha256 in self.blobs_with(notebook, &target).await? {
                plan.add_blob(sha256);
            }
        }
        Ok(plan)
    }

    /// Folds the record up to a version, page by page, off the async threads.
    async fn each_page<T: Send + 'static, E: std::error::Error + Send + 'static>(
        &self,
        notebook: &NotebookId,
        to: Version,
        mut state: T,
        see: impl Fn(&mut T, &Stored) -> Result<(), E> + Copy + Send + 'static,
    ) -> Result<T, Problem> {
        let mut after = 0;
        while after < to {
            let mut events = self.store.read(notebook, after, PAGE).await?;
            events.retain(|stored| stored.envelope.version <= to);
            let Some(last) = events.last() else {
                return Err(StoreError::Unavailable { reason: format!("the record ends at version {after}") }.into());
            };
            after = last.envelope.version;
            let seen = tokio::task::spawn_blocking(move || {
                events.iter().try_for_each(|stored| see(&mut state, stored)).map(|()| state)
            });
            let seen = seen.await.map_err(|error| Problem::internal(error.to_string()))?;
            state = seen.map_err(|error| {
                Problem::new(http::StatusCode::CONFLICT, "read_only", format!("{error}: update this server first"))
            })?;
        }
        Ok(state)
    }

    /// Blobs of the notebook that have the text.
    async fn blobs_with(&self, notebook: &NotebookId, target: &RedactionTarget) -> Result<Vec<Hash>, Problem> {
        let entries: Vec<_> = self.blobs.list(notebook).try_collect().await?;
        let mut found = Vec::new();
        for entry in entries {
            let Some(bytes) = self.blobs.load(notebook, &entry.sha256.to_string()).await? else { continue };
            let target = target.clone();
            let is_found = tokio::task::spawn_blocking(move || target.is_in(&bytes)).await;
            if is_found.map_err(|error| Problem::internal(error.to_string()))? {
                found.push(entry.sha256);
            }
        }
        Ok(found)
    }
}

/// Deletes the blobs of redactions that a crash has cut off.
pub async fn finish(notebooks: Arc<Notebooks>) {
    match notebooks.store.blobs_to_purge().await {
        Ok(due) if due.is_empty() => {}
        _ => drop(notebooks.purge().await),
    }
}

fn answer(plan: &RedactionPlan, epoch: Option<Version>) -> Redaction {
    Redaction { versions: plan.versions().collect(), blobs: plan.blobs().len() as u64, epoch }
}
