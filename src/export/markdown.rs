//! Markdown: a notebook as Markdown with fenced code and outputs, images as `data:` addresses; and Markdown cells as HTML, with formulas as
//! MathML, which browsers render without scripts.

use std::fmt::Write;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag};
use pulldown_latex::config::DisplayMode;
use pulldown_latex::{Parser as LatexParser, RenderConfig, Storage, push_mathml};
use serde_json::Value;

use crate::equations::Equations;
use crate::formulas::Formula;
use crate::outputs::{self, Shown};
use crate::{ExportedCell, ExportedKind, ExportedNotebook, clean_html, clean_maths, escaped, needs_scripts};
use crate::{attached, chemistry, equations, formulas, styler};

pub fn write(notebook: &ExportedNotebook) -> String {
    let language = if notebook.language.is_empty() { "python" } else { &notebook.language };
    let mut pieces: Vec<String> = Vec::new();
    let has_title =
        notebook.cells.first().is_some_and(|cell| cell.kind == ExportedKind::Markdown && cell.source.starts_with("# "));
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

fn push_cell(pieces: &mut Vec<String>, cell: &ExportedCell, language: &str) {
    if !cell.is_source_hidden {
        pieces.push(match cell.kind {
            ExportedKind::Code if cell.source.is_empty() => String::new(),
            ExportedKind::Code => fenced(language, &cell.source),
            ExportedKind::Sql => fenced("sql", &cell.source),
            ExportedKind::Raw => fenced("", &cell.source),
            ExportedKind::Markdown => attached::in_markdown(&harmless(&cell.source), &cell.attachments),
            ExportedKind::Prompt => quoted(&attached::in_markdown(&harmless(&cell.source), &cell.attachments)),
        });
    }
    pieces.extend(outputs::shown(cell).iter().map(output));
}

fn output(shown: &Shown) -> String {
    match shown {
        Shown::Text { text, .. } | Shown::Error(text) => {
            let text = outputs::plain(text);
            if text.is_empty() { text } else { fenced("text", &text) }
        }
        Shown::Picture { address, alt, .. } => format!("![{}]({address})", plain_line(alt)),
        // An empty line would end the HTML.
        Shown::Html(html) => {
            styler::without_styles(html).lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n")
        }
        Shown::Markdown(text) => harmless(text),
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

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES
}

/// Renders Markdown; its formulas take over what `equations` has of those above.
pub fn html(source: &str, attachments: &Value, equations: &mut Equations) -> String {
    let (source, formulas) = formulas::taken_out(source);
    let events = Parser::new_ext(&source, options()).map(|event| match event {
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let dest_url = attached::of_address(&dest_url, attachments).map_or(dest_url, CowStr::from);
            Event::Start(Tag::Image { link_type, dest_url, title, id })
        }
        Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ ".into() } else { "☐ ".into() }),
        other => other,
    });
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, events);
    let cleaned = clean_html(&attached::in_tags(&out, attachments));
    formulas::put_back(&cleaned, &formulas, |formula| rendered(formula, equations))
}

/// Renders `text/latex`: one formula, or text around formulas.
pub fn latex(text: &str, equations: &mut Equations) -> String {
    let found = formulas::taken_out(text.trim()).1;
    match found.as_slice() {
        [] => rendered(&display(text.trim()), equations),
        [only] if only.raw == text.trim() => rendered(&display(&only.tex), equations),
        _ => html(text, &Value::Null, equations),
    }
}

fn display(tex: &str) -> Formula {
    let tex = tex.trim_start_matches("\\displaystyle").trim().to_owned();
    Formula { raw: tex.clone(), tex, is_display: true }
}

fn rendered(formula: &Formula, equations: &mut Equations) -> String {
    let prepared = equations.prepare(&formula.tex);
    let tex = chemistry::written_out(&prepared.tex);
    if tex.trim().is_empty() {
        return String::new();
    }
    if let Some((label, text)) = prepared.link {
        return format!("<a href=\"#{}\">{}</a>", equations::place(&label), escaped(&text));
    }
    let is_display = formula.is_display || tex.contains("\\begin{");
    let whole = drawn(&format!("{}{tex}", chemistry::written_out(&prepared.prelude)), is_display);
    // A definition with a mistake spoils only the formulas that need it.
    let math =
        whole.or_else(|| drawn(&tex, is_display)).unwrap_or_else(|| format!("<code>{}</code>", escaped(&formula.tex)));
    let places: String =
        prepared.labels.iter().map(|label| format!("<span id=\"{}\"></span>", equations::place(label))).collect();
    format!("{places}{math}")
}

/// Returns the source with active HTML and addresses as text, as some Markdown viewers run them.
fn harmless(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut written = 0;
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        let is_html = matches!(event, Event::Html(_) | Event::InlineHtml(_));
        if !is_html || range.start < written {
            continue;
        }
        let piece = &source[range.clone()];
        out.push_str(&source[written..range.start]);
        if needs_scripts(piece) || piece.to_ascii_lowercase().contains("script") || piece.contains("<s") {
            out.push_str(&piece.replace('<', "&lt;"));
        } else {
            out.push_str(piece);
        }
        written = range.end;
    }
    out.push_str(&source[written..]);
    without_code_addresses(&out)
}

fn without_code_addresses(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut written = 0;
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        let (Event::Start(Tag::Link { dest_url, .. }) | Event::Start(Tag::Image { dest_url, .. })) = event else {
            continue;
        };
        let scheme: String =
            dest_url.chars().filter(|character| !character.is_control() && *character != ' ').collect();
        let scheme = scheme.to_ascii_lowercase();
        let is_code =
            ["javascript:", "vbscript:", "data:text", "data:image/svg"].iter().any(|each| scheme.starts_with(each));
        if !is_code || range.start < written {
            continue;
        }
        out.push_str(&source[written..range.start]);
        // Its brackets become text.
        out.push_str(&source[range.clone()].replace('[', "\\[").replace('<', "&lt;"));
        written = range.end;
    }
    out.push_str(&source[written..]);
    out
}

/// Renders LaTeX as MathML; `None` if it cannot be parsed.
fn drawn(latex: &str, is_display: bool) -> Option<String> {
    let storage = Storage::new();
    let display_mode = if is_display { DisplayMode::Block } else { DisplayMode::Inline };
    let events: Vec<_> = LatexParser::new(latex, &storage).collect::<Result<_, _>>().ok()?;
    let mut out = String::new();
    let config = RenderConfig { display_mode, ..RenderConfig::default() };
    push_mathml(&mut out, events.into_iter().map(Ok::<_, std::convert::Infallible>), config).ok()?;
    Some(clean_maths(&out))
}
