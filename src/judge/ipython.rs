//! IPython's own syntax around Python: copied prompts, blank lines, and the magics whose cell is Python.

/// The text without leading indentation and copied prompts, as IPython reads it. The number of lines stays.
pub fn plain(code: &str) -> String {
    let indent = code.len() - code.trim_start_matches([' ', '\t']).len();
    let prefix = &code[..indent];
    let has_prompts = code[indent..].starts_with(">>>") || code[indent..].starts_with("In [");
    let lines = code.split('\n').map(|line| {
        let line = line.strip_prefix(prefix).unwrap_or(line);
        if has_prompts { without_prompt(line) } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn without_prompt(line: &str) -> &str {
    if let Some(rest) = [">>> ", "... ", ">>>", "..."].iter().find_map(|prompt| line.strip_prefix(prompt)) {
        return rest;
    }
    let is_ipython = line.starts_with("In [") || line.trim_start().starts_with("...");
    line.split_once("]: ").or_else(|| line.split_once("...: ")).filter(|_| is_ipython).map_or(line, |(_, rest)| rest)
}

/// The line at which the code begins behind blank lines, and the code from there on.
pub fn after_blank_lines(code: &str) -> (u32, &str) {
    let (mut line, mut rest) = (1, code);
    while let Some((head, tail)) = rest.split_once('\n') {
        if !head.trim().is_empty() {
            break;
        }
        (line, rest) = (line + 1, tail);
    }
    (line, rest)
}

/// Checks that the magic at the start of a cell runs the rest as Python in the notebook's own names.
pub fn has_python_body(text: &str) -> bool {
    let name = text.trim_start_matches('%').split_whitespace().next().unwrap_or_default();
    matches!(name, "time" | "capture" | "prun" | "debug" | "memit")
}

/// `-n 10 -r 3 f(x)` → `f(x)`: options of timing magics are a letter, their values numbers, or a long word without one.
pub fn without_options(rest: &str) -> &str {
    let mut rest = rest.trim_start();
    loop {
        let long =
            rest.strip_prefix("--").map(|after| after.trim_start_matches(|found: char| is_word(found) || found == '-'));
        let short =
            rest.strip_prefix('-').and_then(|after| after.strip_prefix(|letter: char| letter.is_ascii_alphabetic()));
        rest = match (long, short) {
            (Some(after), _) => after.trim_start(),
            (_, Some(after)) => without_number(without_number(after)),
            _ => return rest,
        };
    }
}

fn without_number(text: &str) -> &str {
    text.trim_start_matches(|value: char| value.is_ascii_digit()).trim_start()
}

pub(crate) fn is_word(found: char) -> bool {
    found.is_alphanumeric() || found == '_'
}

/// `-T` and `-D` write the profile to a file.
pub fn writes_profile(rest: &str) -> bool {
    has_option(rest, "TD")
}

/// Checks that a word of the line is an option with one of these letters, alone or in a bundle: `-f`, `-nf x`, `-fx`.
pub(crate) fn has_option(rest: &str, letters: &str) -> bool {
    let bundles = rest.split_whitespace().filter_map(|word| word.strip_prefix('-'));
    bundles.filter(|bundle| !bundle.starts_with('-')).any(|bundle| bundle.contains(|found| letters.contains(found)))
}
