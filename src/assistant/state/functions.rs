//! The functions that kernels have registered, for whoever is not offered them as tools: an outside assistant whose connection
//! is for no notebook in particular calls them by these names.

use std::borrow::Cow;

use notarium_core::{Document, RawObject};
use serde::Serialize;

use crate::preview::truncated;

/// Characters of a description that is told in short.
const MAX_SHORT_DESCRIPTION: usize = 80;

/// One function that can be called now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionState<'a> {
    pub name: &'a str,
    pub description: Cow<'a, str>,
    /// JSON Schema; absent where there is much to tell.
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

/// Those whose kernel is there.
pub(super) fn functions(notebook: &Document) -> Vec<FunctionState<'_>> {
    let callable = notebook.functions.values().filter(|known| known.kernel_session.is_some());
    let rendered = callable.map(|known| FunctionState {
        name: &known.function.name,
        description: truncated(&known.function.description),
        arguments: Some(&known.function.schema),
    });
    rendered.collect()
}
