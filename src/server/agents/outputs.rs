//! Quota: bytes that one runtime agent may have recorded in an hour, over all its runs in all notebooks. The limit per
//! run does not stop an agent with many runs from filling the disk.
//!
//! Invariants:
//! - The quota counts the bytes of the agent's commands and uploads, not the sizes that they declare.
//! - Above the limit only outputs are refused: runs still begin, end and are reported lost.

use std::collections::HashMap;

use notarium_core::{Actor, AgentId, Command, ExecutionReport, LimitName, Millis, Rejection, RejectionCode};
use notarium_sync::DecodedCommand;
use parking_lot::Mutex;

const HOUR_MS: u64 = 60 * 60 * 1_000;
/// Entries kept before those that have drained to zero are removed.
const MAX_IDLE_AGENTS: usize = 1_024;

/// Leaky bucket: bytes that an agent has sent. It drains evenly, the whole limit in an hour.
#[derive(Debug, Clone, Copy)]
struct Sent {
    bytes: u64,
    at: Millis,
}

impl Sent {
    fn now(self, now: Millis, limit: u64) -> Self {
        let elapsed = now.saturating_sub(self.at);
        let forgotten = u128::from(limit) * u128::from(elapsed) / u128::from(HOUR_MS);
        let forgotten = u64::try_from(forgotten).unwrap_or(u64::MAX);
        // `at` moves only when a whole byte has drained, so fractions add up. A clock that is set back drains nothing
        // twice.
        let at = if forgotten == 0 { self.at } else { now };
        Self { bytes: self.bytes.saturating_sub(forgotten), at }
    }
}

/// Quota counters of all agents of a server.
#[derive(Debug)]
pub struct AgentOutputs {
    max_bytes_per_hour: u64,
    sent: Mutex<HashMap<AgentId, Sent>>,
}

impl AgentOutputs {
    pub fn new(max_bytes_per_hour: u64) -> Self {
        Self { max_bytes_per_hour, sent: Mutex::default() }
    }

    /// Counts a command of a runtime agent. Refuses it if the agent is over the limit and the command adds output.
    pub fn check(&self, actor: &Actor, decoded: &DecodedCommand, now: Millis) -> Result<(), Rejection> {
        self.take(actor, decoded.message.body.get().len() as u64, now, adds(&decoded.command))
    }

    /// Counts an upload of a runtime agent, or refuses it if the agent is over the limit.
    pub fn check_upload(&self, actor: &Actor, bytes: u64, now: Millis) -> Result<(), Rejection> {
        self.take(actor, bytes, now, true)
    }

    /// Counts the bytes by which an upload exceeded its declared size.
    pub fn note(&self, actor: &Actor, bytes: u64, now: Millis) {
        if let Actor::Agent { id } = actor {
            self.add(id, bytes, now);
        }
    }

    fn take(&self, actor: &Actor, bytes: u64, now: Millis, adds: bool) -> Result<(), Rejection> {
        let Actor::Agent { id } = actor else { return Ok(()) };
        if self.add(id, 0, now) >= self.max_bytes_per_hour && adds {
            return Err(refused(self.max_bytes_per_hour));
        }
        self.add(id, bytes, now);
        Ok(())
    }

    /// Adds `bytes` to the agent's counter; returns the new total.
    fn add(&self, id: &AgentId, bytes: u64, now: Millis) -> u64 {
        let limit = self.max_bytes_per_hour;
        let mut agents = self.sent.lock();
        if agents.len() >= MAX_IDLE_AGENTS {
            agents.retain(|_, sent| sent.now(now, limit).bytes > 0);
        }
        let sent = agents.entry(id.clone()).or_insert(Sent { bytes: 0, at: now });
        *sent = sent.now(now, limit);
        sent.bytes = sent.bytes.saturating_add(bytes);
        sent.bytes
    }
}

/// True for commands that record output whose size the agent's code decides.
fn adds(command: &Command) -> bool {
    use ExecutionReport as R;
    match command {
        Command::Batch { commands } => commands.iter().any(adds),
        Command::ReportExecution { report, .. } => {
            matches!(report, R::Output { .. } | R::UpdateDisplay { .. } | R::Clear { .. } | R::InputRequest { .. })
        }
        Command::RegisterFunctions { .. } => true,
        _ => false,
    }
}

fn refused(limit: u64) -> Rejection {
    let message = format!(
        "this runtime agent has sent {} MiB of outputs within an hour, all that the server takes of one agent: it takes more in some \
         minutes; print less, or ask its operator (--max-output-per-agent)",
        limit >> 20
    );
    Rejection::new(RejectionCode::OutputLimit, message).with(LimitName::AgentOutputs.details(limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use notarium_core::{RawJson, UserId};
    use notarium_wire::CommandMessage;

    const MIB: u64 = 1 << 20;

    fn agent(id: &str) -> Actor {
        Actor::Agent { id: id.parse().unwrap() }
    }

    fn message(body: &str) -> DecodedCommand {
        let body = RawJson::parse(body).unwrap();
        DecodedCommand::decode(CommandMessage::new("c".parse().unwrap(), "n".parse().unwrap(), body)).unwrap()
    }

    fn report(report: &str) -> DecodedCommand {
        message(&format!(r#"{{"ReportExecution":{{"execution_id":"e","fence":1,"seq":1,"report":{report}}}}}"#))
    }

    #[test]
    fn what_is_too_much_for_an_hour_is_refused_until_some_of_it_is_past() {
        let outputs = AgentOutputs::new(6 * MIB);
        for _ in 0..2 {
            outputs.check_upload(&agent("a"), 3 * MIB, 1_000).unwrap();
        }
        let refused = outputs.check_upload(&agent("a"), 1, 1_000).unwrap_err();
        assert!(refused.message.contains("6 MiB") && refused.code == RejectionCode::OutputLimit, "{refused:?}");
        outputs.check_upload(&agent("b"), MIB, 1_000).unwrap();
        outputs.check_upload(&Actor::User { id: UserId::new("ann").unwrap() }, 9 * MIB, 1_000).unwrap();
        // A clock that is set back drains nothing; ten minutes drain a sixth.
        outputs.check_upload(&agent("a"), 1, 0).unwrap_err();
        outputs.check_upload(&agent("a"), MIB, 1_000 + HOUR_MS / 6).unwrap();
        outputs.check_upload(&agent("a"), 1, 1_000 + HOUR_MS / 6).unwrap_err();
    }

    #[test]
    fn beyond_the_limit_runs_end_and_show_nothing_more() {
        let outputs = AgentOutputs::new(MIB);
        outputs.check_upload(&agent("a"), MIB, 0).unwrap();
        let taken = |message: &DecodedCommand| outputs.check(&agent("a"), message, 0).is_ok();
        let output = r#"{"output":{"outputs":[]}}"#;
        for refused in [output, r#"{"clear":{"wait":false}}"#, r#"{"input_request":{"prompt":"?","password":false}}"#] {
            assert!(!taken(&report(refused)), "{refused}");
        }
        let batch = format!(r#"{{"Batch":{{"commands":[{}]}}}}"#, report(output).message.body.get());
        assert!(!taken(&message(&batch)), "in whatever it is wrapped");
        for end in [r#"{"started":{}}"#, r#"{"completed":{"outcome":"ok"}}"#, r#"{"lost":{"cause":"agent_lost"}}"#] {
            assert!(taken(&report(end)), "{end}");
        }
        assert!(taken(&message(r#"{"ReconcileKernels":{"alive":[]}}"#)));
    }
}
