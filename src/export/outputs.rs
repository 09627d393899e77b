//! Outputs: the form that a file shows, one that needs no script. Text of programs: colours as spans, carriage returns and backspaces as a
//! terminal applies them.

use std::fmt::Write;

use serde_json::Value;

use crate::{ExportedCell, clean_html, escaped, needs_scripts, shows_something, styler};

#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    Text {
        text: String,
        is_error_stream: bool,
    },
    Error(String),
    /// An image as a `data:` address.
    Picture {
        address: String,
        alt: String,
        width: Option<u64>,
    },
    /// Sanitised HTML.
    Html(String),
    Markdown(String),
    Latex(String),
    /// A note in words, if nothing can be shown.
    Note(String),
}

const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// MIME types that need a script, ours or a library's.
const LIVE: [(&str, &str); 5] = [
    ("application/vnd.plotly", "An interactive Plotly chart"),
    ("application/vnd.vega", "An interactive Vega chart"),
    ("application/vnd.jupyter.widget-view", "A widget"),
    ("application/vnd.bokehjs_exec", "An interactive Bokeh chart"),
    ("text/vnd.mermaid", "A Mermaid diagram"),
];

/// Notes and outputs of a cell in their order; nothing if they are hidden.
pub fn shown(cell: &ExportedCell) -> Vec<Shown> {
    if cell.are_outputs_hidden {
        return Vec::new();
    }
    let notes = cell.notes.iter().cloned().map(Shown::Note);
    notes.chain(cell.outputs.iter().filter_map(of)).collect()
}

fn of(output: &Value) -> Option<Shown> {
    match output.get("output_type").and_then(Value::as_str) {
        Some("stream") => {
            let is_error_stream = output.get("name").and_then(Value::as_str) == Some("stderr");
            Some(Shown::Text { text: text_of(output.get("text")?), is_error_stream })
        }
        Some("error") => Some(Shown::Error(error(output))),
        _ => bundle(output),
    }
}

fn error(output: &Value) -> String {
    let lines = output.get("traceback").and_then(Value::as_array);
    let traceback: Vec<&str> = lines.into_iter().flatten().filter_map(Value::as_str).collect();
    if !traceback.is_empty() {
        return traceback.join("\n");
    }
    let field = |name| output.get(name).and_then(Value::as_str).unwrap_or_default();
    format!("{}: {}", field("ename"), field("evalue"))
}

fn bundle(output: &Value) -> Option<Shown> {
    let data = output.get("data")?.as_object()?;
    let get = |mime: &str| data.get(mime).map(text_of);
    let plain = get("text/plain");
    let live = LIVE.iter().find(|(prefix, _)| data.keys().any(|mime| mime.starts_with(prefix)));
    let picture = picture(output, plain.as_deref());
    if let Some((_, words)) = live {
        let note = || Shown::Note(format!("{words}. Open the notebook to use it."));
        return Some(picture.unwrap_or_else(note));
    }
    if let Some(html) = get("text/html") {
        let cleaned = styler::clean(&html).unwrap_or_else(|| clean_html(&html));
        let is_whole = !needs_scripts(&html);
        if shows_something(&cleaned) && (is_whole || (picture.is_none() && plain.is_none())) {
            return Some(Shown::Html(cleaned));
        }
        let note = || Shown::Note("Active content. Open the notebook to use it.".to_owned());
        return Some(picture.or(plain.map(result)).unwrap_or_else(note));
    }
    if let Some(picture) = picture {
        return Some(picture);
    }
    if let Some(latex) = get("text/latex") {
        return Some(Shown::Latex(latex));
    }
    if let Some(markdown) = get("text/markdown") {
        return Some(Shown::Markdown(markdown));
    }
    let json = data.get("application/json").map(|value| serde_json::to_string_pretty(value).unwrap_or_default());
    json.or(plain).map(result).or_else(|| {
        let (mime, _) = data.iter().next()?;
        Some(Shown::Note(format!("An output of the type {mime}. Open the notebook to see it.")))
    })
}

fn result(text: String) -> Shown {
    Shown::Text { text, is_error_stream: false }
}

fn picture(output: &Value, plain: Option<&str>) -> Option<Shown> {
    let data = output.get("data")?;
    let (mime, address) = if let Some(mime) = PICTURES.into_iter().find(|mime| data.get(mime).is_some()) {
        let base64: String = text_of(&data[mime]).chars().filter(|character| is_base64(*character)).collect();
        (mime, format!("data:{mime};base64,{base64}"))
    } else {
        // SVG in an image runs no scripts.
        let svg = text_of(data.get("image/svg+xml")?);
        ("image/svg+xml", format!("data:image/svg+xml,{}", percent(&svg)))
    };
    let width = output.get("metadata").and_then(|all| all.get(mime)?.get("width")?.as_u64());
    let alt = plain.filter(|text| !text.starts_with('<')).unwrap_or("Output image").to_owned();
    Some(Shown::Picture { address, alt, width })
}

fn is_base64(character: char) -> bool {
    character.is_ascii_alphanumeric() || "+/=".contains(character)
}

fn percent(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Joins nbformat's text: one string, or a list of lines. Other values are printed as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// Class names of colours 0 to 7, then the bright ones; the style sheet defines them for light and dark.
const NAMES: [&str; 16] = ["k", "r", "g", "y", "b", "m", "c", "w", "bk", "br", "bg", "by", "bb", "bm", "bc", "bw"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Look {
    is_bold: bool,
    is_italic: bool,
    is_underlined: bool,
    is_swapped: bool,
    fore: Option<Colour>,
    back: Option<Colour>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Colour {
    Named(usize),
    Exact(u8, u8, u8),
}

/// Renders the text as HTML.
pub fn coloured(text: &str) -> String {
    let mut out = String::new();
    for (at, line) in screen(text).into_iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let mut cells = line.into_iter().peekable();
        while let Some((first, look)) = cells.next() {
            let mut run = String::from(first);
            while let Some((next, _)) = cells.next_if(|(_, other)| *other == look) {
                run.push(next);
            }
            push_span(&mut out, &run, &look);
        }
    }
    out
}

/// Renders the text without colours.
pub fn plain(text: &str) -> String {
    let lines: Vec<String> =
        screen(text).into_iter().map(|line| line.into_iter().map(|(character, _)| character).collect()).collect();
    lines.join("\n")
}

fn push_span(out: &mut String, text: &str, look: &Look) {
    if *look == Look::default() {
        return out.push_str(&escaped(text));
    }
    let (fore, back) = if look.is_swapped { (&look.back, &look.fore) } else { (&look.fore, &look.back) };
    let mut classes = Vec::new();
    let mut style = String::new();
    for (colour, prefix, property) in [(fore, "af", "color"), (back, "ab", "background")] {
        match colour {
            Some(Colour::Named(index)) => classes.push(format!("{prefix}-{}", NAMES[*index])),
            Some(Colour::Exact(red, green, blue)) => _ = write!(style, "{property}:rgb({red},{green},{blue});"),
            None => {}
        }
    }
    let flags = [(look.is_bold, "a-bold"), (look.is_italic, "a-italic"), (look.is_underlined, "a-under")];
    classes.extend(flags.iter().filter(|(is_on, _)| *is_on).map(|(_, class)| (*class).to_owned()));
    if look.is_swapped && look.fore.is_none() && look.back.is_none() {
        classes.push("a-swap".to_owned());
    }
    let style = if style.is_empty() { String::new() } else { format!(" style=\"{style}\"") };
    _ = write!(out, "<span class=\"{}\"{style}>{}</span>", classes.join(" "), escaped(text));
}

/// Returns the final content of each line.
fn screen(text: &str) -> Vec<Vec<(char, Look)>> {
    let mut lines = vec![Vec::new()];
    let (mut column, mut look) = (0_usize, Look::default());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let line = lines.last_mut().expect("there is a first line");
        match character {
            '\n' => {
                lines.push(Vec::new());
                column = 0;
            }
            '\r' => column = 0,
            '\u{8}' => column = column.saturating_sub(1),
            '\u{1b}' => escape(&mut rest, &mut look, line, column),
            '\t' => put(line, &mut column, '\t', &look),
            control if control.is_control() => {}
            other => put(line, &mut column, other, &look),
        }
    }
    if lines.len() > 1 && lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

fn put(line: &mut Vec<(char, Look)>, column: &mut usize, character: char, look: &Look) {
    match line.get_mut(*column) {
        Some(place) => *place = (character, look.clone()),
        None => line.push((character, look.clone())),
    }
    *column += 1;
}

/// Reads an escape sequence after ESC; only colours and "erase to the end of the line" have an effect.
fn escape(rest: &mut std::str::Chars<'_>, look: &mut Look, line: &mut Vec<(char, Look)>, column: usize) {
    let mut ahead = rest.clone();
    match ahead.next() {
        Some('[') => {
            let mut parameters = String::new();
            for character in ahead.by_ref() {
                if ('@'..='~').contains(&character) {
                    match character {
                        'm' => dress(&parameters, look),
                        'K' => erase(&parameters, line, column),
                        _ => {}
                    }
                    break;
                }
                parameters.push(character);
            }
            *rest = ahead;
        }
        Some(']') => {
            // Skips a title or a link, up to BEL or ESC \.
            while let Some(character) = ahead.next() {
                if character == '\u{7}' || (character == '\u{1b}' && ahead.clone().next() == Some('\\')) {
                    if character == '\u{1b}' {
                        ahead.next();
                    }
                    break;
                }
            }
            *rest = ahead;
        }
        Some(_) => *rest = ahead,
        None => {}
    }
}

fn erase(parameters: &str, line: &mut Vec<(char, Look)>, column: usize) {
    match parameters {
        "" | "0" => line.truncate(column),
        "2" => line.iter_mut().for_each(|place| *place = (' ', Look::default())),
        _ => {}
    }
}

fn dress(parameters: &str, look: &mut Look) {
    let codes: Vec<u16> = parameters.split([';', ':']).map(|code| code.parse().unwrap_or(0)).collect();
    let mut rest = codes.as_slice();
    while let [code, after @ ..] = rest {
        rest = after;
        match code {
            0 => *look = Look::default(),
            1 => look.is_bold = true,
            3 => look.is_italic = true,
            4 => look.is_underlined = true,
            7 => look.is_swapped = true,
            22 => look.is_bold = false,
            23 => look.is_italic = false,
            24 => look.is_underlined = false,
            27 => look.is_swapped = false,
            30..=37 => look.fore = Some(Colour::Named(usize::from(code - 30))),
            40..=47 => look.back = Some(Colour::Named(usize::from(code - 40))),
            90..=97 => look.fore = Some(Colour::Named(usize::from(code - 90) + 8)),
            100..=107 => look.back = Some(Colour::Named(usize::from(code - 100) + 8)),
            39 => look.fore = None,
            49 => look.back = None,
            38 | 48 => {
                let colour;
                (colour, rest) = exact(rest);
                *if *code == 38 { &mut look.fore } else { &mut look.back } = colour;
            }
            _ => {}
        }
    }
}

/// Parses `5;INDEX` or `2;RED;GREEN;BLUE`; returns the colour and the remaining codes.
fn exact(codes: &[u16]) -> (Option<Colour>, &[u16]) {
    let byte = |value: &u16| u8::try_from(*value).unwrap_or(u8::MAX);
    match codes {
        [5, index, rest @ ..] => (Some(of_palette(byte(index))), rest),
        [2, red, green, blue, rest @ ..] => (Some(Colour::Exact(byte(red), byte(green), byte(blue))), rest),
        _ => (None, &[]),
    }
}

fn of_palette(index: u8) -> Colour {
    let step = |value: u8| if value == 0 { 0 } else { 55 + value * 40 };
    match index {
        0..=15 => Colour::Named(usize::from(index)),
        16..=231 => {
            let place = index - 16;
            Colour::Exact(step(place / 36), step(place / 6 % 6), step(place % 6))
        }
        _ => {
            let grey = 8 + (index - 232) * 10;
            Colour::Exact(grey, grey, grey)
        }
    }
}
