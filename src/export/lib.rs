//! Notebooks as files for reading: HTML, Markdown, and Python in the percent format of jupytext.
//!
//! Purpose: [`write`] makes the text of a file from a [`Notebook`]. The server calls it for every door, so each has the same bytes.
//!
//! Invariants:
//! - The same notebook gives the same bytes: no clock, no randomness, no network.
//! - Nothing of a file runs when it is opened. HTML is sanitised, and its policy (`Content-Security-Policy`) allows no script and no
//!   address besides; Markdown holds no active HTML.
//! - Every text of a notebook is escaped for the format that it stands in.
//!
//! This crate must never know the record, the wire or the server: it gets values, and returns text.

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

/// A format that [`write`] knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Html,
    Markdown,
    Percent,
}

/// What a file is made from.
#[derive(Debug, Clone, Default)]
pub struct Notebook {
    pub title: String,
    /// Of nbformat's `kernelspec`.
    pub kernel_name: String,
    pub kernel_display_name: String,
    /// As in `python`; empty: unknown.
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
    /// nbformat 4, multi-line text joined.
    pub outputs: Vec<Value>,
    /// File name to MIME bundle.
    pub attachments: Value,
    pub is_source_hidden: bool,
    pub are_outputs_hidden: bool,
}

/// The text of the file.
#[must_use]
pub fn write(format: Format, notebook: &Notebook) -> String {
    match format {
        Format::Html => html::write(notebook),
        Format::Markdown => markdown::write(notebook),
        Format::Percent => percent::write(notebook),
    }
}

/// Text for HTML, in and outside of attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML has none.
            '\0' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}
