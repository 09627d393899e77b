//! Lists the notebooks that a caller can see.

use notarium_core::{Actor, Subject, WorkspaceId};
use notarium_store::{CatalogCursor, CatalogEntry, CatalogQuery, StoreError};
use notarium_wire::rest::ListOrder;

use crate::auth::Authenticated;
use crate::notebooks::Notebooks;
use crate::rooms::subject_key;

/// Rounds per request. Together with `MAX_PAGE` they limit the catalog entries that one request reads.
const MAX_ROUNDS: usize = 20;
const MAX_PAGE: usize = 1_000;

/// Query of a listing.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Words that all have to be in the title or the sources.
    pub text: Option<String>,
    /// True for archived notebooks, false for the others.
    pub archived: bool,
    pub workspace: Option<WorkspaceId>,
    pub after: Option<CatalogCursor>,
    pub only_templates: bool,
    /// At least 1.
    pub limit: usize,
}

/// Notebooks, the last changed first, each with its workspace.
pub struct Page {
    pub entries: Vec<(CatalogEntry, Option<WorkspaceId>)>,
    /// `None` on the last page.
    pub next: Option<CatalogCursor>,
}

/// Notebooks that the caller can see, including all of the caller's own changes.
pub async fn visible(notebooks: &Notebooks, authenticated: &Authenticated, wanted: Wanted) -> Result<Page, StoreError> {
    notebooks.rooms.list_changes_of(&authenticated.actor).await;
    let subjects = subjects_of(authenticated);
    let mut catalog = CatalogQuery {
        // Members of a workspace see its notebooks, whatever the access lists say. Such entries are checked below.
        subjects: if sees_by_coverage(authenticated) { None } else { Some(subjects.clone()) },
        text: wanted.text.filter(|text| !text.trim().is_empty()),
        archived: Some(wanted.archived),
        is_template: wanted.only_templates.then_some(true),
        after: wanted.after,
        limit: wanted.limit,
        ..CatalogQuery::default()
    };
    let mut entries = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let page = notebooks.store.catalog(catalog.clone()).await?;
        for entry in page.entries {
            let place = authenticated.workspace_of(&entry.notebook_id);
            let cursor = CatalogCursor { updated_at: entry.updated_at, notebook_id: entry.notebook_id.clone() };
            if sees(authenticated, &subjects, &entry) && (wanted.workspace.is_none() || wanted.workspace == place) {
                entries.push((entry, place));
            }
            catalog.after = Some(cursor);
            if entries.len() == wanted.limit {
                return Ok(Page { entries, next: catalog.after });
            }
        }
        if page.next.is_none() {
            return Ok(Page { entries, next: None });
        }
        catalog.limit = MAX_PAGE;
    }
    Ok(Page { entries, next: catalog.after })
}

/// Notebooks that the caller can see, in another order, from an index on. Reads all of them.
pub async fn sorted(
    notebooks: &Notebooks,
    authenticated: &Authenticated,
    wanted: Wanted,
    order: ListOrder,
    from: usize,
) -> Result<(Page, Option<usize>), StoreError> {
    let limit = wanted.limit;
    let mut all = Vec::new();
    let mut after = None;
    for _ in 0..MAX_ROUNDS {
        let page = visible(notebooks, authenticated, Wanted { after, limit: MAX_PAGE, ..wanted.clone() }).await?;
        all.extend(page.entries);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    match order {
        ListOrder::Changed => {}
        ListOrder::Title => {
            all.sort_by_cached_key(|(entry, _)| (entry.title.to_lowercase(), entry.notebook_id.clone()))
        }
        ListOrder::Created => all.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.created_at)),
    }
    let next = Some(from + limit).filter(|next| *next < all.len());
    Ok((Page { entries: all.into_iter().skip(from).take(limit).collect(), next: None }, next))
}

/// True for agents and for members of workspaces.
pub fn sees_by_coverage(authenticated: &Authenticated) -> bool {
    matches!(authenticated.actor, Actor::Agent { .. }) || !authenticated.workspaces.is_empty()
}

pub fn sees(authenticated: &Authenticated, subjects: &[String], entry: &CatalogEntry) -> bool {
    let is_listed = entry.access.iter().any(|(subject, _)| subjects.contains(subject));
    let is_ambient = authenticated.authority_for(&entry.notebook_id).ambient_role.is_some();
    authenticated.may_see(&entry.notebook_id) && (is_listed || is_ambient)
}

/// Subjects under which the access lists may name the caller.
pub fn subjects_of(authenticated: &Authenticated) -> Vec<String> {
    let own = match &authenticated.actor {
        Actor::User { id } | Actor::Assistant { for_user: id, .. } => Some(Subject::User { id: id.clone() }),
        Actor::Guest { share_link } => Some(Subject::ShareLink { id: share_link.clone() }),
        Actor::Agent { id } => Some(Subject::Agent { id: id.clone() }),
        Actor::System => None,
    };
    let workspaces = authenticated.workspaces.keys().map(|id| Subject::Workspace { id: id.clone() });
    own.into_iter().chain(workspaces).map(|subject| subject_key(&subject)).collect()
}
