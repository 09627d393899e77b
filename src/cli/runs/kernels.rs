//! `kernels`, `interrupt` and `restart`: list, launch, interrupt, restart, shut down, give up.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::{Args, Subcommand};
use notarium_agent::connection::ConnectionEvent;
use notarium_core::{
    Command, Document, Execution, KernelEffects, KernelPhase, KernelSession, KernelSessionId, LaunchKernel, Millis,
    RestartKernel, session_of,
};
use notarium_wire::rest::Kernels;
use notarium_wire::{KernelStatus, KernelUsage, ServerMessage};

use crate::cli::agent::sandbox;
use crate::cli::connection::client::NotebookClient;
use crate::cli::runs::follow::NotebookFollower;
use crate::cli::runs::machines::{self, MachineArgs, SettingsArgs, list_agents, settings};
use crate::cli::terminal::print;
use crate::cli::terminal::values::{labels_text, word};
use crate::cli::{CommonOptions, Ended, Failure, InNotebook, JsonArgs};

/// Timeout for the first measurement; agents measure as soon as a client follows.
const MEASURED_WITHIN: Duration = Duration::from_secs(2);

/// Unreachable kernels, with the time since when.
#[derive(Debug, Default)]
pub struct Unreachable(BTreeMap<KernelSessionId, Option<Millis>>);

impl Unreachable {
    pub fn of(status: &[KernelStatus]) -> Self {
        let gone = status.iter().filter(|status| !status.reachable);
        Self(gone.map(|status| (status.kernel_session.clone(), status.unreachable_since)).collect())
    }

    /// The note for a run that waits for such a kernel.
    pub fn of_run(&self, state: &Document, execution: &Execution) -> Option<String> {
        let since = self.0.get(session_of(state, execution)?)?;
        (!execution.status.is_finished()).then(|| format!("its kernel is {}", unreachable(*since)))
    }

    /// Advice, once for all of them.
    pub fn advice(&self, notebook: &str) -> Option<String> {
        self.0.values().next().map(|since| advice(*since, notebook))
    }
}

/// A note such as `unreachable since 12:03:09`.
fn unreachable(since: Option<Millis>) -> String {
    let since = since.map(|since| format!(" since {}", print::clock(since)));
    format!("unreachable{}", since.unwrap_or_default())
}

/// Advice for people about a kernel whose agent is unreachable.
pub fn advice(since: Option<Millis>, notebook: &str) -> String {
    let unreachable = unreachable(since);
    format!(
        "the kernel is {unreachable}: its runtime agent is gone or cut off. Wait, and it goes on if the agent comes back; or \
         `notarium kernels give-up {notebook}`, or `notarium restart {notebook} --elsewhere` for a new kernel of another agent: \
         its run and its variables are lost then, and what waits runs on the new kernel"
    )
}

#[derive(Debug, Subcommand)]
pub enum KernelsCommand {
    /// List the notebook's kernels, and what agents could launch.
    Ls(InNotebook<JsonArgs>),
    /// Launch a kernel without running anything.
    Launch {
        /// Id or title.
        notebook: String,
        /// Kernelspec, as agents offer it; absent: the notebook's own, else `python3`.
        #[arg(long, value_name = "NAME")]
        kernelspec: Option<String>,
        #[command(flatten)]
        place: MachineArgs,
    },
    /// List the agents that may run kernels: labels, cores, memory, GPUs and load.
    Agents(InNotebook<JsonArgs>),
    /// Show or change the settings of the notebook's kernels: labels that they need, and what happens if an agent is gone.
    Settings(SettingsArgs),
    /// Interrupt what a kernel runs.
    Interrupt(KernelChoice),
    /// Restart a kernel: its memory is lost, and what waits is cancelled.
    Restart(RestartArgs),
    /// Shut a kernel down: its memory is lost, and what waits is cancelled.
    Shutdown(KernelChoice),
    /// Give a kernel up whose agent cannot be reached: its run is lost, and the next run launches another kernel.
    GiveUp(KernelChoice),
}

impl KernelsCommand {
    pub async fn run(self, context: &CommonOptions) -> Ended {
        match self {
            Self::Ls(InNotebook { notebook, args }) => list(&notebook, args.json, context).await,
            Self::Launch { notebook, kernelspec, place } => launch(&notebook, kernelspec, &place, context).await,
            Self::Agents(InNotebook { notebook, args }) => list_agents(&notebook, args.json, context).await,
            Self::Settings(args) => settings(args, context).await,
            Self::Interrupt(args) => interrupt(args, context).await,
            Self::Restart(args) => restart(args, context).await,
            Self::Shutdown(args) => {
                let (notebook, kernel_session, _) = find(&args, context).await?;
                notebook.change(&Command::ShutDownKernel { kernel_session }).await
            }
            Self::GiveUp(args) => give_up(&args, context).await,
        }
    }
}

async fn launch(called: &str, kernelspec: Option<String>, place: &MachineArgs, context: &CommonOptions) -> Ended {
    let notebook = context.notebook(called).await?;
    let (agent, labels) = (place.agent(&notebook).await?, place.labels());
    notebook.change(&Command::LaunchKernel(LaunchKernel { kernelspec, agent, labels })).await?;
    note_waiting(&notebook.kernels().await?);
    Ok(())
}

/// Says for which machines kernels wait.
fn note_waiting(there: &Kernels) {
    for (id, wait) in &there.waiting {
        print::note(format!("kernel {id} waits: {}", print::clean(&wait.detail)));
    }
}

async fn list(called: &str, as_json: bool, context: &CommonOptions) -> Ended {
    let notebook = context.notebook(called).await?;
    let mut there = notebook.kernels().await?;
    if there.kernels.values().any(|kernel| kernel.phase == KernelPhase::Started) {
        there.status = measured(&notebook, there.status).await?;
    }
    if as_json {
        return print::json(&there);
    }
    let kernels: Vec<_> = there.kernels.iter().collect();
    let empty = "no kernels: `notarium kernels launch` or the next run launches one";
    let headings = ["kernel", "kernelspec", "runs at", "how it is", "sandbox", "effects", "uses"];
    print::list(&kernels, false, empty, headings, async |(id, kernel)| {
        let status = status_of(id, &there);
        let (sandbox, effects) = match kernel.phase {
            KernelPhase::Started if kernel.holds_effects() => (sandbox::recorded_word(&kernel.sandbox), "held"),
            KernelPhase::Started => (sandbox::recorded_word(&kernel.sandbox), "not held"),
            _ => (String::new(), ""),
        };
        [
            id.to_string(),
            kernel.kernelspec.clone(),
            place(kernel, status),
            state(kernel, status),
            sandbox,
            effects.to_owned(),
            usage(status),
        ]
    })
    .await?;
    for (id, kernel) in kernels.iter().filter(|(_, kernel)| kernel.phase == KernelPhase::Started) {
        if !kernel.holds_effects() {
            let phrase = KernelEffects::of_sandbox(&kernel.sandbox).map(|effects| effects.phrase());
            let phrase = phrase.unwrap_or_else(|| "its agent is older, and holds no effects".to_owned());
            print::note(format!("kernel {id}: {}", print::clean(&phrase)));
        }
    }
    note_waiting(&there);
    if let Some(notice) = &there.notice {
        print::note(format!("the last kernel ended: {}", print::clean(&notice.sentence())));
    }
    let offers: Vec<String> = there.kernelspecs.iter().map(|offer| print::clean(&offer.name)).collect();
    for connection in &there.connections {
        let writes = if connection.writes { "reads; writes where a cell says so" } else { "reads" };
        print::note(format!(
            "connection {} ({}): {writes}",
            print::clean(&connection.name),
            print::clean(&connection.kind)
        ));
    }
    match offers.is_empty() {
        true => print::note("no runtime agent is connected that could launch one: start one with `notarium agent`"),
        false => print::note(format!("agents offer: {}", offers.join(", "))),
    }
    for agent in there.agents.iter().filter(|agent| agent.connected && agent.machine.is_some()) {
        let words = format!("agent {}: {}", agent.name, machines::machine(agent));
        let labels = labels_text(&agent.labels);
        let labels = if labels.is_empty() { labels } else { format!("; {labels}") };
        print::note(print::clean(&format!("{words}{labels}")));
    }
    if let Some(advice) = Unreachable::of(&there.status).advice(called) {
        print::note(advice);
    }
    Ok(())
}

/// Waits until all reachable kernels have measurements. Agents measure only while a client follows the notebook.
async fn measured(notebook: &NotebookClient, mut status: Vec<KernelStatus>) -> Result<Vec<KernelStatus>, Failure> {
    let is_whole = |status: &[KernelStatus]| status.iter().all(|status| status.usage.is_some() || !status.reachable);
    let mut follower = NotebookFollower::enter(notebook).await?;
    let measured = async {
        while !is_whole(&status) {
            match follower.next().await? {
                ConnectionEvent::Subscribed(message) => status = message.kernels,
                ConnectionEvent::Message(ServerMessage::Kernels { notebook: id, kernels }) if id == notebook.id => {
                    status = kernels;
                }
                _ => {}
            }
        }
        Ok(())
    };
    // An older agent does not measure.
    match tokio::time::timeout(MEASURED_WITHIN, measured).await {
        Ok(Err(failure)) => Err(failure),
        Ok(Ok(())) | Err(_) => Ok(status),
    }
}

fn status_of<'a>(id: &KernelSessionId, there: &'a Kernels) -> Option<&'a KernelStatus> {
    there.status.iter().find(|status| status.kernel_session == *id)
}

fn usage(status: Option<&KernelStatus>) -> String {
    let Some(KernelUsage { memory_bytes, cpu_percent }) = status.and_then(|status| status.usage) else {
        return "–".to_owned();
    };
    let cpu = cpu_percent.map(|percent| format!(", {percent} % of a processor"));
    format!("{}{}", print::size(memory_bytes), cpu.unwrap_or_default())
}

/// The agent that has the kernel.
fn place(kernel: &KernelSession, status: Option<&KernelStatus>) -> String {
    let agent = || Some(format!("agent {}", print::short(kernel.agent.as_ref()?.as_str())));
    status.and_then(|status| status.agent_name.clone()).or_else(agent).unwrap_or_else(|| "–".to_owned())
}

fn state(kernel: &KernelSession, status: Option<&KernelStatus>) -> String {
    match status {
        Some(status) if !status.reachable => unreachable(status.unreachable_since),
        Some(status) if status.busy => "busy".to_owned(),
        _ => word(&kernel.phase),
    }
}

#[derive(Debug, Args)]
pub struct KernelChoice {
    /// Id or title.
    notebook: String,
    /// One of several kernels, by its session's id; absent: the notebook's first.
    #[arg(long, value_name = "SESSION")]
    kernel: Option<KernelSessionId>,
}

#[derive(Debug, Args)]
pub struct RestartArgs {
    #[command(flatten)]
    which: KernelChoice,
    /// Let any agent that offers the kernel launch the new one.
    #[arg(long, conflicts_with_all = ["agent", "labels"])]
    elsewhere: bool,
    #[command(flatten)]
    place: MachineArgs,
}

/// A kernel, with the status of all kernels of its notebook.
async fn find(
    args: &KernelChoice,
    context: &CommonOptions,
) -> Result<(NotebookClient, KernelSessionId, Kernels), Failure> {
    let notebook = context.notebook(&args.notebook).await?;
    let there = notebook.kernels().await?;
    let first = there.kernels.iter().min_by_key(|(_, kernel)| (!kernel.is_usable(), kernel.requested_version));
    let none = || Failure::failed("the notebook has no kernel: `notarium exec` starts one");
    let id = args.kernel.clone().or_else(|| first.map(|(id, _)| id.clone())).ok_or_else(none)?;
    Ok((notebook, id, there))
}

fn is_reachable(id: &KernelSessionId, there: &Kernels) -> bool {
    status_of(id, there).is_none_or(|status| status.reachable)
}

pub async fn interrupt(args: KernelChoice, context: &CommonOptions) -> Ended {
    let (notebook, kernel_session, there) = find(&args, context).await?;
    if !is_reachable(&kernel_session, &there) {
        print::note(Unreachable::of(&there.status).advice(&args.notebook).unwrap_or_default());
    }
    notebook.change(&Command::InterruptKernel { kernel_session }).await
}

pub async fn restart(args: RestartArgs, context: &CommonOptions) -> Ended {
    let (notebook, kernel_session, there) = find(&args.which, context).await?;
    let kernelspec = there.kernels.get(&kernel_session).map(|kernel| kernel.kernelspec.clone());
    if !args.place.is_any() {
        let (agent, labels) = (args.place.agent(&notebook).await?, args.place.labels());
        notebook.change(&Command::RestartKernel(RestartKernel { kernel_session, agent, labels })).await?;
        note_waiting(&notebook.kernels().await?);
        return Ok(());
    }
    let command = match args.elsewhere && is_reachable(&kernel_session, &there) {
        true => Command::Batch {
            commands: vec![
                Command::ShutDownKernel { kernel_session },
                Command::LaunchKernel(LaunchKernel::of(kernelspec)),
            ],
        },
        // If the kernel is unreachable, the server lets any agent launch its successor.
        false => Command::RestartKernel(RestartKernel::on_its_agent(kernel_session)),
    };
    notebook.change(&command).await
}

async fn give_up(args: &KernelChoice, context: &CommonOptions) -> Ended {
    let (notebook, kernel_session, there) = find(args, context).await?;
    if is_reachable(&kernel_session, &there) {
        let message = "the kernel's agent is there: `notarium kernels shutdown` ends it, `notarium interrupt` its run";
        return Err(Failure::failed(message));
    }
    notebook.change(&Command::ShutDownKernel { kernel_session }).await
}
