//! A cell as Python: what IPython takes away or runs as Python is taken away here too, line for line, and what it reads in
//! another way than a parser of Python is refused.

use crate::DangerRule::{self, *};
use crate::magics::{self, after_blank_lines, plain, without_options};
use crate::{Lines, MAX_CHECKED_BYTES, python, sql};

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

/// A cell's Python, with as many lines as the cell has before the end of what is run.
#[derive(Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// What of it is no Python, or not for sure: rule, words, line.
    pub(crate) refused: Vec<(DangerRule, String, u32)>,
}

impl Cell {
    pub(crate) fn read(code: &str) -> Self {
        let mut cell = Self::default();
        match code.len() > MAX_CHECKED_BYTES {
            true => cell.refuse(TooLong, "This code", 1),
            false => cell.text = cell.python_inside(code, 1, 0),
        }
        cell
    }

    fn refuse(&mut self, rule: DangerRule, found: &str, line: u32) {
        self.refused.push((rule, found.to_owned(), line));
    }

    /// The Python of a text that begins in this line.
    fn python_inside(&mut self, code: &str, start: u32, depth: usize) -> String {
        if depth > MAX_CELL_MAGICS {
            self.refuse(TooNested, "%%", 1);
            return String::new();
        }
        if let Some(body) = sql::of_text(code) {
            return self.sql_cell(body, start);
        }
        let (first, text) = after_blank_lines(code);
        let text = text.trim_end();
        if let Some(rule) = refusal(text) {
            self.refuse(rule, "This code", 1);
            if rule == OddLines {
                return String::new();
            }
        }
        let text = plain(text);
        let blank = "\n".repeat(usize::try_from(first - 1).unwrap_or(0));
        let Some(after) = text.strip_prefix("%%") else {
            return blank + &with_timed_code(&text);
        };
        let line = start + first - 1;
        let (head, body) = after.split_once('\n').unwrap_or((after, ""));
        let (name, rest) = head.trim().split_once(char::is_whitespace).unwrap_or((head.trim(), ""));
        let setup = self.head(name, rest.trim(), body, line);
        let body = match name {
            "time" | "timeit" | "prun" | "capture" | "debug" | "memit" | "mprun" | "lprun" => {
                self.python_inside(body, line + 1, depth + 1)
            }
            _ => String::new(),
        };
        format!("{blank}{setup}\n{body}\n")
    }

    /// An SQL cell, with its line before it.
    fn sql_cell(&mut self, body: &str, start: u32) -> String {
        let lines = Lines::of(body, start);
        for (rule, words, at) in sql::judge(body) {
            self.refuse(rule, &words, lines.at(at));
        }
        format!("\n{}\n", sql::python_of(body))
    }

    /// The Python in the first line of a cell magic; what the magic does beside is refused.
    fn head(&mut self, name: &str, rest: &str, body: &str, line: u32) -> String {
        let is_shown = matches!(name, "html" | "HTML" | "markdown" | "latex" | "svg" | "SVG");
        let rule = match name {
            "capture" if rest.chars().all(|found| found.is_alphanumeric() || "_- ".contains(found)) => None,
            "time" | "timeit" | "prun" if timed(name, rest).is_some() => None,
            "prun" | "lprun" | "mprun" if magics::writes_profile(rest) => Some(WritesFile),
            _ if is_shown && shows_script(body) => Some(BrowserScript),
            _ if is_shown && rest.is_empty() => None,
            _ => Some(magics::rule_of_cell(name)),
        };
        if let Some(rule) = rule {
            self.refuse(rule, &format!("%%{name}"), line);
        }
        if magics::is_sql(name) {
            let lines = Lines::of(body, line + 1);
            sql::dangers(rest).into_iter().for_each(|(_, rule, word)| self.refuse(rule, word, line));
            sql::dangers(body).into_iter().for_each(|(at, rule, word)| self.refuse(rule, word, lines.at(at)));
        }
        match name {
            "time" | "timeit" | "prun" | "debug" | "memit" | "mprun" | "lprun" => without_options(rest).to_owned(),
            _ => magics::fields(rest).join("; "),
        }
    }
}

pub(crate) fn shows_script(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["<script", "javascript:", "<iframe", "onerror", "onload", "http"].iter().any(|word| text.contains(word))
}

/// Why a text cannot be read as IPython reads it.
fn refusal(text: &str) -> Option<DangerRule> {
    if text.contains(SEPARATORS) {
        return Some(OddLines);
    }
    let has_prompt = |line: &str| {
        let line = line.trim_start();
        [">>>", "In [", "...:", "... "].iter().any(|prompt| line.starts_with(prompt)) || line == "..."
    };
    let is_refused = text.lines().take(2).any(has_prompt) || !text.contains('\n') && is_automagic(text);
    is_refused.then_some(DoesNotParse)
}

/// `reset -f` and `rm -f` are valid Python as well.
fn is_automagic(line: &str) -> bool {
    let line = line.trim_start();
    let end = line.find(|found: char| !found.is_alphanumeric() && found != '_').unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    // `rm /tmp/x` divides nothing.
    let is_path = rest.starts_with(" /") && !rest.starts_with(" / ");
    let is_code = !is_path
        && rest.trim_start().starts_with(['=', '(', '.', '[', ',', '+', '*', '/', '%', '<', '>', '!', '&', '|', '^']);
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
        "time" | "prun" => rest,
        "timeit" => without_options(rest),
        _ => return None,
    };
    let code = code.trim();
    // What ends on this line for IPython must end here too: no text may go on over the lines below.
    let is_whole = || code.is_empty() || python::is_valid(code);
    (!code.starts_with('-') && is_whole()).then_some(code)
}
