//! `redact`: removes content from a notebook's record for good, after a question.

use std::io::Read;

use clap::Args;
use notarium_core::Version;
use notarium_wire::rest::{ContentToRedact, NewRedaction, Redaction};

use crate::cli::connection::client::NotebookClient;
use crate::cli::terminal::{input, print};
use crate::cli::{Ended, Failure};

/// Limit of a text that is read from standard input, in bytes.
const MAX_TEXT_BYTES: u64 = 64 << 10;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium redact analysis --text - --reason 'a leaked key'      # asks for the text, which no shell history keeps
  notarium redact analysis --cell sum --reason 'personal data'   # the whole past of a cell
  notarium redact analysis --event 42 --reason 'personal data' --preview

█ stands in place of what is removed. The record keeps who redacted, when and why, and still verifies. Backups that were made before keep
the content, and so do kernels, files and what people copied.")]
pub struct RedactArgs {
    /// This text, wherever it stood: in cells, outputs, messages, arguments and large outputs; - reads it from standard input.
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["cell", "event"], conflicts_with_all = ["cell", "event"])]
    text: Option<String>,
    /// The whole past of a cell: its texts, runs, outputs, replies and comments.
    #[arg(long, conflicts_with = "event")]
    cell: Option<String>,
    /// All texts of the event of this version.
    #[arg(long, value_name = "VERSION")]
    event: Option<Version>,
    /// Why, in up to 500 characters; the record keeps it.
    #[arg(long, required_unless_present = "preview")]
    reason: Option<String>,
    /// Show what would go; change nothing.
    #[arg(long)]
    preview: bool,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn redact(args: RedactArgs, notebook: NotebookClient) -> Ended {
    let target = match (&args.text, &args.cell, args.event) {
        (Some(text), ..) => ContentToRedact::Text { text: given(text).await? },
        (_, Some(cell), _) => ContentToRedact::Cell { cell_id: notebook.cell_or_trashed(cell).await?.0 },
        (.., event) => ContentToRedact::Event { version: event.unwrap_or_default() },
    };
    let ask = async |preview: bool| -> Result<Redaction, Failure> {
        let reason = args.reason.clone().unwrap_or_default();
        let body = NewRedaction { target: target.clone(), reason, preview };
        notebook.post("/redactions", &body).await
    };
    if args.preview || !args.yes {
        let preview = ask(true).await?;
        if args.preview {
            return report(&preview, args.json, "would go");
        }
        agree(&preview).await?;
    }
    report(&ask(false).await?, args.json, "is gone")
}

async fn agree(preview: &Redaction) -> Ended {
    if preview.versions.is_empty() && preview.blobs == 0 {
        return Err(Failure::failed("nothing was changed: this content is not in the record, or was redacted before"));
    }
    if !input::is_terminal() {
        return Err(Failure::usage("this cannot be undone: add --yes if that is meant"));
    }
    print::note(format!("Content of {} goes for good.", extent(preview)));
    match input::agrees("Redact it?").await? {
        true => Ok(()),
        false => Err(Failure::failed("nothing was redacted")),
    }
}

fn report(done: &Redaction, json: bool, what: &str) -> Ended {
    if json {
        return print::json(done);
    }
    print::line(format!("content of {} {what}", extent(done)))
}

fn extent(redaction: &Redaction) -> String {
    let count = |count: u64, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let events = count(redaction.versions.len() as u64, "event", "events");
    match redaction.blobs {
        0 => events,
        blobs => format!("{events} and {}", count(blobs, "large output", "large outputs")),
    }
}

/// The text of the option, or from standard input without its last line break.
async fn given(text: &str) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    if input::is_terminal() {
        print::note("The text to redact, then Ctrl-D:");
    }
    let read = tokio::task::spawn_blocking(|| {
        let mut text = String::new();
        std::io::stdin().take(MAX_TEXT_BYTES).read_to_string(&mut text).map(|_| text)
    });
    let text = read.await.map_err(|error| Failure::failed(error.to_string()))?;
    let text = text.map_err(|error| Failure::usage(format!("standard input: {error}")))?;
    Ok(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
}
