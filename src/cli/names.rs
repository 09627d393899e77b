//! Names of versions, and the conversations with assistants.

use clap::Args;
use notarium_core::{Command, Version};

use super::client::NotebookClient;
use super::people::People;
use super::{Ended, print};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium versions analysis                         # list the names
  notarium versions analysis --name 'as submitted'   # name the version that it is at
  notarium versions analysis --name draft --at 42")]
pub struct VersionsArgs {
    /// Give a version this name.
    #[arg(long)]
    name: Option<String>,
    /// The version to name; absent: the one that it is at.
    #[arg(long, value_name = "VERSION", requires = "name")]
    at: Option<Version>,
    /// The list in JSON.
    #[arg(long, conflicts_with = "name")]
    json: bool,
}

pub async fn versions(args: VersionsArgs, notebook: NotebookClient) -> Ended {
    let state = notebook.outline().await?;
    if let Some(name) = args.name {
        return notebook.change(&Command::NameVersion { version: args.at.unwrap_or(state.version), name }).await;
    }
    let named: Vec<_> = state.named_versions.iter().collect();
    let empty = "no version has a name: `notarium versions NOTEBOOK --name NAME` gives one";
    print::list(&named, args.json, empty, ["version", "name"], async |(version, name)| {
        [version.to_string(), (*name).clone()]
    })
    .await
}

#[derive(Debug, Args)]
pub struct ConversationsArgs {
    /// The list in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn conversations(args: ConversationsArgs, notebook: NotebookClient) -> Ended {
    let state = notebook.outline().await?;
    let mut conversations: Vec<_> = state.conversations.iter().collect();
    conversations.sort_by_key(|(_, conversation)| std::cmp::Reverse(conversation.started_at));
    let mut people = People::new(&notebook.client);
    let empty = "no conversations: `notarium chat` begins one";
    print::list(&conversations, args.json, empty, ["conversation", "title", "who", "began", "now"], async |(id, it)| {
        let now = if it.turn.is_some() { "the assistant works" } else { "" };
        let who = people.name(&it.started_by).await;
        [id.to_string(), it.title.clone(), who, print::time(it.started_at), now.to_owned()]
    })
    .await
}
