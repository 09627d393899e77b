//! Load generator: real WebSockets over loopback, in a process separate from the server. `scripts/bench` starts the server, runs the
//! scenarios several times and writes BENCHMARKS.md.

mod cancel;
mod confirm;
mod core;
mod flood;
mod idle;
mod load;
mod open_loop;
mod record;
mod run;
mod socket;
mod verify;

use clap::{Parser, Subcommand};

#[derive(Parser)]
struct Arguments {
    /// `ws://HOST:PORT/api/socket`
    #[arg(long, default_value = "")]
    url: String,
    #[arg(long, env = "NOTARIUM_TOKEN", default_value = "")]
    token: String,
    #[command(subcommand)]
    scenario: Scenario,
}

#[derive(Subcommand)]
enum Scenario {
    /// Writers that edit as fast as they are acked (or at a rate), and readers that follow.
    Load(load::Load),
    /// More edits on old bases than a room can take, and what others notice.
    Flood(flood::Flood),
    /// A writer that waits for no ack, and what others notice during it and after it is gone.
    OpenLoop(open_loop::OpenLoop),
    /// Edits on a base that many events are behind, and what others notice.
    OldBase(open_loop::OldBase),
    /// Builds a history of many edits behind one short document.
    History(load::History),
    /// The time from connecting to a usable state.
    Open(load::Open),
    /// Executions, from the request to the end; needs an agent.
    Run(run::Run),
    /// Connections that only stay open; prints `ready` and waits for the end of its input.
    Idle(idle::Idle),
    /// A model that deletes the first cell: prints its `base_url` and waits for the end of its input. Needs no server.
    Scripted(confirm::Scripted),
    /// From a person's yes until the call has started; needs a server that asks the scripted model.
    Confirm(confirm::Confirm),
    /// From the stop of a model call until its server sees it. Needs no server.
    Cancel(cancel::Cancel),
    /// Decisions in a small and in a large notebook; needs no server.
    Core(core::Core),
    /// Makes a long record in a data folder. Needs no server.
    Record(record::Record),
    /// The past of a long record: states, differences, authors, searches.
    Past(record::Past),
    /// A long record: how quickly it is read and verified. Needs no server.
    Verify(verify::Verify),
    /// Calls that wait; prints `ready` and waits for the end of its input.
    Waiting(confirm::Waiting),
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(run(&arguments))?;
    println!("{result}");
    Ok(())
}

async fn run(arguments: &Arguments) -> anyhow::Result<serde_json::Value> {
    let target = socket::Target { url: arguments.url.clone(), token: arguments.token.clone() };
    match &arguments.scenario {
        Scenario::Load(load) => load.run(&target).await,
        Scenario::Flood(flood) => flood.run(&target).await,
        Scenario::OpenLoop(open_loop) => open_loop.run(&target).await,
        Scenario::OldBase(old_base) => old_base.run(&target).await,
        Scenario::History(history) => history.run(&target).await,
        Scenario::Open(open) => open.run(&target).await,
        Scenario::Run(run) => run.run(&target).await,
        Scenario::Idle(idle) => idle.run(&target).await,
        Scenario::Scripted(scripted) => scripted.run().await,
        Scenario::Confirm(confirm) => confirm.run(&target).await,
        Scenario::Cancel(cancel) => cancel.run().await,
        Scenario::Core(core) => core.run(),
        Scenario::Record(record) => record.run().await,
        Scenario::Past(past) => past.run(&target).await,
        Scenario::Verify(verify) => verify.run().await,
        Scenario::Waiting(waiting) => waiting.run(&target).await,
    }
}
