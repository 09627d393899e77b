//! The audit of accounts, with the names of what was changed.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use notarium_store::accounts::{AccountError, AccountStore};
use notarium_wire::rest;

use super::AccountRoutes;
use crate::http::extract::QueryOf;
use crate::http::problem::Problem;

pub async fn read_audit(
    State(shared): State<AccountRoutes>,
    QueryOf(page): QueryOf<rest::AuditQuery>,
) -> Result<Json<Vec<rest::AuditEntry>>, Problem> {
    let store = shared.accounts.store();
    let records = store.audit(page.before, page.limit.unwrap_or(100).max(1)).await?;
    let mut names = HashMap::new();
    let mut entries = Vec::with_capacity(records.len());
    for record in records {
        let (action, subject) = (record.entry.action, record.entry.subject);
        let name = match NamedSubject::of(&action, &subject) {
            None => None,
            Some(named) => match names.get(&named) {
                Some(name) => Option::clone(name),
                None => {
                    let name = named.name(store).await?;
                    names.insert(named, name.clone());
                    name
                }
            },
        };
        let (number, at, actor) = (record.number, record.entry.at, record.entry.actor);
        entries.push(rest::AuditEntry { number, at, actor, action, subject, name });
    }
    Ok(Json(entries))
}

/// Subject with a name that the accounts know. People are not among them: readers have their names already.
#[derive(Debug, PartialEq, Eq, Hash)]
enum NamedSubject {
    Workspace(String),
    Token(String),
    ShareLink(String),
}

impl NamedSubject {
    /// Subjects are an id, or an id and another one after `/`: a workspace and its member, a notebook and its workspace.
    fn of(action: &str, subject: &str) -> Option<Self> {
        let (id, other) = subject.split_once('/').unwrap_or((subject, ""));
        match action.split_once('.')? {
            ("workspace", _) | ("group", "member" | "member_removed") => Some(Self::Workspace(id.to_owned())),
            ("notebook", "place") => Some(Self::Workspace(other.to_owned())),
            ("token" | "agent", _) => Some(Self::Token(id.to_owned())),
            ("share_link", _) => Some(Self::ShareLink(id.to_owned())),
            _ => None,
        }
    }

    async fn name(&self, store: &dyn AccountStore) -> Result<Option<String>, AccountError> {
        let name = match self {
            Self::Workspace(id) => match id.parse() {
                Ok(id) => store.workspace(&id).await?.map(|workspace| workspace.name),
                Err(_) => None,
            },
            Self::Token(id) => match id.parse() {
                Ok(id) => store.token(&id).await?.map(|token| token.label),
                Err(_) => None,
            },
            Self::ShareLink(id) => match id.parse() {
                Ok(id) => store.share_link(&id).await?.map(|link| link.label),
                Err(_) => None,
            },
        };
        Ok(name.filter(|name| !name.is_empty()))
    }
}
