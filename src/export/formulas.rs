//! Formulas in Markdown, by the rules of the page (`clients/web/src/outputs/maths.ts`). They are taken out before the text is parsed: a
//! formula may have line breaks, pipes and signs of Markdown. Afterwards each placeholder becomes MathML; in code and addresses the
//! text is put back.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::escaped;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    /// The text as written, with its delimiters.
    pub raw: String,
    pub tex: String,
    pub is_display: bool,
}

/// Signs of a placeholder: characters that Unicode keeps out of texts.
const OPEN: char = '\u{fdd0}';
const CLOSE: char = '\u{fdd1}';
/// Longer formulas are text: looking for the end of each sign in a hostile text would take minutes.
const MOST_BYTES: usize = 20_000;
const MOST_LEVELS: usize = 50;

static FENCE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[ \t>]|[-*+] |\d+[.)] )*(?:(`{3,})[^`\n]*(?:\n|$)|(~{3,})[^\n]*(?:\n|$))"));
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"^</?[a-zA-Z][\w-]*(?:\s+[a-zA-Z_:][\w.:-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*\s*/?>"#)
});
static ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:<[a-zA-Z][a-zA-Z\d+.-]*:[^\s<>]*>|https?://[^\s<>)]*)"));
static ENVIRONMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\\begin\{(\w+\*?)\}"));
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\\(?:eqref|ref)\{[^{}\n]*\}"));
static BREAK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\n[ \t>]*(?:\n|`{3}|~{3})"));
static FENCE_WITHIN: LazyLock<Regex> = LazyLock::new(|| pattern(r"\n[ \t>]*(?:`{3}|~{3})"));
static FIRST: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:[ \t>]|[-*+] |\d+[.)] )*$"));
static LAST: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[ \t.,;:]*(?:\n|$)"));
static QUOTE_MARKS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\n[ \t]*(?:>[ \t]?)+"));
static COMMANDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\\[a-zA-Z]|[\^_]"));
static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| pattern("\\$(?:\u{fdd0}|%EF%B7%90)(\\d+)(?:\u{fdd1}|%EF%B7%91)\\$"));
static PIECE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"<(?:"[^"]*"|[^">])*>"#));

/// A regular expression whose `\d`, `\s` and `\w` are those of ASCII.
pub fn pattern(text: &str) -> Regex {
    let [digit, space, word] = ["0-9", " \\t\\r\\n\\x0c", "A-Za-z0-9_"];
    let mut out = String::with_capacity(text.len() * 2);
    let (mut is_class, mut signs) = (false, text.chars());
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            is_class = (is_class && sign != ']') || (!is_class && sign == '[');
            out.push(sign);
            continue;
        }
        let class = match signs.next() {
            Some('d') => digit,
            Some('s') => space,
            Some('w') => word,
            other => {
                out.push(sign);
                out.extend(other);
                continue;
            }
        };
        out.push_str(&if is_class { class.to_owned() } else { format!("[{class}]") });
    }
    Regex::new(&out).expect("the pattern is one")
}

/// Returns the Markdown with placeholders, and the formulas.
pub fn taken_out(markdown: &str) -> (String, Vec<Formula>) {
    let source = markdown.replace([OPEN, CLOSE], "");
    let mut scanner = Scanner { source: &source, paragraph: 0..0, lasts: HashMap::new() };
    let mut formulas = Vec::new();
    let mut out = String::with_capacity(source.len());
    let mut at = scanner.fenced_end(0).unwrap_or(0);
    out.push_str(&source[..at]);
    while at < source.len() {
        let Some(found) = source[at..].find(['\\', '$', '`', '<', '\n', 'h']) else { break };
        out.push_str(&source[at..at + found]);
        at += found;
        let end = match scanner.verbatim_end(at) {
            Some(end) => end,
            None => match scanner.formula(at) {
                Some(formula) => {
                    at += formula.raw.len();
                    formulas.push(formula);
                    out.push_str(&format!("${OPEN}{}{CLOSE}$", formulas.len() - 1));
                    continue;
                }
                None if source[at..].starts_with('\\') => {
                    at + 1 + source[at + 1..].chars().next().map_or(0, char::len_utf8)
                }
                None => at + 1,
            },
        };
        out.push_str(&source[at..end]);
        at = end;
    }
    out.push_str(&source[at.min(source.len())..]);
    (out, formulas)
}

struct Scanner<'a> {
    source: &'a str,
    /// The paragraph that was looked at last.
    paragraph: std::ops::Range<usize>,
    /// The last places of closing signs.
    lasts: HashMap<String, usize>,
}

impl Scanner<'_> {
    /// End of the code, tag, comment or address that begins here.
    fn verbatim_end(&mut self, at: usize) -> Option<usize> {
        let rest = &self.source[at..];
        let whole = |rule: &Regex| rule.find(rest).map(|found| at + found.end());
        match rest.as_bytes().first()? {
            b'\n' => self.fenced_end(at + 1),
            b'`' => Some(self.code_end(at)),
            b'<' if rest.starts_with("<!--") => {
                if !self.is_ahead(at, "-->") {
                    return None;
                }
                rest.find("-->").map(|end| at + end + 3)
            }
            b'<' => whole(&TAG).or_else(|| whole(&ADDRESS)),
            b'h' => whole(&ADDRESS),
            _ => None,
        }
    }

    /// Returns true if a sign follows.
    fn is_ahead(&mut self, at: usize, sign: &str) -> bool {
        let last = match self.lasts.get(sign) {
            Some(last) => *last,
            None => {
                let last = self.source.rfind(sign).unwrap_or(0);
                self.lasts.insert(sign.to_owned(), last);
                last
            }
        };
        last > at
    }

    fn fenced_end(&self, at: usize) -> Option<usize> {
        let found = FENCE.captures(&self.source[at..])?;
        let fence = found.get(1).or_else(|| found.get(2))?.as_str();
        let mut end = at + found[0].len();
        for line in self.source[end..].split_inclusive('\n') {
            end += line.len();
            let bare = line.trim_start_matches([' ', '\t', '>']).trim_end();
            if bare.len() >= fence.len() && bare.bytes().all(|byte| Some(&byte) == fence.as_bytes().first()) {
                return Some(if line.ends_with('\n') { end - 1 } else { end });
            }
        }
        Some(self.source.len())
    }

    /// Code in a paragraph; a run of backticks that nothing closes is text.
    fn code_end(&mut self, at: usize) -> usize {
        let limit = self.paragraph_end(at);
        let text = &self.source[at..limit];
        let run = text.len() - text.trim_start_matches('`').len();
        let mut from = run;
        while let Some(found) = text[from..].find('`') {
            let start = from + found;
            let length = text[start..].len() - text[start..].trim_start_matches('`').len();
            if length == run {
                return at + start + run;
            }
            from = start + length;
        }
        at + run
    }

    fn paragraph_end(&mut self, at: usize) -> usize {
        if !self.paragraph.contains(&at) {
            let end = BREAK.find(&self.source[at..]).map_or(self.source.len(), |found| at + found.start());
            self.paragraph = at..end;
        }
        self.bounded(at, self.paragraph.end)
    }

    /// A limit on a boundary between characters.
    fn bounded(&self, at: usize, end: usize) -> usize {
        let mut limit = end.min(at.saturating_add(MOST_BYTES)).min(self.source.len());
        while !self.source.is_char_boundary(limit) {
            limit -= 1;
        }
        limit.max(at)
    }

    fn formula(&mut self, at: usize) -> Option<Formula> {
        let rest = &self.source[at..];
        if rest.starts_with("$$") {
            return self.in_dollars(at);
        }
        if rest.starts_with('$') {
            return self.in_dollar(at);
        }
        self.bracketed(at).or_else(|| self.environment(at)).or_else(|| {
            let end = REFERENCE.find(rest)?.end();
            Some(self.found(at, at + end, 0, false))
        })
    }

    fn found(&self, at: usize, end: usize, delimiter: usize, is_display: bool) -> Formula {
        let raw = &self.source[at..end];
        let is_quoted = self.line_before(at).trim_start().starts_with('>');
        let lines = if is_quoted { QUOTE_MARKS.replace_all(raw, "\n").into_owned() } else { raw.to_owned() };
        let inside = lines[delimiter..lines.len() - delimiter].trim_start();
        let bare = inside.trim_end();
        // A blank after a backslash is a command.
        let tex = if bare.ends_with('\\') && bare.len() < inside.len() { format!("{bare} ") } else { bare.to_owned() };
        Formula { raw: raw.to_owned(), tex, is_display }
    }

    /// The line up to here; of a long line only its end.
    fn line_before(&self, at: usize) -> &str {
        let mut from = at.saturating_sub(200);
        while !self.source.is_char_boundary(from) {
            from += 1;
        }
        let near = &self.source[from..at];
        near.rsplit('\n').next().unwrap_or(near)
    }

    fn is_first(&self, at: usize) -> bool {
        FIRST.is_match(self.line_before(at))
    }

    /// `$$…$$`. One at the beginning of a line may have empty lines.
    fn in_dollars(&mut self, at: usize) -> Option<Formula> {
        let may_break = self.is_first(at);
        let limit = if may_break { self.bounded(at, usize::MAX) } else { self.paragraph_end(at) };
        let bytes = self.source.as_bytes();
        let mut end = at + 2;
        while end + 1 < limit {
            match bytes[end] {
                b'\\' => end += 2,
                b'$' if bytes[end + 1] == b'$' => {
                    let is_wrong = end == at + 2 || FENCE_WITHIN.is_match(&self.source[at..end]);
                    return (!is_wrong).then(|| self.found(at, end + 2, 2, true));
                }
                _ => end += 1,
            }
        }
        None
    }

    /// `$…$` up to the next dollar outside of braces, unless it is a price.
    fn in_dollar(&mut self, at: usize) -> Option<Formula> {
        let end = self.dollar_end(at + 1)?;
        let content = &self.source[at + 1..end - 1];
        let after = &self.source[end..self.bounded(end, end + 20)];
        if content.trim().is_empty() || after.starts_with(|next: char| next.is_ascii_digit()) {
            return None;
        }
        let is_plain = content == content.trim() && !content.contains('\n');
        (is_plain || looks_like_formula(content, after)).then(|| self.found(at, end, 1, false))
    }

    fn dollar_end(&mut self, from: usize) -> Option<usize> {
        let limit = self.paragraph_end(from);
        let (mut depth, mut inner, mut seen) = (0_i32, None, 0);
        let mut is_escaped = false;
        for (at, byte) in self.source.as_bytes()[from..limit].iter().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b'$' if depth <= 0 => return Some(from + at + 1),
                b'$' => {
                    inner = inner.or(Some(from + at + 1));
                    seen += 1;
                    if seen > MOST_LEVELS {
                        break;
                    }
                }
                _ => {}
            }
        }
        inner
    }

    /// `\(…\)` and `\[…\]`, also with Jupyter's two backslashes. One backslash escapes a bracket, so `\[` needs lines of its own.
    fn bracketed(&mut self, at: usize) -> Option<Formula> {
        let rest = &self.source[at..];
        let sign = ["\\\\(", "\\\\[", "\\(", "\\["].into_iter().find(|sign| rest.starts_with(sign))?;
        let is_display = sign.ends_with('[');
        let close = sign.replace(['(', '['], if is_display { "]" } else { ")" });
        if !self.is_ahead(at, &close) {
            return None;
        }
        let may_break = is_display && self.is_first(at);
        let limit = if may_break { self.bounded(at, usize::MAX) } else { self.paragraph_end(at) };
        let from = at + sign.len();
        let found = from + self.source.get(from..limit)?.find(&close)?;
        let end = found + close.len();
        if found == from || (may_break && FENCE_WITHIN.is_match(&self.source[at..found])) {
            return None;
        }
        if sign == "\\[" && !(may_break && LAST.is_match(&self.source[end..])) {
            return None;
        }
        Some(self.found(at, end, sign.len(), is_display))
    }

    fn environment(&mut self, at: usize) -> Option<Formula> {
        let part = &self.source[at..self.bounded(at, usize::MAX)];
        let name = ENVIRONMENT.captures(part)?[1].to_owned();
        let [begin, close] = ["begin", "end"].map(|sign| format!("\\{sign}{{{name}}}"));
        if !self.is_ahead(at, &close) {
            return None;
        }
        let (mut depth, mut end) = (0, 0);
        while depth < MOST_LEVELS {
            let closing = end + part[end..].find(&close)?;
            match part[end..closing].find(&begin) {
                Some(opening) => (depth, end) = (depth + 1, end + opening + begin.len()),
                None => (depth, end) = (depth - 1, closing + close.len()),
            }
            if depth == 0 {
                let is_whole = !FENCE_WITHIN.is_match(&part[..end]);
                return is_whole.then(|| self.found(at, at + end, 0, true));
            }
        }
        None
    }
}

fn looks_like_formula(content: &str, after: &str) -> bool {
    if COMMANDS.is_match(content) {
        return true;
    }
    let longest = content.split(|sign: char| !sign.is_alphabetic()).map(|word| word.chars().count()).max().unwrap_or(0);
    if longest > 3 {
        return false;
    }
    if content.contains(['=', '{', '}']) {
        return true;
    }
    let begins_with_digit = |text: &str| text.trim_start().starts_with(|sign: char| sign.is_ascii_digit());
    longest < 2 && !(begins_with_digit(content) && begins_with_digit(after))
}

/// Puts each formula into sanitised HTML: rendered in texts, as its source in code and attributes.
pub fn put_back(html: &str, formulas: &[Formula], mut render: impl FnMut(&Formula) -> String) -> String {
    let mut out = String::with_capacity(html.len());
    let (mut at, mut depth) = (0, 0_usize);
    let source = |found: &Captures<'_>| formula_of(found, formulas).map_or_else(String::new, |each| escaped(&each.raw));
    let mut push_text = |out: &mut String, text: &str, depth: usize| {
        out.push_str(&PLACEHOLDER.replace_all(text, |found: &Captures<'_>| match formula_of(found, formulas) {
            Some(formula) if depth == 0 => render(formula),
            _ => source(found),
        }));
    };
    for tag in PIECE.find_iter(html) {
        push_text(&mut out, &html[at..tag.start()], depth);
        out.push_str(&PLACEHOLDER.replace_all(tag.as_str(), source));
        let name = tag.as_str().trim_start_matches('<');
        if name.starts_with("code") || name.starts_with("pre") {
            depth += 1;
        } else if name.starts_with("/code") || name.starts_with("/pre") {
            depth = depth.saturating_sub(1);
        }
        at = tag.end();
    }
    push_text(&mut out, &html[at..], depth);
    out
}

fn formula_of<'a>(found: &Captures<'_>, formulas: &'a [Formula]) -> Option<&'a Formula> {
    formulas.get(found[1].parse::<usize>().ok()?)
}
