//! Functions that kernels have registered, for models that are not offered them as tools: an outside assistant whose connection
//! is not limited to one notebook calls them by these names.

use std::borrow::Cow;

use notarium_core::{Document, RawObject};
use serde::Serialize;

use crate::preview::truncated;

/// Most characters of a shortened description.
const MAX_SHORT_DESCRIPTION: usize = 80;

/// One function that can be called now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionState<'a> {
    pub name: &'a str,
    pub description: Cow<'a, str>,
    /// JSON Schema; absent in a shortened state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<&'a RawObject>,
}

impl FunctionState<'_> {
    pub(super) fn shorten(&mut self) {
        self.arguments = None;
        if let Some((end, _)) = self.description.char_indices().nth(MAX_SHORT_DESCRIPTION) {
            self.description = format!("{}…", &self.description[..end]).into();
        }
    }
}

/// The functions whose kernel is running.
pub(super) fn functions(notebook: &Document) -> Vec<FunctionState<'_>> {
    let callable = notebook.functions.values().filter(|known| known.kernel_session.is_some());
    let rendered = callable.map(|known| FunctionState {
        name: &known.function.name,
        description: truncated(&known.function.description),
        arguments: Some(&known.function.schema),
    });
    rendered.collect()
}
