//! Updates of a client that come before its answer to our state vector.

/// Updates that need changes which the client still owes us: it typed without a connection, and again before it had our state vector. They
/// wait for its answer to that; afterwards there are none.
#[derive(Debug, Default)]
pub struct EarlyUpdates {
    pub updates: Vec<Vec<u8>>,
    bytes: usize,
}

impl EarlyUpdates {
    /// Holds an update back; false if they become too large.
    pub fn hold(&mut self, update: &[u8], max_bytes: usize) -> bool {
        self.bytes += update.len();
        let fits = self.bytes <= max_bytes;
        if fits {
            self.updates.push(update.to_vec());
        }
        fits
    }
}
