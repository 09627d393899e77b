//! Adds, updates and deletes messages: forms to commands, each request one undo group.

use notarium_core::text::diff;
use notarium_core::{
    CellFlagChanges, CellId, CellReply, CellType, Command, Document, EditSource, InsertCell, Open, Output, Place,
    RawJson, ReplyStatus,
};
use serde_json::{Value, json};
use similar::TextDiff;

use crate::call::{DialogCall, Reply};
use crate::edits;
use crate::error::DoorError;
use crate::forms::Form;
use crate::messages::{DialogMessage, MessageKind, cell_of, current, find, message_of, named_or_current};
use crate::run_queue::run_command;

/// `add_relative_`: inserts a message, and queues it if `run` is set.
pub async fn add(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let form = &call.form;
    let placement = form.text("placement").unwrap_or("add_after");
    if placement == "update" {
        return update(call).await;
    }
    let kind = MessageKind::parse(form.text("msg_type").unwrap_or("note"))?;
    let place = place(&dialog.document, placement, form.message_id())?;
    let cell_id = new_id(&dialog.document)?;
    let (cell_type, source) = cell_of(kind, form.text("content").unwrap_or_default());
    let runs = form.is_set("run")? || form.text("run_mode").is_some_and(|mode| mode != "none");
    let output = form.text("output").filter(|_| !runs);
    let reply = output.filter(|_| cell_type == CellType::Prompt).map(|text| Box::new(reply(&source, text)));
    let cell = InsertCell {
        cell_id: Some(cell_id.clone()),
        flags: flags(form)?,
        reply,
        ..InsertCell::new(cell_type, source, place)
    };
    let mut commands = vec![Command::InsertCell(cell)];
    if let Some(output) = output.filter(|_| cell_type.runs()) {
        commands.push(record(&cell_id, output)?);
    }
    if runs {
        commands.push(run_command(&cell_id, cell_type)?);
    }
    let change = call.session.change(&dialog.id, &one(commands)).await?;
    let cell_id = change.id_of(&cell_id);
    Ok(call.id_or(cell_id, json!({ "id": cell_id })))
}

/// `update_msg_`: changes the fields that are sent; fields without a meaning here are ignored.
pub async fn update(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let document = &dialog.document;
    let cell_id = named_or_current(document, call.form.message_id())?;
    let message = message_of(document, cell_id).ok_or_else(|| DoorError::new("the message was deleted"))?;
    let blobs = call.blobs(&dialog.id, &[message]).await;
    let mut commands = Vec::new();
    let before = message.content();
    let content = call.form.sent("content").map_or_else(|| before.clone(), |content| content.replace("\r\n", "\n"));
    let kind = call.form.text("msg_type").map_or(Ok(message.kind()), MessageKind::parse)?;
    let (cell_type, source) = cell_of(kind, &content);
    if cell_type != message.cell.content.cell_type {
        commands.push(Command::ChangeCellType { cell_id: cell_id.clone(), cell_type, cell_version: None });
    }
    commands.extend(edit(document, cell_id, &message.cell.content.source, &source));
    if let Some(output) = call.form.sent("output")
        && output != message.output(&blobs)
    {
        commands.push(output_change(&message, output)?);
    }
    let flags = flags(&call.form)?;
    if flags != CellFlagChanges::default() {
        commands.push(Command::SetCellFlags { cell_id: cell_id.clone(), flags });
    }
    if !commands.is_empty() {
        call.session.change(&dialog.id, &one(commands)).await?;
    }
    Ok(call.id_or(cell_id, json!({ "id": cell_id, "diff": unified(&before, &content) })))
}

/// `rm_msg_`: moves a message to the trash.
pub async fn remove(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let id = call.form.required("msid")?;
    let cell_id = find(&dialog.document, id).map_err(|error| error.with_status(http::StatusCode::NOT_FOUND))?;
    let delete = Command::DeleteCell { cell_id: cell_id.clone(), cell_version: None };
    let refused = |error: DoorError| error.with_status(http::StatusCode::FORBIDDEN);
    call.session.change(&dialog.id, &delete).await.map_err(refused)?;
    Ok(Reply::Json(json!({ "status": "success" })))
}

/// An edit of a message's text by a client until 0.0.47. `edited`: the new text, and the sentence of the answer.
pub async fn edit_text(
    call: &DialogCall,
    edited: impl FnOnce(&str, &Form) -> Result<(String, String), DoorError>,
) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let cell_id = named_or_current(&dialog.document, call.form.message_id())?;
    let source = &dialog.document.cells[cell_id].content.source;
    let (new, success) = edited(source, &call.form)?;
    if let Some(command) = edit(&dialog.document, cell_id, source, &new) {
        call.session.change(&dialog.id, &command).await?;
    }
    Ok(Reply::Json(json!({ "success": success })))
}

/// `msg_insert_line_`.
pub fn insert_line(source: &str, form: &Form) -> Result<(String, String), DoorError> {
    let line =
        form.number("insert_line")?.ok_or_else(|| DoorError::new("the field 'insert_line' is missing: send it"))?;
    let new = edits::insert_line(source, line, form.sent("new_str").unwrap_or_default())?;
    Ok((new, format!("Inserted text after line {line} in message {}", id_of(form))))
}

/// `msg_str_replace_`.
pub fn str_replace(source: &str, form: &Form) -> Result<(String, String), DoorError> {
    let new = edits::str_replace(source, form.required("old_str")?, form.sent("new_str").unwrap_or_default())?;
    Ok((new, format!("Replaced text in message {}", id_of(form))))
}

/// `msg_strs_replace_`.
pub fn strs_replace(source: &str, form: &Form) -> Result<(String, String), DoorError> {
    let new = edits::strs_replace(source, &form.list("old_strs"), &form.list("new_strs"))?;
    Ok((new, format!("Successfully replaced all the strings in message {}", id_of(form))))
}

/// `msg_replace_lines_`.
pub fn replace_lines(source: &str, form: &Form) -> Result<(String, String), DoorError> {
    let line = |name: &str| {
        form.number(name)?.ok_or_else(|| DoorError::new(format!("the field '{name}' is missing: send it")))
    };
    let (start, end) = (line("start_line")?, line("end_line")?);
    let new = edits::replace_lines(source, start, end, form.sent("new_content").unwrap_or_default())?;
    Ok((new, format!("Replaced lines {start} to {end} in message {}", id_of(form))))
}

fn id_of(form: &Form) -> &str {
    form.message_id().unwrap_or("(current)")
}

/// One command, or a batch of several.
pub fn one(mut commands: Vec<Command>) -> Command {
    match commands.len() {
        1 => commands.remove(0),
        _ => Command::Batch { commands },
    }
}

/// The change of a cell's text; the server maps it over edits that came meanwhile.
pub fn edit(document: &Document, cell_id: &CellId, old: &str, new: &str) -> Option<Command> {
    if old == new {
        return None;
    }
    let (undoes, redoes) = (None, None);
    let edit = EditSource { cell_id: cell_id.clone(), base: document.version, change: diff(old, new), undoes, redoes };
    Some(Command::EditSource(edit))
}

/// A fresh id in the form that clients know: 8 hexadecimal digits.
pub fn new_id(document: &Document) -> Result<CellId, DoorError> {
    loop {
        let number =
            getrandom::u32().map_err(|error| DoorError::new(format!("there are no random numbers: {error}")))?;
        let id = CellId::new(format!("{number:08x}")).map_err(|error| DoorError::new(error.to_string()))?;
        if !document.cells.contains_key(&id) {
            return Ok(id);
        }
    }
}

/// The place of a message; `id` is the message beside it, else the current one.
fn place(document: &Document, placement: &str, id: Option<&str>) -> Result<Place, DoorError> {
    let beside = || match id {
        Some(id) => find(document, id).cloned(),
        None => current(document).cloned(),
    };
    match placement {
        "add_after" => beside().map(Place::After),
        "add_before" => beside().map(Place::Before),
        "at_start" => Ok(Place::Start),
        "at_end" => Ok(Place::End),
        other => {
            let other: String = other.chars().take(80).collect();
            Err(DoorError::new(format!("placement must be add_after, add_before, at_start or at_end, not '{other}'")))
        }
    }
}

/// The flags that a form sets and clears.
fn flags(form: &Form) -> Result<CellFlagChanges, DoorError> {
    let exported = form.flag("exported")?;
    Ok(CellFlagChanges {
        pinned: form.flag("pinned")?,
        skipped: form.flag("skipped")?,
        source_hidden: form.flag("i_collapsed")?,
        outputs_hidden: form.flag("o_collapsed")?,
        heading_collapsed: form.flag("heading_collapsed")?,
        exported: if exported.is_some() { exported } else { form.flag("is_exported")? },
        bookmark: None,
    })
}

/// The command that makes `output` what the message shows.
fn output_change(message: &DialogMessage, output: &str) -> Result<Command, DoorError> {
    let cell_id = message.id.clone();
    match message.cell.content.cell_type {
        CellType::Code | CellType::Sql if output.is_empty() => Ok(Command::ClearOutputs { cell_id }),
        CellType::Code | CellType::Sql => record(&cell_id, output),
        CellType::Prompt => Err(DoorError::new(
            "the reply of a prompt is what its assistant wrote, and cannot be changed: add a note with your text instead",
        )),
        CellType::Markdown | CellType::Raw => {
            Err(DoorError::new("notes and raw messages have no output: leave it out"))
        }
    }
}

fn record(cell_id: &CellId, output: &str) -> Result<Command, DoorError> {
    Ok(Command::RecordExecution { cell_id: cell_id.clone(), outputs: outputs(output)?, execution_count: None })
}

/// Outputs of an nbformat JSON array; any other text is one stream.
fn outputs(text: &str) -> Result<Vec<Output>, DoorError> {
    let parsed: Option<Vec<Value>> = serde_json::from_str(text).ok();
    let parsed = parsed.filter(|outputs| outputs.iter().all(|output| output["output_type"].is_string()));
    let values = parsed.unwrap_or_else(|| vec![json!({ "output_type": "stream", "name": "stdout", "text": text })]);
    let output = |value: Value| {
        let content =
            RawJson::of(&value).map_err(|error| DoorError::new(format!("the output is not JSON: {error}")))?;
        Ok(Output { content, blobs: Vec::new(), display_id: None })
    };
    values.into_iter().map(output).collect()
}

fn reply(prompt: &str, text: &str) -> CellReply {
    CellReply {
        turn_id: None,
        status: Open::Known(ReplyStatus::Finished),
        stop_reason: None,
        cause: None,
        detail: None,
        prompt: prompt.into(),
        text: text.to_owned(),
        is_cut: false,
    }
}

fn unified(before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    TextDiff::from_lines(before, after).unified_diff().context_radius(1).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_json_of_a_notebook_or_text() {
        let one = outputs(r#"[{"output_type":"stream","name":"stdout","text":"a"}]"#).unwrap();
        assert_eq!(one[0].output_type().as_deref(), Some("stream"));
        for text in ["[1, 2]", "plain", "{}", "[{\"a\": 1}]"] {
            assert!(outputs(text).unwrap()[0].content.get().contains("stdout"), "{text}");
        }
    }

    #[test]
    fn flags_come_under_both_names_of_exported() {
        let form = Form::parse(b"is_exported=1&pinned=0&i_collapsed=&skipped=true").unwrap();
        let flags = flags(&form).unwrap();
        assert_eq!(
            (flags.exported, flags.pinned, flags.source_hidden, flags.skipped),
            (Some(true), Some(false), None, Some(true))
        );
    }

    #[test]
    fn a_place_needs_a_message_or_an_end() {
        let document = Document::new("n".parse().unwrap());
        assert_eq!(place(&document, "at_end", None), Ok(Place::End));
        assert!(place(&document, "add_after", None).unwrap_err().message.contains("no message runs"));
        assert!(place(&document, "add_before", Some("x")).unwrap_err().message.contains("no message has the id 'x'"));
        assert!(place(&document, "beside", None).is_err());
    }
}
