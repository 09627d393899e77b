//! Pending file transfers between people and runtime agents. In memory alone; of a file's bytes there are only the
//! pieces in transit.
//!
//! A person's request and the agent's are paired by the name of a transfer. The body of one becomes the response body
//! of the other, so the reader's pace is the sender's back-pressure.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use notarium_core::{AgentId, TokenId};
use notarium_wire::{FileAnswer, FileRefusal};
use tokio::sync::oneshot;

use crate::rooms::ClientId;

/// Limit of concurrent requests to one runtime agent, which is as many as it works on.
const MAX_PER_AGENT: usize = 32;
/// Limit of concurrent requests of one token.
const MAX_PER_TOKEN: usize = 8;

/// Bytes of a file, in pieces.
pub type Pieces = BoxStream<'static, Result<Bytes, axum::Error>>;

/// Open requests to runtime agents. Cheap to clone.
#[derive(Clone, Default)]
pub struct Transfers(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Number of the last request.
    last: u64,
    open: BTreeMap<u64, Open>,
}

struct Open {
    asked: Asked,
    answer: Option<oneshot::Sender<FileAnswer>>,
    way: Option<Way>,
}

/// Addressee of a request, and its token.
#[derive(Debug, Clone)]
pub struct Asked {
    pub agent: AgentId,
    /// Connection of the agent.
    pub client: ClientId,
    pub token: TokenId,
    /// Name that the agent gives for the bytes. Secret: only the agent learns it.
    pub transfer: String,
}

/// Direction of the bytes.
pub enum Way {
    /// To a person whose request waits for them.
    ToPerson(oneshot::Sender<Pieces>),
    ToAgent(Pieces),
}

/// A request that waits for its answer.
pub struct Request {
    /// Number that the agent's answer repeats.
    pub id: u64,
    pub answer: oneshot::Receiver<FileAnswer>,
    /// Place of the request: until it is dropped, the agent may bring or fetch the bytes.
    pub place: Place,
}

impl Transfers {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a request that waits for an answer, and for bytes, if any. Refused above a limit.
    pub fn begin(&self, asked: Asked, way: Option<Way>) -> Result<Request, FileAnswer> {
        let mut state = self.state();
        let count = |is_same: fn(&Asked, &Asked) -> bool| {
            state.open.values().filter(|open| is_same(&open.asked, &asked)).count()
        };
        if count(|one, other| one.token == other.token) >= MAX_PER_TOKEN {
            let message = format!("you have {MAX_PER_TOKEN} files on their way already: wait until one is there");
            return Err(FileRefusal::Busy.because(message));
        }
        if count(|one, other| one.client == other.client) >= MAX_PER_AGENT {
            return Err(
                FileRefusal::Busy.because("the runtime agent has too many files on their way: try again in a moment")
            );
        }
        state.last += 1;
        let id = state.last;
        let (sender, answer) = oneshot::channel();
        state.open.insert(id, Open { asked, answer: Some(sender), way });
        Ok(Request { id, answer, place: Place { transfers: self.clone(), id } })
    }

    /// Passes on the answer of an agent's connection to a request that went there.
    pub fn answer(&self, client: ClientId, id: u64, answer: FileAnswer) {
        let mut state = self.state();
        let Some(open) = state.open.get_mut(&id).filter(|open| open.asked.client == client) else { return };
        if let Some(sender) = open.answer.take() {
            // The receiver may have been dropped.
            let _ = sender.send(answer);
        }
    }

    /// Answers all requests to an agent whose connection has ended. Bytes in transit have their own connection.
    pub fn agent_left(&self, client: ClientId) {
        let mut state = self.state();
        for open in state.open.values_mut().filter(|open| open.asked.client == client) {
            if let Some(sender) = open.answer.take() {
                let _ = sender.send(unreachable());
            }
        }
    }

    /// Receiver of the bytes of a transfer. Only the first call gets it.
    pub fn to_person(&self, agent: &AgentId, transfer: &str) -> Option<oneshot::Sender<Pieces>> {
        match self.take(agent, transfer, |way| matches!(way, Way::ToPerson(_)))? {
            Way::ToPerson(sender) => Some(sender),
            Way::ToAgent(_) => None,
        }
    }

    /// Bytes for this agent. Only the first call gets them.
    pub fn to_agent(&self, agent: &AgentId, transfer: &str) -> Option<Pieces> {
        match self.take(agent, transfer, |way| matches!(way, Way::ToAgent(_)))? {
            Way::ToAgent(pieces) => Some(pieces),
            Way::ToPerson(_) => None,
        }
    }

    fn take(&self, agent: &AgentId, transfer: &str, is_meant: fn(&Way) -> bool) -> Option<Way> {
        let mut state = self.state();
        let is_it = |open: &&mut Open| open.asked.transfer == transfer && open.asked.agent == *agent;
        state.open.values_mut().find(is_it)?.way.take_if(|way| is_meant(way))
    }
}

/// Removes its request when dropped, however the request ends.
pub struct Place {
    transfers: Transfers,
    id: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        // Dropped after the lock is released: bytes that were not fetched may own a connection.
        let _open = self.transfers.state().open.remove(&self.id);
    }
}

pub fn unreachable() -> FileAnswer {
    FileRefusal::AgentUnreachable.because("the runtime agent cannot be reached: wait until it is back, and try again")
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use futures_util::stream;

    use super::*;

    fn asked(transfer: &str, token: &str) -> Asked {
        let (agent, token) = ("a".parse().unwrap(), token.parse().unwrap());
        Asked { agent, client: ClientId(1), token, transfer: transfer.to_owned() }
    }

    #[tokio::test]
    async fn only_the_agent_that_was_asked_gets_the_bytes_and_once() {
        let transfers = Transfers::default();
        let pieces = stream::iter([Ok(Bytes::from_static(b"x"))]).boxed();
        let request = transfers.begin(asked("t", "ann"), Some(Way::ToAgent(pieces))).unwrap();
        let agent = "a".parse().unwrap();
        assert!(transfers.to_agent(&"b".parse().unwrap(), "t").is_none(), "another agent");
        assert!(transfers.to_agent(&agent, "u").is_none(), "another transfer");
        assert!(transfers.to_person(&agent, "t").is_none(), "the other way");
        assert_eq!(transfers.to_agent(&agent, "t").unwrap().count().await, 1);
        assert!(transfers.to_agent(&agent, "t").is_none(), "a second time");
        drop(request);
        assert!(transfers.state().open.is_empty());
    }

    #[tokio::test]
    async fn an_answer_is_of_the_connection_that_was_asked_and_its_end_is_one() {
        let transfers = Transfers::default();
        let mut request = transfers.begin(asked("t", "ann"), None).unwrap();
        transfers.answer(ClientId(2), request.id, unreachable());
        assert!(request.answer.try_recv().is_err());
        transfers.agent_left(ClientId(1));
        assert_eq!(request.answer.await.unwrap(), unreachable());
    }

    #[tokio::test]
    async fn one_token_and_one_agent_have_so_many_at_a_time() {
        let transfers = Transfers::default();
        let mut kept = Vec::new();
        for _ in 0..MAX_PER_TOKEN {
            kept.push(transfers.begin(asked("t", "ann"), None).ok().unwrap());
        }
        let is_busy = |answer: &FileAnswer| matches!(answer, FileAnswer::Refused { code: FileRefusal::Busy, .. });
        assert!(transfers.begin(asked("t", "ann"), None).is_err_and(|answer| is_busy(&answer)));
        for at in MAX_PER_TOKEN..MAX_PER_AGENT {
            kept.push(transfers.begin(asked("t", &format!("t{at}")), None).ok().unwrap());
        }
        assert!(transfers.begin(asked("t", "bob"), None).is_err_and(|answer| is_busy(&answer)));
        kept.pop();
        assert!(transfers.begin(asked("t", "bob"), None).is_ok());
    }
}
