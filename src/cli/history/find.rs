//! `find`: a text in the cells of a notebook, now and in its past.

use clap::Args;
use notarium_wire::rest::{FoundPlace, FoundPlaces};

use crate::cli::Ended;
use crate::cli::connection::client::{NotebookClient, with_query};
use crate::cli::terminal::print::{self, style};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium find analysis read_csv
  notarium find analysis 'secret key' --ever      # also where it stood once
  notarium show analysis --at 42                  # the notebook at one of the versions")]
pub struct FindArgs {
    /// The text, on one line; capitals do not matter.
    text: String,
    /// Also where it stood once.
    #[arg(long)]
    ever: bool,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn find(args: FindArgs, notebook: NotebookClient) -> Ended {
    let ever = args.ever.then_some("true");
    let path = with_query("/find", &[("text", Some(&args.text)), ("ever", ever)]);
    let answer: FoundPlaces = notebook.get(&path).await?;
    if args.json {
        return print::json(&answer);
    }
    for place in &answer.found {
        let cell = style(place.cell_id.as_str()).cyan();
        print::line(format!("{cell}  {}  {}", style(when(place)).dim(), print::clean(&place.line)))?;
    }
    if !answer.is_complete {
        let looked =
            answer.looked_up_to.map(|version| format!(" (the past is looked through up to version {version})"));
        print::note(format!("there may be more{}: try again, or search for a longer text", looked.unwrap_or_default()));
    } else if answer.found.is_empty() {
        let ever =
            if args.ever { "no cell ever held this text" } else { "no cell holds this text: --ever looks in the past" };
        print::note(ever);
    }
    Ok(())
}

fn when(place: &FoundPlace) -> String {
    let line = place.line_number.map(|number| format!("line {number}")).unwrap_or_default();
    match (place.first, place.last) {
        (None, _) => line,
        (Some(first), None) => format!("{line}, since version {first}"),
        (Some(first), Some(last)) => {
            let gone = if place.is_deleted { ", the cell is in the trash" } else { "" };
            let versions =
                if first == last { format!("version {first}") } else { format!("versions {first} to {last}") };
            format!("{versions}{gone}")
        }
    }
}
