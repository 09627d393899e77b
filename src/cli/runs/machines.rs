//! Machines of kernels: agents with their load, the choice of one, and the settings of a notebook.

use clap::Args;
use notarium_core::{AgentId, Command, KernelReplacement, KernelSessionId, KernelSettings, Labels, SetKernelSettings};
use notarium_wire::rest::Kernels;
use notarium_wire::{GpuLoad, MachineLoad, NotebookAgent, OfferedGpu, OfferedMachine};

use crate::cli::connection::client::NotebookClient;
use crate::cli::terminal::print;
use crate::cli::terminal::values::{label, labels_text, one_of, word};
use crate::cli::{CommonOptions, Ended, Failure};

/// Length of an agent's id, which is a ULID.
const ID_LENGTH: usize = 26;

const REPLACEMENTS: [&str; 3] = ["ask", "replace", "wait"];

/// The agents that may start a kernel.
#[derive(Debug, Default, Args)]
pub struct MachineArgs {
    /// Only this agent starts the kernel, by its name or id. If it is not connected, the kernel waits for it.
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only an agent with this label starts the kernel; may be repeated.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,
}

impl MachineArgs {
    pub fn is_any(&self) -> bool {
        self.agent.is_none() && self.labels.is_empty()
    }

    pub fn labels(&self) -> Option<Labels> {
        (!self.labels.is_empty()).then(|| self.labels.iter().cloned().collect())
    }

    /// Id of the named agent; `None`: any agent.
    pub async fn agent(&self, notebook: &NotebookClient) -> Result<Option<AgentId>, Failure> {
        match &self.agent {
            Some(named) => agent_named(&notebook.kernels().await?.agents, named).map(Some),
            None => Ok(None),
        }
    }
}

fn agent_named(agents: &[NotebookAgent], named: &str) -> Result<AgentId, Failure> {
    let is_it = |agent: &&NotebookAgent| agent.id.as_str() == named || agent.name == named;
    let found: Vec<_> = agents.iter().filter(is_it).collect();
    match found.as_slice() {
        [agent] => Ok(agent.id.clone()),
        [] if named.len() == ID_LENGTH => named.parse().map_err(|_| Failure::usage("that is no id of an agent")),
        [] => {
            let names: Vec<_> = agents.iter().map(|agent| print::clean(&agent.name)).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Err(Failure::failed(format!(
                "no agent of this notebook is called {}: there is {known}. `notarium kernels agents` lists them; \
                 `notarium agent-token new --name NAME --notebook NB` makes another",
                print::clean(named)
            )))
        }
        several => {
            let ids: Vec<_> = several.iter().map(|agent| agent.id.as_str()).collect();
            Err(Failure::failed(format!("several agents have this name: say which by its id ({})", ids.join(", "))))
        }
    }
}

/// The kernel of a session id, of an unmistakable part of one, or of the agent that runs it.
pub fn kernel_named(there: &Kernels, named: &str) -> Result<KernelSessionId, Failure> {
    let of_agent = |id: &KernelSessionId| {
        let agent = there.kernels.get(id).and_then(|kernel| kernel.agent.as_ref());
        agent.is_some_and(|id| id.as_str() == named || there.agents.iter().any(|it| it.id == *id && it.name == named))
    };
    let matching = |is_it: &dyn Fn(&KernelSessionId) -> bool| -> Vec<KernelSessionId> {
        there.kernels.iter().filter(|(id, kernel)| kernel.is_usable() && is_it(id)).map(|(id, _)| id.clone()).collect()
    };
    let is_part = |id: &KernelSessionId| id.as_str().to_ascii_lowercase().contains(&named.to_ascii_lowercase());
    let exact = matching(&|id| id.as_str() == named);
    let found = [exact, matching(&of_agent), matching(&is_part)].into_iter().find(|found| !found.is_empty());
    match found.unwrap_or_default().as_slice() {
        [id] => Ok(id.clone()),
        [] => Err(Failure::failed(format!(
            "the notebook has no kernel {}: `notarium kernels ls` lists them, `notarium kernels launch` launches one",
            print::clean(named)
        ))),
        several => {
            let ids: Vec<_> = several.iter().map(KernelSessionId::as_str).collect();
            Err(Failure::failed(format!("several kernels match: say which by its id ({})", ids.join(", "))))
        }
    }
}

// --- agents ---

/// Lists the agents that may run kernels of a notebook.
pub async fn list_agents(called: &str, as_json: bool, context: &CommonOptions) -> Ended {
    let agents = context.notebook(called).await?.kernels().await?.agents;
    if as_json {
        return print::json(&agents);
    }
    let empty = "no agents: `notarium agent-token new` makes a token for one, `notarium agent` starts it";
    let headings = ["agent", "id", "kernels", "labels", "machine"];
    print::list(&agents, false, empty, headings, async |agent| {
        let machine = if agent.connected { machine(agent) } else { "not connected".to_owned() };
        [agent.name.clone(), agent.id.to_string(), agent.kernelspecs.join(", "), labels_text(&agent.labels), machine]
    })
    .await
}

/// A machine such as `8 cores (12 % used), 31.2 GiB (40 % used), NVIDIA A100 80.0 GiB (35 % used)`.
pub fn machine(agent: &NotebookAgent) -> String {
    let Some(OfferedMachine { cores, memory_bytes, gpus }) = &agent.machine else { return "–".to_owned() };
    let load = agent.load.clone().unwrap_or_default();
    let MachineLoad { cpu_percent, memory_used_bytes, gpus: loads } = &load;
    let memory = agent.load.as_ref().and_then(|_| percent(*memory_used_bytes, *memory_bytes));
    let mut words =
        vec![format!("{cores} cores{}", used(*cpu_percent)), format!("{}{}", print::size(*memory_bytes), used(memory))];
    words.extend(gpus.iter().enumerate().map(|(index, gpu)| graphics(gpu, loads.get(index))));
    words.join(", ")
}

fn graphics(OfferedGpu { name, memory_bytes }: &OfferedGpu, load: Option<&GpuLoad>) -> String {
    format!("{name} {}{}", print::size(*memory_bytes), used(load.and_then(|load| load.busy_percent)))
}

fn percent(part: u64, whole: u64) -> Option<u32> {
    u32::try_from(part.saturating_mul(100).checked_div(whole)?).ok()
}

fn used(percent: Option<u32>) -> String {
    percent.map(|percent| format!(" ({percent} % used)")).unwrap_or_default()
}

// --- settings ---

#[derive(Debug, Args)]
pub struct SettingsArgs {
    /// Id or title.
    notebook: String,
    /// The fate of a kernel with variables if its agent is gone: `ask` waits for people, and for 15 minutes at most;
    /// `replace` takes another agent as soon as a run waits; `wait` waits for the agent.
    #[arg(long, value_name = "WHAT", value_parser = one_of::<KernelReplacement>(&REPLACEMENTS))]
    when_gone: Option<KernelReplacement>,
    /// Kernels of the notebook need an agent with this label; may be repeated, and replaces all labels.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,
    /// Kernels of the notebook need no labels.
    #[arg(long, conflicts_with = "labels")]
    no_labels: bool,
}

/// Shows the settings of a notebook's kernels, or changes them.
pub async fn settings(args: SettingsArgs, context: &CommonOptions) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let labels_given = args.no_labels || !args.labels.is_empty();
    if args.when_gone.is_some() || labels_given {
        let labels = labels_given.then(|| args.labels.into_iter().collect());
        let change = SetKernelSettings { replacement: args.when_gone, labels };
        return notebook.change(&Command::SetKernelSettings(change)).await;
    }
    let KernelSettings { replacement, labels: wanted } = notebook.get("/kernel-settings").await?;
    let wanted = if wanted.is_empty() { "none".to_owned() } else { labels_text(&wanted) };
    print::line(format!("when gone: {}, labels: {wanted}", word(&replacement)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there() -> Kernels {
        let kernel = |agent: &str| serde_json::json!({"kernelspec": "python3", "phase": "started", "requested_version": 3, "agent": agent});
        serde_json::from_value(serde_json::json!({
            "kernels": {"01KAAA": kernel("a1"), "01KBBB": kernel("b1")}, "status": [], "kernelspecs": [],
            "agents": [
                {"id": "a1", "name": "gpu2", "connected": true, "labels": {"gpu": "a100"},
                 "machine": {"cores": 8, "memory_bytes": 2048, "gpus": [{"name": "A100", "memory_bytes": 1024}]},
                 "load": {"cpu_percent": 12, "memory_used_bytes": 1024, "gpus": [{"busy_percent": 35, "memory_used_bytes": 0}]}},
                {"id": "b1", "name": "twin", "connected": false}, {"id": "b2", "name": "twin", "connected": false},
            ],
        }))
        .unwrap()
    }

    #[test]
    fn an_agent_is_found_by_its_name_or_id() {
        let agents = there().agents;
        assert_eq!(agent_named(&agents, "gpu2").unwrap().as_str(), "a1");
        assert_eq!(agent_named(&agents, "b2").unwrap().as_str(), "b2", "also where it is not connected");
        assert!(agent_named(&agents, "twin").is_err() && agent_named(&agents, "gpu3").is_err());
        let id = "01JCK4Z2V5R1M0N4PQ6S8T0A2B";
        assert_eq!(agent_named(&agents, id).unwrap().as_str(), id, "one that this notebook does not list");
    }

    #[test]
    fn a_kernel_is_found_by_its_id_a_part_of_it_or_its_agent() {
        let there = there();
        for named in ["01KAAA", "aaa", "gpu2"] {
            assert_eq!(kernel_named(&there, named).unwrap().as_str(), "01KAAA", "{named}");
        }
        assert!(kernel_named(&there, "01K").is_err() && kernel_named(&there, "x").is_err());
    }

    #[test]
    fn a_machine_is_told_with_its_load() {
        let words = machine(&there().agents[0]);
        assert!(words.starts_with("8 cores (12 % used), ") && words.contains("(50 % used), A100 "), "{words}");
        assert!(words.ends_with("(35 % used)"), "{words}");
    }
}
