//! Facts about a kernel whose effects are held.

use std::path::PathBuf;

/// Facts about a kernel for its supervisor.
#[derive(Debug, Clone)]
pub(crate) struct SupervisedKernel {
    /// Temporary files of the kernel, as it sees the path.
    pub temporary_folder: PathBuf,
    pub working_folder: PathBuf,
    /// True if held code writes and removes files in the working folder, as in the temporary one.
    pub owns_working_folder: bool,
    /// The kernel's private folder, with its sockets and those of the brokers.
    pub private_folder: PathBuf,
    /// Places in which nothing new is made.
    pub closed: Vec<PathBuf>,
    /// TCP ports of the kernel's own sockets.
    pub ports: Vec<u16>,
    /// True if the kernel has its own PID namespace.
    pub has_namespace: bool,
    /// True if the kernel runs code in a child process that is there when the kernel is ready, as bash does.
    pub runs_in_child: bool,
    /// True if effects of a person's run are refused that its text does not lead to.
    pub refuses_surprises: bool,
}

impl SupervisedKernel {
    /// Folder for the shared memory of held code, where the kernel has no `/dev/shm` of its own.
    pub fn shared_memory(&self) -> PathBuf {
        self.temporary_folder.join(".shm")
    }
}
