//! Chemical formulas: mhchem's `\ce{…}` and `\pu{…}` as LaTeX that every renderer knows. Covers formulas, charges, isotopes, states and
//! arrows; a bond or a rare sign is written as it stands.

/// Replaces each `\ce{…}` and `\pu{…}`.
pub fn written_out(tex: &str) -> String {
    let mut out = String::with_capacity(tex.len());
    let mut rest = tex;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let command = ["\\ce{", "\\pu{"].into_iter().find(|command| rest.starts_with(command));
        let Some((command, end)) = command.and_then(|command| Some((command, group_end(rest, command.len())?))) else {
            let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        };
        let inside = &rest[command.len()..end - 1];
        if command == "\\ce{" {
            out.push_str(&format!("{{{}}}", Reaction::new(inside).written()));
        } else {
            out.push_str(&format!("\\mathrm{{{}}}", inside.replace(' ', "\\,")));
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Returns the index after the brace that closes a group.
pub fn group_end(text: &str, from: usize) -> Option<usize> {
    let mut depth = 1;
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip_while(|(at, _)| *at < from) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

const ARROWS: [(&str, &str); 7] = [
    ("<=>", "\\rightleftharpoons"),
    ("<-->", "\\rightleftarrows"),
    ("<->", "\\leftrightarrow"),
    ("->", "\\rightarrow"),
    ("<-", "\\leftarrow"),
    ("⇌", "\\rightleftharpoons"),
    ("→", "\\rightarrow"),
];

struct Reaction<'a> {
    rest: &'a str,
    out: String,
    /// The sign before has an index or a charge: a letter, a bracket, or another index.
    follows_atom: bool,
}

impl<'a> Reaction<'a> {
    const fn new(text: &'a str) -> Self {
        Self { rest: text, out: String::new(), follows_atom: false }
    }

    fn written(mut self) -> String {
        while let Some(sign) = self.rest.chars().next() {
            self.push(sign);
        }
        self.out
    }

    fn skip(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    fn while_is(&mut self, is: fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|character| !is(character)).unwrap_or(self.rest.len());
        self.skip(end)
    }

    fn push(&mut self, sign: char) {
        if let Some((arrow, command)) = ARROWS.into_iter().find(|(arrow, _)| self.rest.starts_with(arrow)) {
            self.skip(arrow.len());
            return self.push_arrow(command);
        }
        let was_atom = std::mem::take(&mut self.follows_atom);
        match sign {
            ' ' => {
                self.while_is(|character| character == ' ');
                self.push_word();
            }
            '0'..='9' => {
                let digits = self.while_is(|character| character.is_ascii_digit());
                self.out.push_str(&if was_atom { format!("_{{{digits}}}") } else { format!("{digits}\\,") });
                self.follows_atom = was_atom;
            }
            '^' | '_' => {
                self.skip(1);
                let inside = self.script();
                self.out.push_str(&format!("{}{sign}{{{inside}}}", if was_atom { "" } else { "{}" }));
                self.follows_atom = true;
            }
            '+' | '-' if was_atom && self.ends_word(1) => {
                self.skip(1);
                self.out.push_str(&format!("^{{{sign}}}"));
            }
            '$' => {
                self.skip(1);
                let end = self.rest.find('$').unwrap_or(self.rest.len());
                let formula = self.skip(end);
                self.out.push_str(formula);
                self.skip(usize::from(!self.rest.is_empty()));
            }
            '\\' => {
                self.skip(1);
                let name = self.while_is(|character| character.is_ascii_alphabetic());
                self.out.push_str(&format!("\\{name} "));
            }
            '*' | '.' | '·' => {
                self.skip(sign.len_utf8());
                self.out.push_str("\\cdot ");
            }
            '#' => {
                self.skip(1);
                self.out.push_str("\\equiv ");
            }
            letter if letter.is_alphabetic() => {
                let letters = self.while_is(char::is_alphabetic);
                self.out.push_str(&format!("\\mathrm{{{letters}}}"));
                self.follows_atom = true;
            }
            other => {
                self.skip(other.len_utf8());
                self.out.push(other);
                self.follows_atom = matches!(other, ')' | ']' | '}');
            }
        }
    }

    /// Signs that stand alone: a plus, a gas, a precipitate.
    fn push_word(&mut self) {
        for (sign, command) in [('+', "+"), ('^', "\\uparrow "), ('v', "\\downarrow "), ('-', "-"), ('=', "=")] {
            if self.rest.starts_with(sign) && self.ends_word(1) {
                self.skip(1);
                self.out.push_str(command);
                return;
            }
        }
        self.out.push_str("\\,");
    }

    fn ends_word(&self, from: usize) -> bool {
        self.rest[from..].chars().next().is_none_or(|next| matches!(next, ' ' | ']' | ')' | '}' | ','))
    }

    /// The text after `^` or `_`: a group, or a charge such as `2+`.
    fn script(&mut self) -> String {
        let inside = if self.rest.starts_with('{') {
            let end = group_end(self.rest, 1).unwrap_or(self.rest.len());
            self.skip(end).trim_start_matches('{').trim_end_matches('}')
        } else {
            self.while_is(|character| character.is_ascii_digit() || "+-".contains(character))
        };
        if inside.contains('\\') { inside.to_owned() } else { inside.replace('$', "") }
    }

    fn push_arrow(&mut self, command: &str) {
        self.follows_atom = false;
        let mut words = Vec::new();
        while words.len() < 2 && self.rest.starts_with('[') {
            let Some(end) = self.rest.find(']') else { break };
            words.push(Reaction::new(&self.skip(end + 1)[1..end]).written());
        }
        let arrow = match words.as_slice() {
            [] => format!("{command} "),
            [above] => format!("\\overset{{{above}}}{{{command}}} "),
            [above, below, ..] => format!("\\underset{{{below}}}{{\\overset{{{above}}}{{{command}}}}} "),
        };
        self.out.push_str(&arrow);
        self.while_is(|character| character == ' ');
    }
}
