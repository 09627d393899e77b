//! Changes of accounts by other nodes of a cluster: what is cached is dropped, and live connections recheck their tokens.
//!
//! Nodes follow the audit of accounts, whose numbers rise in the order of the changes.

use std::time::Duration;

use notarium_core::{NotebookId, Revoked, ShareLinkId, TokenId, UserId, WorkspaceId};
use notarium_store::accounts::{AccountError, AuditRecord};
use tokio_util::sync::CancellationToken;

use super::{Accounts, Revocation};
use crate::cluster::ClusterNotice;
use crate::outage::Outage;

/// Interval of looks at the audit.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Entries per page.
const PAGE: usize = 100;
/// Number of missed entries above which every connection rechecks its token.
const MAX_MISSED: usize = 10_000;
/// Placements read to find that of one notebook.
const PLACEMENTS: usize = 1_000;

impl Accounts {
    /// Number of the last change.
    pub async fn last_change(&self) -> Result<u64, AccountError> {
        Ok(self.store().audit(None, 1).await?.first().map_or(0, |record| record.number))
    }

    /// Applies the changes of other nodes after number `last`, until `stopping`.
    pub async fn follow_changes(self, mut last: u64, stopping: CancellationToken) {
        let mut outage = Outage::new(
            "changes of accounts by other nodes were not read",
            "changes of accounts by other nodes are read again",
        );
        while stopping.run_until_cancelled(tokio::time::sleep(LOOK_EVERY)).await.is_some() {
            let looked = self.look(last).await;
            last = *looked.as_ref().unwrap_or(&last);
            outage.log(looked.map(drop));
        }
    }

    async fn look(&self, last: u64) -> Result<u64, AccountError> {
        let (mut missed, mut before) = (Vec::new(), None);
        loop {
            let page = self.store().audit(before, PAGE).await?;
            let is_last = page.len() < PAGE || page.iter().any(|record| record.number <= last);
            before = page.last().map(|record| record.number);
            missed.extend(page.into_iter().filter(|record| record.number > last));
            if is_last || missed.len() > MAX_MISSED {
                break;
            }
        }
        let Some(newest) = missed.first().map(|record| record.number) else { return Ok(last) };
        for record in missed.iter().rev() {
            self.take_change(record).await?;
        }
        if missed.len() > MAX_MISSED {
            self.revoke(Revocation::Anybody);
        }
        Ok(newest)
    }

    async fn take_change(&self, record: &AuditRecord) -> Result<(), AccountError> {
        let subject = record.entry.subject.as_str();
        let (first, second) = subject.split_once('/').unwrap_or((subject, ""));
        match record.entry.action.as_str() {
            action if is_addition(action) => {}
            "notebook.place" => self.place_again(first).await?,
            "token.revoke" | "session.sign_out" => self.end_token(subject),
            "share_link.revoke" => {
                self.revoke(ShareLinkId::new(subject).map_or(Revocation::Anybody, Revocation::ShareLink))
            }
            "workspace.member" | "workspace.member_removed" => {
                self.revoke(person(second));
                self.revoke(WorkspaceId::new(first).map_or(Revocation::Anybody, Revocation::Workspace));
            }
            "workspace.create" | "session.exchange" => self.change_rights(person_of(&record.entry.actor)),
            "user.profile" | "user.password" | "user.admin" | "user.reset" | "user.reactivate" | "identity.unlink" => {
                self.change_rights(person(first));
            }
            "user.deactivate" => {
                if let Ok(user) = UserId::new(first) {
                    self.notify_cluster(ClusterNotice::AccessEnded(Revoked::User(user)));
                }
                self.change_rights(Revocation::Anybody);
            }
            // An action that this build does not know may have ended any right.
            _ => self.change_rights(Revocation::Anybody),
        }
        Ok(())
    }

    fn end_token(&self, token: &str) {
        let Ok(token) = TokenId::new(token) else { return self.change_rights(Revocation::Anybody) };
        self.notify_cluster(ClusterNotice::AccessEnded(Revoked::Token(token.clone())));
        self.revoke(Revocation::Token(token));
    }

    /// The tokens that it touches are read again, also those of open requests of assistants.
    fn change_rights(&self, revocation: Revocation) {
        self.notify_cluster(ClusterNotice::AccessChanged);
        self.revoke(revocation);
    }

    /// Reads the workspace of a notebook that another node has placed.
    async fn place_again(&self, notebook: &str) -> Result<(), AccountError> {
        let Ok(notebook) = NotebookId::new(notebook) else { return Ok(()) };
        // Ids are sorted by their bytes: the beginning of an id comes before it.
        let text = notebook.as_str();
        let mut after = NotebookId::new(&text[..text.len() - 1]).ok();
        let found = loop {
            let page = self.store().placements(after.as_ref(), PLACEMENTS).await?;
            if let Some((_, workspace)) = page.iter().find(|(id, _)| *id == notebook) {
                break Some(workspace.clone());
            }
            match page.into_iter().next_back() {
                Some((last, _)) if last < notebook => after = Some(last),
                _ => break None,
            }
        };
        self.shared.placements.place(&notebook, found.as_ref());
        if let Some(usage) = self.usage() {
            usage.placed(&notebook, found);
        }
        self.revoke(Revocation::Notebook(notebook));
        Ok(())
    }
}

/// True for actions that end no right, and give none to a token that may be cached.
fn is_addition(action: &str) -> bool {
    matches!(
        action,
        "token.create"
            | "agent.create"
            | "session.sign_in"
            | "session.sign_in_afresh"
            | "session.oidc"
            | "session.oidc_afresh"
            | "session.browser"
            | "share_link.create"
            | "user.create"
            | "user.join"
            | "user.owner_token"
            | "identity.link"
            | "workspace.rename"
            | "signing_key.begin"
            | "notice.settings"
            | "notice.new_address"
            | "notice.address"
            | "webhook.create"
            | "webhook.rotate"
            | "webhook.delete"
            | "cap.set"
            | "cap.remove"
    )
}

fn person(id: &str) -> Revocation {
    UserId::new(id).map_or(Revocation::Anybody, Revocation::User)
}

/// The person of an `Actor::key()`.
fn person_of(key: &str) -> Revocation {
    key.strip_prefix("user:").map_or(Revocation::Anybody, person)
}
