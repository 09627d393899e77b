//! Widgets: comms of the kernel, passed to the client, and the client's messages on them, passed to the kernel.
//!
//! Notarium relays the comms that a kernel opens with the target `jupyter.widget`. A comm that the client opens itself is closed again,
//! apart from the one on which ipywidgets asks for the states of all widgets: the door answers that.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use notarium_core::{KernelSessionId, RawObject, default_session};
use notarium_wire::{ClientMessage, CommBuffer, CommChange, CommMessage, OpenComm, SendCommMessage, ServerMessage};
use serde_json::{Map, Value, json};

use super::{KernelClient, Served};
use crate::channels::frames::ChannelMessage;
use crate::channels::replies;

const WIDGETS: &str = "jupyter.widget";
/// Comm on which ipywidgets asks for the states of all widgets.
const CONTROL: &str = "jupyter.widget.control";
/// Version of the messages of widgets, which the client checks.
const PROTOCOL: &str = "2.1.0";
/// MIME type of an output that shows a widget.
const VIEW: &str = "application/vnd.jupyter.widget-view+json";
/// Messages of the client that later answers may name, control comms, and requests that wait for the states.
const MAX_NOTED: usize = 500;

/// The widgets of the notebook's default kernel.
#[derive(Default)]
pub(super) struct KernelWidgets {
    /// The kernel whose comms the connection follows.
    kernel: Option<KernelSessionId>,
    /// The client has got the open comms of the kernel, or was told of them.
    is_known: bool,
    /// Comms that were open when the client connected are not told: it asks for them.
    pub is_first: bool,
    open: BTreeSet<String>,
    control: BTreeSet<String>,
    waiting: Vec<StatesRequest>,
    /// Headers of the client's messages, by the number that answers name.
    sent: BTreeMap<u32, Value>,
    next_message: u32,
}

/// A request that waits for the states of all widgets.
enum StatesRequest {
    /// `comm_info_request`.
    Info { parent: Value },
    /// `request_states` on a control comm.
    States { comm_id: String, parent: Value },
}

impl KernelWidgets {
    /// The widget that a message shows and that the client does not know yet.
    pub fn unknown_view(&self, message: &ChannelMessage) -> Option<String> {
        let model = message.content["data"][VIEW]["model_id"].as_str()?;
        (self.is_known && !self.open.contains(model)).then(|| model.to_owned())
    }

    pub fn is_open(&self, comm_id: &str) -> bool {
        self.open.contains(comm_id)
    }
}

impl KernelClient {
    /// Follows the comms of the default kernel; needed after each subscription and each start of a kernel.
    pub(super) fn follow_widgets(&mut self) {
        let kernel = self.state().and_then(default_session).cloned();
        if kernel != self.widgets.kernel {
            self.widgets.open.clear();
            self.widgets.is_known = false;
        }
        self.widgets.kernel.clone_from(&kernel);
        if let Some(kernel_session) = kernel {
            let notebook = self.notebook.clone();
            self.sender.ephemeral(ClientMessage::FollowComms { notebook, kernel_session });
        }
    }

    // --- from the client ---

    pub(super) async fn comm_request(&mut self, message: &ChannelMessage) -> Served {
        let parent = message.header.clone();
        let text = |key: &str| message.content[key].as_str().unwrap_or_default().to_owned();
        let comm_id = text("comm_id");
        match message.msg_type() {
            "comm_info_request" => return self.ask_for_states(StatesRequest::Info { parent }).await,
            "comm_open" if text("target_name") == CONTROL && self.widgets.control.len() < MAX_NOTED => {
                self.widgets.control.insert(comm_id);
            }
            "comm_open" => {
                let closed = json!({"comm_id": comm_id, "data": {}});
                self.send("iopub", "comm_close", &parent, closed).await?;
            }
            "comm_msg" if self.widgets.control.contains(&comm_id) => {
                if message.content["data"]["method"] == "request_states" {
                    let request = StatesRequest::States { comm_id, parent: parent.clone() };
                    self.ask_for_states(request).await?;
                }
            }
            "comm_msg" => self.send_to_widget(comm_id, message),
            // A widget stays open for the others.
            _ => _ = self.widgets.control.remove(&comm_id),
        }
        self.send("iopub", "status", &parent, json!({"execution_state": "busy"})).await?;
        self.send("iopub", "status", &parent, json!({"execution_state": "idle"})).await
    }

    /// Asks the kernel's agent for all open comms.
    async fn ask_for_states(&mut self, request: StatesRequest) -> Served {
        if self.widgets.waiting.len() < MAX_NOTED {
            self.widgets.waiting.push(request);
        }
        self.follow_widgets();
        if self.widgets.kernel.is_none() { self.answer_states(&[]).await } else { Some(()) }
    }

    fn send_to_widget(&mut self, comm_id: String, message: &ChannelMessage) {
        let Some(kernel_session) = self.widgets.kernel.clone().filter(|_| self.widgets.is_open(&comm_id)) else {
            return;
        };
        let Ok(data) = RawObject::parse(&message.content["data"].to_string()) else { return };
        let id = self.widgets.next_message;
        self.widgets.next_message = id.wrapping_add(1);
        if self.widgets.sent.len() >= MAX_NOTED {
            self.widgets.sent.pop_first();
        }
        self.widgets.sent.insert(id, message.header.clone());
        let buffers = message.buffers.iter().map(|buffer| STANDARD.encode(buffer)).collect();
        let message = CommMessage { comm_id, data, buffers, parent: None };
        let notebook = self.notebook.clone();
        let message = SendCommMessage { notebook, kernel_session, id, sender: None, message };
        self.sender.ephemeral(ClientMessage::SendComm(message));
    }

    // --- from the kernel ---

    /// Takes a message about comms; other messages change nothing.
    pub(super) async fn comm_event(&mut self, message: ServerMessage) -> Served {
        match message {
            ServerMessage::Comms { kernel_session, comms, problem, .. }
                if self.widgets.kernel.as_ref() == Some(&kernel_session) =>
            {
                let widgets: Vec<OpenComm> = comms.into_iter().filter(is_widget).collect();
                if problem.is_none() {
                    self.open_comms(&widgets).await?;
                }
                self.answer_states(&widgets).await
            }
            ServerMessage::Comm { kernel_session, changes, .. }
                if self.widgets.kernel.as_ref() == Some(&kernel_session) =>
            {
                for change in changes {
                    self.comm_change(change).await?;
                }
                Some(())
            }
            _ => Some(()),
        }
    }

    /// Brings the client up to date with all open comms.
    async fn open_comms(&mut self, widgets: &[OpenComm]) -> Served {
        let is_silent = std::mem::take(&mut self.widgets.is_first);
        let is_again = std::mem::replace(&mut self.widgets.is_known, true);
        let now: BTreeSet<String> = widgets.iter().map(|comm| comm.comm_id.clone()).collect();
        let gone: Vec<String> = self.widgets.open.difference(&now).cloned().collect();
        for comm_id in gone {
            self.comm_change(CommChange::Closed { comm_id }).await?;
        }
        for comm in widgets {
            match (self.widgets.is_open(&comm.comm_id), is_silent) {
                (false, true) => _ = self.widgets.open.insert(comm.comm_id.clone()),
                (false, false) => self.comm_change(CommChange::Opened(comm.clone())).await?,
                // Changes from before the answer were not sent to this connection.
                (true, _) if is_again => self.whole_state(comm).await?,
                (true, _) => {}
            }
        }
        self.release_held().await
    }

    async fn whole_state(&mut self, comm: &OpenComm) -> Served {
        let (mut data, buffers) = state_of(comm);
        data["method"] = json!("update");
        let content = json!({"comm_id": comm.comm_id, "data": data});
        self.send_comm("comm_msg", &json!({}), content, buffers).await
    }

    async fn comm_change(&mut self, change: CommChange) -> Served {
        match change {
            CommChange::Opened(comm) => {
                if !is_widget(&comm) || !self.widgets.open.insert(comm.comm_id.clone()) {
                    return Some(());
                }
                let (data, buffers) = state_of(&comm);
                let content =
                    json!({"comm_id": comm.comm_id, "target_name": WIDGETS, "target_module": null, "data": data});
                let parent = self.running_parent();
                self.send_comm("comm_open", &parent, content, buffers).await?;
                self.release_held().await
            }
            CommChange::Message(message) => {
                if !self.widgets.is_open(&message.comm_id) {
                    return Some(());
                }
                let parent = self.parent_of(message.parent.as_deref());
                let data: Value = serde_json::from_str(message.data.get()).unwrap_or_default();
                let buffers = message.buffers.iter().map(|buffer| decoded(buffer)).collect();
                let content = json!({"comm_id": message.comm_id, "data": data});
                self.send_comm("comm_msg", &parent, content, buffers).await
            }
            CommChange::Closed { comm_id } => {
                if !self.widgets.open.remove(&comm_id) {
                    return Some(());
                }
                let content = json!({"comm_id": comm_id, "data": {}});
                self.send_comm("comm_close", &json!({}), content, Vec::new()).await
            }
        }
    }

    /// Header of the client's message that a message of the kernel answers.
    fn parent_of(&self, name: Option<&str>) -> Value {
        let own = name.and_then(|name| name.strip_prefix(&*self.name)?.strip_prefix('.')?.parse().ok());
        own.and_then(|id: u32| self.widgets.sent.get(&id)).cloned().unwrap_or_else(|| json!({}))
    }

    /// Answers the requests that waited for the states.
    async fn answer_states(&mut self, widgets: &[OpenComm]) -> Served {
        for request in std::mem::take(&mut self.widgets.waiting) {
            match request {
                StatesRequest::Info { parent } => {
                    let comms: Map<String, Value> =
                        widgets.iter().map(|comm| (comm.comm_id.clone(), json!({"target_name": WIDGETS}))).collect();
                    let content = json!({"status": "ok", "comms": comms});
                    self.reply("shell", "comm_info_reply", &parent, content).await?;
                }
                StatesRequest::States { comm_id, parent } => {
                    let (data, buffers) = all_states(widgets);
                    let content = json!({"comm_id": comm_id, "data": data});
                    self.send_comm("comm_msg", &parent, content, buffers).await?;
                }
            }
        }
        Some(())
    }

    /// Sends a message on a comm, before outputs that wait for it.
    async fn send_comm(&mut self, msg_type: &str, parent: &Value, content: Value, buffers: Vec<Vec<u8>>) -> Served {
        let mut message = replies::message(&self.notebook, "iopub", msg_type, parent, content);
        message.metadata = json!({"version": PROTOCOL});
        message.buffers = buffers;
        self.write(&message).await
    }
}

fn is_widget(comm: &OpenComm) -> bool {
    comm.target.is_none()
}

fn decoded(base64: &str) -> Vec<u8> {
    STANDARD.decode(base64).unwrap_or_default()
}

fn split(buffers: &[CommBuffer], before: &[&str]) -> (Vec<Value>, Vec<Vec<u8>>) {
    let path = |buffer: &CommBuffer| -> Value {
        before.iter().copied().chain(buffer.path.iter().map(String::as_str)).collect()
    };
    buffers.iter().map(|buffer| (path(buffer), decoded(&buffer.base64))).unzip()
}

/// Data of a message with the whole state of a widget, and its buffers.
fn state_of(comm: &OpenComm) -> (Value, Vec<Vec<u8>>) {
    let state: Value = serde_json::from_str(comm.state.get()).unwrap_or_default();
    let (paths, buffers) = split(&comm.buffers, &[]);
    (json!({"state": state, "buffer_paths": paths}), buffers)
}

/// Data of the answer to `request_states`, and its buffers.
fn all_states(widgets: &[OpenComm]) -> (Value, Vec<Vec<u8>>) {
    let (mut states, mut paths, mut buffers) = (Map::new(), Vec::new(), Vec::new());
    for comm in widgets {
        let state: Value = serde_json::from_str(comm.state.get()).unwrap_or_default();
        let widget = json!({
            "model_name": state["_model_name"], "model_module": state["_model_module"],
            "model_module_version": state["_model_module_version"], "state": state,
        });
        states.insert(comm.comm_id.clone(), widget);
        let (own_paths, own_buffers) = split(&comm.buffers, &[&comm.comm_id]);
        paths.extend(own_paths);
        buffers.extend(own_buffers);
    }
    (json!({"method": "update_states", "states": states, "buffer_paths": paths}), buffers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comm(id: &str, state: &Value, buffers: &[(&[&str], &[u8])]) -> OpenComm {
        let buffer = |(path, bytes): &(&[&str], &[u8])| CommBuffer {
            path: path.iter().map(|step| (*step).to_owned()).collect(),
            base64: STANDARD.encode(bytes),
        };
        OpenComm {
            comm_id: id.to_owned(),
            target: None,
            execution_id: None,
            state: RawObject::parse(&state.to_string()).unwrap(),
            buffers: buffers.iter().map(buffer).collect(),
        }
    }

    #[test]
    fn states_have_the_form_that_ipywidgets_reads() {
        let slider = json!({"_model_name": "IntSliderModel", "_model_module": "m", "_model_module_version": "2.0.0", "value": 3});
        let image = comm("i", &json!({"_model_name": "ImageModel"}), &[(&["value"], b"png")]);
        let (data, buffers) = all_states(&[comm("s", &slider, &[]), image.clone()]);
        assert_eq!(data["states"]["s"]["model_name"], "IntSliderModel");
        assert_eq!(data["states"]["s"]["state"]["value"], 3);
        assert_eq!(data["buffer_paths"], json!([["i", "value"]]));
        assert_eq!(buffers, [b"png"]);
        let (data, buffers) = state_of(&image);
        assert_eq!((&data["buffer_paths"], &buffers), (&json!([["value"]]), &vec![b"png".to_vec()]));
    }

    #[test]
    fn an_output_waits_for_the_widget_that_it_shows() {
        let mut widgets = KernelWidgets { is_known: true, ..KernelWidgets::default() };
        let shows = |model: &str| {
            let content = json!({"data": {VIEW: {"model_id": model}}});
            replies::message(&"n".parse().unwrap(), "iopub", "display_data", &json!({}), content)
        };
        assert_eq!(widgets.unknown_view(&shows("w")).as_deref(), Some("w"));
        widgets.open.insert("w".to_owned());
        assert_eq!(widgets.unknown_view(&shows("w")), None);
        let text = replies::message(&"n".parse().unwrap(), "iopub", "stream", &json!({}), json!({"text": "x"}));
        assert_eq!(widgets.unknown_view(&text), None);
    }
}
