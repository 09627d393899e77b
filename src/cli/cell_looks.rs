//! What a cell is and how it is shown: its type, its marks, its outputs.

use clap::Args;
use notarium_core::{CellFlagChanges, CellType, Command, Version};

use super::values::{CELL_TYPES, one_of};
use super::{Context, Ended, Failure, find};

#[derive(Debug, Args)]
pub struct TypeArgs {
    /// Id or title.
    notebook: String,
    cell: String,
    #[arg(value_parser = one_of::<CellType>(&CELL_TYPES))]
    cell_type: CellType,
    /// Refuse when the cell is no longer at this version.
    #[arg(long, value_name = "VERSION")]
    cell_version: Option<Version>,
}

pub async fn change_type(args: TypeArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let cell_id = find::cell(&*notebook.outline().await?, &args.cell)?;
    let TypeArgs { cell_type, cell_version, .. } = args;
    notebook.change(&Command::ChangeCellType { cell_id, cell_type, cell_version }).await
}

/// Marks that are yes or no, as they are called on the command line.
const MARKS: [&str; 6] = ["pinned", "skipped", "source-hidden", "outputs-hidden", "heading-collapsed", "exported"];

#[derive(Debug, Args)]
pub struct FlagArgs {
    /// Id or title.
    notebook: String,
    cell: String,
    /// Set: pinned (always told to assistants), skipped (never), source-hidden, outputs-hidden, heading-collapsed, exported.
    #[arg(long, value_name = "MARK", value_parser = MARKS)]
    set: Vec<String>,
    /// Clear.
    #[arg(long, value_name = "MARK", value_parser = MARKS)]
    clear: Vec<String>,
    /// 1 to 9; 0 removes it.
    #[arg(long, value_name = "NUMBER")]
    bookmark: Option<u8>,
}

pub async fn flag(args: FlagArgs, context: &Context) -> Ended {
    if args.set.is_empty() && args.clear.is_empty() && args.bookmark.is_none() {
        return Err(Failure::usage(format!(
            "say --set MARK, --clear MARK or --bookmark NUMBER; marks: {}",
            MARKS.join(", ")
        )));
    }
    let mut flags = CellFlagChanges { bookmark: args.bookmark, ..CellFlagChanges::default() };
    args.set.iter().for_each(|mark| *field(&mut flags, mark) = Some(true));
    args.clear.iter().for_each(|mark| *field(&mut flags, mark) = Some(false));
    let notebook = context.notebook(&args.notebook).await?;
    let cell_id = find::cell(&*notebook.outline().await?, &args.cell)?;
    notebook.change(&Command::SetCellFlags { cell_id, flags }).await
}

fn field<'a>(flags: &'a mut CellFlagChanges, mark: &str) -> &'a mut Option<bool> {
    match mark {
        "pinned" => &mut flags.pinned,
        "skipped" => &mut flags.skipped,
        "source-hidden" => &mut flags.source_hidden,
        "outputs-hidden" => &mut flags.outputs_hidden,
        "heading-collapsed" => &mut flags.heading_collapsed,
        _ => &mut flags.exported,
    }
}

#[derive(Debug, Args)]
pub struct ClearArgs {
    /// Id or title.
    notebook: String,
    /// Ids, or unmistakable parts of them.
    #[arg(required_unless_present = "all")]
    cells: Vec<String>,
    /// Every cell that shows outputs.
    #[arg(long, conflicts_with = "cells")]
    all: bool,
}

pub async fn clear(args: ClearArgs, context: &Context) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let state = notebook.outline().await?;
    let cells = match args.all {
        true => state.latest.keys().cloned().collect(),
        false => args.cells.iter().map(|name| find::cell(&state, name)).collect::<Result<Vec<_>, _>>()?,
    };
    let commands = cells.into_iter().map(|cell_id| Command::ClearOutputs { cell_id }).collect();
    notebook.change(&Command::Batch { commands }).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_has_its_own_field() {
        for mark in MARKS {
            let mut flags = CellFlagChanges::default();
            *field(&mut flags, mark) = Some(true);
            let sent = serde_json::to_string(&flags).unwrap();
            assert_eq!(sent, format!(r#"{{"{}":true}}"#, mark.replace('-', "_")));
        }
    }
}
