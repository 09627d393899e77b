//! Resources: the list of notebooks, a notebook, a cell, a run, as JSON with previews of outputs.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::mask::mask_keys;
use notarium_core::{CellId, Document, ExecutionId, NotebookId, Rejection, RejectionCode, effects_in_words};
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use super::visitor::{Visitor, visible};
use crate::assistants::MAX_RESULT_BYTES;
use crate::host::{ListedNotebook, NotebookHost, with_blobs};
use crate::preview::{ReadBlob, joined_streams, preview};
use crate::state::{TextQuery, state_text};

const LIST: &str = "notarium://notebooks";
const JSON: &str = "application/json";

/// Target of a resource URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceTarget {
    List,
    Notebook(NotebookId),
    Cell(NotebookId, CellId),
    Run(NotebookId, ExecutionId),
}

impl ResourceTarget {
    /// Parses a URI; `None` if it is not one of ours.
    pub fn parse(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix(LIST)?;
        let parts: Vec<&str> = rest.split('/').collect();
        match parts.as_slice() {
            [""] => Some(Self::List),
            ["", notebook] => Some(Self::Notebook(notebook.parse().ok()?)),
            ["", notebook, "cells", cell] => Some(Self::Cell(notebook.parse().ok()?, cell.parse().ok()?)),
            ["", notebook, "runs", run] => Some(Self::Run(notebook.parse().ok()?, run.parse().ok()?)),
            _ => None,
        }
    }
}

/// Path below the list, name, title, description.
const TEMPLATES: [[&str; 4]; 3] = [
    ["{id}", "notebook", "A notebook", "Its cells with versions, status and previews of outputs, and what runs."],
    ["{id}/cells/{cell}", "cell", "A cell", "One cell with its version, status and previews of outputs."],
    ["{id}/runs/{run}", "run", "A run", "One execution: what it ran, how it stands, previews of its outputs."],
];

pub fn templates() -> Vec<ResourceTemplate> {
    let template = |[path, name, title, description]: [&str; 4]| {
        let template = ResourceTemplate::new(format!("{LIST}/{path}"), name).with_title(title);
        template.with_description(description).with_mime_type(JSON)
    };
    TEMPLATES.map(template).into()
}

pub fn listed(notebooks: &[ListedNotebook]) -> Vec<Resource> {
    let list = Resource::new(LIST, "notebooks")
        .with_title("Notebooks")
        .with_description("The notebooks that you can see, the last changed first.")
        .with_mime_type(JSON);
    let each = notebooks.iter().map(|notebook| {
        Resource::new(format!("{LIST}/{}", notebook.notebook_id), notebook.title.clone())
            .with_description(format!("A notebook of {} cells.", notebook.cells))
            .with_mime_type(JSON)
    });
    std::iter::once(list).chain(each).collect()
}

/// The current content of a URI.
pub async fn read(
    host: &Arc<dyn NotebookHost>,
    visitor: &Visitor,
    uri: &str,
    target: &ResourceTarget,
) -> Result<ReadResourceResult, Rejection> {
    let value = match target {
        ResourceTarget::List => json!({ "notebooks": visible(host, visitor, None).await? }),
        ResourceTarget::Notebook(id) | ResourceTarget::Cell(id, _) | ResourceTarget::Run(id, _) => {
            let notebook = visitor.read(host, id).await?;
            let stale = match target {
                ResourceTarget::Run(..) => BTreeMap::new(),
                _ => host.stale_cells(id).await,
            };
            let render = |blobs: &ReadBlob| match target {
                ResourceTarget::Run(_, run) => execution(&notebook, run, blobs),
                ResourceTarget::Cell(_, cell) => {
                    state(&notebook, &stale, Some(cell), blobs).map(|state| state["cells"][0].clone())
                }
                _ => state(&notebook, &stale, None, blobs),
            };
            with_blobs(&**host, id, render).await?
        }
    };
    let contents = ResourceContents::text(mask_keys(&value.to_string()), uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Renders like `get_notebook_state`: as much of a large notebook as fits, with a notice.
fn state(
    notebook: &Document,
    stale: &BTreeMap<CellId, String>,
    cell_id: Option<&CellId>,
    blobs: &ReadBlob,
) -> Result<Value, Rejection> {
    let cell_ids = cell_id.map(std::slice::from_ref);
    let query = TextQuery { include_outputs: true, stale: Some(stale), cell_ids, most: MAX_RESULT_BYTES };
    let text = state_text(notebook, query, blobs)
        .map_err(|error| Rejection::new(RejectionCode::UnknownCell, error.to_string()))?;
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

fn execution(notebook: &Document, run: &ExecutionId, blobs: &ReadBlob) -> Result<Value, Rejection> {
    let execution = notebook.executions.get(run).ok_or_else(|| {
        let message = format!("no run {run} is kept at hand: it is the latest of no cell, or there never was one");
        Rejection::new(RejectionCode::UnknownExecution, message)
    })?;
    let outputs: Vec<String> = joined_streams(&execution.outputs).iter().map(|output| preview(output, blobs)).collect();
    Ok(json!({
        "execution_id": run,
        "subject": execution.subject,
        "status": execution.status,
        "execution_count": execution.execution_count,
        "notice": execution.end_sentence(),
        "effects": effects_in_words(execution),
        "outputs": outputs,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_addresses_are_read() {
        let notebook: NotebookId = "n".parse().unwrap();
        assert_eq!(ResourceTarget::parse("notarium://notebooks"), Some(ResourceTarget::List));
        assert_eq!(ResourceTarget::parse("notarium://notebooks/n"), Some(ResourceTarget::Notebook(notebook.clone())));
        let cell = ResourceTarget::Cell(notebook.clone(), "c".parse().unwrap());
        assert_eq!(ResourceTarget::parse("notarium://notebooks/n/cells/c"), Some(cell));
        let run = ResourceTarget::Run(notebook, "r".parse().unwrap());
        assert_eq!(ResourceTarget::parse("notarium://notebooks/n/runs/r"), Some(run));
        let bad = [
            "",
            "file:///etc/passwd",
            "notarium://notebooks/",
            "notarium://notebooksx",
            "notarium://notebooks/../x",
            "notarium://notebooks/n/cells",
            "notarium://notebooks/n/cells/c/d",
            "notarium://notebooks/n/other/c",
        ];
        for bad in bad {
            assert_eq!(ResourceTarget::parse(bad), None, "{bad}");
        }
    }
}
