//! Renders Markdown cells as HTML.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag};
use serde_json::Value;

use crate::{clean, maths};

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
    with_formulas(&clean::html(&out), &formulas)
}

fn mark<'a>(formulas: &mut Vec<String>, latex: &str, is_display: bool) -> Event<'a> {
    formulas.push(maths::mathml(latex, is_display));
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
pub fn attached(address: &str, attachments: &Value) -> Option<String> {
    let name = address.strip_prefix("attachment:")?;
    let found = attachments.get(name).or_else(|| attachments.get(name.replace("%20", " ")))?;
    let (mime, data) = found.as_object()?.iter().find(|(mime, _)| mime.starts_with("image/"))?;
    let data: String = data.as_str()?.split_ascii_whitespace().collect();
    Some(format!("data:{mime};base64,{data}"))
}

/// Returns the source with active HTML and addresses as text, as some Markdown viewers run them.
pub fn harmless(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut written = 0;
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        let is_html = matches!(event, Event::Html(_) | Event::InlineHtml(_));
        if !is_html || range.start < written {
            continue;
        }
        let piece = &source[range.clone()];
        out.push_str(&source[written..range.start]);
        if clean::needs_scripts(piece) || piece.to_ascii_lowercase().contains("script") || piece.contains("<s") {
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
