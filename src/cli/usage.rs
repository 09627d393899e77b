//! What people and workspaces use of the server.

use clap::Args;
use notarium_core::{Actor, Subject};
use notarium_wire::rest::{AccountUsage, UsageAnswer};

use super::people::People;
use super::{Context, Ended, print};

#[derive(Debug, Args)]
pub struct UsageArgs {
    /// Everybody, who uses most first; for administrators.
    #[arg(long)]
    all: bool,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn usage(args: UsageArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let path = if args.all { "/api/usage?all=true" } else { "/api/usage" };
    let UsageAnswer { accounts } = client.get(path).await?;
    let mut people = People::new(&client);
    let headings = ["who", "notebooks", "records", "large outputs"];
    print::list(&accounts, args.json, "nobody uses anything yet", headings, async |account| {
        let AccountUsage { person, workspace, used, limits } = account;
        let who = match (person, workspace) {
            (Some(id), _) => people.name(&Actor::User { id: id.clone() }).await,
            (None, Some(id)) => people.subject(&Subject::Workspace { id: id.clone() }).await,
            (None, None) => String::new(),
        };
        let of = |used: u64, limit: u64| format!("{} of {}", print::size(used), print::size(limit));
        let notebooks = format!("{} of {}", used.notebooks, limits.notebooks);
        [who, notebooks, of(used.log_bytes, limits.log_bytes), of(used.blob_bytes, limits.blob_bytes)]
    })
    .await
}
