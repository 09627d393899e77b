//! The record of one notebook with the names of its people, wherever it is kept.

use std::future::Future;

use notarium_core::{Actor, Stored, Subject, Version};

/// Reads events and names. Unknown actors are named by their ids.
pub trait RecordSource: Send + Sync {
    /// Why events were not read.
    type Error: Send;

    /// Events after a version, at most `limit`. Empty: there are no more.
    fn events(&self, after: Version, limit: usize) -> impl Future<Output = Result<Vec<Stored>, Self::Error>> + Send;

    /// The name of an actor, clean.
    fn actor_name(&mut self, actor: &Actor) -> impl Future<Output = String> + Send;

    /// The name of a subject in an access list, clean.
    fn subject_name(&mut self, subject: &Subject) -> impl Future<Output = String> + Send;
}
