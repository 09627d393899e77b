//! Edits of a message's text by lines and strings. Pure: text in, text out.

use crate::error::DoorError;

/// Inserts `new` after line `after`; 0 is before the first line.
pub fn insert_line(text: &str, after: i64, new: &str) -> Result<String, DoorError> {
    let mut lines: Vec<&str> = lines_of(text);
    let place = usize::try_from(after).ok().filter(|place| *place <= lines.len());
    let place = place.ok_or_else(|| out_of_range("insert_line", after, 0, lines.len()))?;
    lines.insert(place, new);
    Ok(lines.join("\n"))
}

/// Replaces the first occurrence of `old`.
pub fn str_replace(text: &str, old: &str, new: &str) -> Result<String, DoorError> {
    if old.is_empty() || !text.contains(old) {
        return Err(not_found(old));
    }
    Ok(text.replacen(old, new, 1))
}

/// Replaces the first occurrence of each old string by its new one, in order. All of them or none.
pub fn strs_replace(text: &str, olds: &[&str], news: &[&str]) -> Result<String, DoorError> {
    if olds.len() != news.len() || olds.is_empty() {
        let (olds, news) = (olds.len(), news.len());
        return Err(DoorError::new(format!("old_strs and new_strs must be equally many, not {olds} and {news}")));
    }
    olds.iter().zip(news).try_fold(text.to_owned(), |text, (old, new)| str_replace(&text, old, new))
}

/// Replaces lines `start` to `end`, both 1-based and inclusive; an `end` of -1 is the last line.
pub fn replace_lines(text: &str, start: i64, end: i64, new: &str) -> Result<String, DoorError> {
    let lines = lines_of(text);
    let (first, last) = line_range(start, end, lines.len())?;
    let kept_before = lines[..first].iter().copied();
    let inserted = new.strip_suffix('\n').unwrap_or(new);
    let new_lines = kept_before.chain((!inserted.is_empty()).then_some(inserted)).chain(lines[last..].iter().copied());
    Ok(new_lines.collect::<Vec<_>>().join("\n"))
}

/// The lines `start` to `end`, both 1-based and inclusive.
pub fn view(text: &str, range: Option<(i64, i64)>, with_numbers: bool) -> Result<String, DoorError> {
    let lines = lines_of(text);
    let (first, last) = match range {
        Some((start, end)) => line_range(start, end, lines.len())?,
        None => (0, lines.len()),
    };
    let numbered = lines[first..last].iter().zip(first + 1..);
    let shown = numbered.map(|(line, number)| match with_numbers {
        true => format!("{number:>6} │ {line}"),
        false => (*line).to_owned(),
    });
    Ok(shown.collect::<Vec<_>>().join("\n"))
}

/// Middle-out truncation to about `most` characters.
pub fn middle_out(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most.div_ceil(2)).collect();
    let tail: String = text.chars().skip(count - most / 2).collect();
    format!("{head}…{tail}")
}

/// Comments all lines if one of them has code and no comment sign, else removes the signs.
pub fn toggle_comment(source: &str) -> String {
    let is_blank = |line: &str| line.trim().is_empty();
    let is_commented = |line: &str| is_blank(line) || line.trim_start().starts_with('#');
    let comments = !source.lines().all(is_commented);
    let toggled = source.split('\n').map(|line| match comments {
        _ if is_blank(line) => line.to_owned(),
        true => format!("# {line}"),
        false => {
            let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
            let rest = rest.strip_prefix('#').unwrap_or(rest);
            format!("{indent}{}", rest.strip_prefix(' ').unwrap_or(rest))
        }
    });
    toggled.collect::<Vec<_>>().join("\n")
}

fn lines_of(text: &str) -> Vec<&str> {
    if text.is_empty() { Vec::new() } else { text.split('\n').collect() }
}

/// Converts a 1-based inclusive range to a 0-based half-open one.
fn line_range(start: i64, end: i64, count: usize) -> Result<(usize, usize), DoorError> {
    let first = usize::try_from(start).ok().filter(|start| (1..=count.max(1)).contains(start));
    let first = first.ok_or_else(|| out_of_range("the first line", start, 1, count))? - 1;
    let last = if end == -1 { Some(count) } else { usize::try_from(end).ok() };
    match last.map(|last| last.min(count)) {
        Some(last) if last > first || count == 0 => Ok((first.min(last), last)),
        _ => Err(out_of_range("the last line", end, start, count)),
    }
}

fn out_of_range(name: &str, found: i64, least: impl std::fmt::Display, most: usize) -> DoorError {
    DoorError::new(format!("{name} must be between {least} and {most}, the number of lines, not {found}"))
}

fn not_found(old: &str) -> DoorError {
    let old: String = old.chars().take(80).collect();
    DoorError::new(format!("the message does not contain '{old}': read it again, and send a text that it has"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\nb\nc";

    #[test]
    fn lines_are_inserted_after_a_line() {
        assert_eq!(insert_line(TEXT, 0, "new").unwrap(), "new\na\nb\nc");
        assert_eq!(insert_line(TEXT, 3, "new").unwrap(), "a\nb\nc\nnew");
        assert_eq!(insert_line("", 0, "new").unwrap(), "new");
        assert!(insert_line(TEXT, 4, "new").is_err() && insert_line(TEXT, -1, "new").is_err());
    }

    #[test]
    fn strings_are_replaced_all_or_none() {
        assert_eq!(str_replace("aa", "a", "b").unwrap(), "ba");
        assert_eq!(strs_replace(TEXT, &["a", "b"], &["1", "2"]).unwrap(), "1\n2\nc");
        assert!(strs_replace(TEXT, &["a", "x"], &["1", "2"]).is_err() && strs_replace(TEXT, &["a"], &[]).is_err());
        assert!(str_replace(TEXT, "x", "y").unwrap_err().message.contains("does not contain 'x'"));
    }

    #[test]
    fn ranges_of_lines_are_inclusive() {
        assert_eq!(replace_lines(TEXT, 2, 2, "x\ny\n").unwrap(), "a\nx\ny\nc");
        assert_eq!(replace_lines(TEXT, 1, -1, "x").unwrap(), "x");
        assert_eq!(replace_lines(TEXT, 2, 3, "").unwrap(), "a");
        assert!(replace_lines(TEXT, 0, 1, "x").is_err() && replace_lines(TEXT, 3, 2, "x").is_err());
        assert_eq!(view(TEXT, Some((2, -1)), true).unwrap(), "     2 │ b\n     3 │ c");
        assert_eq!(view("", Some((1, -1)), true).unwrap(), "");
        assert!(view(TEXT, Some((9, -1)), false).is_err());
    }

    #[test]
    fn truncation_keeps_both_ends() {
        assert_eq!(middle_out("abcdef", 4), "ab…ef");
        assert_eq!(middle_out("abcd", 4), "abcd");
    }

    #[test]
    fn comments_are_toggled_for_all_lines() {
        assert_eq!(toggle_comment("a\n  b\n\n# c"), "# a\n#   b\n\n# # c");
        assert_eq!(toggle_comment("# a\n#   b\n\n# # c"), "a\n  b\n\n# c");
    }
}
