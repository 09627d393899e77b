//! Placeholders `${…}` in a script, filled in from the conversation.

use serde_json::Value;

use crate::conversation::Conversation;

/// Fills in every placeholder of `text`; the error names one that cannot be filled.
pub(crate) fn fill(text: &str, asked: &Conversation) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, placeholder, after)) = next(rest) {
        filled.push_str(before);
        match placeholder {
            Some(placeholder) => filled.push_str(&plain(&look_up(placeholder, asked)?)),
            None => filled.push_str("${"),
        }
        rest = after;
    }
    Ok(filled + rest)
}

/// Fills in every string of a JSON value. A string that is one placeholder becomes its value.
pub(crate) fn fill_json(value: &Value, asked: &Conversation) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => match next(text) {
            Some(("", Some(placeholder), "")) => look_up(placeholder, asked)?,
            _ => Value::String(fill(text, asked)?),
        },
        Value::Array(items) => items.iter().map(|item| fill_json(item, asked)).collect::<Result<_, _>>()?,
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| Ok((name.clone(), fill_json(field, asked)?)));
            Value::Object(fields.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

/// Returns the text before the next placeholder, the placeholder (`None`: escaped), and the text after it.
fn next(text: &str) -> Option<(&str, Option<&str>, &str)> {
    let start = text.find("${")?;
    if let Some(before) = text[..start].strip_suffix('$') {
        return Some((before, None, &text[start + 2..]));
    }
    let end = start + text[start..].find('}')?;
    Some((&text[..start], Some(&text[start + 2..end]), &text[end + 1..]))
}

fn look_up(placeholder: &str, asked: &Conversation) -> Result<Value, String> {
    let found = match placeholder.find(['/', '~', '#']) {
        Some(at) => {
            let (source, how) = placeholder.split_at(at);
            source_text(source, asked).and_then(|text| extract(&text, how))
        }
        None => None,
    };
    found.ok_or_else(|| format!("the script has ${{{placeholder}}}, and nothing in the conversation fits it"))
}

fn source_text(source: &str, asked: &Conversation) -> Option<String> {
    if source == "*" {
        return Some(asked.all_text.clone());
    }
    asked.results.iter().rfind(|result| result.tool == source).map(|result| result.text.clone())
}

fn extract(text: &str, how: &str) -> Option<Value> {
    if how.starts_with('/') {
        return serde_json::from_str::<Value>(text).ok()?.pointer(how).cloned();
    }
    let (kind, phrase) = how.split_at(1);
    let word = word_after(text, phrase)?;
    if kind == "#" {
        serde_json::from_str::<serde_json::Number>(word).ok().map(Value::Number)
    } else {
        Some(word.into())
    }
}

fn word_after<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let rest = &text[text.rfind(phrase)? + phrase.len()..];
    let is_edge = |character: char| character.is_whitespace() || ",;:()[]{}<>\"'`=".contains(character);
    let word = rest.trim_start_matches(is_edge).split(is_edge).next()?.trim_end_matches('.');
    (!word.is_empty()).then_some(word)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::ToolOutcome;

    fn asked() -> Conversation {
        let result = |tool: &str, text: &str| ToolOutcome { tool: tool.into(), text: text.into() };
        let mut asked = Conversation::default();
        asked.all_text = "Notebook: 01OLD, later notebook: 01ABC.".into();
        asked.results = vec![
            result("create_cell", r#"{"cell_id":"c0"}"#),
            result("create_cell", r#"{"cell_id":"c1","version":7}"#),
            result("run", "Created cell `c9` (version 12)."),
        ];
        asked
    }

    #[test]
    fn placeholders_are_filled_from_the_conversation() {
        let cases = [
            ("${create_cell/cell_id}!", "c1!"),
            ("${run~Created cell} v${run#version}", "c9 v12"),
            ("in ${*~notebook}", "in 01ABC"),
            ("costs $5, $${x} and {y}", "costs $5, ${x} and {y}"),
            ("an open ${ stays", "an open ${ stays"),
        ];
        for (text, expected) in cases {
            assert_eq!(fill(text, &asked()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_lone_placeholder_keeps_its_type() {
        let filled =
            fill_json(&json!({ "version": "${create_cell/version}", "list": ["${run#version}", 1] }), &asked());
        assert_eq!(filled.unwrap(), json!({ "version": 7, "list": [12, 1] }));
    }

    #[test]
    fn what_cannot_be_filled_is_named() {
        for text in ["${delete_cell/id}", "${create_cell/nothing}", "${run~no such phrase}", "${run}"] {
            assert!(fill(text, &asked()).unwrap_err().contains(text), "{text}");
        }
    }
}
