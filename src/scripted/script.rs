//! Script: rules, and the replies that they give. Placeholders in a reply are filled from the conversation.

use serde::Deserialize;
use serde_json::Value;

use crate::StopReason;
use crate::conversation::RequestContent;

/// A script; the crate's documentation explains each field.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub key: Option<String>,
    #[serde(default)]
    pub models: Vec<String>,
    pub replies: Vec<Rule>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub when: Option<When>,
    pub times: Option<u32>,
    pub reply: ScriptedReply,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    pub user: Option<String>,
    pub after_tool: Option<String>,
    pub result: Option<String>,
    pub model: Option<String>,
    pub system: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedReply {
    pub thinking: Option<String>,
    pub text: Option<String>,
    pub calls: Vec<ScriptedCall>,
    pub blocks: Vec<ScriptedBlock>,
    pub stop: Option<StopReason>,
    pub usage: Option<ScriptedUsage>,
    pub raw: Option<String>,
    pub piece_characters: Option<usize>,
    pub chunk_bytes: Option<usize>,
    pub chunks: Option<Vec<usize>>,
    pub delay_ms: u64,
    pub chunk_delay_ms: u64,
    pub cut_after_bytes: Option<usize>,
    pub hang_after_bytes: Option<usize>,
    pub malformed_event: Option<usize>,
    pub error_event: Option<String>,
    pub status: Option<u16>,
    pub retry_after: Option<String>,
    pub body: Option<Value>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    pub name: String,
    pub id: Option<String>,
    pub arguments: Option<Value>,
    pub raw_arguments: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptedBlock {
    Thinking(String),
    Text(String),
    Call(ScriptedCall),
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// Reason why a script cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[error("The script is not as documented: {0}")]
pub struct ScriptError(#[from] serde_json::Error);

impl Script {
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Creates a queue of replies, each used once, for any request.
    pub fn of(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        let rule = |reply| Rule { reply, ..Rule::default() };
        Self { replies: replies.into_iter().map(rule).collect(), ..Self::default() }
    }
}

impl Rule {
    /// Returns how often this rule may answer.
    fn limit(&self) -> u32 {
        self.times.unwrap_or(if self.when.is_some() { u32::MAX } else { 1 })
    }
}

impl When {
    fn matches(&self, asked: &RequestContent) -> bool {
        has(&asked.model, self.model.as_deref())
            && has(&asked.system, self.system.as_deref())
            && has(&asked.last_user_text, self.user.as_deref())
            && self.fits_the_end(asked)
    }

    fn fits_the_end(&self, asked: &RequestContent) -> bool {
        let Some(tool) = &self.after_tool else {
            return (self.user.is_none() || asked.last_results.is_empty()) && self.result.is_none();
        };
        let mut results = asked.last_results.iter().filter(|result| tool == "*" || *tool == result.tool);
        results.any(|result| has(&result.text, self.result.as_deref()))
    }
}

fn has(text: &str, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| text.to_lowercase().contains(&wanted.to_lowercase()))
}

/// A script with its state.
#[derive(Debug)]
pub(crate) struct Play {
    pub(crate) script: Script,
    /// Number of answers so far, by rule.
    used: Vec<u32>,
}

impl Play {
    pub(crate) fn new(script: Script) -> Self {
        let used = vec![0; script.replies.len()];
        Self { script, used }
    }

    /// Returns the reply of the first matching rule, and counts its use.
    pub(crate) fn answer(&mut self, asked: &RequestContent) -> Option<ScriptedReply> {
        let rules = self.script.replies.iter().zip(&mut self.used);
        let (rule, used) = rules
            .into_iter()
            .find(|(rule, used)| **used < rule.limit() && rule.when.as_ref().is_none_or(|when| when.matches(asked)))?;
        *used += 1;
        Some(rule.reply.clone())
    }
}

/// Fills in every placeholder of `text`; the error names one that cannot be filled.
pub(crate) fn fill(text: &str, asked: &RequestContent) -> Result<String, String> {
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
pub(crate) fn fill_json(value: &Value, asked: &RequestContent) -> Result<Value, String> {
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

fn look_up(placeholder: &str, asked: &RequestContent) -> Result<Value, String> {
    let found = match placeholder.find(['/', '~', '#']) {
        Some(at) => {
            let (source, how) = placeholder.split_at(at);
            source_text(source, asked).and_then(|text| extract(&text, how))
        }
        None => None,
    };
    found.ok_or_else(|| format!("the script has ${{{placeholder}}}, and nothing in the conversation fits it"))
}

fn source_text(source: &str, asked: &RequestContent) -> Option<String> {
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

    fn asked() -> RequestContent {
        let result = |tool: &str, text: &str| ToolOutcome { tool: tool.into(), text: text.into() };
        let mut asked = RequestContent::default();
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
