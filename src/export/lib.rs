//! Exports notebooks for reading: HTML, Markdown, and Python in jupytext's percent format.
//!
//! Purpose: [`write`] makes the text of a file from a [`Notebook`]. The server calls it for every interface, so all return the same bytes.
//!
//! Invariants:
//! - The same notebook gives the same bytes: no clock, no randomness, no network.
//! - Nothing in a file runs when it is opened. HTML is sanitised, and its `Content-Security-Policy` allows no scripts and no external
//!   addresses; Markdown contains no active HTML.
//! - Every text of a notebook is escaped for its target format.
//!
//! This crate must never know the record, the wire or the server: it takes values, and returns text.

mod ansi;
mod clean;
mod html;
mod markdown;
mod maths;
mod outputs;
mod percent;
mod prose;
#[cfg(test)]
mod tests;

use serde_json::Value;

/// Output format of [`write`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Html,
    Markdown,
    Percent,
}

/// Input of [`write`].
#[derive(Debug, Clone, Default)]
pub struct Notebook {
    pub title: String,
    /// Name in nbformat's `kernelspec`.
    pub kernel_name: String,
    pub kernel_display_name: String,
    /// Language, as in `python`; empty: unknown.
    pub language: String,
    pub cells: Vec<Cell>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    #[default]
    Code,
    Sql,
    Markdown,
    Prompt,
    Raw,
}

#[derive(Debug, Clone, Default)]
pub struct Cell {
    pub kind: Kind,
    pub source: String,
    pub execution_count: Option<i64>,
    /// Outputs of nbformat 4 with multi-line text joined.
    pub outputs: Vec<Value>,
    /// MIME bundles by file name.
    pub attachments: Value,
    pub is_source_hidden: bool,
    pub are_outputs_hidden: bool,
}

/// Returns the text of the file.
#[must_use]
pub fn write(format: Format, notebook: &Notebook) -> String {
    match format {
        Format::Html => html::write(notebook),
        Format::Markdown => markdown::write(notebook),
        Format::Percent => percent::write(notebook),
    }
}

/// Escapes text for HTML, for content and attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML does not allow this character.
            '\0' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}
