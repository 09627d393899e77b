//! `report`: one page of HTML about a stretch of a notebook's record, for those who must answer for it.

use std::path::PathBuf;

use clap::Args;
use notarium_core::Version;
use notarium_report::{ReportScope, report_page};

use crate::cli::connection::client::NotebookClient;
use crate::cli::history::heads;
use crate::cli::history::moment::{MOMENT, Moment};
use crate::cli::notebooks::write_file;
use crate::cli::words::narrate::RestRecord;
use crate::cli::{Ended, Failure};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium report analysis -o report.html
  notarium report analysis --from 2026-11-01 --to 2026-12-01 -o november.html")]
pub struct ReportArgs {
    /// Events after this version or time; absent: from the beginning.
    #[arg(long, value_name = MOMENT)]
    from: Option<Moment>,
    /// Events up to this version or time; absent: to the end.
    #[arg(long, value_name = MOMENT)]
    to: Option<Moment>,
    /// The file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub async fn report(args: ReportArgs, notebook: NotebookClient) -> Ended {
    let from = match &args.from {
        Some(from) => from.version_or_start(&notebook).await?,
        None => 0,
    };
    let to = match &args.to {
        Some(to) => to.version_or_start(&notebook).await?,
        None => Version::MAX,
    };
    if from >= to {
        return Err(Failure::usage("there is nothing between --from and --to: name an earlier beginning"));
    }
    // Signed first: the record may only have grown until it is read.
    let signed_head = heads::signed(&notebook).await?;
    let title = notebook.outline().await?.title.clone();
    let made_at = notarium_server::Clock::system().now();
    let scope = ReportScope { title, from, to, end: Version::MAX, signed_head, made_at };
    let page = report_page(RestRecord::new(&notebook), scope).await?;
    write_file(&args.output, page.as_bytes()).await
}
