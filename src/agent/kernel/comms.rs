//! Messages on the comms of widgets and of progress, and the outputs that `Output` widgets capture. Pure.

use std::collections::BTreeMap;

use bytes::Bytes;
use jupyter_protocol::{CommId, CommMsg, JupyterMessage};
use notarium_core::RawObject;
use notarium_wire::{MAX_COMM_BYTES, PROGRESS_TARGET};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::messages::KernelMessage;

/// Comm target of widgets. Only widgets and progress are relayed.
const WIDGETS_TARGET: &str = "jupyter.widget";
/// Most queued messages for one kernel; further ones are dropped.
pub(super) const MAX_WAITING_COMMS: usize = 256;
const OUTPUT_MODEL: &str = "OutputModel";

/// Event of a comm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CommKind {
    /// It was opened.
    Opened,
    /// The kernel sent a message.
    #[default]
    Message,
    /// It was closed.
    Closed,
}

/// Subject of a comm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CommTarget {
    /// A widget; people who see it can send messages to the kernel.
    #[default]
    Widget,
    /// Progress of a run; it takes no messages.
    Progress,
}

/// A message of the kernel on a comm.
#[derive(Debug, Clone, Default)]
pub struct KernelComm {
    pub kind: CommKind,
    /// Set for `Opened`.
    pub target: CommTarget,
    pub comm_id: String,
    pub data: RawObject,
    pub buffers: Vec<Bytes>,
    /// `msg_id` of the request that led to the message.
    pub parent: Option<String>,
    /// The run in which the message was sent.
    pub execution_id: Option<super::ExecutionId>,
}

#[derive(Deserialize)]
struct CommContent {
    comm_id: String,
    target_name: Option<String>,
    data: Option<RawObject>,
}

impl KernelComm {
    /// The same message, addressed to the kernel.
    pub(super) fn to_kernel(&self) -> JupyterMessage {
        comm_msg(&self.comm_id, &self.data)
    }

    /// Reads a comm message; `None` for other messages and targets. Messages on unknown comms are dropped later.
    pub(super) fn read(message: &KernelMessage) -> Option<Self> {
        let kind = match message.header.msg_type.as_str() {
            "comm_open" => CommKind::Opened,
            "comm_msg" => CommKind::Message,
            "comm_close" => CommKind::Closed,
            _ => return None,
        };
        let CommContent { comm_id, target_name, data } = message.content().ok()?;
        let target = match target_name.as_deref() {
            Some(PROGRESS_TARGET) => CommTarget::Progress,
            Some(WIDGETS_TARGET) => CommTarget::Widget,
            _ if kind == CommKind::Opened => return None,
            _ => CommTarget::default(),
        };
        let (data, buffers, parent) = (data.unwrap_or_default(), message.buffers.clone(), message.parent_id.clone());
        Some(Self { kind, target, comm_id, data, buffers, parent, execution_id: None })
    }
}

/// A message to a widget from a person who sees it.
#[derive(Debug)]
pub struct CommRequest {
    /// Request id, which the kernel's answers name.
    pub name: String,
    pub comm_id: String,
    pub data: RawObject,
    pub buffers: Vec<Bytes>,
}

impl CommRequest {
    pub(super) fn message(self) -> JupyterMessage {
        let mut message = comm_msg(&self.comm_id, &self.data).with_buffers(self.buffers);
        message.header.msg_id = self.name;
        message
    }
}

fn comm_msg(comm_id: &str, data: &RawObject) -> JupyterMessage {
    let data = serde_json::from_str(data.get()).unwrap_or_default();
    JupyterMessage::new(CommMsg { comm_id: CommId(comm_id.to_owned()), data }, None)
}

/// The `Output` widgets of a kernel, and the outputs they have captured.
#[derive(Debug, Default)]
pub(super) struct OutputWidgets {
    widgets: BTreeMap<String, OutputWidget>,
    /// Number of captures that have begun or ended.
    captures: u64,
}

#[derive(Debug, Default)]
struct OutputWidget {
    /// `msg_id` of the request whose outputs it captures; empty: none.
    takes: String,
    /// Number of the capture.
    capture: u64,
    outputs: Vec<Value>,
    clears_next: bool,
}

impl OutputWidgets {
    /// Notes widgets that are opened or closed, and the request whose outputs they capture.
    pub fn hear(&mut self, comm: &KernelComm) {
        let data: Value = serde_json::from_str(comm.data.get()).unwrap_or_default();
        let state = &data["state"];
        match comm.kind {
            CommKind::Opened if state["_model_name"] == OUTPUT_MODEL => {
                self.widgets.insert(comm.comm_id.clone(), OutputWidget::default());
            }
            CommKind::Closed => _ = self.widgets.remove(&comm.comm_id),
            _ => {}
        }
        let Some(widget) = self.widgets.get_mut(&comm.comm_id) else { return };
        if let Some(msg_id) = state["msg_id"].as_str() {
            msg_id.clone_into(&mut widget.takes);
            self.captures += 1;
            widget.capture = self.captures;
        }
        if let Some(outputs) = state["outputs"].as_array() {
            widget.outputs.clone_from(outputs);
        }
    }

    /// Gives the output to the widget that captures it. Returns the update, for the kernel and for the followers of the widget.
    pub fn take(&mut self, message: &KernelMessage) -> Option<KernelComm> {
        let parent = message.parent_id.as_ref()?;
        // If two widgets capture the same request, the inner one, which began last, takes the output.
        let capturing = self.widgets.iter_mut().filter(|(_, widget)| widget.takes == *parent);
        let (id, widget) = capturing.max_by_key(|(_, widget)| widget.capture)?;
        widget.change(message)?;
        let data = json!({"method": "update", "state": {"outputs": widget.outputs}, "buffer_paths": []});
        let data = RawObject::parse(&data.to_string()).ok()?;
        Some(KernelComm { kind: CommKind::Message, comm_id: id.clone(), data, ..KernelComm::default() })
    }
}

impl OutputWidget {
    /// Returns `None` if the message is no output.
    fn change(&mut self, message: &KernelMessage) -> Option<()> {
        let kind = message.header.msg_type.as_str();
        let content: Map<String, Value> = match kind {
            "stream" | "display_data" | "execute_result" | "error" | "clear_output" => message.content().ok()?,
            _ => return None,
        };
        if kind == "clear_output" {
            self.clears_next = content.get("wait") == Some(&Value::Bool(true));
            if !self.clears_next {
                self.outputs.clear();
            }
            return Some(());
        }
        if std::mem::take(&mut self.clears_next) {
            self.outputs.clear();
        }
        self.append(kind, content);
        self.forget_oldest();
        Some(())
    }

    fn append(&mut self, kind: &str, mut content: Map<String, Value>) {
        content.remove("transient");
        content.insert("output_type".to_owned(), kind.into());
        let last = self.outputs.last_mut().filter(|last| kind == "stream" && last["output_type"] == "stream");
        match last.filter(|last| last["name"] == content["name"]) {
            Some(last) => {
                let text = format!(
                    "{}{}",
                    last["text"].as_str().unwrap_or_default(),
                    content["text"].as_str().unwrap_or_default()
                );
                last["text"] = text.into();
            }
            None => self.outputs.push(content.into()),
        }
    }

    fn forget_oldest(&mut self) {
        let limit = MAX_COMM_BYTES / 4;
        let mut sizes: Vec<usize> = self.outputs.iter().map(|output| output.to_string().len()).collect();
        while sizes.iter().sum::<usize>() > limit {
            sizes.remove(0);
            self.outputs.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::messages::MessageHeader;
    use super::*;

    fn message(msg_type: &str, parent: &str, content: &Value) -> KernelMessage {
        let header = MessageHeader { msg_type: msg_type.to_owned(), json: "{}".to_owned() };
        KernelMessage { header, parent_id: Some(parent.to_owned()), content: content.to_string(), buffers: Vec::new() }
    }

    fn hear(widgets: &mut OutputWidgets, msg_type: &str, data: &Value) {
        let content = json!({"comm_id": "o", "target_name": WIDGETS_TARGET, "data": data});
        widgets.hear(&KernelComm::read(&message(msg_type, "run", &content)).unwrap());
    }

    fn taking() -> OutputWidgets {
        let mut widgets = OutputWidgets::default();
        hear(&mut widgets, "comm_open", &json!({"state": {"_model_name": OUTPUT_MODEL, "msg_id": ""}}));
        hear(&mut widgets, "comm_msg", &json!({"method": "update", "state": {"msg_id": "run"}}));
        widgets
    }

    fn outputs(taken: Option<KernelComm>) -> Value {
        let data: Value = serde_json::from_str(taken.unwrap().data.get()).unwrap();
        data["state"]["outputs"].clone()
    }

    #[test]
    fn only_the_comms_of_widgets_and_progress_are_relayed() {
        let open = |target: &str| json!({"comm_id": "c", "target_name": target, "data": {}});
        assert!(KernelComm::read(&message("comm_open", "run", &open("other"))).is_none());
        assert!(KernelComm::read(&message("comm_open", "run", &open(WIDGETS_TARGET))).is_some());
        let progress = KernelComm::read(&message("comm_open", "run", &open(PROGRESS_TARGET))).map(|comm| comm.target);
        assert_eq!(progress, Some(CommTarget::Progress));
        assert!(KernelComm::read(&message("comm_msg", "run", &json!({"comm_id": 7}))).is_none());
    }

    #[test]
    fn an_output_widget_takes_what_its_request_puts_out_until_it_takes_no_more() {
        let mut widgets = taking();
        let text = |text: &str| message("stream", "run", &json!({"name": "stdout", "text": text}));
        assert!(widgets.take(&message("stream", "other", &json!({"name": "stdout", "text": "x"}))).is_none());
        assert!(widgets.take(&message("status", "run", &json!({"execution_state": "idle"}))).is_none());
        widgets.take(&text("a"));
        assert_eq!(
            outputs(widgets.take(&text("b"))),
            json!([{"name": "stdout", "text": "ab", "output_type": "stream"}])
        );
        widgets.take(&message("clear_output", "run", &json!({"wait": true})));
        assert_eq!(outputs(widgets.take(&text("c")))[0]["text"], "c");
        let large = "x".repeat(MAX_COMM_BYTES);
        assert_eq!(outputs(widgets.take(&text(&large))), json!([]), "the oldest goes");
        hear(&mut widgets, "comm_msg", &json!({"method": "update", "state": {"msg_id": ""}}));
        assert!(widgets.take(&text("d")).is_none());
    }

    #[test]
    fn of_nested_output_widgets_the_one_that_began_last_takes_the_output() {
        let mut widgets = OutputWidgets::default();
        let mut say = |id: &str, msg_type: &str, state: Value| {
            let content = json!({"comm_id": id, "target_name": WIDGETS_TARGET, "data": {"state": state}});
            widgets.hear(&KernelComm::read(&message(msg_type, "run", &content)).unwrap());
        };
        for id in ["a inner", "z outer"] {
            say(id, "comm_open", json!({"_model_name": OUTPUT_MODEL, "msg_id": ""}));
        }
        say("z outer", "comm_msg", json!({"msg_id": "run"}));
        say("a inner", "comm_msg", json!({"msg_id": "run"}));
        let text = message("stream", "run", &json!({"name": "stdout", "text": "x"}));
        assert_eq!(widgets.take(&text).unwrap().comm_id, "a inner");
        let content = json!({"comm_id": "a inner", "target_name": WIDGETS_TARGET, "data": {"state": {"msg_id": ""}}});
        widgets.hear(&KernelComm::read(&message("comm_msg", "run", &content)).unwrap());
        assert_eq!(widgets.take(&text).unwrap().comm_id, "z outer");
    }
}
