//! A cell as Python: what IPython takes away or runs as Python is taken away here too, line for line, and what it reads in
//! another way than a parser of Python is refused.

use crate::line_magics::without_options;
use crate::magics::{after_blank_lines, plain};
use crate::python;

/// Why a cell cannot be read as Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// IPython cuts lines where Python does not.
    Separator,
    /// Copied prompts.
    Prompt,
    /// A line that IPython takes for a magic.
    Automagic,
    CellMagic,
}

/// Characters at which `str.splitlines` cuts, beside the line feed, and those that end a text for others.
const SEPARATORS: &[char] = &[
    '\r', '\0', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}', '\u{feff}', '\u{1a}',
];

/// Magics and aliases that IPython runs without `%` where the line is the whole cell and no variable has the name.
const AUTOMAGICS: &str = "alias alias_magic autoawait autocall automagic autosave bookmark cat cd clear code_wrap colors \
    conda config connect_info cp debug dhist dirs doctest_mode ed edit env gui hist history killbgscripts ldir less lf lk \
    ll load load_ext loadpy logoff logon logstart logstate logstop ls lsmagic lx macro magic mamba man matplotlib \
    micromamba mkdir more mv notebook page pastebin pdb pdef pdoc pfile pinfo pinfo2 pip popd pprint precision prun \
    psearch psource pushd pwd pycat pylab qtconsole quickref recall rehashx reload_ext rep rerun reset reset_selective rm \
    rmdir run save sc set_env store sx system tb time timeit unalias unload_ext uv who who_ls whos xdel xmode exit quit";

/// Cell magics in cell magics.
const MAX_CELL_MAGICS: usize = 3;

/// The cell's Python, with as many lines as the cell has before the end of what is run.
pub(crate) fn python_of(code: &str) -> Result<String, Unreadable> {
    python_inside(code, 0)
}

fn python_inside(code: &str, depth: usize) -> Result<String, Unreadable> {
    if depth > MAX_CELL_MAGICS {
        return Err(Unreadable::CellMagic);
    }
    let (first, text) = after_blank_lines(code);
    let text = text.trim_end();
    if let Some(found) = refusal(text) {
        return Err(found);
    }
    let text = plain(text);
    let blank = "\n".repeat(usize::try_from(first - 1).unwrap_or(0));
    let Some(after) = text.strip_prefix("%%") else {
        return Ok(blank + &with_timed_code(&text));
    };
    let (head, body) = after.split_once('\n').unwrap_or((after, ""));
    let (name, rest) = head.trim_end().split_once(' ').unwrap_or((head.trim_end(), ""));
    let body = || python_inside(body, depth + 1).map(|body| format!("{body}\n"));
    match name {
        "time" | "timeit" | "prun" => {
            let setup = timed(name, rest).ok_or(Unreadable::CellMagic)?;
            Ok(format!("{blank}{setup}\n{}", body()?))
        }
        "capture" if rest.chars().all(|found| found.is_alphanumeric() || "_- ".contains(found)) => {
            Ok(format!("{blank}\n{}", body()?))
        }
        "html" | "HTML" | "markdown" | "latex" | "svg" | "SVG" if rest.is_empty() && !shows_script(code) => {
            Ok(String::new())
        }
        _ => Err(Unreadable::CellMagic),
    }
}

pub(crate) fn shows_script(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["<script", "javascript:", "<iframe", "onerror", "onload", "http"].iter().any(|word| text.contains(word))
}

fn refusal(text: &str) -> Option<Unreadable> {
    if text.contains(SEPARATORS) {
        return Some(Unreadable::Separator);
    }
    let has_prompt = |line: &str| {
        let line = line.trim_start();
        [">>>", "In [", "...:", "... "].iter().any(|prompt| line.starts_with(prompt)) || line == "..."
    };
    if text.lines().take(2).any(has_prompt) {
        return Some(Unreadable::Prompt);
    }
    (!text.contains('\n') && is_automagic(text)).then_some(Unreadable::Automagic)
}

/// `reset -f` and `rm -f` are valid Python as well.
fn is_automagic(line: &str) -> bool {
    let line = line.trim_start();
    let end = line.find(|found: char| !found.is_alphanumeric() && found != '_').unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let is_code =
        rest.trim_start().starts_with(['=', '(', '.', '[', ',', '+', '*', '/', '%', '<', '>', '!', '&', '|', '^']);
    !is_code && AUTOMAGICS.split_whitespace().any(|magic| magic == word)
}

/// `%time f(x)` runs `f(x)`: so it reads here.
fn with_timed_code(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let Some((name, rest)) = code.strip_prefix('%').and_then(|magic| magic.split_once(' ')) else {
            return line.to_owned();
        };
        match timed(name, rest).filter(|_| !code.trim_end().ends_with('?')) {
            Some(code) => format!("{indent}{code}"),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What a magic that measures runs; `None`: it measures nothing, or has options that do more.
fn timed<'a>(name: &str, rest: &'a str) -> Option<&'a str> {
    let code = match name {
        "time" => rest,
        "timeit" => without_options(rest),
        "prun" => rest,
        _ => return None,
    };
    let code = code.trim();
    // What ends on this line for IPython must end here too: no text may go on over the lines below.
    let is_whole = || code.is_empty() || python::parse(code).is_some_and(|parsed| parsed.has_valid_syntax());
    (!code.starts_with('-') && is_whole()).then_some(code)
}

/// Magics of a line that change what is shown, or nothing, with these arguments.
pub(crate) fn is_harmless_magic(line: &str) -> bool {
    let line = line.trim_start_matches('%').trim();
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = rest.trim();
    let words = |found: char| found.is_ascii_alphanumeric() || "_. ".contains(found);
    match name {
        "matplotlib" => matches!(rest, "" | "inline" | "notebook" | "widget" | "ipympl" | "agg" | "nbagg" | "--list"),
        "autoreload" | "precision" | "xmode" | "colors" | "pdb" => {
            rest.chars().all(|found| words(found) || found == '%')
        }
        "load_ext" | "reload_ext" => rest == "autoreload",
        "pwd" | "who" | "who_ls" | "whos" | "lsmagic" | "quickref" | "magic" | "dhist" => rest.chars().all(words),
        "time" | "timeit" => rest.is_empty(),
        "config" => is_harmless_setting(rest),
        _ => false,
    }
}

fn is_harmless_setting(rest: &str) -> bool {
    let Some(setting) = rest.strip_prefix("InlineBackend").map(|rest| rest.trim_start_matches('.')) else {
        return false;
    };
    let is_value = |found: char| found.is_ascii_alphanumeric() || "_-.,'\"{}[]: ()=".contains(found);
    setting.chars().all(is_value) && setting.matches('=').count() <= 1 && !has_call(setting)
}

/// A bracket right behind a word.
fn has_call(text: &str) -> bool {
    text.as_bytes()
        .windows(2)
        .any(|pair| pair[1] == b'(' && (pair[0].is_ascii_alphanumeric() || b")]}_".contains(&pair[0])))
}

/// `np.sin?` shows a documentation.
pub(crate) fn is_harmless_help(value: &str) -> bool {
    value.trim_start_matches('%').chars().all(|found| found.is_alphanumeric() || "_.*".contains(found))
}
