//! Notebooks of a client at its edge: the node of each, and what is sent again when another node takes it over.

use std::collections::{HashMap, VecDeque};

use notarium_core::{InstanceId, NotebookId};
use notarium_wire::{ClientMessage, LastEvent, SubscribeMessage};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::peek::Fields;

/// Key of a `check` among the questions, which is no id.
const CHECK: &str = " check";
/// Ephemeral frames that wait for a node. Later ones are dropped.
const MAX_WAITING: usize = 64;
/// Notebooks above which those without a subscription or a command are forgotten.
const MAX_ROUTES: usize = 256;

/// Subscription of the client.
#[derive(Debug, Default)]
pub struct Followed {
    /// The client's `subscribe`, until it is answered.
    opening: Option<Utf8Bytes>,
    /// Last event that was passed on.
    position: Option<LastEvent>,
    /// The client has been told that its subscription begins anew.
    is_told: bool,
}

/// A notebook of the client.
#[derive(Debug, Default)]
pub struct NotebookRoute {
    /// Node that serves it, and number of the connection to it. `None`: not known now.
    pub at: Option<(InstanceId, u64)>,
    followed: Option<Followed>,
    presence: Option<Utf8Bytes>,
    /// Commands without an answer, by id, in order.
    unanswered: VecDeque<(String, Utf8Bytes)>,
    /// Questions without an answer: the last `check`, and those to kernels by id.
    questions: VecDeque<(String, Utf8Bytes)>,
    /// Other frames, while no node serves it.
    waiting: Vec<Utf8Bytes>,
}

impl NotebookRoute {
    /// Notes a frame of the client. False: it is sent when a node serves the notebook.
    pub fn note_sent(&mut self, name: &str, fields: &Fields, frame: &Utf8Bytes) -> bool {
        match name {
            "subscribe" => {
                self.followed =
                    Some(Followed { opening: Some(frame.clone()), position: fields.since.clone(), is_told: false });
            }
            "unsubscribe" => (self.followed, self.presence) = (None, None),
            "command" => {
                let id = fields.text_id().unwrap_or_default();
                if !self.unanswered.iter().any(|(known, _)| known == id) {
                    self.unanswered.push_back((id.to_owned(), frame.clone()));
                }
            }
            "presence" => self.presence = Some(frame.clone()),
            "check" | "ask_kernel" => {
                let key = fields.number().map_or_else(|| CHECK.to_owned(), |id| id.to_string());
                self.questions.retain(|(known, _)| *known != key);
                if self.questions.len() < MAX_WAITING {
                    self.questions.push_back((key, frame.clone()));
                }
            }
            _ if self.at.is_none() && self.waiting.len() < MAX_WAITING => self.waiting.push(frame.clone()),
            _ => {}
        }
        self.at.is_some()
    }

    /// Notes a frame to the client. Returns true if it answers a command.
    pub fn note_received(&mut self, name: &str, fields: &Fields) -> bool {
        match name {
            "ack" | "reject" => {
                let id = fields.text_id().unwrap_or_default();
                let before = self.unanswered.len();
                self.unanswered.retain(|(known, _)| known != id);
                return self.unanswered.len() < before;
            }
            "checked" => self.questions.retain(|(known, _)| known != CHECK),
            "kernel_answer" => {
                let id = fields.number().unwrap_or_default().to_string();
                self.questions.retain(|(known, _)| *known != id);
            }
            "subscribed" | "events" => {
                if let Some(followed) = &mut self.followed {
                    followed.position = fields.position().or(followed.position.take());
                    if name == "subscribed" {
                        (followed.opening, followed.is_told) = (None, false);
                    }
                }
            }
            "access" if fields.role == Some(None) => self.followed = None,
            // The subscription was refused.
            "error" if self.followed.as_ref().is_some_and(|followed| followed.opening.is_some()) => {
                self.followed = None
            }
            _ => {}
        }
        false
    }

    /// True if the client waits for nothing and follows nothing.
    pub fn is_idle(&self) -> bool {
        self.followed.is_none() && self.unanswered.is_empty() && self.questions.is_empty() && self.waiting.is_empty()
    }

    /// True, once, if the client is to be told that its subscription begins anew.
    pub fn begins_anew(&mut self) -> bool {
        let followed = self.followed.as_mut().filter(|followed| followed.opening.is_none());
        followed.is_some_and(|followed| !std::mem::replace(&mut followed.is_told, true))
    }

    /// Frames for a node that begins to serve the notebook.
    pub fn renewed(&mut self, notebook: &NotebookId) -> Vec<Utf8Bytes> {
        let subscribe = self.followed.as_ref().map(|followed| match &followed.opening {
            Some(frame) => frame.clone(),
            None => subscribe(notebook, followed.position.clone()),
        });
        let commands = self.unanswered.iter().map(|(_, frame)| frame.clone());
        let presence = self.presence.clone().filter(|_| self.followed.is_some());
        let questions = self.questions.iter().map(|(_, frame)| frame.clone());
        let frames = subscribe.into_iter().chain(presence).chain(commands).chain(questions);
        frames.chain(std::mem::take(&mut self.waiting)).collect()
    }
}

fn subscribe(notebook: &NotebookId, since: Option<LastEvent>) -> Utf8Bytes {
    let message = SubscribeMessage { notebook: notebook.clone(), since, unconfirmed: Vec::new() };
    serde_json::to_string(&ClientMessage::Subscribe(message)).unwrap_or_default().into()
}

/// All notebooks of a client.
#[derive(Debug, Default)]
pub struct NotebookRoutes {
    pub by_notebook: HashMap<NotebookId, NotebookRoute>,
    /// Commands without an answer, and their bytes.
    unanswered: usize,
}

impl NotebookRoutes {
    pub fn unanswered(&self) -> usize {
        self.unanswered
    }

    /// Notes a frame of the client; returns the connection to send it on.
    pub fn note_sent(
        &mut self,
        notebook: &NotebookId,
        (name, fields): (&str, &Fields),
        frame: &Utf8Bytes,
    ) -> Option<InstanceId> {
        if self.by_notebook.len() >= MAX_ROUTES && !self.by_notebook.contains_key(notebook) {
            self.by_notebook.retain(|_, route| !route.is_idle());
        }
        let route = self.by_notebook.entry(notebook.clone()).or_default();
        let before = route.unanswered.len();
        let is_served = route.note_sent(name, fields, frame);
        self.unanswered += route.unanswered.len() - before;
        route.at.as_ref().filter(|_| is_served).map(|(instance, _)| instance.clone())
    }

    /// Notes a frame to the client. False: it comes from a node that does not serve the notebook any more.
    pub fn note_received(
        &mut self,
        notebook: &NotebookId,
        (name, fields): (&str, &Fields),
        from: (&InstanceId, u64),
    ) -> bool {
        let Some(route) = self.by_notebook.get_mut(notebook) else { return true };
        if route.at.as_ref().is_none_or(|(instance, number)| (instance, *number) != from) {
            return false;
        }
        if route.note_received(name, fields) {
            self.unanswered -= 1;
        }
        true
    }

    /// Forgets the node of these notebooks; returns them.
    pub fn unserve(&mut self, is_affected: impl Fn(&NotebookId, &(InstanceId, u64)) -> bool) -> Vec<NotebookId> {
        let mut unserved = Vec::new();
        self.by_notebook.retain(|notebook, route| {
            if route.at.as_ref().is_some_and(|at| is_affected(notebook, at)) {
                route.at = None;
                unserved.push(notebook.clone());
            }
            route.at.is_some() || !route.is_idle()
        });
        unserved.retain(|notebook| self.by_notebook.contains_key(notebook));
        unserved
    }

    /// Notebooks that no node serves now.
    pub fn unserved(&self) -> Vec<NotebookId> {
        let unserved = self.by_notebook.iter().filter(|(_, route)| route.at.is_none());
        unserved.map(|(notebook, _)| notebook.clone()).collect()
    }
}
