//! Widgets and progress of a kernel: the open comms, and the changes since the last message to their followers. They are not in
//! the log, except the widgets' state at the end of a run and of the kernel.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use notarium_core::{Command, ExecutionId, RawObject};
use notarium_wire::{
    CommBuffer, CommChange, CommMessage, MAX_COMM_BYTES, MAX_COMM_ID_BYTES, OpenComm, PROGRESS_TARGET, SendCommMessage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::reports::{ReportCommand, notice};
use super::{KernelSessionMachine, SessionOutput, SessionPhase};
use crate::kernel::{CommKind, CommTarget, KernelComm};

/// Time for which changes are collected into one message, in milliseconds.
const LINGER_MS: u64 = 40;
const MAX_OPEN: usize = 5_000;
/// Model of a password field: its `value` is for the kernel only.
const PASSWORD: &str = "PasswordModel";

type Attributes = BTreeMap<String, Box<RawValue>>;

/// The widgets of one kernel.
#[derive(Debug, Default)]
pub(super) struct Comms {
    open: BTreeMap<String, CommState>,
    /// Count of all comms opened so far: gives their order.
    opened: u64,
    /// True while a client follows.
    is_wanted: bool,
    changes: Vec<CommChange>,
    since: Option<u64>,
    /// Widgets were made, changed or removed since the last save.
    has_unsaved: bool,
    /// The notice that something is left out was sent.
    has_complained: bool,
}

#[derive(Debug, Default)]
struct CommState {
    number: u64,
    target: CommTarget,
    /// The run of progress; absent for widgets.
    execution_id: Option<ExecutionId>,
    state: Attributes,
    buffers: Vec<CommBuffer>,
}

/// Data of a widget's message: its state, or a custom message.
#[derive(Default, Deserialize)]
#[serde(default)]
struct WidgetData {
    method: String,
    state: Attributes,
    buffer_paths: Vec<Vec<Value>>,
}

impl CommState {
    fn size_bytes(&self) -> usize {
        let state: usize = self.state.iter().map(|(name, value)| name.len() + value.get().len()).sum();
        state + self.buffers.iter().map(|buffer| buffer.base64.len()).sum::<usize>()
    }

    fn is_password(&self) -> bool {
        self.state.get("_model_name").is_some_and(|name| name.get().trim_matches('"') == PASSWORD)
    }

    fn merge(&mut self, state: Attributes, buffers: Vec<CommBuffer>) {
        let is_same = |old: &CommBuffer, name: &String| old.path.first() == Some(name);
        let news: Vec<String> =
            state.keys().cloned().chain(buffers.iter().filter_map(|it| it.path.first().cloned())).collect();
        self.buffers.retain(|old| !news.iter().any(|name| is_same(old, name)));
        for buffer in &buffers {
            // The bytes replace the whole attribute.
            if let [name] = buffer.path.as_slice() {
                self.state.remove(name);
            }
        }
        self.state.extend(state);
        self.buffers.extend(buffers);
        if self.is_password() {
            self.state.remove("value");
        }
    }
}

impl Comms {
    fn handle(&mut self, comm: KernelComm) -> Result<(), String> {
        let KernelComm { kind, target, comm_id, data, buffers, parent, execution_id } = comm;
        if kind == CommKind::Closed {
            self.close(comm_id);
            return Ok(());
        }
        let bytes = data.get().len() + buffers.iter().map(bytes::Bytes::len).sum::<usize>() / 3 * 4;
        if bytes > MAX_COMM_BYTES || comm_id.len() > MAX_COMM_ID_BYTES {
            return Err(format!("a message of a widget has {bytes} bytes, of at most {MAX_COMM_BYTES}"));
        }
        let encoded: Vec<String> = buffers.iter().map(|buffer| STANDARD.encode(buffer)).collect();
        let said: WidgetData = serde_json::from_str(data.get()).unwrap_or_default();
        match kind {
            CommKind::Opened => {
                let execution_id = execution_id.and_then(|id| ExecutionId::new(&id).ok());
                let open = CommState { number: self.opened, target, execution_id, ..CommState::default() };
                self.opened(comm_id, open, said, encoded)
            }
            _ => self.said(CommMessage { comm_id, data, buffers: encoded, parent }, said),
        }
    }

    fn close(&mut self, comm_id: String) {
        if let Some(open) = self.open.remove(&comm_id) {
            self.has_unsaved |= open.target == CommTarget::Widget;
            self.changes.push(CommChange::Closed { comm_id });
        }
    }

    /// Closes progress that a finished run left open.
    fn close_progress(&mut self, run: &ExecutionId) {
        let is_its = |open: &CommState| open.target == CommTarget::Progress && open.execution_id.as_ref() == Some(run);
        let ended: Vec<String> = self.open.iter().filter(|(_, open)| is_its(open)).map(|(id, _)| id.clone()).collect();
        ended.into_iter().for_each(|comm_id| self.close(comm_id));
    }

    fn widgets(&self) -> impl Iterator<Item = (&String, &CommState)> {
        self.open.iter().filter(|(_, open)| open.target == CommTarget::Widget)
    }

    fn opened(
        &mut self,
        comm_id: String,
        mut open: CommState,
        said: WidgetData,
        encoded: Vec<String>,
    ) -> Result<(), String> {
        let buffers = placed(&said.buffer_paths, &encoded);
        open.merge(said.state, buffers);
        if self.open.len() >= MAX_OPEN || self.size_bytes() + open.size_bytes() > MAX_COMM_BYTES {
            return Err(format!(
                "a kernel's widgets have at most {MAX_COMM_BYTES} bytes together, and are at most {MAX_OPEN}"
            ));
        }
        self.opened += 1;
        self.has_unsaved |= open.target == CommTarget::Widget;
        self.changes.push(CommChange::Opened(shown(&comm_id, &open)));
        self.open.insert(comm_id, open);
        Ok(())
    }

    fn said(&mut self, mut message: CommMessage, said: WidgetData) -> Result<(), String> {
        let others = self.size_bytes();
        let Some(open) = self.open.get_mut(&message.comm_id) else { return Ok(()) };
        if said.method == "custom" {
            self.changes.push(CommChange::Message(message));
            return Ok(());
        }
        if others + message.size_bytes() > 2 * MAX_COMM_BYTES {
            return Err(format!("a kernel's widgets have at most {} bytes together", 2 * MAX_COMM_BYTES));
        }
        self.has_unsaved |= open.target == CommTarget::Widget;
        let is_password = open.is_password();
        open.merge(said.state, placed(&said.buffer_paths, &message.buffers));
        if is_password {
            message.data = without_value(&message.data);
        }
        self.push_message(message);
        Ok(())
    }

    /// Adds a message; repeated updates of the same widget are merged into one.
    fn push_message(&mut self, message: CommMessage) {
        let last = self.changes.iter_mut().rev().find_map(|change| match change {
            CommChange::Message(last) if last.comm_id == message.comm_id => Some(last),
            _ => None,
        });
        if let Some(last) = last
            && let Some(data) = joined(last, &message)
        {
            last.data = data;
            return;
        }
        self.changes.push(CommChange::Message(message));
    }

    fn size_bytes(&self) -> usize {
        self.open.values().map(CommState::size_bytes).sum()
    }

    /// All open comms, in the order in which they were opened.
    fn all(&self) -> Vec<OpenComm> {
        let mut all: Vec<_> = self.open.iter().collect();
        all.sort_by_key(|(_, open)| open.number);
        all.into_iter().map(|(id, open)| shown(id, open)).collect()
    }

    /// The widgets' state in the format of notebook files.
    fn saved(&self) -> RawObject {
        let saved: BTreeMap<&String, SavedWidget> =
            self.widgets().map(|(id, open)| (id, SavedWidget::of(open))).collect();
        raw_object(&saved)
    }
}

/// A widget in `application/vnd.jupyter.widget-state+json`.
#[derive(Serialize)]
struct SavedWidget<'a> {
    model_name: Option<&'a RawValue>,
    model_module: Option<&'a RawValue>,
    model_module_version: Option<&'a RawValue>,
    state: &'a Attributes,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buffers: Vec<SavedBuffer<'a>>,
}

#[derive(Serialize)]
struct SavedBuffer<'a> {
    path: &'a [String],
    encoding: &'static str,
    data: &'a str,
}

impl<'a> SavedWidget<'a> {
    fn of(open: &'a CommState) -> Self {
        let attribute = |name: &str| open.state.get(name).map(|value| &**value);
        let buffers =
            open.buffers.iter().map(|it| SavedBuffer { path: &it.path, encoding: "base64", data: &it.base64 });
        Self {
            model_name: attribute("_model_name"),
            model_module: attribute("_model_module"),
            model_module_version: attribute("_model_module_version"),
            state: &open.state,
            buffers: buffers.collect(),
        }
    }
}

fn shown(comm_id: &str, open: &CommState) -> OpenComm {
    let target = (open.target == CommTarget::Progress).then(|| PROGRESS_TARGET.to_owned());
    let (state, buffers, execution_id) = (raw_object(&open.state), open.buffers.clone(), open.execution_id.clone());
    OpenComm {
        comm_id: comm_id.to_owned(),
        execution_id: execution_id.filter(|_| target.is_some()),
        target,
        state,
        buffers,
    }
}

fn placed(paths: &[Vec<Value>], encoded: &[String]) -> Vec<CommBuffer> {
    let step = |step: &Value| step.as_str().map_or_else(|| step.to_string(), str::to_owned);
    let places = paths.iter().zip(encoded);
    places.map(|(path, base64)| CommBuffer { path: path.iter().map(step).collect(), base64: base64.clone() }).collect()
}

fn without_value(data: &RawObject) -> RawObject {
    let mut data: Value = serde_json::from_str(data.get()).unwrap_or_default();
    if let Some(state) = data.get_mut("state").and_then(Value::as_object_mut) {
        state.remove("value");
    }
    raw_object(&data)
}

/// Merges two updates of plain attributes, if only their order could distinguish them.
fn joined(last: &CommMessage, next: &CommMessage) -> Option<RawObject> {
    if !last.buffers.is_empty() || !next.buffers.is_empty() || last.parent != next.parent {
        return None;
    }
    let mut first: Value = serde_json::from_str(last.data.get()).ok()?;
    let second: Value = serde_json::from_str(next.data.get()).ok()?;
    if first["method"] != second["method"] || first["method"] == "custom" {
        return None;
    }
    let state = second.get("state")?.as_object()?.clone();
    first.get_mut("state")?.as_object_mut()?.extend(state);
    Some(raw_object(&first))
}

fn raw_object(value: &impl Serialize) -> RawObject {
    let text = serde_json::to_string(value).unwrap_or_default();
    RawObject::parse(&text).unwrap_or_default()
}

impl KernelSessionMachine {
    pub(super) fn comm(&mut self, now_ms: u64, comm: KernelComm) {
        let result = self.comms.handle(comm);
        self.comms_changed(now_ms);
        if let Err(problem) = result
            && !std::mem::replace(&mut self.comms.has_complained, true)
            && let Some(id) = self.latest.clone()
        {
            let text = format!("\n[notarium: {problem}: what is beyond that is not shown]\n");
            self.push_report(now_ms, &id, notice(&text));
        }
    }

    /// Closes the progress of a run that has ended.
    pub(super) fn close_progress(&mut self, now_ms: u64, run: &ExecutionId) {
        self.comms.close_progress(run);
        self.comms_changed(now_ms);
    }

    fn comms_changed(&mut self, now_ms: u64) {
        if !self.comms.is_wanted {
            self.comms.changes.clear();
        } else if !self.comms.changes.is_empty() {
            self.comms.since.get_or_insert(now_ms);
        }
    }

    /// Starts following for an asker, which gets the open comms; `None` ends following.
    pub(super) fn comms_wanted(&mut self, asker: Option<String>) {
        self.comms.is_wanted = asker.is_some();
        match asker {
            Some(asker) => {
                self.flush_comms();
                self.out.push(SessionOutput::Comms { asker, comms: self.comms.all() });
            }
            None => self.comms.changes.clear(),
        }
    }

    /// Passes a message to an open widget; other comms of the kernel get none.
    pub(super) fn send_comm(&mut self, now_ms: u64, message: SendCommMessage) {
        let is_widget = |open: &CommState| open.target == CommTarget::Widget;
        if self.phase == SessionPhase::Running && self.comms.open.get(&message.message.comm_id).is_some_and(is_widget) {
            self.idle_since = now_ms;
            self.out.push(SessionOutput::SendComm(message));
        }
    }

    pub(super) fn comms_deadline(&self) -> Option<u64> {
        self.comms.since.map(|since| since + LINGER_MS)
    }

    pub(super) fn flush_comms_if_due(&mut self, now_ms: u64) {
        if self.comms_deadline().is_some_and(|due| now_ms >= due) {
            self.flush_comms();
        }
    }

    fn flush_comms(&mut self) {
        self.comms.since = None;
        if !self.comms.changes.is_empty() {
            self.out.push(SessionOutput::Comm(std::mem::take(&mut self.comms.changes)));
        }
    }

    /// Saves the widgets at the end of a run that made, changed or removed some, and at the kernel's end. Only changes that the
    /// notebook's outputs show become an event.
    pub(super) fn save_widgets(&mut self, is_end: bool) {
        let has_unsaved = std::mem::take(&mut self.comms.has_unsaved);
        if !has_unsaved && (!is_end || self.comms.widgets().next().is_none()) {
            return;
        }
        let command = Command::SaveWidgets { kernel_session: self.id.clone(), state: self.comms.saved() };
        self.push_alone(ReportCommand::plain(command));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn comm(kind: CommKind, comm_id: &str, data: &Value, buffers: &[&'static [u8]]) -> KernelComm {
        let buffers = buffers.iter().map(|bytes| bytes::Bytes::from_static(bytes)).collect();
        KernelComm { kind, comm_id: comm_id.to_owned(), data: raw_object(data), buffers, ..KernelComm::default() }
    }

    fn opened(comms: &mut Comms, id: &str, state: &Value) {
        comms.handle(comm(CommKind::Opened, id, &json!({"state": state, "buffer_paths": []}), &[])).unwrap();
    }

    fn update(comms: &mut Comms, id: &str, state: &Value) -> Result<(), String> {
        comms.handle(comm(CommKind::Message, id, &json!({"method": "update", "state": state, "buffer_paths": []}), &[]))
    }

    fn state_of(comms: &Comms, id: &str) -> Value {
        let open = comms.all().into_iter().find(|open| open.comm_id == id).unwrap();
        serde_json::from_str(open.state.get()).unwrap()
    }

    #[test]
    fn what_is_open_is_as_the_kernel_said_last_in_the_order_of_opening() {
        let mut comms = Comms::default();
        opened(&mut comms, "z", &json!({"_model_name": "IntSliderModel", "value": 1}));
        opened(&mut comms, "a", &json!({"value": 5}));
        update(&mut comms, "z", &json!({"value": 2})).unwrap();
        update(&mut comms, "never opened", &json!({"value": 2})).unwrap();
        assert_eq!(comms.all().iter().map(|open| open.comm_id.as_str()).collect::<Vec<_>>(), ["z", "a"]);
        assert_eq!(state_of(&comms, "z"), json!({"_model_name": "IntSliderModel", "value": 2}));
        let saved: Value = serde_json::from_str(comms.saved().get()).unwrap();
        assert_eq!(saved["z"]["model_name"], "IntSliderModel");
        comms.handle(comm(CommKind::Closed, "z", &json!({}), &[])).unwrap();
        assert_eq!(comms.all().len(), 1);
    }

    #[test]
    fn bytes_stand_beside_the_state_and_new_ones_take_their_place() {
        let mut comms = Comms::default();
        let data = json!({"state": {"format": "png"}, "buffer_paths": [["value"]]});
        comms.handle(comm(CommKind::Opened, "i", &data, &[b"\0"])).unwrap();
        let data = json!({"method": "update", "state": {}, "buffer_paths": [["value"]]});
        comms.handle(comm(CommKind::Message, "i", &data, &[b"\x01\x02"])).unwrap();
        let buffers = comms.all().remove(0).buffers;
        assert_eq!(buffers, [CommBuffer { path: vec!["value".into()], base64: "AQI=".into() }]);
        update(&mut comms, "i", &json!({"value": null})).unwrap();
        assert!(comms.all().remove(0).buffers.is_empty());
    }

    #[test]
    fn progress_is_told_with_its_run_is_not_saved_and_ends_with_the_run() {
        let mut comms = Comms::default();
        let data = json!({"state": {"done": 1, "total": 2}});
        let open = comm(CommKind::Opened, "p", &data, &[]);
        comms.handle(KernelComm { target: CommTarget::Progress, execution_id: Some("run".into()), ..open }).unwrap();
        update(&mut comms, "p", &json!({"done": 2})).unwrap();
        let told = comms.all().remove(0);
        assert_eq!((told.target.as_deref(), told.execution_id), (Some(PROGRESS_TARGET), "run".parse().ok()));
        assert_eq!(state_of(&comms, "p")["done"], 2);
        assert!(!comms.has_unsaved && comms.saved().is_empty());
        comms.close_progress(&"other".parse().unwrap());
        assert_eq!(comms.all().len(), 1);
        comms.close_progress(&"run".parse().unwrap());
        assert!(comms.all().is_empty() && !comms.has_unsaved);
        assert!(matches!(comms.changes.last(), Some(CommChange::Closed { .. })));
    }

    #[test]
    fn a_loop_becomes_one_message_and_other_words_stay_apart() {
        let mut comms = Comms::default();
        opened(&mut comms, "p", &json!({}));
        comms.changes.clear();
        for value in 0..1_000 {
            update(&mut comms, "p", &json!({"value": value})).unwrap();
        }
        let custom = json!({"method": "custom", "content": {}});
        comms.handle(comm(CommKind::Message, "p", &custom, &[])).unwrap();
        update(&mut comms, "p", &json!({"value": 0})).unwrap();
        assert_eq!(comms.changes.len(), 3);
        let CommChange::Message(first) = &comms.changes[0] else { panic!() };
        assert!(first.data.get().contains("999"));
    }

    #[test]
    fn what_is_too_large_is_left_out_and_a_password_is_told_to_nobody() {
        let mut comms = Comms::default();
        opened(&mut comms, "p", &json!({"_model_name": "PasswordModel", "value": "hunter1"}));
        update(&mut comms, "p", &json!({"value": "hunter2", "disabled": true})).unwrap();
        assert!(!format!("{:?} {:?}", comms.all(), comms.changes).contains("hunter"));
        assert_eq!(state_of(&comms, "p")["disabled"], true);
        let large = "x".repeat(MAX_COMM_BYTES);
        assert!(update(&mut comms, "p", &json!({"description": large})).is_err());
        let open = json!({"state": {"value": "x".repeat(MAX_COMM_BYTES / 2)}});
        comms.handle(comm(CommKind::Opened, "a", &open, &[])).unwrap();
        assert!(comms.handle(comm(CommKind::Opened, "b", &open, &[])).is_err(), "all together");
    }
}
