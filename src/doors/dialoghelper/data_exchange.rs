//! Values that pages hand to waiting code: `push_data_` stores one, `pop_data_blocking_` waits for it.

use std::time::Duration;

use hashlink::LinkedHashMap;
use notarium_core::{Actor, NotebookId};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::call::{DialogCall, Reply};
use crate::error::DoorError;
use crate::forms::Form;

/// Values that are kept until somebody asks for them. Beyond, the oldest is dropped.
const MAX_VALUES: usize = 64;
const MAX_VALUE_BYTES: usize = 1 << 20;
/// Time for which a value is kept.
const KEEP: Duration = Duration::from_secs(60);
/// Wait for clients that send `timeout`: they give up after 5 s.
const OLD_PATIENCE: Duration = Duration::from_millis(4_500);
/// Wait for later clients, whose own limit is at least 10 s.
const NEW_PATIENCE: Duration = Duration::from_secs(9);

/// Pushed values by their id.
#[derive(Default)]
pub struct DataExchange {
    values: Mutex<LinkedHashMap<String, Pushed>>,
    pushed: Notify,
}

struct Pushed {
    by: Actor,
    notebook: Option<NotebookId>,
    value: Map<String, Value>,
    at: Instant,
}

/// `push_data_` and `push_data_blocking_`: the fields become the value.
pub async fn push(call: &DialogCall) -> Result<Reply, DoorError> {
    let notebook = if call.has_dialog() { Some(call.pushing().await?) } else { None };
    let id = call.form.required("data_id")?.to_owned();
    let value = call.form.object_without(&["dlg_name"]);
    let bytes: usize = value.iter().map(|(name, value)| name.len() + value.as_str().map_or(0, str::len)).sum();
    if bytes > MAX_VALUE_BYTES {
        return Err(DoorError::new(format!("a value has at most {MAX_VALUE_BYTES} bytes: push less, or write a file")));
    }
    let pushed = Pushed { by: call.session.actor.clone(), notebook, value, at: Instant::now() };
    call.door.data.put(id, pushed);
    Ok(Reply::Json(json!({ "status": "success" })))
}

/// `pop_data_blocking_`: answers before the client gives up.
pub async fn pop(call: &DialogCall) -> Result<Reply, DoorError> {
    let notebook = if call.has_dialog() { Some(call.dialog().await?.id) } else { None };
    let id = call.form.required("data_id")?;
    let deadline = Instant::now() + patience(&call.form)?;
    let mut found = call.door.data.take(id, &call.session.actor, notebook.as_ref());
    while found.is_none() {
        let pushed = call.door.data.pushed.notified();
        tokio::pin!(pushed);
        pushed.as_mut().enable();
        // A value that came before the wait began is not missed.
        found = call.door.data.take(id, &call.session.actor, notebook.as_ref());
        if found.is_none() && timeout_at(deadline, pushed).await.is_err() {
            return Err(DoorError::new(format!(
                "no data came for '{id}' in time: is the dialog open in a browser? Ask again"
            )));
        }
    }
    Ok(Reply::Json(Value::Object(found.unwrap_or_default())))
}

/// Clients until 0.2.31 send `timeout`, in seconds, and give up after 5 s in any case.
fn patience(form: &Form) -> Result<Duration, DoorError> {
    let Some(text) = form.text("timeout") else { return Ok(NEW_PATIENCE) };
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let seconds = seconds.ok_or_else(|| DoorError::new("timeout must be a number of seconds"))?;
    Ok(seconds.min(OLD_PATIENCE))
}

impl DataExchange {
    fn put(&self, id: String, pushed: Pushed) {
        let mut values = self.values.lock();
        values.retain(|_, pushed| pushed.at.elapsed() < KEEP);
        if values.len() >= MAX_VALUES {
            values.pop_front();
        }
        values.insert(id, pushed);
        drop(values);
        self.pushed.notify_waiters();
    }

    /// Takes the value, if the same person or somebody in the same dialog pushed it.
    fn take(&self, id: &str, actor: &Actor, notebook: Option<&NotebookId>) -> Option<Map<String, Value>> {
        let mut values = self.values.lock();
        let pushed = values.get(id).filter(|pushed| pushed.at.elapsed() < KEEP)?;
        let is_theirs = pushed.by == *actor || (notebook.is_some() && pushed.notebook.as_ref() == notebook);
        if is_theirs { values.remove(id).map(|pushed| pushed.value) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor(id: &str) -> Actor {
        Actor::User { id: id.parse().unwrap() }
    }

    fn pushed(by: &str, notebook: Option<&str>) -> Pushed {
        let notebook = notebook.map(|id| id.parse().unwrap());
        Pushed { by: actor(by), notebook, value: Map::new(), at: Instant::now() }
    }

    #[test]
    fn a_value_is_taken_once_by_its_dialog_or_person() {
        let exchange = DataExchange::default();
        let notebook: NotebookId = "n".parse().unwrap();
        exchange.put("x".into(), pushed("ann", Some("n")));
        assert!(exchange.take("x", &actor("bob"), None).is_none());
        assert!(exchange.take("x", &actor("bob"), Some(&"other".parse().unwrap())).is_none());
        assert!(exchange.take("x", &actor("bob"), Some(&notebook)).is_some());
        assert!(exchange.take("x", &actor("ann"), None).is_none());
        exchange.put("x".into(), pushed("ann", None));
        assert!(exchange.take("x", &actor("bob"), Some(&notebook)).is_none());
        assert!(exchange.take("x", &actor("ann"), None).is_some());
    }

    #[test]
    fn the_oldest_value_gives_way() {
        let exchange = DataExchange::default();
        for number in 0..=MAX_VALUES {
            exchange.put(number.to_string(), pushed("ann", None));
        }
        assert!(exchange.take("0", &actor("ann"), None).is_none());
        assert!(exchange.take("1", &actor("ann"), None).is_some());
    }

    #[test]
    fn clients_that_send_a_timeout_are_answered_before_five_seconds() {
        let of = |text: &str| patience(&Form::parse(text.as_bytes()).unwrap());
        assert_eq!(of("timeout=15"), Ok(OLD_PATIENCE));
        assert_eq!(of("timeout=0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(of("data_id=x"), Ok(NEW_PATIENCE));
        assert!(of("timeout=-1").is_err() && of("timeout=soon").is_err());
    }
}
