//! Who may do what in a notebook: grants and share links.

use clap::Args;
use notarium_core::{Command, Millis, Role, ShareLinkId, Subject};
use notarium_wire::rest::{Access, CreatedShareLink, NewShareLink, ShareLink};

use super::client::Client;
use super::narrate::word;
use super::people::People;
use super::values::{ROLES, after, one_of, parse_duration};
use super::{Context, Ended, Failure, find, print};

/// `user:ID`, `agent:ID`, `workspace:ID`, `share_link:ID`, else a person's login.
pub async fn subject(client: &Client, text: &str) -> Result<Subject, Failure> {
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

commands! {
    pub enum AccessCommand {
        /// List who has which role.
        Ls(ListArgs) => list,
        /// Give somebody a role, or another one.
        #[command(after_help = "Examples:
  notarium access grant analysis ann editor
  notarium access grant analysis workspace:01J… viewer --expires 30d")]
        Grant(GrantArgs) => grant,
        /// Take somebody's role away; it counts at once for their open connections.
        Revoke(RevokeArgs) => revoke,
    }
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
    /// What they may do.
    #[arg(value_parser = one_of::<Role>(&ROLES))]
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

async fn grant(args: GrantArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let subject = subject(&notebook.client, &args.who).await?;
    notebook.change(&Command::GrantAccess { subject, role: args.role, expires_at: args.expires.map(after) }).await
}

async fn revoke(args: RevokeArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let subject = subject(&notebook.client, &args.who).await?;
    notebook.change(&Command::RevokeAccess { subject }).await
}

async fn list(args: ListArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let list: Access = notebook.get("/access").await?;
    if args.json {
        return print::json(&list);
    }
    let mut people = People::new(&notebook.client);
    let empty = "nobody has a role of their own here";
    print::list(&list.access, false, empty, ["who", "name", "role", "until"], async |entry| {
        let name = people.subject(&entry.subject).await;
        [subject_text(&entry.subject), name, word(&entry.grant.role), print::optional_time(entry.grant.expires_at)]
    })
    .await
}

// --- share links ---

commands! {
    pub enum ShareCommand {
        /// Make a link by which people without an account take part, and print it.
        #[command(after_help = "Example:\n  notarium share new analysis --role viewer --expires 7d")]
        New(NewLinkArgs) => new_link,
        /// List the links that were not revoked.
        Ls(ListArgs) => list_links,
        /// End a link and its connections.
        Revoke(RevokeLinkArgs) => revoke_link,
    }
}

#[derive(Debug, Args)]
pub struct NewLinkArgs {
    /// Id or title.
    notebook: String,
    /// What who has the link may do; nobody becomes an owner by a link.
    #[arg(long, value_parser = one_of::<Role>(&ROLES))]
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

async fn revoke_link(args: RevokeLinkArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    notebook.client.delete(&notebook.path(&format!("/share-links/{}", args.link))).await?;
    print::note(format!("revoked {}", args.link));
    Ok(())
}

async fn new_link(args: NewLinkArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let new = NewShareLink { role: args.role, label: args.label, expires_at: args.expires.map(after) };
    let made: CreatedShareLink = notebook.post("/share-links", &new).await?;
    if args.json {
        return print::json(&made);
    }
    print::note("the link is shown once; whoever has it takes part:");
    print::line(&made.url)
}

async fn list_links(args: ListArgs, context: &Context) -> Ended {
    let links: Vec<ShareLink> = context.notebook(&args.notebook).await?.get("/share-links").await?;
    let empty = "no share links: `notarium share new` makes one";
    print::list(&links, args.json, empty, ["link", "role", "label", "made", "until"], async |link| {
        let (made, until) = (print::time(link.created_at), print::optional_time(link.expires_at));
        [link.id.to_string(), word(&link.role), link.label.clone(), made, until]
    })
    .await
}
