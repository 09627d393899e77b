//! Rooms: per notebook one Y document in memory with its clients. A document of which clients may have copies is kept on disk while no
//! room has it; one that is lost comes back under another session id, so that clients load the notebook again instead of merging two
//! histories.

pub mod awareness;
pub mod early;
pub mod kept;
pub mod message;
pub mod room;
pub mod socket;
pub mod words;

use std::sync::Arc;

use hashlink::LinkedHashMap;
use http::Method;
use notarium_core::NotebookId;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::api::{Api, CallerToken, encoded};
use crate::limits::JupyterLimits;
use kept::{KeptDocument, KeptDocuments};
use room::JupyterRoom;
use words::EventsByToken;

/// Parts of the door that a room needs. Cheap to clone.
#[derive(Clone)]
pub struct RoomParts {
    pub api: Api,
    pub limits: JupyterLimits,
    pub kept: KeptDocuments,
    pub events: EventsByToken,
    /// Rooms end, and keep their documents, when the server stops; it waits for these tasks.
    pub stopping: CancellationToken,
    pub tasks: TaskTracker,
}

/// The open rooms, the last used last. Cheap to clone.
#[derive(Clone)]
pub struct JupyterRooms {
    open: Arc<Mutex<LinkedHashMap<NotebookId, JupyterRoom>>>,
    /// One room is opened at a time: a document is taken from the disk once.
    opening: Arc<tokio::sync::Mutex<()>>,
    parts: RoomParts,
}

impl JupyterRooms {
    pub fn new(parts: RoomParts) -> Self {
        Self { open: Arc::default(), opening: Arc::default(), parts }
    }

    pub fn events(&self) -> &EventsByToken {
        &self.parts.events
    }

    /// The room of a notebook, made if there is none. The caller has checked that the notebook may be read.
    pub async fn open(&self, token: &CallerToken, notebook: &NotebookId) -> JupyterRoom {
        match self.find(token, notebook).await {
            Some(room) => room,
            None => self.insert(notebook, None),
        }
    }

    /// The room of a notebook, if it is open or its document was kept.
    pub async fn find(&self, token: &CallerToken, notebook: &NotebookId) -> Option<JupyterRoom> {
        if let Some(room) = self.get(notebook) {
            return Some(room);
        }
        let _one_at_a_time = self.opening.lock().await;
        if let Some(room) = self.get(notebook) {
            return Some(room);
        }
        let kept = self.kept(token, notebook).await?;
        Some(self.insert(notebook, Some(kept)))
    }

    fn insert(&self, notebook: &NotebookId, kept: Option<KeptDocument>) -> JupyterRoom {
        let mut open = self.open.lock();
        if let Some(room) = open.to_back(notebook) {
            return room.clone();
        }
        let room = JupyterRoom::start(notebook.clone(), self.parts.clone(), kept);
        open.insert(notebook.clone(), room.clone());
        let idle: Vec<NotebookId> =
            open.iter().filter(|(_, room)| room.members() == 0).map(|(notebook, _)| notebook.clone()).collect();
        let surplus = idle.len().saturating_sub(self.parts.limits.max_idle_rooms);
        idle.iter().take(surplus).for_each(|notebook| _ = open.remove(notebook));
        room
    }

    /// The room of a notebook, if it is open.
    pub fn get(&self, notebook: &NotebookId) -> Option<JupyterRoom> {
        self.open.lock().to_back(notebook).cloned()
    }

    /// The kept document of a notebook, taken from the disk. One that does not fit the record is removed.
    async fn kept(&self, token: &CallerToken, notebook: &NotebookId) -> Option<KeptDocument> {
        let kept = self.parts.kept.peek(notebook).await?;
        let is_fitting = self.is_fitting(token, &kept).await?;
        let is_removed = self.parts.kept.discard(notebook).await;
        (is_fitting && is_removed).then_some(kept)
    }

    /// True if the record has the event that the document showed last; `None` if the caller may not know.
    async fn is_fitting(&self, token: &CallerToken, kept: &KeptDocument) -> Option<bool> {
        let (notebook, before) = (encoded(kept.head.notebook.as_str()), kept.head.version.saturating_sub(1));
        let path = format!("/api/notebooks/{notebook}/events?after={before}&limit=1");
        let page = self.parts.api.json(token, Method::GET, &path, None).await.ok()?;
        Some(page["events"][0]["id"] == kept.head.event_id.as_str())
    }
}
