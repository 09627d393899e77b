//! `workspace`: groups of people and notebooks.

use clap::Subcommand;
use notarium_core::{Actor, Role, WorkspaceId};
use notarium_wire::rest::{Member, MemberRole, Placement, Workspace, WorkspaceName};
use reqwest::Method;

use crate::cli::connection::client::Client;
use crate::cli::connection::find::{self, People};
use crate::cli::terminal::print;
use crate::cli::terminal::values::{ROLES, one_of, word};
use crate::cli::{Context, Ended, JsonArgs};

#[derive(Debug, Subcommand)]
pub enum WorkspaceCommand {
    /// List your workspaces.
    Ls(JsonArgs),
    /// Make a workspace, and print its id.
    New { name: String },
    /// Give a workspace another name.
    Rename {
        /// Workspace, as `workspace ls` lists it.
        workspace: WorkspaceId,
        name: String,
    },
    /// List who belongs to a workspace.
    Members {
        /// Workspace, as `workspace ls` lists it.
        workspace: WorkspaceId,
        /// The answer in JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make somebody a member, or change their role.
    Add {
        /// Workspace, as `workspace ls` lists it.
        workspace: WorkspaceId,
        /// A login.
        who: String,
        /// Role in each of its notebooks.
        #[arg(value_parser = one_of::<Role>(&ROLES))]
        role: Role,
    },
    /// Take somebody out of a workspace.
    Remove {
        /// Workspace, as `workspace ls` lists it.
        workspace: WorkspaceId,
        /// A login.
        who: String,
    },
    /// Put a notebook into a workspace, or into none.
    Place {
        /// Id or title.
        notebook: String,
        /// Workspace, as `workspace ls` lists it; absent: take the notebook out of its workspace.
        workspace: Option<WorkspaceId>,
    },
}

impl WorkspaceCommand {
    pub async fn run(self, context: &Context) -> Ended {
        let client = context.client()?;
        match self {
            Self::Ls(JsonArgs { json }) => list(&client, json).await,
            Self::New { name } => {
                let made: Workspace = client.post("/api/workspaces", &WorkspaceName { name }).await?;
                print::line(made.id)
            }
            Self::Rename { workspace, name } => {
                put(&client, &format!("/api/workspaces/{workspace}"), &WorkspaceName { name }).await
            }
            Self::Members { workspace, json } => members(&client, &workspace, json).await,
            Self::Add { workspace, who, role } => {
                let user = find::person(&client, &who).await?;
                put(&client, &format!("/api/workspaces/{workspace}/members/{user}"), &MemberRole { role }).await
            }
            Self::Remove { workspace, who } => {
                let user = find::person(&client, &who).await?;
                client.delete(&format!("/api/workspaces/{workspace}/members/{user}")).await
            }
            Self::Place { notebook, workspace } => {
                let notebook = find::notebook(&client, &notebook).await?;
                put(&client, &notebook.path("/workspace"), &Placement { workspace }).await
            }
        }
    }
}

async fn list(client: &Client, as_json: bool) -> Ended {
    let found: Vec<Workspace> = client.get("/api/workspaces").await?;
    let empty = "no workspaces: `notarium workspace new NAME` makes one";
    print::list(&found, as_json, empty, ["id", "name", "your role", "made"], async |it| {
        [it.id.to_string(), it.name.clone(), word(&it.role), print::time(it.created_at)]
    })
    .await
}

async fn members(client: &Client, workspace: &WorkspaceId, as_json: bool) -> Ended {
    let found: Vec<Member> = client.get(&format!("/api/workspaces/{workspace}/members")).await?;
    let mut people = People::new(client);
    print::list(&found, as_json, "nobody", ["person", "name", "role"], async |member| {
        let name = people.name(&Actor::User { id: member.user.clone() }).await;
        [member.user.to_string(), name, word(&member.role)]
    })
    .await
}

async fn put(client: &Client, path: &str, body: &impl serde::Serialize) -> Ended {
    client.send(client.request(Method::PUT, path).json(body)).await.map(drop)
}
