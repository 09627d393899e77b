//! Benchmark of bad writers: one that waits for no ack, and edits on very old bases, while a person types and others read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::time::MissedTickBehavior;
use tokio_tungstenite::tungstenite::Message;

use crate::flood::{CALM_EDITS, Person, TICK, Typed, quantiles};
use crate::load::{Clock, History, Writer, follow};
use crate::socket::{Socket, Target, number_after};

#[derive(Args)]
pub struct OpenLoop {
    /// Cells of the writer.
    #[arg(long, default_value_t = 64)]
    cells: usize,
    /// Edits per second that it offers.
    #[arg(long, default_value_t = 20_000)]
    rate: u32,
    #[arg(long, default_value_t = 50)]
    readers: usize,
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Keep the first base, instead of the version of the last ack that was read.
    #[arg(long)]
    keeps_base: bool,
}

/// AnswerCounts that the writer has read.
#[derive(Default)]
struct AnswerCounts {
    acked: AtomicU64,
    refused: AtomicU64,
}

/// Version and length of each cell's text, as of the last ack that was read.
type Bases = Mutex<Vec<(u64, u64)>>;

/// Time after which the room must be as fast as before the writer.
const RECOVERY: Duration = Duration::from_secs(1);

impl OpenLoop {
    pub async fn run(&self, target: &Target) -> Result<Value> {
        let notebook = format!("open-loop-{}", std::process::id());
        let writer = Writer::make(target, &notebook, self.cells + 1).await?;
        let (first, clock) = (writer.base(), Clock::new(0));
        let barrier = Arc::new(Barrier::new(self.readers + 1));
        let mut readers = Vec::new();
        for _ in 0..self.readers {
            let mut socket = Socket::open(target).await?;
            socket.subscribe(&notebook).await?;
            let (clock, barrier) = (clock.clone(), barrier.clone());
            readers.push(tokio::spawn(async move { follow(socket, &clock, &barrier, false).await }));
        }
        barrier.wait().await;
        let mut person = Person::new(Socket::open(target).await?, &notebook, self.cells, first);
        let mut typed = Typed::default();
        for _ in 0..CALM_EDITS {
            typed.before.push(person.types().await?);
        }
        let (answers, start) = (AnswerCounts::default(), Instant::now());
        let time = Duration::from_secs_f64(self.seconds);
        let (offered, during) =
            tokio::join!(self.write(writer.socket, &notebook, first, &answers), person.beside(time));
        let (offered, elapsed) = (offered?, start.elapsed().as_secs_f64());
        typed.during = during?;
        // The writer is gone; its socket was dropped with everything that it had sent.
        let just_after = person.beside(RECOVERY).await?;
        for _ in 0..CALM_EDITS {
            typed.after.push(person.types().await?);
        }
        clock.finish();
        let mut last = Socket::open(target).await?;
        last.command("end", &notebook, json!({"RenameNotebook": {"title": "the end"}})).await?;
        let mut deliveries = 0;
        for reader in readers {
            deliveries += reader.await??.deliveries;
        }
        let (acked, refused) = (answers.acked.into_inner(), answers.refused.into_inner());
        Ok(json!({
            "readers": self.readers, "offered_per_s": (offered as f64 / elapsed).round(), "acked": acked, "refused": refused,
            "deliveries_per_s": (deliveries as f64 / elapsed).round(),
            "before_ms": quantiles(typed.before), "during_ms": quantiles(typed.during),
            "just_after_ms": quantiles(just_after), "after_ms": quantiles(typed.after),
        }))
    }

    /// Offers edits at the rate for as long as the benchmark takes; returns their number. Reads the answers without waiting for them.
    async fn write(&self, socket: Socket, notebook: &str, first: u64, answers: &AnswerCounts) -> Result<u64> {
        let bases = Bases::new(vec![(first, 0); self.cells]);
        let (mut sink, mut stream) = socket.0.split();
        let offer = async {
            let (mut sent, start) = (0_u64, Instant::now());
            let mut ticks = tokio::time::interval(TICK);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
            while start.elapsed().as_secs_f64() < self.seconds {
                ticks.tick().await;
                let due = (start.elapsed().as_secs_f64() * f64::from(self.rate)) as u64;
                while sent < due && start.elapsed().as_secs_f64() < self.seconds {
                    let text = self.edit(notebook, &bases, sent);
                    // A full socket holds the writer up for a moment, as the system does with any program.
                    let timeout = Duration::from_secs_f64(self.seconds).saturating_sub(start.elapsed());
                    if tokio::time::timeout(timeout, sink.feed(Message::text(text))).await.is_err() {
                        break;
                    }
                    sent += 1;
                }
                let timeout = Duration::from_secs_f64(self.seconds).saturating_sub(start.elapsed());
                let _ = tokio::time::timeout(timeout, sink.flush()).await;
            }
            Ok(sent)
        };
        let read = async {
            while let Some(Ok(message)) = stream.next().await {
                if let Message::Text(text) = message {
                    self.hear(&text, &bases, answers);
                }
            }
        };
        tokio::select! {
            sent = offer => sent,
            () = read => anyhow::bail!("the server closed the connection"),
        }
    }

    fn edit(&self, notebook: &str, bases: &Bases, number: u64) -> String {
        let cell = number as usize % self.cells;
        let (base, length) = bases.lock().unwrap_or_else(PoisonError::into_inner)[cell];
        let keep = if length == 0 { String::new() } else { format!("{length},") };
        format!(
            r#"{{"command":{{"id":"w{cell}-{number}","notebook":"{notebook}","body":{{"EditSource":{{"cell_id":"c{cell}","base":{base},"change":[{keep}[0,"ten chars "]]}}}}}}}}"#
        )
    }

    fn hear(&self, text: &str, bases: &Bases, answers: &AnswerCounts) {
        if text.starts_with(r#"{"reject""#) {
            answers.refused.fetch_add(1, Ordering::Relaxed);
        }
        if !text.starts_with(r#"{"ack""#) {
            return;
        }
        answers.acked.fetch_add(1, Ordering::Relaxed);
        let (cell, version) = (number_after(text, r#""id":"w"#), number_after(text, r#""version":"#));
        if let (Some(cell), Some(version), false) = (cell, version, self.keeps_base)
            && let Some(known) = bases.lock().unwrap_or_else(PoisonError::into_inner).get_mut(cell as usize)
        {
            *known = (version, known.1 + 10);
        }
    }
}

#[derive(Args)]
pub struct OldBase {
    /// Events after the base.
    #[arg(long, default_value_t = 100_000)]
    events: u64,
    /// Edits on the old base.
    #[arg(long, default_value_t = 20)]
    edits: u64,
}

/// Cells of `History`.
const HISTORY_CELLS: usize = 16;

impl OldBase {
    pub async fn run(&self, target: &Target) -> Result<Value> {
        let notebook = format!("old-base-{}", std::process::id());
        History { notebook: notebook.clone(), edits: self.events }.run(target).await?;
        let old = HISTORY_CELLS as u64 + 1;
        let mut late = Socket::open(target).await?;
        let insert = json!({"InsertCell": {"cell_id": format!("c{HISTORY_CELLS}"), "cell_type": "code"}});
        let ack = late.command("cell", &notebook, insert).await?;
        let base = ack["version"].as_u64().context("an ack has a version")?;
        let mut person = Person::new(Socket::open(target).await?, &notebook, HISTORY_CELLS, base);
        let mut before = Vec::new();
        for _ in 0..CALM_EDITS {
            before.push(person.types().await?);
        }
        let edits = async {
            let (mut taken, mut answers) = (Vec::new(), Vec::new());
            for number in 0..self.edits {
                let body = json!({"EditSource": {"cell_id": "c0", "base": old, "change": [[0, "late "]]}});
                let start = Instant::now();
                late.send(&json!({"command": {"id": format!("late{number}"), "notebook": notebook, "body": body}}))
                    .await?;
                let answer: Value = serde_json::from_str(&late.next().await?)?;
                taken.push(u64::try_from(start.elapsed().as_nanos())?);
                let code = answer["reject"]["code"].as_str().unwrap_or("acked").to_owned();
                answers.push(code);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            answers.dedup();
            anyhow::Ok((taken, answers))
        };
        let time = Duration::from_millis(50) * u32::try_from(self.edits)?;
        let (edits, during) = tokio::join!(edits, person.beside(time));
        let (taken, answers) = edits?;
        Ok(json!({
            "events": self.events, "edits_per_s": 20, "answers": answers, "answer_ms": quantiles(taken), "before_ms": quantiles(before),
            "during_ms": quantiles(during?),
        }))
    }
}
