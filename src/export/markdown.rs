//! Markdown with fenced code and outputs; images as `data:` addresses.

use std::fmt::Write;

use crate::outputs::{self, Shown};
use crate::{Cell, Kind, Notebook, ansi, prose};

pub fn write(notebook: &Notebook) -> String {
    let language = if notebook.language.is_empty() { "python" } else { &notebook.language };
    let mut pieces: Vec<String> = Vec::new();
    let has_title =
        notebook.cells.first().is_some_and(|cell| cell.kind == Kind::Markdown && cell.source.starts_with("# "));
    if !has_title {
        pieces.push(format!("# {}", plain_line(&notebook.title)));
    }
    for cell in &notebook.cells {
        push_cell(&mut pieces, cell, language);
    }
    pieces.retain(|piece| !piece.trim().is_empty());
    let mut out = pieces.join("\n\n");
    out.push('\n');
    out
}

/// Escapes text as one line without Markdown or HTML syntax.
fn plain_line(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\r' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '|' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}

fn push_cell(pieces: &mut Vec<String>, cell: &Cell, language: &str) {
    if !cell.is_source_hidden {
        pieces.push(match cell.kind {
            Kind::Code if cell.source.is_empty() => String::new(),
            Kind::Code => fenced(language, &cell.source),
            Kind::Sql => fenced("sql", &cell.source),
            Kind::Raw => fenced("", &cell.source),
            Kind::Markdown => with_attachments(&prose::harmless(&cell.source), cell),
            Kind::Prompt => quoted(&with_attachments(&prose::harmless(&cell.source), cell)),
        });
    }
    if cell.are_outputs_hidden {
        return;
    }
    pieces.extend(cell.outputs.iter().filter_map(outputs::of).map(|shown| output(&shown)));
}

fn output(shown: &Shown) -> String {
    match shown {
        Shown::Text { text, .. } | Shown::Error(text) => {
            let text = ansi::plain(text);
            if text.is_empty() { text } else { fenced("text", &text) }
        }
        Shown::Picture { address, alt, .. } => format!("![{}]({address})", plain_line(alt)),
        // An empty line would end the HTML.
        Shown::Html(html) => html.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n"),
        Shown::Markdown(text) => prose::harmless(text),
        Shown::Latex(text) => text.trim().replace('<', "\\lt "),
        Shown::Note(words) => format!("*{}*", plain_line(words)),
    }
}

fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    let language: String =
        language.chars().filter(|character| character.is_ascii_alphanumeric() || "+-#_".contains(*character)).collect();
    let mut out = String::new();
    _ = write!(out, "{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'));
    out
}

fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

fn with_attachments(text: &str, cell: &Cell) -> String {
    let mut out = text.to_owned();
    for name in cell.attachments.as_object().into_iter().flat_map(serde_json::Map::keys) {
        for written in [name.clone(), name.replace(' ', "%20")] {
            let address = format!("attachment:{written}");
            if let Some(data) = prose::attached(&address, &cell.attachments).filter(|_| out.contains(&address)) {
                out = out.replace(&address, &data);
            }
        }
    }
    out
}
