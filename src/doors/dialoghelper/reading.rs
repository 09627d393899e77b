//! Answers of routes that only read a dialog, in the shapes of old and new clients.

use notarium_core::Scope;
use serde_json::{Map, Value, json};

use crate::call::{DialogCall, Reply};
use crate::dialogs::Dialog;
use crate::edits::view;
use crate::error::DoorError;
use crate::find::FindQuery;
use crate::messages::{DialogMessage, messages, named_or_current};

/// `curr_dialog_`: name, mode, and the current message if there is one.
pub async fn dialog(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let name = dialog.document.title.trim().trim_matches('/');
    let name = name.strip_suffix(".ipynb").unwrap_or(name);
    let mut answer = Map::from_iter([("name".to_owned(), json!(name)), ("mode".to_owned(), json!("learning"))]);
    if let Ok(current) = named_or_current(&dialog.document, call.form.current.as_deref()) {
        answer.insert("curr_msgid".to_owned(), json!(current));
    }
    if call.form.is_set("with_messages")? {
        let found = messages(&dialog.document);
        let blobs = call.blobs(&dialog.id, &found).await;
        let fields = found.iter().map(|message| Value::Object(message.fields(&blobs))).collect();
        answer.insert("messages".to_owned(), Value::Array(fields));
    }
    Ok(Reply::Json(Value::Object(answer)))
}

/// `msg_idx_`: the place of a message, counted from 0.
pub async fn index(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let cell_id = named_or_current(&dialog.document, call.form.message_id())?;
    let index = dialog.document.position(cell_id);
    let name = if call.form.is_old() { "msgid" } else { "idx" };
    Ok(Reply::Json(json!({ name: index })))
}

/// `find_msgs_`.
pub async fn find(call: &DialogCall) -> Result<Reply, DoorError> {
    let query = FindQuery::parse(&call.form)?;
    let dialog = call.dialog().await?;
    let all = messages(&dialog.document);
    let blobs = call.blobs(&dialog.id, if query.includes_output { &all } else { &[] }).await;
    let (document, as_xml) = (dialog.document.clone(), query.as_xml);
    // A pattern over a large notebook takes long enough to hold up other requests.
    let rendered =
        tokio::task::spawn_blocking(move || query.select(&document, &blobs).map(|found| query.render(&found, &blobs)));
    let text = rendered.await.map_err(|_| DoorError::new("the search failed: report it"))??;
    Ok(if as_xml { Reply::Text(text) } else { Reply::JsonText(text) })
}

/// `read_msg_`: `n` counts from a message, or from the start or end of the dialog.
pub async fn read(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let message = wanted(call, &dialog)?;
    let blobs = call.blobs(&dialog.id, &[message]).await;
    let mut fields = message.fields(&blobs);
    let shown = view(&message.content(), call.form.pair("view_range")?, call.form.is_set("nums")?)?;
    fields.insert("content".to_owned(), shown.into());
    let fields = Value::Object(fields);
    Ok(Reply::Json(if call.form.is_old() { json!({ "msg": fields }) } else { fields }))
}

fn wanted<'a>(call: &DialogCall, dialog: &'a Dialog) -> Result<DialogMessage<'a>, DoorError> {
    let form = &call.form;
    let n = form.number("n")?.unwrap_or(-1);
    let all = messages(&dialog.document);
    let place = if form.flag("relative")?.unwrap_or(true) {
        let from = named_or_current(&dialog.document, form.message_id())?;
        let from = dialog.document.position(from).and_then(|index| i64::try_from(index).ok());
        from.and_then(|from| from.checked_add(n))
    } else if n < 0 {
        i64::try_from(all.len()).ok().and_then(|count| count.checked_add(n))
    } else {
        Some(n)
    };
    let found = place.and_then(|place| usize::try_from(place).ok()).and_then(|place| all.get(place).copied());
    found.ok_or_else(|| {
        DoorError::new(format!("no message is at {n}: the dialog has {} messages, counted from 0", all.len()))
    })
}

/// `server_info_`.
pub fn server_info(call: &DialogCall) -> Reply {
    let may_run = call.session.scopes.contains(&Scope::Run);
    Reply::Json(json!({ "root": "/", "rusty": false, "server": "notarium", "may_run": may_run }))
}
