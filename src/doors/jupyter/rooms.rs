//! Rooms: per notebook one Y document in memory with its clients. A room that is lost comes back under another session id, so that
//! clients load the notebook again instead of merging two histories.

pub mod awareness;
pub mod message;
pub mod room;
pub mod socket;

use std::sync::Arc;

use hashlink::LinkedHashMap;
use notarium_core::NotebookId;
use parking_lot::Mutex;

use crate::api::Api;
use crate::limits::JupyterLimits;
use room::JupyterRoom;

/// The open rooms, the last used last. Cheap to clone.
#[derive(Clone)]
pub struct JupyterRooms {
    open: Arc<Mutex<LinkedHashMap<NotebookId, JupyterRoom>>>,
    api: Api,
    limits: JupyterLimits,
}

impl JupyterRooms {
    pub fn new(api: Api, limits: JupyterLimits) -> Self {
        Self { open: Arc::default(), api, limits }
    }

    /// The room of a notebook, made if there is none. The caller has checked that the notebook may be read.
    pub fn open(&self, notebook: &NotebookId) -> JupyterRoom {
        let mut open = self.open.lock();
        if let Some(room) = open.to_back(notebook) {
            return room.clone();
        }
        let room = JupyterRoom::start(notebook.clone(), self.api.clone(), self.limits.clone());
        open.insert(notebook.clone(), room.clone());
        let idle: Vec<NotebookId> =
            open.iter().filter(|(_, room)| room.members() == 0).map(|(notebook, _)| notebook.clone()).collect();
        let surplus = idle.len().saturating_sub(self.limits.max_idle_rooms);
        idle.iter().take(surplus).for_each(|notebook| _ = open.remove(notebook));
        room
    }

    /// The room of a notebook, if it is open.
    pub fn get(&self, notebook: &NotebookId) -> Option<JupyterRoom> {
        self.open.lock().to_back(notebook).cloned()
    }
}
