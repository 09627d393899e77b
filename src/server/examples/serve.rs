//! A server for the load generator: prints its socket's address, a token, and its own memory whenever a line comes in.
//!
//! `cargo run --release -p notarium-server --example serve -- DATA_FOLDER`

use std::io::BufRead;

use notarium_server::auth::{Accounts, NewProfile};
use notarium_server::{Server, ServerConfig, Storage};

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(serve())
}

async fn serve() -> anyhow::Result<()> {
    let storage = match std::env::args().nth(1) {
        Some(folder) => Storage::Folder(folder.into()),
        None => Storage::Memory,
    };
    let server = Server::start(ServerConfig::new(storage)).await?;
    println!("ws://{}/api/socket", server.local_addr);
    println!("{}", session(&server.app().accounts, server.owner_token.as_deref().unwrap_or_default()).await?);
    for line in std::io::stdin().lock().lines() {
        line?;
        println!("{} bytes", resident_bytes()?);
    }
    server.shut_down().await;
    Ok(())
}

async fn session(accounts: &Accounts, owner_token: &str) -> anyhow::Result<String> {
    let profile = NewProfile { name: "Bench".to_owned(), login: "bench".to_owned() };
    Ok(accounts.exchange(owner_token, Some(profile), None, None, "bench").await?.text.reveal())
}

fn resident_bytes() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024)
}
