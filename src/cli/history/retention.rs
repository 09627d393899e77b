//! `retention`: what the removal of old outputs and snapshots would take. Nothing is removed.

use clap::Args;
use notarium_core::Millis;
use notarium_wire::rest::RetentionPreview;

use crate::cli::connection::client::with_query;
use crate::cli::terminal::print;
use crate::cli::terminal::values::parse_duration;
use crate::cli::{CommonOptions, Ended};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium retention --blobs 90d --snapshots 30d     # what `serve --retain-blobs 90d --retain-snapshots 30d` would remove now
  notarium retention                                 # what the server's own settings would remove")]
pub struct RetentionArgs {
    /// Age of large outputs, in place of the server's setting.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    blobs: Option<Millis>,
    /// Age of snapshots, in place of the server's setting.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    snapshots: Option<Millis>,
    /// JSON instead of a sentence.
    #[arg(long)]
    json: bool,
}

/// Asks what would be removed; for administrators.
pub async fn retention(args: RetentionArgs, context: &CommonOptions) -> Ended {
    let client = context.client()?;
    let ages = [("blobs_ms", args.blobs), ("snapshots_ms", args.snapshots)];
    let ages = ages.map(|(name, age)| (name, age.map(|age| age.to_string())));
    let query = ages.each_ref().map(|(name, age)| (*name, age.as_deref()));
    let preview: RetentionPreview = client.get(&with_query("/api/retention", &query)).await?;
    if args.json {
        return print::json(&preview);
    }
    let count = |number: u64, word: &str| print::count(usize::try_from(number).unwrap_or(usize::MAX), word);
    print::line(format!(
        "would remove {} ({}) and {}; events, and outputs that notebooks show, stay",
        count(preview.blobs, "large output"),
        print::size(preview.blob_bytes),
        count(preview.snapshots, "snapshot")
    ))
}
