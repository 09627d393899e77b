//! Who may do what in a notebook: grants and share links.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use notarium_core::{Command, Millis, Role, ShareLinkId, Subject};
use notarium_wire::rest::{Access, CreatedShareLink, NewShareLink, ShareLink};
use reqwest::Method;

use super::client::Client;
use super::narrate::word;
use super::people::People;
use super::print::{self, Table};
use super::{Context, Ended, Failure, find, notebooks};

// --- values ---

/// A role as people write it.
pub fn parse_role(text: &str) -> Result<Role, String> {
    let known = Role::ALL.into_iter().find(|role| word(role) == text);
    known.ok_or_else(|| format!("a role is one of {}", Role::ALL.map(|role| word(&role)).join(", ")))
}

/// A length of time as people write it: `30m`, `12h`, `7d`, `2w`; in milliseconds.
pub fn parse_duration(text: &str) -> Result<Millis, String> {
    let explained = || format!("'{text}' is no length of time: write for instance 30m, 12h, 7d or 2w");
    let unit = text.chars().last().ok_or_else(explained)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        _ => return Err(explained()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| explained())?;
    number.checked_mul(seconds * 1_000).filter(|length| *length > 0).ok_or_else(explained)
}

/// The time after a length of time from now.
pub fn expiry(length: Option<Millis>) -> Option<Millis> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    length.map(|length| Millis::try_from(now).unwrap_or(Millis::MAX).saturating_add(length))
}

/// `user:ID`, `agent:ID`, `workspace:ID`, `share_link:ID`, else a person's login.
async fn subject(client: &Client, text: &str) -> Result<Subject, Failure> {
    let Some((kind, id)) = text.split_once(':') else {
        return Ok(Subject::User { id: find::person(client, text).await? });
    };
    serde_json::from_value(serde_json::json!({ "kind": kind, "id": id })).map_err(|_| {
        let shapes = "a login, user:ID, agent:ID, workspace:ID or share_link:ID";
        Failure::usage(format!("'{text}' names nobody: write {shapes}"))
    })
}

fn subject_text(subject: &Subject) -> String {
    match subject {
        Subject::User { id } => format!("user:{id}"),
        Subject::ShareLink { id } => format!("share_link:{id}"),
        Subject::Workspace { id } => format!("workspace:{id}"),
        Subject::Agent { id } => format!("agent:{id}"),
    }
}

// --- access ---

#[derive(Debug, Subcommand)]
pub enum AccessCommand {
    /// List who has which role.
    Ls(ListArgs),
    /// Give somebody a role, or another one.
    #[command(after_help = "Examples:
  notarium access grant analysis ann editor
  notarium access grant analysis workspace:01J… viewer --expires 30d")]
    Grant(GrantArgs),
    /// Take somebody's role away; their open connections hear of it at once.
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Id or title.
    notebook: String,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct GrantArgs {
    /// Id or title.
    notebook: String,
    /// A login, or user:ID, agent:ID, workspace:ID, share_link:ID.
    who: String,
    /// viewer, commenter, runner, author, editor or owner.
    #[arg(value_parser = parse_role)]
    role: Role,
    /// For so long: 30m, 12h, 7d, 2w; absent: until it is revoked.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    expires: Option<Millis>,
}

#[derive(Debug, Args)]
pub struct RevokeArgs {
    /// Id or title.
    notebook: String,
    /// A login, or what `access ls` lists.
    who: String,
}

pub async fn access(command: AccessCommand, context: &Context) -> Ended {
    let client = context.client()?;
    match command {
        AccessCommand::Ls(args) => list(&client, args).await,
        AccessCommand::Grant(args) => {
            let notebook = find::notebook(&client, &args.notebook).await?;
            let subject = subject(&client, &args.who).await?;
            let command = Command::GrantAccess { subject, role: args.role, expires_at: expiry(args.expires) };
            notebooks::report(&client.command(&notebook, &command).await?);
            Ok(())
        }
        AccessCommand::Revoke(args) => {
            let notebook = find::notebook(&client, &args.notebook).await?;
            let subject = subject(&client, &args.who).await?;
            notebooks::report(&client.command(&notebook, &Command::RevokeAccess { subject }).await?);
            Ok(())
        }
    }
}

async fn list(client: &Client, args: ListArgs) -> Ended {
    let notebook = find::notebook(client, &args.notebook).await?;
    let list: Access = client.get(&format!("/api/notebooks/{notebook}/access")).await?;
    if args.json {
        return print::json(&list);
    }
    let mut people = People::default();
    let mut table = Table::new(&["who", "name", "role", "until"]);
    for entry in &list.access {
        let name = people.subject(client, &entry.subject).await;
        let until = print::optional_time(entry.grant.expires_at);
        table.row(vec![subject_text(&entry.subject), name, word(&entry.grant.role), until]);
    }
    table.print("nobody has a role of their own here")
}

// --- share links ---

#[derive(Debug, Subcommand)]
pub enum ShareCommand {
    /// Make a link by which people without an account take part, and print it.
    #[command(after_help = "Example:\n  notarium share new analysis --role viewer --expires 7d")]
    New(NewLinkArgs),
    /// List the links that were not revoked.
    Ls(ListArgs),
    /// End a link and its connections.
    Revoke(RevokeLinkArgs),
}

#[derive(Debug, Args)]
pub struct NewLinkArgs {
    /// Id or title.
    notebook: String,
    /// viewer, commenter, runner, author or editor.
    #[arg(long, value_parser = parse_role)]
    role: Role,
    /// For so long: 30m, 12h, 7d, 2w; absent: until it is revoked.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    expires: Option<Millis>,
    /// What others see instead of a name.
    #[arg(long, default_value = "")]
    label: String,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct RevokeLinkArgs {
    /// Id or title.
    notebook: String,
    /// As `share ls` lists it.
    link: ShareLinkId,
}

pub async fn share(command: ShareCommand, context: &Context) -> Ended {
    let client = context.client()?;
    match command {
        ShareCommand::New(args) => new_link(&client, args).await,
        ShareCommand::Ls(args) => list_links(&client, args).await,
        ShareCommand::Revoke(args) => {
            let notebook = find::notebook(&client, &args.notebook).await?;
            let path = format!("/api/notebooks/{notebook}/share-links/{}", args.link);
            client.send(client.request(Method::DELETE, &path)).await?;
            print::note(format!("revoked {}", args.link));
            Ok(())
        }
    }
}

async fn new_link(client: &Client, args: NewLinkArgs) -> Ended {
    let notebook = find::notebook(client, &args.notebook).await?;
    let new = NewShareLink { role: args.role, label: args.label, expires_at: expiry(args.expires) };
    let made: CreatedShareLink = client.post(&format!("/api/notebooks/{notebook}/share-links"), &new).await?;
    if args.json {
        return print::json(&made);
    }
    print::note("the link is shown once; whoever has it takes part:");
    print::line(&made.url)
}

async fn list_links(client: &Client, args: ListArgs) -> Ended {
    let notebook = find::notebook(client, &args.notebook).await?;
    let links: Vec<ShareLink> = client.get(&format!("/api/notebooks/{notebook}/share-links")).await?;
    if args.json {
        return print::json(&links);
    }
    let mut table = Table::new(&["link", "role", "label", "made", "until"]);
    for link in links {
        let (made, until) = (print::time(link.created_at), print::optional_time(link.expires_at));
        table.row(vec![link.id.to_string(), word(&link.role), link.label, made, until]);
    }
    table.print("no share links: `notarium share new` makes one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_or_explained() {
        assert_eq!(parse_duration("7d"), Ok(604_800_000));
        assert_eq!(parse_duration("30m"), Ok(1_800_000));
        for wrong in ["", "d", "7", "-1d", "0d", "7é", "99999999999999999w"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_role_is_read_as_it_is_written() {
        for role in Role::ALL {
            assert_eq!(parse_role(&word(&role)), Ok(role));
        }
        assert!(parse_role("king").unwrap_err().contains("viewer"));
    }
}
