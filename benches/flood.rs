//! Benchmark of overload: one writer sends more edits on old bases than a room can take, while a person types and others read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::time::MissedTickBehavior;

use crate::load::{Clock, Writer, follow};
use crate::socket::{Socket, Target};

#[derive(Args)]
pub struct Flood {
    /// Cells of the writer that floods.
    #[arg(long, default_value_t = 64)]
    cells: usize,
    /// Edits per second that it offers.
    #[arg(long, default_value_t = 12_700)]
    rate: u32,
    /// Edits that it sends before it waits for acks.
    #[arg(long, default_value_t = 800)]
    unacked: usize,
    #[arg(long, default_value_t = 50)]
    readers: usize,
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
}

/// Latencies of a person who types during the flood, in nanoseconds.
#[derive(Default)]
pub struct Typed {
    pub before: Vec<u64>,
    pub during: Vec<u64>,
    pub after: Vec<u64>,
}

/// Interval at which edits of the flood are sent.
pub const TICK: Duration = Duration::from_millis(2);
/// Number of the person's edits before and after the flood; about one second.
pub const CALM_EDITS: usize = 50;

impl Flood {
    pub async fn run(&self, target: &Target) -> Result<Value> {
        let notebook = format!("flood-{}", std::process::id());
        let mut writer = Writer::make(target, &notebook, self.cells + 1).await?;
        let clock = Clock::new(0);
        let barrier = Arc::new(Barrier::new(self.readers + 1));
        let mut readers = Vec::new();
        for _ in 0..self.readers {
            let mut socket = Socket::open(target).await?;
            socket.subscribe(&notebook).await?;
            let (clock, barrier) = (clock.clone(), barrier.clone());
            readers.push(tokio::spawn(async move { follow(socket, &clock, &barrier, false).await }));
        }
        barrier.wait().await;
        let (socket, base) = (Socket::open(target).await?, writer.base());
        let mut person = Person::new(socket, &notebook, self.cells, base);
        let mut typed = Typed::default();
        for _ in 0..CALM_EDITS {
            typed.before.push(person.types().await?);
        }
        let start = Instant::now();
        let (flooding, beside) =
            tokio::join!(self.flood(&mut writer), person.beside(Duration::from_secs_f64(self.seconds)));
        let (edits, slow_downs) = flooding?;
        let elapsed = start.elapsed().as_secs_f64();
        typed.during = beside?;
        for _ in 0..CALM_EDITS {
            typed.after.push(person.types().await?);
        }
        clock.finish();
        writer.socket.command("end", &notebook, json!({"RenameNotebook": {"title": "the end"}})).await?;
        let mut deliveries = 0;
        for reader in readers {
            deliveries += reader.await??.deliveries;
        }
        Ok(json!({
            "readers": self.readers, "edits_per_s": (edits as f64 / elapsed).round(), "slow_downs": slow_downs,
            "deliveries_per_s": (deliveries as f64 / elapsed).round(),
            "before_ms": quantiles(typed.before), "during_ms": quantiles(typed.during), "after_ms": quantiles(typed.after),
        }))
    }

    /// Edits the cells in turn; each edit uses the version that its writer knows by then.
    async fn flood(&self, writer: &mut Writer) -> Result<(u64, u64)> {
        let (mut sent, mut acked, mut slow_downs) = (0, 0, 0);
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let start = Instant::now();
        loop {
            let is_over = start.elapsed().as_secs_f64() > self.seconds;
            if is_over && acked == sent {
                return Ok((acked, slow_downs));
            }
            tokio::select! {
                _ = ticks.tick(), if !is_over => {
                    let due = (start.elapsed().as_secs_f64() * f64::from(self.rate)) as u64;
                    while sent < due && sent - acked < self.unacked as u64 {
                        writer.insert(sent as usize % self.cells, sent).await?;
                        sent += 1;
                    }
                    writer.socket.0.flush().await?;
                }
                text = writer.socket.next() => {
                    let text = text?;
                    slow_downs += u64::from(text.starts_with(r#"{"slow_down""#));
                    acked += u64::from(writer.take_ack(&text)?.is_some());
                }
            }
        }
    }
}

/// A person who types one letter after the other into a separate cell.
pub struct Person {
    socket: Socket,
    notebook: String,
    cell: usize,
    base: u64,
    typed: u64,
}

impl Person {
    /// `base`: a version at which the cell was empty, and not changed since.
    pub fn new(socket: Socket, notebook: &str, cell: usize, base: u64) -> Self {
        Self { socket, notebook: notebook.to_owned(), cell, base, typed: 0 }
    }

    /// Types a letter; returns the nanoseconds until its ack.
    pub async fn types(&mut self) -> Result<u64> {
        let change = if self.typed == 0 { json!([[0, "x"]]) } else { json!([self.typed, [0, "x"]]) };
        let edit = json!({"EditSource": {"cell_id": format!("c{}", self.cell), "base": self.base, "change": change}});
        let start = Instant::now();
        let ack = self.socket.command(&format!("p{}", self.typed), &self.notebook, edit).await?;
        let taken = u64::try_from(start.elapsed().as_nanos())?;
        self.base = ack["version"].as_u64().context("an ack has a version")?;
        self.typed += 1;
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok(taken)
    }

    pub async fn beside(&mut self, time: Duration) -> Result<Vec<u64>> {
        let (start, mut latencies) = (Instant::now(), Vec::new());
        while start.elapsed() < time {
            latencies.push(self.types().await?);
        }
        Ok(latencies)
    }
}

/// Returns median and p99 in milliseconds.
pub fn quantiles(mut latencies: Vec<u64>) -> [f64; 2] {
    latencies.sort_unstable();
    let at = |share: f64| latencies.get((latencies.len() as f64 * share) as usize).or(latencies.last()).copied();
    [0.5, 0.99].map(|share| at(share).unwrap_or_default() as f64 / 1e6)
}
