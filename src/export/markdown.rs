//! Markdown: a notebook as Markdown with fenced code and outputs, images as `data:` addresses; and Markdown cells as HTML, with formulas as
//! MathML, which browsers render without scripts.

use std::fmt::Write;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag};
use pulldown_latex::config::DisplayMode;
use pulldown_latex::{Parser as LatexParser, RenderConfig, Storage, push_mathml};
use serde_json::Value;

use crate::outputs::{self, Shown};
use crate::{ExportedCell, ExportedKind, ExportedNotebook, clean_html, clean_maths, escaped, needs_scripts};

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
            ExportedKind::Markdown => with_attachments(&harmless(&cell.source), cell),
            ExportedKind::Prompt => quoted(&with_attachments(&harmless(&cell.source), cell)),
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
        Shown::Html(html) => html.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n"),
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

fn with_attachments(text: &str, cell: &ExportedCell) -> String {
    let mut out = text.to_owned();
    for name in cell.attachments.as_object().into_iter().flat_map(serde_json::Map::keys) {
        for written in [name.clone(), name.replace(' ', "%20")] {
            let address = format!("attachment:{written}");
            if let Some(data) = attached(&address, &cell.attachments).filter(|_| out.contains(&address)) {
                out = out.replace(&address, &data);
            }
        }
    }
    out
}

/// Placeholders of formulas until the text is sanitised; they are removed from the source first.
const MARKS: [char; 2] = ['\u{f8d0}', '\u{f8d1}'];

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_MATH
}

pub fn html(source: &str, attachments: &Value) -> String {
    let source = source.replace(MARKS, "\u{fffd}");
    let mut formulas = Vec::new();
    let events = Parser::new_ext(&source, options()).map(|event| match event {
        Event::InlineMath(latex) => mark(&mut formulas, &latex, false),
        Event::DisplayMath(latex) => mark(&mut formulas, &latex, true),
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let dest_url = attached(&dest_url, attachments).map_or(dest_url, CowStr::from);
            Event::Start(Tag::Image { link_type, dest_url, title, id })
        }
        Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ ".into() } else { "☐ ".into() }),
        other => other,
    });
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, events);
    with_formulas(&clean_html(&out), &formulas)
}

fn mark<'a>(formulas: &mut Vec<String>, latex: &str, is_display: bool) -> Event<'a> {
    formulas.push(mathml(latex, is_display));
    let [before, after] = MARKS;
    Event::Text(format!("{before}{}{after}", formulas.len() - 1).into())
}

fn with_formulas(html: &str, formulas: &[String]) -> String {
    let [before, after] = MARKS;
    let mut pieces = html.split(before);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (number, rest) = piece.split_once(after).unwrap_or((piece, ""));
        out.push_str(number.parse().ok().and_then(|at: usize| formulas.get(at)).map_or("", String::as_str));
        out.push_str(rest);
    }
    out
}

/// Returns the image of `attachment:NAME` as a `data:` address.
fn attached(address: &str, attachments: &Value) -> Option<String> {
    let name = address.strip_prefix("attachment:")?;
    let found = attachments.get(name).or_else(|| attachments.get(name.replace("%20", " ")))?;
    let (mime, data) = found.as_object()?.iter().find(|(mime, _)| mime.starts_with("image/"))?;
    let data: String = data.as_str()?.split_ascii_whitespace().collect();
    Some(format!("data:{mime};base64,{data}"))
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

/// Renders a formula; one that cannot be parsed is returned as its source.
pub fn mathml(latex: &str, is_display: bool) -> String {
    let storage = Storage::new();
    let display_mode = if is_display { DisplayMode::Block } else { DisplayMode::Inline };
    let events: Result<Vec<_>, _> = LatexParser::new(latex, &storage).collect();
    let mut out = String::new();
    let config = RenderConfig { display_mode, ..RenderConfig::default() };
    let is_drawn = match events {
        Ok(events) => push_mathml(&mut out, events.into_iter().map(Ok::<_, std::convert::Infallible>), config).is_ok(),
        Err(_) => false,
    };
    if is_drawn { clean_maths(&out) } else { format!("<code>{}</code>", escaped(latex)) }
}
