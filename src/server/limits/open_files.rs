//! Limit of files and connections that this process may have open.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Files reserved for the data, its blobs, and the kernels of an agent in this process.
const RESERVED: u64 = 320;
/// Lower bound, even if the system allows fewer.
const LEAST: u64 = 64;

/// Raises the process's limit as far as the system allows; returns the share for connections. `None`: no limit.
pub fn for_connections() -> Option<usize> {
    let mut limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum;
    if limit.current != allowed {
        let before = std::mem::replace(&mut limit.current, allowed);
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "the limit of open files stays");
            limit.current = before;
        }
    }
    let files = limit.current?.saturating_sub(RESERVED).max(LEAST);
    Some(usize::try_from(files).unwrap_or(usize::MAX))
}
