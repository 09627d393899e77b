//! Checks of the final state, after faults have stopped.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{
    CommandId, Event, ExecutionId, ExecutionStatus, Head, KernelPhase, Notebook, Version, session_of, verify_chain,
};

use super::agent::GHOST;
use super::disk::context_notebook;
use super::replica::Replica;
use super::world::World;
use crate::replay::Replay;

impl World {
    pub(crate) fn check_end(&self) -> Result<(), String> {
        let head = verify_chain(Head::START, &self.disk.events).map_err(|error| error.to_string())?;
        let mut replay = Replay::new(context_notebook());
        replay.apply(&self.disk.events).map_err(|error| error.to_string())?;
        let state = replay.finish(Vec::new()).notebook;
        if !self.is_idle() {
            return Err(format!("seed {}: the server is not done", self.seed()));
        }
        self.check_replicas(&state, head)?;
        self.check_commands()?;
        self.check_executions(&state)?;
        check_queues(&state)?;
        self.audit.check_end()
    }

    fn replicas(&self) -> impl Iterator<Item = &Replica> {
        self.editors.iter().map(|editor| &editor.replica).chain([&self.agent.replica])
    }

    /// Checks that every replica equals the log, and has no open commands.
    fn check_replicas(&self, state: &Notebook, head: Head) -> Result<(), String> {
        let truth = serde_json::to_string(&state.document).map_err(|error| error.to_string())?;
        for replica in self.replicas() {
            let who = &replica.identity.connection;
            if replica.notebook.version != head.version {
                return Err(format!("{who} is at {}, the log at {}", replica.notebook.version, head.version));
            }
            if replica.notebook.digest().ok() != state.document.digest().ok() {
                return Err(format!("the digest of {who} is another than the log's"));
            }
            let held = serde_json::to_string(&replica.notebook).map_err(|error| error.to_string())?;
            if held != truth {
                return Err(format!("{who} holds\n{held}\nthe log says\n{truth}"));
            }
            if let Some(pending) = replica.pending.first() {
                return Err(format!("{who} has no answer to {}: {}", pending.id, pending.body.get()));
            }
        }
        match self.editors.iter().find(|editor| editor.has_drafts()) {
            Some(editor) => Err(format!("{} has text that is not confirmed", editor.replica.identity.name)),
            None => Ok(()),
        }
    }

    /// Checks that a command's events are contiguous and unique, and that acked commands are in the log.
    fn check_commands(&self) -> Result<(), String> {
        let mut last: BTreeMap<(String, &CommandId), Version> = BTreeMap::new();
        for stored in &self.disk.events {
            let envelope = &stored.envelope;
            let key = (envelope.actor.key(), &envelope.command_id);
            if let Some(before) = last.insert(key, envelope.version)
                && before + 1 != envelope.version
            {
                return Err(format!("{} was applied at {before} and at {}", envelope.command_id, envelope.version));
            }
        }
        for replica in self.replicas() {
            let actor = replica.identity.actor.key();
            for (id, version) in &replica.acked {
                let at = last.get(&(actor.clone(), id));
                if at.is_some_and(|at| at != version) {
                    return Err(format!("{id} was acked at {version} and is at {at:?}"));
                }
                if at.is_none() && self.disk.command(&actor, id).is_none() {
                    return Err(format!("{id} was acked at {version} and is nowhere"));
                }
            }
        }
        Ok(())
    }

    /// Checks that every execution ends once, or is in progress in the state, and that no stale fence was accepted.
    fn check_executions(&self, state: &Notebook) -> Result<(), String> {
        let (mut requested, mut ended) = (BTreeSet::new(), BTreeSet::new());
        for stored in &self.disk.events {
            if stored.payload.get().contains(GHOST) {
                return Err(format!("version {} was written with a stale fence", stored.envelope.version));
            }
            let event = stored.typed().map_err(|error| error.to_string())?.event;
            match &event {
                Event::ExecutionRequested(event) => drop(requested.insert(event.execution_id.clone())),
                event => {
                    if let Some(id) = ending(event)
                        && !ended.insert(id.clone())
                    {
                        return Err(format!("execution {id} ended twice"));
                    }
                }
            }
        }
        let unfinished = |id: &ExecutionId| state.executions.get(id).is_some_and(|run| !run.status.is_finished());
        match requested.iter().find(|id| ended.contains(*id) == unfinished(id)) {
            Some(id) => Err(format!("execution {id} neither ended nor runs, or both")),
            None => Ok(()),
        }
    }
}

/// Checks that no run waits for an idle kernel.
fn check_queues(state: &Notebook) -> Result<(), String> {
    for (id, _) in state.kernels.iter().filter(|(_, session)| session.phase == KernelPhase::Started) {
        let of_kernel = || state.executions.values().filter(|run| session_of(state, run) == Some(id));
        let is_busy = of_kernel().any(|run| matches!(run.status, ExecutionStatus::Assigned | ExecutionStatus::Running));
        if !is_busy && of_kernel().any(|run| run.status == ExecutionStatus::Queued) {
            return Err(format!("kernel {id} is idle, and a run waits for it"));
        }
    }
    Ok(())
}

fn ending(event: &Event) -> Option<&ExecutionId> {
    match event {
        Event::ExecutionCompleted(event) => Some(&event.execution_id),
        Event::ExecutionCancelled(event) => Some(&event.execution_id),
        Event::ExecutionBlocked(event) => Some(&event.execution_id),
        Event::ExecutionLost(event) => Some(&event.execution_id),
        _ => None,
    }
}
