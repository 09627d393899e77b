//! Python in the percent format: `# %%` begins a cell. jupytext reads and writes the same format.

use std::fmt::Write;
use std::sync::LazyLock;

use regex::Regex;

use crate::{ExportedCell, ExportedKind, ExportedNotebook};

pub fn write(notebook: &ExportedNotebook) -> String {
    let mut out = header(notebook);
    for cell in &notebook.cells {
        out.push('\n');
        out.push_str(&text_of(cell));
        out.push('\n');
    }
    out
}

fn header(notebook: &ExportedNotebook) -> String {
    let mut out = "# ---\n# jupyter:\n#   jupytext:\n#     text_representation:\n#       extension: .py\n\
                   #       format_name: percent\n#       format_version: '1.3'\n"
        .to_owned();
    if !notebook.kernel_name.is_empty() {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''").replace(char::is_control, " "));
        let (name, shown) = (quoted(&notebook.kernel_name), quoted(&notebook.kernel_display_name));
        _ = write!(out, "#   kernelspec:\n#     display_name: {shown}\n#     language: python\n#     name: {name}\n");
    }
    out.push_str("# ---\n");
    out
}

fn text_of(cell: &ExportedCell) -> String {
    let (head, lines) = match cell.kind {
        ExportedKind::Code => code(&cell.source),
        ExportedKind::Markdown | ExportedKind::Prompt => ("# %% [markdown]".to_owned(), commented(&cell.source)),
        ExportedKind::Raw => ("# %% [raw]".to_owned(), commented(&cell.source)),
        // Commented out, as Notarium runs it, not Python.
        ExportedKind::Sql => ("# %% language=\"sql\"".to_owned(), commented(&cell.source)),
    };
    let mut out = head;
    for line in lines {
        out.push('\n');
        out.push_str(&line);
    }
    out
}

fn commented(source: &str) -> Vec<String> {
    if source.is_empty() {
        return Vec::new();
    }
    source.split('\n').map(|line| if line.is_empty() { "#".to_owned() } else { format!("# {line}") }).collect()
}

/// Cell magics for other languages: such cells are commented out as a whole.
const LANGUAGES: [&str; 17] = [
    "R",
    "bash",
    "sh",
    "javascript",
    "js",
    "perl",
    "html",
    "latex",
    "markdown",
    "ruby",
    "script",
    "svg",
    "sql",
    "cython",
    "julia",
    "octave",
    "matlab",
];

fn code(source: &str) -> (String, Vec<String>) {
    let (first, rest) = source.split_once('\n').unwrap_or((source, ""));
    if let Some(magic) = first.strip_prefix("%%") {
        let (language, options) = magic.split_once(' ').unwrap_or((magic, ""));
        if LANGUAGES.contains(&language) {
            let arguments = match options {
                "" => String::new(),
                given => format!("magic_args={} ", serde_json::Value::from(given)),
            };
            let head = format!("# %% {arguments}language=\"{language}\"");
            return (head, commented(rest));
        }
    }
    if source.is_empty() {
        return ("# %%".to_owned(), Vec::new());
    }
    let indent: String = if first.trim().is_empty() {
        String::new()
    } else {
        first.chars().take_while(|character| *character == ' ' || *character == '\t').collect()
    };
    (format!("{indent}# %%"), with_magics_commented(source))
}

static MAGICS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = [
        r"^[ \t]*(# |#)*(%|%%|%%%)[a-zA-Z]",
        r"^[ \t]*(?:(?:# |#)+[ \t]*)?(\?|!)[ \t]*[A-Za-z.~$\\/{}]",
        r"^(# |#)*[ \t]*([a-zA-Z_][a-zA-Z_$0-9]*)[ \t]*=[ \t]*(%|%%|%%%|!)[a-zA-Z](.*)",
        r"^[ \t]*(# )*[^ \t]*\?[ \t]*$",
        r"^(# |#)*(cat|cd|cp|mv|rm|rmdir|mkdir|copy|ddir|echo|ls|ldir|ren)($|[ \t]$|[ \t][^=,])",
    ];
    patterns.iter().map(|pattern| Regex::new(pattern).expect("the pattern is one")).collect()
});

fn with_magics_commented(source: &str) -> Vec<String> {
    let (mut quotes, mut goes_on) = (Quotes::default(), false);
    let comment = |line: &str| {
        let is_quoted = quotes.triple.is_some();
        quotes.read(line);
        if is_quoted || !(goes_on || MAGICS.iter().any(|magic| magic.is_match(line))) {
            return line.to_owned();
        }
        let bare = if goes_on { line } else { line.trim_start() };
        let indent = &line[..line.len() - bare.len()];
        goes_on = line.trim_end().ends_with('\\');
        format!("{indent}# {bare}")
    };
    source.split('\n').map(comment).collect()
}

/// Tracks if a line begins inside a triple-quoted string.
#[derive(Default)]
struct Quotes {
    triple: Option<char>,
}

impl Quotes {
    fn read(&mut self, line: &str) {
        if self.triple.is_none() && line.trim_start().starts_with('#') {
            return;
        }
        let characters: Vec<char> = line.chars().collect();
        let (mut single, mut at) = (None, 0);
        while let Some(character) = characters.get(at).copied() {
            if character == '\\' && (single.is_some() || self.triple.is_some()) {
                at += 2;
                continue;
            }
            let is_quote = character == '"' || character == '\'';
            let is_triple = is_quote && characters[at..].starts_with(&[character; 3]);
            match (single, self.triple) {
                (None, None) if character == '#' => break,
                (None, None) if is_triple => self.triple = Some(character),
                (None, None) if is_quote => single = Some(character),
                (None, Some(open)) if is_triple && open == character => self.triple = None,
                (Some(open), _) if open == character => single = None,
                _ => {}
            }
            at += if is_triple && single.is_none() { 3 } else { 1 };
        }
    }
}
