//! Workspaces: groups of people and notebooks.

use clap::Args;
use notarium_core::{Actor, Role, WorkspaceId};
use notarium_wire::rest::{Member, MemberRole, Placement, Workspace, WorkspaceName};
use reqwest::Method;

use super::client::Client;
use super::narrate::word;
use super::people::People;
use super::values::{ROLES, one_of};
use super::{Context, Ended, find, print};

commands! {
    pub enum WorkspaceCommand {
        /// List your workspaces.
        Ls(ListArgs) => list,
        /// Make a workspace, and print its id.
        New(NewArgs) => new,
        /// Give a workspace another name.
        Rename(RenameArgs) => rename,
        /// List who belongs to a workspace.
        Members(MembersArgs) => members,
        /// Make somebody a member, or change their role.
        Add(AddArgs) => add,
        /// Take somebody out of a workspace.
        Remove(RemoveArgs) => remove,
        /// Put a notebook into a workspace, or into none.
        Place(PlaceArgs) => place,
    }
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

async fn list(args: ListArgs, context: &Context) -> Ended {
    let found: Vec<Workspace> = context.client()?.get("/api/workspaces").await?;
    let empty = "no workspaces: `notarium workspace new NAME` makes one";
    print::list(&found, args.json, empty, ["id", "name", "your role", "made"], async |it| {
        [it.id.to_string(), it.name.clone(), word(&it.role), print::time(it.created_at)]
    })
    .await
}

#[derive(Debug, Args)]
pub struct NewArgs {
    name: String,
}

async fn new(args: NewArgs, context: &Context) -> Ended {
    let made: Workspace = context.client()?.post("/api/workspaces", &WorkspaceName { name: args.name }).await?;
    print::line(made.id)
}

#[derive(Debug, Args)]
pub struct RenameArgs {
    /// As `workspace ls` lists it.
    workspace: WorkspaceId,
    name: String,
}

async fn rename(args: RenameArgs, context: &Context) -> Ended {
    put(&context.client()?, &format!("/api/workspaces/{}", args.workspace), &WorkspaceName { name: args.name }).await
}

#[derive(Debug, Args)]
pub struct MembersArgs {
    /// As `workspace ls` lists it.
    workspace: WorkspaceId,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

async fn members(args: MembersArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let found: Vec<Member> = client.get(&format!("/api/workspaces/{}/members", args.workspace)).await?;
    let mut people = People::new(&client);
    print::list(&found, args.json, "nobody", ["person", "name", "role"], async |member| {
        let name = people.name(&Actor::User { id: member.user.clone() }).await;
        [member.user.to_string(), name, word(&member.role)]
    })
    .await
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// As `workspace ls` lists it.
    workspace: WorkspaceId,
    /// A login.
    who: String,
    /// What they may do in each of its notebooks.
    #[arg(value_parser = one_of::<Role>(&ROLES))]
    role: Role,
}

async fn add(args: AddArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let user = find::person(&client, &args.who).await?;
    put(&client, &format!("/api/workspaces/{}/members/{user}", args.workspace), &MemberRole { role: args.role }).await
}

#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// As `workspace ls` lists it.
    workspace: WorkspaceId,
    /// A login.
    who: String,
}

async fn remove(args: RemoveArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let user = find::person(&client, &args.who).await?;
    client.delete(&format!("/api/workspaces/{}/members/{user}", args.workspace)).await
}

#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// Id or title.
    notebook: String,
    /// As `workspace ls` lists it; absent: in none any more.
    workspace: Option<WorkspaceId>,
}

async fn place(args: PlaceArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    put(&notebook.client, &notebook.path("/workspace"), &Placement { workspace: args.workspace }).await
}

async fn put(client: &Client, path: &str, body: &impl serde::Serialize) -> Ended {
    client.send(client.request(Method::PUT, path).json(body)).await.map(drop)
}
