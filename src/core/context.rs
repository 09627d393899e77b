//! Context of a decision beside the state: sender, time, new ids, answers about the past.

pub mod history;
pub mod limits;

use crate::account_status::Standings;
use crate::authority::Authority;
use crate::context::history::History;
use crate::context::limits::Limits;
use notarium_record::{
    Actor, CommandId, CorrelationId, EventId, InstanceId, KernelSessionId, Millis, Salt, TurnId, Version,
};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use ulid::Ulid;

/// Input of one `decide`. Built by the server from the connection and its own clock and entropy.
#[derive(Debug, Clone)]
pub struct Context {
    /// Time of the decision, never before the last event's `recorded_at`.
    pub now: Millis,
    /// The server instance that decides: claims are made in its name.
    pub instance: InstanceId,
    /// Sender of the command.
    pub actor: Actor,
    /// Rights of the actor besides the notebook's access list.
    pub authority: Authority,
    /// Id of the command, chosen by the sender.
    pub command_id: CommandId,
    /// The undo group; the server uses the command's own id where the sender names none.
    pub correlation_id: CorrelationId,
    /// The event that led to this command. `decide` sets it for commands of the server's reactors and reports of
    /// agents.
    pub causation_id: Option<EventId>,
    /// `conflict` refuses the command where the notebook is at another version.
    pub expected_version: Option<Version>,
    /// New ids and salts.
    pub ids: IdSource,
    /// The answer to [`crate::required_history`].
    pub history: History,
    /// The answer to [`crate::required_standings`].
    pub standings: Standings,
    /// Kernel sessions whose runtime agent is not connected. Their state is unknown until it is back.
    pub away: BTreeSet<KernelSessionId>,
    /// Kernel sessions whose runtime agent has been away so long that all clients are notified.
    pub unreachable: BTreeSet<KernelSessionId>,
    /// Texts that the model of an open turn has written and no message holds, one for each block.
    pub unposted: BTreeMap<TurnId, Vec<String>>,
    /// Quotas of this server.
    pub limits: Limits,
}

/// Makes ids and salts from a seed: the same seed gives the same ones.
#[derive(Debug, Clone)]
pub struct IdSource {
    now: Millis,
    seed: [u8; 32],
    count: u64,
}

impl IdSource {
    /// `seed` must be fresh entropy for every command in production.
    pub fn new(now: Millis, seed: [u8; 32]) -> Self {
        Self { now, seed, count: 0 }
    }

    /// A new id; later ones sort after earlier ones of the same source.
    pub fn ulid(&mut self) -> Ulid {
        self.count += 1;
        let mut random = [0_u8; 16];
        random[6..].copy_from_slice(&self.seed[..10]);
        // The top bit stays free, so that counting up cannot overflow into the time.
        random[6] &= 0x7f;
        Ulid::from_parts(self.now, u128::from_be_bytes(random) + u128::from(self.count))
    }

    /// Sixteen bytes that cannot be guessed without the seed.
    pub fn salt(&mut self) -> Salt {
        self.count += 1;
        let digest = Sha256::new().chain_update(b"salt").chain_update(self.seed).chain_update(self.count.to_be_bytes());
        let mut salt = [0_u8; 16];
        salt.copy_from_slice(&digest.finalize()[..16]);
        Salt(salt)
    }
}
