//! HTML as a single file: styles and images are embedded, and it runs nothing.

use std::fmt::Write;

use crate::equations::Equations;
use crate::outputs::{self, Shown};
use crate::{ExportedCell, ExportedKind, ExportedNotebook, escaped, markdown};

/// Allows only styles and images of the file itself: the second barrier if sanitising fails.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("style.css");

pub fn write(notebook: &ExportedNotebook) -> String {
    let title = escaped(&notebook.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"Notarium\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    );
    let has_title =
        notebook.cells.first().is_some_and(|cell| cell.kind == ExportedKind::Markdown && cell.source.starts_with("# "));
    if !has_title {
        _ = writeln!(out, "<h1 class=\"nb-title\">{title}</h1>");
    }
    let texts = notebook.cells.iter().filter(|cell| is_text(cell)).map(|cell| cell.source.as_str());
    let mut equations = Equations::of(texts);
    for cell in &notebook.cells {
        push_cell(&mut out, cell, &mut equations);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn is_text(cell: &ExportedCell) -> bool {
    cell.kind == ExportedKind::Markdown && !cell.is_source_hidden
}

fn push_cell(out: &mut String, cell: &ExportedCell, equations: &mut Equations) {
    let shown = outputs::shown(cell);
    if cell.is_source_hidden && shown.is_empty() {
        return;
    }
    let class = match cell.kind {
        ExportedKind::Code => "code",
        ExportedKind::Sql => "code sql",
        ExportedKind::Markdown => "markdown",
        ExportedKind::Prompt => "prompt",
        ExportedKind::Raw => "raw",
    };
    _ = writeln!(out, "<section class=\"nb-cell {class}\">");
    if !cell.is_source_hidden {
        push_source(out, cell, equations);
    }
    if !shown.is_empty() {
        out.push_str("<div class=\"nb-outputs\">\n");
        for each in &shown {
            push_output(out, each, equations);
        }
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
}

fn push_source(out: &mut String, cell: &ExportedCell, equations: &mut Equations) {
    match cell.kind {
        ExportedKind::Markdown => {
            let text = markdown::html(&cell.source, &cell.attachments, equations);
            _ = writeln!(out, "<div class=\"nb-prose\">\n{text}</div>");
        }
        ExportedKind::Prompt => {
            let text = markdown::html(&cell.source, &cell.attachments, &mut equations.of_output());
            _ = writeln!(out, "<div class=\"nb-prose nb-question\">\n{text}</div>");
        }
        ExportedKind::Code | ExportedKind::Sql => {
            let count = cell.execution_count.map_or("&nbsp;".to_owned(), |count| count.to_string());
            let source = escaped(&cell.source);
            _ = writeln!(
                out,
                "<div class=\"nb-source\"><span class=\"nb-count\">[{count}]</span><pre><code>{source}</code></pre></div>"
            );
        }
        ExportedKind::Raw => _ = writeln!(out, "<pre class=\"nb-raw\">{}</pre>", escaped(&cell.source)),
    }
}

fn push_output(out: &mut String, shown: &Shown, equations: &Equations) {
    _ = match shown {
        Shown::Text { text, is_error_stream: false } => {
            writeln!(out, "<pre class=\"nb-text\">{}</pre>", outputs::coloured(text))
        }
        Shown::Text { text, .. } => writeln!(out, "<pre class=\"nb-text nb-stderr\">{}</pre>", outputs::coloured(text)),
        Shown::Error(text) => writeln!(out, "<pre class=\"nb-text nb-error\">{}</pre>", outputs::coloured(text)),
        Shown::Html(html) => writeln!(out, "<div class=\"nb-html\">{html}</div>"),
        Shown::Markdown(text) => {
            let text = markdown::html(text, &serde_json::Value::Null, &mut equations.of_output());
            writeln!(out, "<div class=\"nb-prose\">{text}</div>")
        }
        Shown::Latex(text) => {
            let formula = markdown::latex(text, &mut equations.of_output());
            writeln!(out, "<div class=\"nb-latex\">{formula}</div>")
        }
        Shown::Note(words) => writeln!(out, "<p class=\"nb-note\">{}</p>", escaped(words)),
        Shown::Picture { address, alt, width } => {
            let width = width.map_or(String::new(), |width| format!(" width=\"{width}\""));
            writeln!(out, "<img class=\"nb-picture\" src=\"{}\" alt=\"{}\"{width}>", escaped(address), escaped(alt))
        }
    };
}
