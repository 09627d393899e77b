//! `find_msgs_`: filters, context, truncation, and both forms of the answer.

use std::collections::BTreeSet;

use notarium_core::Document;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};

use crate::edits::{middle_out, view};
use crate::error::DoorError;
use crate::forms::Form;
use crate::messages::{DialogMessage, LargeTexts, MessageKind, find, messages};

/// Longest pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 10_000;
/// Memory of a compiled pattern.
const MAX_REGEX_BYTES: usize = 4 << 20;
const TRUNCATED_OUTPUT: usize = 100;
const TRUNCATED_INPUT: usize = 80;

/// Which messages are wanted, and how they are shown.
#[derive(Debug)]
pub struct FindQuery {
    pattern: Option<Regex>,
    kind: Option<MessageKind>,
    ids: Option<Vec<String>>,
    limit: Option<usize>,
    before: usize,
    after: usize,
    only_errors: bool,
    only_exported: bool,
    headers_only: bool,
    header_section: Option<String>,
    includes_skipped: bool,
    pub includes_output: bool,
    includes_meta: bool,
    pub as_xml: bool,
    numbers: bool,
    truncates_output: bool,
    truncates_input: bool,
}

impl FindQuery {
    pub fn parse(form: &Form) -> Result<Self, DoorError> {
        if form.is_set("only_chg")? {
            return Err(DoorError::new(
                "only_chg compares with git, which a notebook does not use: `notarium diff` compares versions",
            ));
        }
        let around = form.count("context")?.unwrap_or(0);
        let query = Self {
            pattern: pattern(form)?,
            kind: form.text("msg_type").map(MessageKind::parse).transpose()?,
            ids: form.text("ids").map(|_| form.ids("ids").into_iter().map(str::to_owned).collect()),
            limit: form.count("limit")?,
            before: form.count("before")?.unwrap_or(0).max(around),
            after: form.count("after")?.unwrap_or(0).max(around),
            only_errors: form.is_set("only_err")?,
            only_exported: form.is_set("only_exp")?,
            headers_only: form.is_set("headers_only")?,
            header_section: form.text("header_section").map(str::to_owned),
            includes_skipped: form.flag("include_skipped")?.unwrap_or(true),
            includes_output: form.flag("include_output")?.unwrap_or(true),
            includes_meta: form.flag("include_meta")?.unwrap_or(true),
            as_xml: form.is_set("as_xml")?,
            numbers: form.is_set("nums")?,
            truncates_output: form.is_set("trunc_out")?,
            truncates_input: form.is_set("trunc_in")?,
        };
        if query.headers_only && query.header_section.is_some() {
            return Err(DoorError::new("headers_only and header_section exclude each other: send one of them"));
        }
        Ok(query)
    }

    /// The wanted messages, in page order.
    pub fn select<'a>(&self, document: &'a Document, blobs: &LargeTexts) -> Result<Vec<DialogMessage<'a>>, DoorError> {
        let mut all = messages(document);
        if let Some(header) = &self.header_section {
            all = section(all, header)?;
        }
        all.retain(|message| self.includes_skipped || !message.cell.content.flags.skipped);
        let ids =
            self.ids.as_ref().map(|ids| ids.iter().filter_map(|id| find(document, id).ok()).collect::<BTreeSet<_>>());
        let matches = |message: &DialogMessage| {
            ids.as_ref().is_none_or(|ids| ids.contains(message.id)) && self.matches(message, blobs)
        };
        let found = all.iter().enumerate().filter(|(_, message)| matches(message)).map(|(index, _)| index);
        let found: Vec<usize> = found.take(self.limit.unwrap_or(usize::MAX)).collect();
        let near = |index: usize| {
            let first_near = found.partition_point(|match_at| match_at.saturating_add(self.after) < index);
            found.get(first_near).is_some_and(|match_at| *match_at <= index.saturating_add(self.before))
        };
        Ok(all.into_iter().enumerate().filter(|(index, _)| near(*index)).map(|(_, message)| message).collect())
    }

    fn matches(&self, message: &DialogMessage, blobs: &LargeTexts) -> bool {
        let flags = message.cell.content.flags;
        self.kind.is_none_or(|kind| message.kind() == kind)
            && (!self.only_errors || message.has_error())
            && (!self.only_exported || flags.exported)
            && (!self.headers_only || header(message).is_some())
            && self.pattern.as_ref().is_none_or(|pattern| {
                pattern.is_match(&message.content())
                    || (self.includes_output && pattern.is_match(&message.output(blobs)))
            })
    }

    /// The answer: `{"msgs": […]}`, or elements with unescaped text.
    pub fn render(&self, found: &[DialogMessage], blobs: &LargeTexts) -> String {
        if self.as_xml {
            let elements: String = found.iter().map(|message| self.element(message, blobs)).collect();
            return format!("<msgs>{elements}</msgs>");
        }
        let shown: Vec<Value> = found.iter().map(|message| Value::Object(self.fields(message, blobs))).collect();
        json!({ "msgs": shown }).to_string()
    }

    fn element(&self, message: &DialogMessage, blobs: &LargeTexts) -> String {
        let (tag, id, content) = (message.kind().tag(), message.id, self.content(message));
        let output = if self.includes_output { self.output(message, blobs) } else { String::new() };
        let output = if output.is_empty() { output } else { format!("<out>{output}</out>") };
        format!("<{tag} id=\"{id}\">{content}{output}</{tag}>")
    }

    fn fields(&self, message: &DialogMessage, blobs: &LargeTexts) -> Map<String, Value> {
        let mut fields = match self.includes_meta {
            true => message.fields(blobs),
            false => message.brief(Some(blobs)),
        };
        fields.insert("content".to_owned(), self.content(message).into());
        if self.includes_output {
            fields.insert("output".to_owned(), self.output(message, blobs).into());
        } else {
            fields.remove("output");
        }
        fields
    }

    fn content(&self, message: &DialogMessage) -> String {
        let mut content = message.content();
        if self.headers_only {
            content = content.lines().next().unwrap_or_default().to_owned();
        }
        if self.truncates_input {
            content = middle_out(&content, TRUNCATED_INPUT);
        }
        // Without a range every text can be shown.
        if self.numbers { view(&content, None, true).unwrap_or(content) } else { content }
    }

    fn output(&self, message: &DialogMessage, blobs: &LargeTexts) -> String {
        let output = message.output(blobs);
        if self.truncates_output { middle_out(&output, TRUNCATED_OUTPUT) } else { output }
    }
}

fn pattern(form: &Form) -> Result<Option<Regex>, DoorError> {
    let Some(pattern) = form.text("re_pattern") else { return Ok(None) };
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(DoorError::new(format!(
            "a pattern has at most {MAX_PATTERN_BYTES} bytes: search for a shorter one"
        )));
    }
    let is_regex = form.flag("use_regex")?.unwrap_or(true);
    let text = if is_regex { pattern.to_owned() } else { regex::escape(pattern) };
    let mut builder = RegexBuilder::new(&text);
    builder.multi_line(true).dot_matches_new_line(true).size_limit(MAX_REGEX_BYTES);
    builder.case_insensitive(!form.is_set("use_case")?);
    let compiled = builder.build().map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        DoorError::new(format!(
            "the pattern cannot be used ({reason}): look-around and back references are not supported; use_regex=False searches for text"
        ))
    })?;
    Ok(Some(compiled))
}

/// Level of a note's heading, if the note begins with one.
fn header(message: &DialogMessage) -> Option<usize> {
    if message.kind() != MessageKind::Note {
        return None;
    }
    let source = &message.cell.content.source;
    let level = source.bytes().take_while(|byte| *byte == b'#').count();
    ((1..=6).contains(&level) && source[level..].starts_with(' ')).then_some(level)
}

/// The note with this header, and all messages until the next header of its level or above.
fn section<'a>(all: Vec<DialogMessage<'a>>, wanted: &str) -> Result<Vec<DialogMessage<'a>>, DoorError> {
    let wanted = wanted.trim();
    let title = |message: &DialogMessage| {
        let first = message.cell.content.source.lines().next().unwrap_or_default().trim().to_owned();
        first == wanted || first.trim_start_matches('#').trim() == wanted
    };
    let start = all.iter().position(|message| header(message).is_some() && title(message));
    let start = start.ok_or_else(|| {
        DoorError::new(format!("no note has the header '{}': headers_only=True lists them", middle_out(wanted, 80)))
    })?;
    let level = header(&all[start]).unwrap_or(1);
    let ends = |message: &DialogMessage| header(message).is_some_and(|other| other <= level);
    let length = all[start + 1..].iter().position(ends).unwrap_or(all.len() - start - 1);
    Ok(all[start..=start + length].to_vec())
}
