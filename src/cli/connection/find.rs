//! Resolves names to ids (notebooks by title, cells by a part of their id, people by login), and ids of people to names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use notarium_core::{
    Actor, AgentId, CellId, CommentId, Document, NotebookId, ShareLinkId, Subject, Thread, ThreadId, UserId,
    WorkspaceId,
};
use notarium_wire::rest::{CellAnswer, Guest, NotebookLine, NotebookPage, Person, Token, Trash, Workspace};
use tokio::sync::OnceCell;

use crate::cli::Failure;
use crate::cli::connection::client::{NotebookClient, RestClient, with_query};
use crate::cli::terminal::print;
use crate::cli::terminal::values::word;

/// Most notebooks that are searched for a title.
const MAX_LOOKED_THROUGH: usize = 5_000;
/// Most candidates in the error for an ambiguous name.
const MAX_LISTED: usize = 10;

/// Notebooks of a listing, last changed first, up to `limit`. `text`: words that must all be in title or sources.
pub async fn list(
    client: &RestClient,
    text: Option<&str>,
    is_archived: bool,
    workspace: Option<&WorkspaceId>,
    limit: usize,
) -> Result<Vec<NotebookLine>, Failure> {
    let archived = is_archived.to_string();
    let query =
        [("archived", Some(archived.as_str())), ("text", text), ("workspace", workspace.map(WorkspaceId::as_str))];
    let split = |page: NotebookPage| (page.notebooks, page.next.map(|next| ("cursor", next)));
    client.pages("/api/notebooks", &query, limit, split).await
}

/// A notebook by its id, else by its unique title.
pub async fn notebook(client: &RestClient, name: &str) -> Result<NotebookClient, Failure> {
    if let Ok(id) = NotebookId::new(name) {
        let notebook = client.notebook(id);
        match notebook.events(0, 1).await {
            Err(failure) if failure.is_not_found() => {}
            found => return found.map(|_| notebook),
        }
    }
    by_title(client, name).await.map(|id| client.notebook(id))
}

/// Like [`notebook`], if a name is given.
pub async fn named(client: &RestClient, name: Option<&str>) -> Result<Option<NotebookClient>, Failure> {
    match name {
        Some(name) => notebook(client, name).await.map(Some),
        None => Ok(None),
    }
}

async fn by_title(client: &RestClient, title: &str) -> Result<NotebookId, Failure> {
    let mut found = titled(client, title, Some(title)).await?;
    if found.is_empty() {
        // The search finds words; a title may contain none, or be newer than the search index.
        found = titled(client, title, None).await?;
    }
    match found.as_slice() {
        [only] => Ok(only.id.clone()),
        [] => Err(Failure::failed(format!("no notebook has the id or title '{title}': `notarium ls` lists yours"))),
        several => Err(ambiguous(title, several)),
    }
}

/// Notebooks, also archived ones.
async fn all(client: &RestClient, text: Option<&str>) -> Result<Vec<NotebookLine>, Failure> {
    let mut all = list(client, text, false, None, MAX_LOOKED_THROUGH).await?;
    all.extend(list(client, text, true, None, MAX_LOOKED_THROUGH).await?);
    Ok(all)
}

/// Notebooks with exactly this title; if there are none, with this title in other capitals.
async fn titled(client: &RestClient, title: &str, text: Option<&str>) -> Result<Vec<NotebookLine>, Failure> {
    let mut candidates = all(client, text).await?;
    let folded = title.to_lowercase();
    candidates.retain(|line| line.title.to_lowercase() == folded);
    if candidates.iter().any(|line| line.title == title) {
        candidates.retain(|line| line.title == title);
    }
    Ok(candidates)
}

/// Titles of the other notebooks that begin with this one.
pub async fn titles_like(client: &RestClient, title: &str, except: &NotebookId) -> Result<BTreeSet<String>, Failure> {
    let others =
        all(client, None).await?.into_iter().filter(|line| line.id != *except && line.title.starts_with(title));
    Ok(others.map(|line| line.title).collect())
}

fn ambiguous(title: &str, several: &[NotebookLine]) -> Failure {
    let lines = several.iter().take(MAX_LISTED).map(|line| {
        let archived = if line.archived { ", archived" } else { "" };
        format!("\n  {}  changed {}{archived}", line.id, print::time(line.updated_at))
    });
    let lines: String = lines.collect();
    Failure::usage(format!("{} notebooks have the title '{title}': name one by its id{lines}", several.len()))
}

/// A cell by its id, or by a unique beginning or end of it.
pub fn cell(notebook: &Document, name: &str) -> Result<CellId, Failure> {
    cell_among(notebook.order.iter(), name)
}

/// Like [`cell`], among the given cells.
pub fn cell_among<'a>(cells: impl Iterator<Item = &'a CellId>, name: &str) -> Result<CellId, Failure> {
    let nowhere = "no cell has that id: `notarium show` shows the ids, `notarium cell trash` those in the trash";
    among(cells, CellId::as_str, name, nowhere).cloned()
}

/// A cell in the trash, by its id or a unique beginning or end of it.
pub async fn trashed(notebook: &NotebookClient, name: &str) -> Option<CellId> {
    let trash: Trash = notebook.get("/trash").await.ok()?;
    if let Ok(cell_id) = cell_among(trash.cells.iter().map(|cell| &cell.cell_id), name) {
        return Some(cell_id);
    }
    // The list is not complete, if very many cells were deleted.
    let cell_id = CellId::new(name).ok()?;
    let gone = notebook.get::<CellAnswer>(&format!("/cells/{cell_id}")).await.err()?;
    gone.has_code("cell_deleted").then_some(cell_id)
}

/// A thread by its id, or by a unique beginning or end of it.
pub fn thread(notebook: &Document, name: &str) -> Result<ThreadId, Failure> {
    let nowhere = "no thread has that id: `notarium comments --all` shows the ids";
    among(notebook.threads.keys(), ThreadId::as_str, name, nowhere).cloned()
}

/// A comment by its id, or by a unique beginning or end of it; and its thread.
pub fn comment(notebook: &Document, name: &str) -> Result<(ThreadId, CommentId), Failure> {
    let comments = |(id, thread): (&ThreadId, &Arc<Thread>)| {
        thread.comments.iter().map(|comment| (id.clone(), comment.comment_id.clone())).collect::<Vec<_>>()
    };
    let all: Vec<(ThreadId, CommentId)> = notebook.threads.iter().flat_map(comments).collect();
    let nowhere = "no comment has that id: `notarium comments --all` shows the ids";
    among(all.iter(), |(_, id)| id.as_str(), name, nowhere).cloned()
}

/// The item with that id, else the only one whose id begins or ends with it.
fn among<'a, T>(
    all: impl Iterator<Item = &'a T>,
    id: fn(&T) -> &str,
    name: &str,
    nowhere: &str,
) -> Result<&'a T, Failure> {
    let all: Vec<&T> = all.collect();
    if let Some(exact) = all.iter().find(|one| id(one) == name) {
        return Ok(exact);
    }
    let fits = |one: &&&T| !name.is_empty() && (id(one).starts_with(name) || id(one).ends_with(name));
    match all.iter().filter(fits).collect::<Vec<_>>().as_slice() {
        [only] => Ok(only),
        [] => Err(Failure::failed(format!("'{name}': {nowhere}"))),
        several => {
            let ids: Vec<&str> = several.iter().take(MAX_LISTED).map(|one| id(one)).collect();
            Err(Failure::usage(format!("'{name}' may be each of {}: write more of it", ids.join(", "))))
        }
    }
}

/// A person by login, for sharing.
pub async fn person(client: &RestClient, login: &str) -> Result<UserId, Failure> {
    match client.get::<Person>(&with_query("/api/people", &[("login", Some(login))])).await {
        Err(failure) if failure.is_not_found() => {
            Err(Failure::failed(format!("nobody has the login '{login}': check it, or use user:ID")))
        }
        found => found.map(|person| person.id),
    }
}

/// A workspace by its id, else by its unique name.
pub async fn workspace(client: &RestClient, name: &str) -> Result<WorkspaceId, Failure> {
    let mut found: Vec<Workspace> = client.get("/api/workspaces").await?;
    if let Some(exact) = found.iter().find(|workspace| workspace.id.as_str() == name) {
        return Ok(exact.id.clone());
    }
    let folded = name.to_lowercase();
    found.retain(|workspace| workspace.name.to_lowercase() == folded);
    if found.iter().any(|workspace| workspace.name == name) {
        found.retain(|workspace| workspace.name == name);
    }
    match found.as_slice() {
        [only] => Ok(only.id.clone()),
        // Only one's own are listed; the server knows the others.
        [] => ulid::Ulid::from_string(name).map(WorkspaceId::from).map_err(|_| {
            let lists = "`notarium workspace ls` lists yours, `notarium workspace new NAME` makes one";
            Failure::failed(format!("no workspace of yours has the id or name '{name}': {lists}"))
        }),
        several => {
            let role = |it: &Workspace| {
                format!("\n  {}  you are {}, made {}", it.id, word(&it.role), print::time(it.created_at))
            };
            let lines: String = several.iter().take(MAX_LISTED).map(role).collect();
            Err(Failure::usage(format!(
                "{} workspaces have the name '{name}': name one by its id{lines}",
                several.len()
            )))
        }
    }
}

/// Like [`workspace`], if a name is given.
pub async fn named_workspace(client: &RestClient, name: Option<&str>) -> Result<Option<WorkspaceId>, Failure> {
    match name {
        Some(name) => workspace(client, name).await.map(Some),
        None => Ok(None),
    }
}

/// Parses `user:ID`, `agent:ID`, `workspace:NAME` or `share_link:ID`; anything else is a person's login.
pub async fn subject(client: &RestClient, text: &str) -> Result<Subject, Failure> {
    let Some((kind, id)) = text.split_once(':') else {
        return Ok(Subject::User { id: person(client, text).await? });
    };
    if kind == "workspace" {
        return Ok(Subject::Workspace { id: workspace(client, id).await? });
    }
    serde_json::from_value(serde_json::json!({ "kind": kind, "id": id })).map_err(|_| {
        let shapes = "a login, user:ID, agent:ID, workspace:NAME or share_link:ID";
        Failure::usage(format!("'{text}' names nobody: write {shapes}"))
    })
}

// --- ids to names ---

/// Cache of names. Unresolved actors are named by their ids.
#[derive(Debug)]
pub struct People {
    client: RestClient,
    users: BTreeMap<UserId, String>,
    guests: BTreeMap<ShareLinkId, String>,
    agents: OnceCell<BTreeMap<AgentId, String>>,
    workspaces: OnceCell<BTreeMap<WorkspaceId, String>>,
}

impl People {
    pub fn new(client: &RestClient) -> Self {
        let (users, guests) = (BTreeMap::new(), BTreeMap::new());
        Self { client: client.clone(), users, guests, agents: OnceCell::new(), workspaces: OnceCell::new() }
    }

    /// The name of an actor.
    pub async fn name(&mut self, actor: &Actor) -> String {
        let name = match actor {
            Actor::User { id } => self.user(id).await,
            Actor::Assistant { for_user, .. } => format!("the assistant of {}", self.user(for_user).await),
            Actor::Agent { id } => self.agent(id).await,
            Actor::Guest { share_link } => self.guest(share_link).await,
            Actor::System => "the server".to_owned(),
        };
        print::clean(&name)
    }

    /// The name of a subject in an access list.
    pub async fn subject(&mut self, subject: &Subject) -> String {
        let name = match subject {
            Subject::User { id } => self.user(id).await,
            Subject::Agent { id } => self.agent(id).await,
            Subject::ShareLink { id } => format!("share link of {}", self.guest(id).await),
            Subject::Workspace { id } => self.workspace(id).await,
        };
        print::clean(&name)
    }

    async fn user(&mut self, id: &UserId) -> String {
        if let Some(name) = self.users.get(id) {
            return name.clone();
        }
        let found = self.client.get::<Person>(&format!("/api/people/{id}")).await;
        let name = found.map_or_else(|_| format!("user {}", print::short(id.as_str())), |person| person.name);
        self.users.insert(id.clone(), name.clone());
        name
    }

    async fn guest(&mut self, id: &ShareLinkId) -> String {
        if let Some(name) = self.guests.get(id) {
            return name.clone();
        }
        let found = self.client.get::<Guest>(&format!("/api/guests/{id}")).await;
        let name = match found {
            Ok(guest) if guest.name == "Guest" => "a guest".to_owned(),
            Ok(guest) => format!("{} (guest)", guest.name),
            Err(_) => format!("guest {}", print::short(id.as_str())),
        };
        self.guests.insert(id.clone(), name.clone());
        name
    }

    async fn agent(&mut self, id: &AgentId) -> String {
        let asking = async || {
            // Listed only for their creator; other users see the id.
            let tokens: Vec<Token> = self.client.get("/api/agents").await.unwrap_or_default();
            tokens.into_iter().filter_map(|token| Some((token.agent?, token.label))).collect()
        };
        let label = self.agents.get_or_init(asking).await.get(id).filter(|label| !label.is_empty());
        label.map_or_else(|| format!("agent {}", print::short(id.as_str())), |label| format!("agent \"{label}\""))
    }

    async fn workspace(&mut self, id: &WorkspaceId) -> String {
        let asking = async || {
            // Listed only for members; other users see the id.
            let workspaces: Vec<Workspace> = self.client.get("/api/workspaces").await.unwrap_or_default();
            workspaces.into_iter().map(|workspace| (workspace.id, workspace.name)).collect()
        };
        let name = self.workspaces.get_or_init(asking).await.get(id);
        name.map_or_else(|| format!("workspace {id}"), |name| format!("workspace \"{name}\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(ids: &[&str]) -> Vec<CellId> {
        ids.iter().map(|id| id.parse().unwrap()).collect()
    }

    #[test]
    fn a_cell_is_named_by_as_much_as_tells_it_apart() {
        let cells = cells(&["abc1", "abc", "xyz9"]);
        let found = |name: &str| cell_among(cells.iter(), name).map(|id| id.to_string()).map_err(|error| error.kind);
        assert_eq!(found("abc"), Ok("abc".into()), "an exact id wins");
        assert_eq!(found("xy"), Ok("xyz9".into()));
        assert_eq!(found("z9"), Ok("xyz9".into()));
        assert_eq!(found("ab"), Err(crate::cli::terminal::failure::FailureKind::Usage));
        assert_eq!(found("q"), Err(crate::cli::terminal::failure::FailureKind::Failed));
        assert!(found("").is_err());
    }
}
