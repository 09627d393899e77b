//! From what people type to ids: notebooks by title, cells by a part of their id, people by login.

use notarium_core::{CellId, Document, NotebookId, UserId};
use notarium_wire::rest::{NotebookLine, NotebookPage, Person};
use reqwest::StatusCode;

use super::client::{Client, RequestError, percent_encoded};
use super::{Failure, print};

/// Notebooks of one page of the list.
const PAGE: usize = 200;
/// Pages that are looked through for a title.
const MAX_PAGES: usize = 25;
/// Candidates that an ambiguous name lists.
const MAX_LISTED: usize = 10;

/// What is listed.
#[derive(Debug, Clone, Default)]
pub struct Listing<'a> {
    /// Words that all stand in title or sources.
    pub text: Option<&'a str>,
    pub archived: bool,
    pub workspace: Option<&'a str>,
}

/// All notebooks of a listing, the last changed first, up to `limit`.
pub async fn list(client: &Client, listing: &Listing<'_>, limit: usize) -> Result<Vec<NotebookLine>, Failure> {
    let mut query = format!("archived={}", listing.archived);
    for (name, value) in [("text", listing.text), ("workspace", listing.workspace)] {
        query.extend(value.map(|value| format!("&{name}={}", percent_encoded(value))));
    }
    let mut found = Vec::new();
    let mut cursor = String::new();
    while found.len() < limit {
        let page_limit = (limit - found.len()).min(PAGE);
        let path = format!("/api/notebooks?{query}&limit={page_limit}{cursor}");
        let page: NotebookPage = client.get(&path).await?;
        found.extend(page.notebooks);
        let Some(next) = page.next else { break };
        cursor = format!("&cursor={}", percent_encoded(&next));
    }
    found.truncate(limit);
    Ok(found)
}

/// A notebook by its id, else by its title when exactly one has it.
pub async fn notebook(client: &Client, name: &str) -> Result<NotebookId, Failure> {
    match NotebookId::new(name) {
        Ok(id) if exists(client, &id).await? => Ok(id),
        _ => by_title(client, name).await,
    }
}

async fn exists(client: &Client, id: &NotebookId) -> Result<bool, Failure> {
    let request = client.request(reqwest::Method::GET, &format!("/api/notebooks/{id}/events?limit=1"));
    match client.try_send(request).await {
        Ok(_) => Ok(true),
        Err(RequestError::Refused { status: StatusCode::NOT_FOUND, .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

async fn by_title(client: &Client, title: &str) -> Result<NotebookId, Failure> {
    let mut found = titled(client, title, Some(title)).await?;
    if found.is_empty() {
        // The search knows words; a title may be none, and may be older than the search's list.
        found = titled(client, title, None).await?;
    }
    match found.as_slice() {
        [only] => Ok(only.id.clone()),
        [] => Err(Failure::failed(format!("no notebook has the id or title '{title}': `notarium ls` lists yours"))),
        several => Err(ambiguous(title, several)),
    }
}

/// Notebooks of exactly this title; without one, of this title in other capitals.
async fn titled(client: &Client, title: &str, text: Option<&str>) -> Result<Vec<NotebookLine>, Failure> {
    let mut candidates = Vec::new();
    for archived in [false, true] {
        let listing = Listing { text, archived, workspace: None };
        candidates.extend(list(client, &listing, PAGE * MAX_PAGES).await?);
    }
    let folded = title.to_lowercase();
    candidates.retain(|line| line.title.to_lowercase() == folded);
    if candidates.iter().any(|line| line.title == title) {
        candidates.retain(|line| line.title == title);
    }
    Ok(candidates)
}

fn ambiguous(title: &str, several: &[NotebookLine]) -> Failure {
    let lines = several.iter().take(MAX_LISTED).map(|line| {
        let archived = if line.archived { ", archived" } else { "" };
        format!("\n  {}  changed {}{archived}", line.id, print::time(line.updated_at))
    });
    let lines: String = lines.collect();
    Failure::usage(format!("{} notebooks have the title '{title}': name one by its id{lines}", several.len()))
}

/// A live cell by its id, or by a beginning or an end of it that no other cell has.
pub fn cell(notebook: &Document, name: &str) -> Result<CellId, Failure> {
    cell_among(notebook.order.iter(), name)
}

/// As [`cell`], among some.
pub fn cell_among<'a>(cells: impl Iterator<Item = &'a CellId>, name: &str) -> Result<CellId, Failure> {
    let cells: Vec<&CellId> = cells.collect();
    if let Some(exact) = cells.iter().find(|id| id.as_str() == name) {
        return Ok((*exact).clone());
    }
    let fits = |id: &&&CellId| !name.is_empty() && (id.as_str().starts_with(name) || id.as_str().ends_with(name));
    match cells.iter().filter(fits).collect::<Vec<_>>().as_slice() {
        [only] => Ok((**only).clone()),
        [] => Err(Failure::failed(format!("no cell has the id '{name}': `notarium show` shows the ids"))),
        several => {
            let ids: Vec<&str> = several.iter().take(MAX_LISTED).map(|id| id.as_str()).collect();
            Err(Failure::usage(format!("'{name}' may be each of {}: write more of it", ids.join(", "))))
        }
    }
}

/// A person by login, as the one who wants to share may ask for.
pub async fn person(client: &Client, login: &str) -> Result<UserId, Failure> {
    let path = format!("/api/people?login={}", percent_encoded(login));
    match client.try_send(client.request(reqwest::Method::GET, &path)).await {
        Ok(response) => Ok(client.read::<Person>(response).await?.id),
        Err(RequestError::Refused { status: StatusCode::NOT_FOUND, .. }) => {
            Err(Failure::failed(format!("nobody has the login '{login}': check it, or use user:ID")))
        }
        Err(error) => Err(error.into()),
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
        assert_eq!(found("ab"), Err(crate::cli::failure::FailureKind::Usage));
        assert_eq!(found("q"), Err(crate::cli::failure::FailureKind::Failed));
        assert!(found("").is_err());
    }
}
