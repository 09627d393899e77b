//! Commands that make a notebook from another: from a starter of every server, from a template, as a fork. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{
    BlobPart, Cell, CellId, CellType, Command, Document, Execution, ForkOrigin, InsertCell, Place, RawObject,
    Reactivity, SetKernelSettings,
};
use notarium_wire::ipynb::{self, FileLimits};
use notarium_wire::rest::Starter;
use serde_json::value::RawValue;

use super::files;
use crate::rooms::metadata::{self, TEMPLATE, entries, template_description, without_template_mark};

const STARTERS: [(&str, &str); 4] = [
    ("table", include_str!("starters/table.ipynb")),
    ("report", include_str!("starters/report.ipynb")),
    ("assistant", include_str!("starters/assistant.ipynb")),
    ("example", include_str!("starters/example.ipynb")),
];

/// Starters of every server.
pub fn starters() -> Vec<Starter> {
    let starter = |(id, file): &(&str, &str)| {
        let metadata = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(file).ok()?.remove("metadata")?;
        let metadata = RawObject::parse(metadata.get()).ok()?;
        let title = serde_json::from_str(entries(&metadata).get("title")?.get()).ok()?;
        let description = template_description(&metadata)?;
        Some(Starter { id: (*id).to_owned(), title, description })
    };
    STARTERS.iter().filter_map(starter).collect()
}

/// Command that makes a notebook from a starter; `None`: there is no such starter.
pub fn start(id: &str, title: String) -> Option<Command> {
    let (_, file) = STARTERS.iter().find(|(starter, _)| *starter == id)?;
    let mut count = 0_u32;
    let mut new_id = || {
        count += 1;
        format!("start-{count}")
    };
    let mut imported = ipynb::read(file.as_bytes(), &FileLimits::default(), &mut new_id).ok()?;
    imported.document.metadata.remove("title");
    let _: Option<Box<RawValue>> = metadata::take(&mut imported.document.metadata, TEMPLATE);
    Some(files::plan_import(imported, title).command)
}

/// `CreateNotebook`, then every cell with its shown outputs.
pub fn fork_command(source: &Document, title: String, with_outputs: bool) -> Command {
    let forked_from = Some(ForkOrigin { notebook: source.notebook_id.clone(), version: source.version });
    let mut commands =
        vec![Command::CreateNotebook { title, metadata: without_template_mark(&source.metadata), forked_from }];
    for (cell_id, cell) in source.ordered_cells() {
        commands.push(insert(cell_id, cell, with_outputs));
        let latest =
            source.latest_execution(cell_id).filter(|(_, execution)| with_outputs && execution.status.is_finished());
        commands.extend(latest.map(|(_, execution)| record(cell_id, execution)));
    }
    if source.reactivity != Reactivity::Off {
        commands.push(Command::SetReactivity { reactivity: source.reactivity });
    }
    commands.extend(SetKernelSettings::of(&source.kernel_settings).map(Command::SetKernelSettings));
    Command::Batch { commands }
}

/// Blobs that the new notebook will name.
pub fn copied_blobs(source: &Document, with_outputs: bool) -> Vec<BlobPart> {
    if !with_outputs {
        return Vec::new();
    }
    files::named_blobs(source, &source.order).into_iter().cloned().collect()
}

/// The notebook with executions without outputs and prompts without replies.
pub fn without_outputs(notebook: &Document) -> Document {
    let mut notebook = notebook.clone();
    for execution in notebook.executions.values_mut().filter(|execution| !execution.outputs.is_empty()) {
        Arc::make_mut(execution).outputs.clear();
    }
    for cell in notebook.cells.values_mut().filter(|cell| cell.reply.is_some()) {
        Arc::make_mut(cell).reply = None;
    }
    notebook
}

/// Command that inserts an empty code cell.
pub fn empty_cell() -> Command {
    Command::InsertCell(InsertCell::new(CellType::Code, String::new(), Place::End))
}

fn insert(cell_id: &CellId, cell: &Cell, with_reply: bool) -> Command {
    let content = &cell.content;
    Command::InsertCell(InsertCell {
        cell_id: Some(cell_id.clone()),
        cell_type: content.cell_type,
        source: content.source.clone(),
        place: Place::End,
        metadata: content.metadata.clone(),
        attachments: content.attachments.clone(),
        flags: content.flags.into(),
        reply: cell.reply.as_deref().filter(|_| with_reply).map(|reply| Box::new(reply.clone().closed())),
    })
}

fn record(cell_id: &CellId, execution: &Execution) -> Command {
    Command::RecordExecution {
        cell_id: cell_id.clone(),
        outputs: execution.outputs.clone(),
        execution_count: execution.execution_count,
    }
}

#[cfg(test)]
mod tests {
    use crate::rooms::metadata::{with_template_mark, without_template_mark};

    use super::*;

    fn object(text: &str) -> RawObject {
        RawObject::parse(text).expect("an object")
    }

    #[test]
    fn a_mark_comes_and_goes_and_leaves_the_rest() {
        let plain = object(r#"{"kernelspec":{"name":"python3"},"notarium":{"odd":1e400}}"#);
        assert_eq!(template_description(&plain), None);
        let marked = with_template_mark(&plain, "For \"reports\"".to_owned());
        assert_eq!(template_description(&marked).as_deref(), Some("For \"reports\""));
        assert_eq!(without_template_mark(&marked).get(), plain.get());
        assert_eq!(without_template_mark(&with_template_mark(&RawObject::default(), String::new())).get(), "{}");
        assert_eq!(
            template_description(&with_template_mark(&plain, "x".repeat(300))).map(|text| text.len()),
            Some(200)
        );
        for odd in [r#"{"notarium":7}"#, r#"{"notarium":{"template":7}}"#] {
            assert_eq!(template_description(&object(odd)), None, "{odd}");
        }
    }

    #[test]
    fn every_starter_has_words_and_makes_a_notebook() {
        let starters = starters();
        assert_eq!(starters.len(), STARTERS.len());
        for starter in starters {
            assert!(!starter.title.is_empty() && !starter.description.is_empty(), "{starter:?}");
            let Some(Command::Batch { commands }) = start(&starter.id, "New".to_owned()) else { panic!("{starter:?}") };
            let Command::CreateNotebook { title, metadata, .. } = &commands[0] else { panic!("{commands:?}") };
            assert_eq!((title.as_str(), template_description(metadata)), ("New", None));
            assert!(commands.len() > 3);
        }
        assert!(start("none", "New".to_owned()).is_none());
    }
}
