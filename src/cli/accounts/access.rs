//! `access`, `share` and `workspace`: grants of a notebook, share links, groups of people and notebooks.

use clap::Subcommand;
use notarium_core::{Actor, Command, Millis, Role, ShareLinkId, WorkspaceId};
use notarium_wire::rest::{
    Access, CreatedShareLink, Member, MemberRole, NewShareLink, Placement, ShareLink, Workspace, WorkspaceName,
};
use reqwest::Method;

use crate::cli::connection::client::{NotebookClient, RestClient};
use crate::cli::connection::find::{self, People, subject};
use crate::cli::terminal::print;
use crate::cli::terminal::values::{ROLES, after, one_of, parse_duration, word};
use crate::cli::{CommonOptions, Ended, InNotebook, JsonArgs};

// --- access ---

#[derive(Debug, Subcommand)]
pub enum AccessCommand {
    /// List who has which role.
    Ls(InNotebook<JsonArgs>),
    /// Give somebody a role, or another one.
    #[command(after_help = "Examples:
  notarium access grant analysis ann editor
  notarium access grant analysis workspace:Lab viewer --expires 30d")]
    Grant {
        /// Id or title.
        notebook: String,
        /// A login, or user:ID, agent:ID, workspace:NAME, share_link:ID.
        who: String,
        /// Role.
        #[arg(value_parser = one_of::<Role>(&ROLES))]
        role: Role,
        /// For so long: 30m, 12h, 7d, 2w; absent: until it is revoked.
        #[arg(long, value_name = "TIME", value_parser = parse_duration)]
        expires: Option<Millis>,
    },
    /// Take somebody's role away; it counts at once for their open connections.
    Revoke {
        /// Id or title.
        notebook: String,
        /// A login, or what `access ls` lists.
        who: String,
    },
}

impl AccessCommand {
    pub async fn run(self, context: &CommonOptions) -> Ended {
        match self {
            Self::Ls(InNotebook { notebook, args }) => list(&context.notebook(&notebook).await?, args.json).await,
            Self::Grant { notebook, who, role, expires } => {
                let notebook = context.notebook(&notebook).await?;
                let subject = subject(&notebook.client, &who).await?;
                notebook.change(&Command::GrantAccess { subject, role, expires_at: expires.map(after) }).await
            }
            Self::Revoke { notebook, who } => {
                let notebook = context.notebook(&notebook).await?;
                let subject = subject(&notebook.client, &who).await?;
                notebook.change(&Command::RevokeAccess { subject }).await
            }
        }
    }
}

async fn list(notebook: &NotebookClient, as_json: bool) -> Ended {
    let list: Access = notebook.get("/access").await?;
    if as_json {
        return print::json(&list);
    }
    let mut people = People::new(&notebook.client);
    let empty = "nobody has a role of their own here";
    print::list(&list.access, false, empty, ["who", "name", "role", "until"], async |entry| {
        let name = people.subject(&entry.subject).await;
        [entry.subject.key(), name, word(&entry.grant.role), print::optional_time(entry.grant.expires_at)]
    })
    .await
}

// --- share links ---

#[derive(Debug, Subcommand)]
pub enum ShareCommand {
    /// Make a link by which people without an account take part, and print it.
    #[command(after_help = "Example:\n  notarium share new analysis --role viewer --expires 7d")]
    New {
        /// Id or title.
        notebook: String,
        /// Role of people with the link; a link cannot make owners.
        #[arg(long, value_parser = one_of::<Role>(&ROLES))]
        role: Role,
        /// For so long: 30m, 12h, 7d, 2w; absent: until it is revoked.
        #[arg(long, value_name = "TIME", value_parser = parse_duration)]
        expires: Option<Millis>,
        /// Name that others see.
        #[arg(long, default_value = "")]
        label: String,
        /// The answer in JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the links that were not revoked.
    Ls(InNotebook<JsonArgs>),
    /// End a link and its connections.
    Revoke {
        /// Id or title.
        notebook: String,
        /// Link, as `share ls` lists it.
        link: ShareLinkId,
    },
}

impl ShareCommand {
    pub async fn run(self, context: &CommonOptions) -> Ended {
        match self {
            Self::New { notebook, role, expires, label, json } => {
                let new = NewShareLink { role, label, expires_at: expires.map(after) };
                let made: CreatedShareLink = context.notebook(&notebook).await?.post("/share-links", &new).await?;
                print::secret(&made, &made.url, json, "the link is shown once; whoever has it takes part:")
            }
            Self::Ls(InNotebook { notebook, args }) => list_links(&context.notebook(&notebook).await?, args.json).await,
            Self::Revoke { notebook, link } => {
                let notebook = context.notebook(&notebook).await?;
                notebook.client.delete(&notebook.path(&format!("/share-links/{link}"))).await?;
                print::noted(format!("revoked {link}"))
            }
        }
    }
}

async fn list_links(notebook: &NotebookClient, as_json: bool) -> Ended {
    let links: Vec<ShareLink> = notebook.get("/share-links").await?;
    let empty = "no share links: `notarium share new` makes one";
    print::list(&links, as_json, empty, ["link", "role", "label", "made", "until"], async |link| {
        let (made, until) = (print::time(link.created_at), print::optional_time(link.expires_at));
        [link.id.to_string(), word(&link.role), link.label.clone(), made, until]
    })
    .await
}

// --- workspaces ---

#[derive(Debug, Subcommand)]
pub enum WorkspaceCommand {
    /// List your workspaces.
    Ls(JsonArgs),
    /// Make a workspace, and print its id.
    New { name: String },
    /// Give a workspace another name.
    Rename {
        /// Name or id.
        workspace: String,
        name: String,
    },
    /// List who belongs to a workspace.
    Members {
        /// Name or id.
        workspace: String,
        /// The answer in JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make somebody a member, or change their role.
    Add {
        /// Name or id.
        workspace: String,
        /// A login.
        who: String,
        /// Role in each of its notebooks.
        #[arg(value_parser = one_of::<Role>(&ROLES))]
        role: Role,
    },
    /// Take somebody out of a workspace.
    Remove {
        /// Name or id.
        workspace: String,
        /// A login.
        who: String,
    },
    /// Put a notebook into a workspace, or into none.
    Place {
        /// Id or title.
        notebook: String,
        /// Name or id of the workspace; absent: take the notebook out of its workspace.
        workspace: Option<String>,
    },
}

impl WorkspaceCommand {
    pub async fn run(self, context: &CommonOptions) -> Ended {
        let client = context.client()?;
        match self {
            Self::Ls(JsonArgs { json }) => list_workspaces(&client, json).await,
            Self::New { name } => {
                let made: Workspace = client.post("/api/workspaces", &WorkspaceName { name }).await?;
                print::line(made.id)
            }
            Self::Rename { workspace, name } => {
                let workspace = find::workspace(&client, &workspace).await?;
                put(&client, &format!("/api/workspaces/{workspace}"), &WorkspaceName { name }).await
            }
            Self::Members { workspace, json } => {
                members(&client, &find::workspace(&client, &workspace).await?, json).await
            }
            Self::Add { workspace, who, role } => {
                let workspace = find::workspace(&client, &workspace).await?;
                let user = find::person(&client, &who).await?;
                put(&client, &format!("/api/workspaces/{workspace}/members/{user}"), &MemberRole { role }).await
            }
            Self::Remove { workspace, who } => {
                let workspace = find::workspace(&client, &workspace).await?;
                let user = find::person(&client, &who).await?;
                client.delete(&format!("/api/workspaces/{workspace}/members/{user}")).await
            }
            Self::Place { notebook, workspace } => {
                let notebook = find::notebook(&client, &notebook).await?;
                let workspace = find::named_workspace(&client, workspace.as_deref()).await?;
                put(&client, &notebook.path("/workspace"), &Placement { workspace }).await
            }
        }
    }
}

async fn list_workspaces(client: &RestClient, as_json: bool) -> Ended {
    let found: Vec<Workspace> = client.get("/api/workspaces").await?;
    let empty = "no workspaces: `notarium workspace new NAME` makes one";
    print::list(&found, as_json, empty, ["id", "name", "your role", "made"], async |it| {
        [it.id.to_string(), it.name.clone(), word(&it.role), print::time(it.created_at)]
    })
    .await
}

async fn members(client: &RestClient, workspace: &WorkspaceId, as_json: bool) -> Ended {
    let found: Vec<Member> = client.get(&format!("/api/workspaces/{workspace}/members")).await?;
    let mut people = People::new(client);
    print::list(&found, as_json, "nobody", ["person", "name", "role", "group"], async |member| {
        let name = people.name(&Actor::User { id: member.user.clone() }).await;
        [member.user.to_string(), name, word(&member.role), member.group.clone().unwrap_or_default()]
    })
    .await
}

async fn put(client: &RestClient, path: &str, body: &impl serde::Serialize) -> Ended {
    client.send(client.request(Method::PUT, path).json(body)).await.map(drop)
}
