//! Machines of the connected agents as people choose them, and the reason for which a launch waits.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{AgentId, Document, KernelPhase, KernelSession, KernelSessionId, Labels, NotebookId, Subject};
use notarium_wire::{LaunchWait, LaunchWaitCause, MachineLoad, NotebookAgent, OfferedMachine};

use super::{Agents, ConnectedAgent};
use crate::auth::Accounts;
use crate::rooms::ClientId;

impl Agents {
    /// Labels that an agent offers.
    pub fn labels(&self, id: &AgentId) -> Labels {
        let connected = self.connected.iter().find(|agent| agent.id() == Some(id));
        connected.map(|agent| agent.offer.labels.clone()).unwrap_or_default()
    }

    /// Notes the load of an agent's machine.
    pub fn measured(&self, client: ClientId, load: MachineLoad) {
        if let Some(mut agent) = self.connected.get_mut(&client) {
            agent.load = Some(load);
        }
    }

    /// Machines of all connected agents together.
    pub fn loads(&self) -> MachineLoads {
        let mut seen = BTreeSet::new();
        let mut loads = MachineLoads::default();
        for agent in &self.connected {
            if agent.id().is_some_and(|id| seen.insert(id.clone())) {
                loads.add(agent.offer.machine.as_ref(), agent.load.as_ref());
            }
        }
        loads
    }

    /// Agents that may run kernels of the notebook: the connected ones, and those of its access list; by name.
    pub async fn machines(&self, notebook: &Document, accounts: &Accounts) -> Vec<NotebookAgent> {
        let mut machines = self.connected_machines(&notebook.notebook_id);
        for entry in &notebook.access {
            let Subject::Agent { id } = &entry.subject else { continue };
            if machines.iter().any(|agent| agent.id == *id) {
                continue;
            }
            if let Some(name) = accounts.agent_name(id).await {
                machines.push(absent(id.clone(), name));
            }
        }
        machines.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        machines
    }

    fn connected_machines(&self, notebook: &NotebookId) -> Vec<NotebookAgent> {
        let covering = self.connected.iter().filter(|agent| agent.authenticated.may_see(notebook));
        let mut machines: Vec<NotebookAgent> = covering.filter_map(|agent| agent.machine()).collect();
        // After a reconnect of the same process the old connection may still be there.
        machines.sort_by(|one, other| one.id.cmp(&other.id));
        machines.dedup_by(|one, other| one.id == other.id);
        machines
    }
}

/// Sizes and loads of machines, summed up.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MachineLoads {
    pub agents: usize,
    pub cores: u64,
    pub busy_cores: f64,
    pub memory_bytes: u64,
    pub used_memory_bytes: u64,
    pub gpus: u64,
    pub busy_gpus: f64,
}

impl MachineLoads {
    fn add(&mut self, machine: Option<&OfferedMachine>, load: Option<&MachineLoad>) {
        self.agents += 1;
        let Some(machine) = machine else { return };
        self.cores += u64::from(machine.cores);
        self.memory_bytes += machine.memory_bytes;
        self.gpus += machine.gpus.len() as u64;
        let Some(load) = load else { return };
        let part = |percent: Option<u32>| f64::from(percent.unwrap_or_default()) / 100.0;
        self.busy_cores += f64::from(machine.cores) * part(load.cpu_percent);
        self.used_memory_bytes += load.memory_used_bytes;
        self.busy_gpus += load.gpus.iter().map(|gpu| part(gpu.busy_percent)).sum::<f64>();
    }
}

impl ConnectedAgent {
    fn machine(&self) -> Option<NotebookAgent> {
        let offer = &self.offer;
        Some(NotebookAgent {
            id: self.id()?.clone(),
            name: self.authenticated.name.clone(),
            connected: true,
            kernelspecs: offer.kernelspecs.iter().map(|kernelspec| kernelspec.name.clone()).collect(),
            labels: offer.labels.clone(),
            machine: offer.machine.clone(),
            load: self.load.clone(),
        })
    }
}

fn absent(id: AgentId, name: String) -> NotebookAgent {
    let (kernelspecs, labels) = (Vec::new(), Labels::new());
    NotebookAgent { id, name, connected: false, kernelspecs, labels, machine: None, load: None }
}

/// Reasons of all launches that wait, as far as no connected agent can start them.
pub fn waiting(notebook: &Document, machines: &[NotebookAgent]) -> BTreeMap<KernelSessionId, LaunchWait> {
    let requested = notebook.kernels.iter().filter(|(_, session)| session.phase == KernelPhase::Requested);
    requested.filter_map(|(id, session)| Some((id.clone(), reason(session, machines)?))).collect()
}

/// `None`: a connected agent can start the kernel.
fn reason(session: &KernelSession, machines: &[NotebookAgent]) -> Option<LaunchWait> {
    let because = |cause, detail: String| Some(LaunchWait { cause, detail });
    let placement = &session.placement;
    let named = placement.agent.as_ref();
    let is_named = |agent: &&NotebookAgent| agent.connected && named.is_none_or(|id| agent.id == *id);
    let allowed: Vec<&NotebookAgent> = machines.iter().filter(is_named).collect();
    if let Some(id) = named.filter(|_| allowed.is_empty()) {
        let name = machines.iter().find(|agent| agent.id == *id).map_or(id.as_str(), |agent| &agent.name);
        let detail = format!("the agent {name} is not connected, or may not see this notebook");
        return because(LaunchWaitCause::AgentNotConnected, detail);
    }
    if allowed.is_empty() {
        let detail = "no runtime agent that may see this notebook is connected".to_owned();
        return because(LaunchWaitCause::NoAgent, detail);
    }
    let labelled: Vec<_> = allowed.iter().filter(|agent| placement.is_met_by(&agent.labels)).collect();
    if labelled.is_empty() {
        let labels: Vec<String> = placement.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let whose = if named.is_some() { "the agent does not have" } else { "no connected agent has" };
        return because(LaunchWaitCause::NoSuchLabels, format!("{whose} {}", labels.join(", ")));
    }
    if !labelled.iter().any(|agent| agent.kernelspecs.contains(&session.kernelspec)) {
        let detail = format!("no runtime agent that may start it offers the kernel {}", session.kernelspec);
        return because(LaunchWaitCause::KernelspecNotOffered, detail);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use notarium_core::KernelPlacement;

    fn machine(id: &str, connected: bool, label: Option<&str>) -> NotebookAgent {
        NotebookAgent {
            connected,
            kernelspecs: vec!["python3".to_owned()],
            labels: label.map(|gpu| ("gpu".to_owned(), gpu.to_owned())).into_iter().collect(),
            ..absent(id.parse().unwrap(), format!("machine {id}"))
        }
    }

    fn session(kernelspec: &str, placement: &KernelPlacement) -> KernelSession {
        let placement = serde_json::to_value(placement).unwrap();
        let session = serde_json::json!({
            "kernelspec": kernelspec, "phase": "requested", "requested_version": 1, "placement": placement
        });
        serde_json::from_value(session).unwrap()
    }

    #[test]
    fn a_launch_that_waits_says_for_which_machine() {
        let any = KernelPlacement::default();
        let named = KernelPlacement { agent: Some("b".parse().unwrap()), ..KernelPlacement::default() };
        let a100 = KernelPlacement::labelled([("gpu".to_owned(), "a100".to_owned())].into());
        let (a, b) = (machine("a", true, Some("t4")), machine("b", false, None));
        let why = |kernelspec: &str, placement: &KernelPlacement, machines: &[NotebookAgent]| {
            reason(&session(kernelspec, placement), machines).map(|wait| (wait.cause, wait.detail))
        };
        let machines = [a, b];
        assert_eq!(why("python3", &any, &machines), None);
        assert_eq!(why("python3", &any, &machines[1..]).unwrap().0, LaunchWaitCause::NoAgent);
        let (cause, detail) = why("python3", &named, &machines).unwrap();
        assert_eq!(cause, LaunchWaitCause::AgentNotConnected);
        assert!(detail.contains("machine b"), "{detail}");
        let (cause, detail) = why("python3", &a100, &machines).unwrap();
        assert_eq!((cause, detail.as_str()), (LaunchWaitCause::NoSuchLabels, "no connected agent has gpu=a100"));
        assert_eq!(why("ir", &any, &machines).unwrap().0, LaunchWaitCause::KernelspecNotOffered);
        assert_eq!(why("python3", &a100, &[machine("c", true, Some("a100"))]), None);
    }
}
