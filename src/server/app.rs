//! State shared by all handlers. Cheap to clone.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::{Mutex, Semaphore};

use crate::agents::AgentLocks;
use crate::agents::kernel_questions::{KernelAskService, KernelQuestions};
use crate::agents::working_files::{AgentTransfers, FileService};
use crate::assistants::AssistantState;
use crate::auth::oidc::Oidc;
use crate::auth::{Accounts, KernelPasses};
use crate::disks::Disk;
use crate::http::mount::DoorMount;
use crate::limits::connection_slots::ConnectionSlots;
use crate::notebooks::Notebooks;
use crate::notebooks::history::{Checks, StateTexts};
use crate::notices::Notices;
use crate::rooms::Rooms;
use crate::signing::HeadSigner;
use crate::tls::Certificates;

/// The server's parts, as handlers see them: state that they share.
#[derive(Clone)]
pub struct App(Arc<AppParts>);

/// Contents of [`App`].
pub struct AppParts {
    pub notebooks: Arc<Notebooks>,
    /// OpenID Connect provider for sign-in.
    pub oidc: Option<Arc<Oidc>>,
    pub signer: HeadSigner,
    pub notices: Arc<Notices>,
    pub certificates: Certificates,
    /// Held while heads are appended to the tree, and while proofs are read from it.
    pub appending: Mutex<()>,
    pub kernel_questions: Arc<KernelQuestions>,
    /// Pending file transfers to and from runtime agents.
    pub transfers: AgentTransfers,
    pub agent_locks: AgentLocks,
    pub assistants: Arc<AssistantState>,
    pub checks: Checks,
    /// Cache of states as JSON, shared by concurrent readers.
    pub state_texts: StateTexts,
    /// One permit per file that is being imported.
    pub imports: Semaphore,
    /// Disks that must have room.
    pub disks: Vec<Disk>,
    /// False until work that was under way before the start is watched again.
    pub is_ready: AtomicBool,
    /// One permit per socket connection.
    pub sockets: Arc<Semaphore>,
    /// Handler of the Jupyter door, once it is mounted.
    pub jupyter: DoorMount,
    /// Handler of requests of code in kernels, once it is mounted.
    pub kernel_door: DoorMount,
    pub kernel_passes: KernelPasses,
    /// Sockets that have not sent their `hello` yet.
    pub strangers: ConnectionSlots,
}

impl Deref for App {
    type Target = AppParts;
    fn deref(&self) -> &AppParts {
        &self.0
    }
}

impl Deref for AppParts {
    type Target = Notebooks;
    fn deref(&self) -> &Notebooks {
        &self.notebooks
    }
}

impl App {
    pub fn new(parts: AppParts) -> Self {
        Self(Arc::new(parts))
    }

    pub fn kernel_ask_service(&self) -> KernelAskService<'_> {
        KernelAskService { agents: &self.agents, questions: &self.kernel_questions, limits: &self.limits }
    }

    pub fn file_service(&self) -> FileService<'_> {
        let (rooms, accounts) = self.readers();
        let max_file_bytes = self.limits.max_working_file_bytes;
        FileService { rooms, accounts, agents: &self.agents, transfers: &self.transfers, max_file_bytes }
    }

    /// Rooms and accounts, with which a guarded stream checks the rights of its reader.
    pub fn readers(&self) -> (&Arc<Rooms>, &Accounts) {
        (&self.rooms, &self.accounts)
    }
}
