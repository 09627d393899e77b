//! List notebooks.

use clap::Args;

use super::{Context, Ended};

#[derive(Debug, Args)]
pub struct LsArgs {
    /// JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

pub async fn ls(args: LsArgs, context: &Context) -> Ended {
    let page: serde_json::Value = context.client()?.get("/api/notebooks").await?;
    match args.json {
        true => println!("{page}"),
        false => println!("{page:#}"),
    }
    Ok(())
}
