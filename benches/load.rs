//! Benchmark of load: writers and readers of notebooks, and their measurements.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio_tungstenite::tungstenite::Message;

use crate::socket::{Socket, Target, number_after};

#[derive(Args, Clone)]
pub struct Load {
    #[arg(long, default_value_t = 1)]
    notebooks: usize,
    /// Clients per notebook that only follow.
    #[arg(long, default_value_t = 0)]
    readers: usize,
    /// Cells per writer, one unacked change in each.
    #[arg(long, default_value_t = 1)]
    in_flight: usize,
    /// Edits per second and notebook; 0: as fast as they are acked.
    #[arg(long, default_value_t = 0)]
    rate: u64,
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
}

/// Send times of a notebook's edits, by number, in nanoseconds since `start`.
pub struct Clock {
    start: Instant,
    sent: Vec<AtomicU64>,
    done: AtomicBool,
}

const MAX_EDITS: usize = 600_000;

impl Clock {
    pub fn new(readers: usize) -> Arc<Self> {
        let edits = if readers > 0 { MAX_EDITS } else { 0 };
        let sent = (0..edits).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self { start: Instant::now(), sent, done: AtomicBool::new(false) })
    }

    /// Marks the end: the notebook's next rename is the last event.
    pub fn finish(&self) {
        self.done.store(true, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[derive(Default)]
pub struct Counted {
    edits: u64,
    pub deliveries: u64,
    latencies: Vec<u64>,
    elapsed: f64,
}

impl Load {
    pub async fn run(&self, target: &Target) -> Result<Value> {
        let barrier = Arc::new(Barrier::new(self.notebooks * (1 + self.readers)));
        let mut tasks = Vec::new();
        for index in 0..self.notebooks {
            let notebook = format!("load-{}-{index}", std::process::id());
            let clock = Clock::new(self.readers);
            let mut writer = Writer::make(target, &notebook, self.in_flight).await?;
            for reader in 0..self.readers {
                let mut socket = Socket::open(target).await?;
                socket.subscribe(&notebook).await?;
                let (clock, barrier) = (clock.clone(), barrier.clone());
                // Every reader counts; one in ten also measures, since parsing each event is expensive.
                tasks.push(tokio::spawn(async move { follow(socket, &clock, &barrier, reader % 10 == 0).await }));
            }
            let (load, barrier) = (self.clone(), barrier.clone());
            tasks.push(tokio::spawn(async move { writer.write(&load, &clock, &barrier).await }));
        }
        let mut whole = Counted::default();
        for task in tasks {
            let counted = task.await??;
            whole.edits += counted.edits;
            whole.deliveries += counted.deliveries;
            whole.latencies.extend(counted.latencies);
            whole.elapsed = whole.elapsed.max(counted.elapsed);
        }
        Ok(self.report(whole))
    }

    fn report(&self, mut whole: Counted) -> Value {
        whole.latencies.sort_unstable();
        let quantile = |share: f64| {
            let index = (whole.latencies.len() as f64 * share) as usize;
            whole.latencies.get(index.min(whole.latencies.len().saturating_sub(1))).map(|ns| *ns as f64 / 1e6)
        };
        json!({
            "notebooks": self.notebooks, "readers": self.readers, "in_flight": self.in_flight, "rate": self.rate,
            "edits_per_s": (whole.edits as f64 / whole.elapsed).round(),
            "deliveries_per_s": (whole.deliveries as f64 / whole.elapsed).round(),
            "p50_ms": quantile(0.5), "p99_ms": quantile(0.99),
        })
    }
}

/// One connection that edits `cells.len()` cells, with at most one change in flight per cell.
pub struct Writer {
    pub socket: Socket,
    notebook: String,
    cells: Vec<CellState>,
}

#[derive(Clone, Copy)]
struct CellState {
    base: u64,
    length: u64,
}

impl Writer {
    pub async fn make(target: &Target, notebook: &str, cells: usize) -> Result<Self> {
        let mut socket = Socket::open(target).await?;
        let inserts =
            (0..cells).map(|cell| json!({"InsertCell": {"cell_id": format!("c{cell}"), "cell_type": "code"}}));
        let commands: Vec<Value> = [json!({"CreateNotebook": {"title": "load"}})].into_iter().chain(inserts).collect();
        let ack = socket.command("make", notebook, json!({"Batch": {"commands": commands}})).await?;
        let base = ack["version"].as_u64().context("an ack has a version")?;
        Ok(Self { socket, notebook: notebook.to_owned(), cells: vec![CellState { base, length: 0 }; cells] })
    }

    /// Queues the next edit of a cell; its id has the cell and the number.
    async fn edit(&mut self, cell: usize, number: u64, change: &str) -> Result<()> {
        let CellState { base, .. } = self.cells[cell];
        let text = format!(
            r#"{{"command":{{"id":"w{cell}-{number}","notebook":"{}","body":{{"EditSource":{{"cell_id":"c{cell}","base":{base},"change":{change}}}}}}}}}"#,
            self.notebook
        );
        Ok(self.socket.0.feed(Message::text(text)).await?)
    }

    pub async fn insert(&mut self, cell: usize, number: u64) -> Result<()> {
        let length = self.cells[cell].length;
        let change =
            if length == 0 { r#"[[0,"ten chars "]]"#.to_owned() } else { format!(r#"[{length},[0,"ten chars "]]"#) };
        self.edit(cell, number, &change).await
    }

    /// Waits for an ack and returns its cell.
    async fn acked(&mut self) -> Result<usize> {
        loop {
            let text = self.socket.next().await?;
            if let Some(cell) = self.take_ack(&text)? {
                return Ok(cell);
            }
        }
    }

    /// Returns the cell of an ack; the cell's next edits use its version.
    pub fn take_ack(&mut self, text: &str) -> Result<Option<usize>> {
        anyhow::ensure!(!text.starts_with(r#"{"reject""#) && !text.starts_with(r#"{"error""#), "{text}");
        if !text.starts_with(r#"{"ack""#) {
            return Ok(None);
        }
        let cell = number_after(text, r#""id":"w"#).context("an id of ours")? as usize;
        self.cells[cell].base = number_after(text, r#""version":"#).context("an ack has a version")?;
        self.cells[cell].length += 10;
        Ok(Some(cell))
    }

    /// Returns the version at which its cells were created.
    pub fn base(&self) -> u64 {
        self.cells[0].base
    }

    async fn write(&mut self, load: &Load, clock: &Clock, barrier: &Barrier) -> Result<Counted> {
        barrier.wait().await;
        let start = Instant::now();
        let edits = if load.rate > 0 {
            self.write_at_rate(load, clock).await?
        } else {
            self.write_flat_out(load, clock).await?
        };
        let elapsed = start.elapsed().as_secs_f64();
        clock.finish();
        // This last event shows the readers the end.
        self.socket.command("end", &self.notebook, json!({"RenameNotebook": {"title": "the end"}})).await?;
        Ok(Counted { edits, elapsed, ..Counted::default() })
    }

    async fn write_flat_out(&mut self, load: &Load, clock: &Clock) -> Result<u64> {
        let limit = Duration::from_secs_f64(load.seconds);
        let (start, mut sent, mut acked) = (Instant::now(), 0, 0);
        for cell in 0..self.cells.len() {
            self.send(cell, &mut sent, clock).await?;
        }
        self.socket.0.flush().await?;
        while acked < sent {
            let cell = self.acked().await?;
            acked += 1;
            if start.elapsed() < limit {
                self.send(cell, &mut sent, clock).await?;
                self.socket.0.flush().await?;
            }
        }
        Ok(acked)
    }

    async fn write_at_rate(&mut self, load: &Load, clock: &Clock) -> Result<u64> {
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / u32::try_from(load.rate)?);
        let (start, mut sent) = (Instant::now(), 0);
        while start.elapsed().as_secs_f64() < load.seconds {
            ticks.tick().await;
            self.send(0, &mut sent, clock).await?;
            self.socket.0.flush().await?;
            self.acked().await?;
        }
        Ok(sent)
    }

    async fn send(&mut self, cell: usize, sent: &mut u64, clock: &Clock) -> Result<()> {
        if let Some(at) = clock.sent.get(*sent as usize) {
            at.store(clock.now(), Ordering::Relaxed);
        }
        self.insert(cell, *sent).await?;
        *sent += 1;
        Ok(())
    }
}

/// Counts the edits in the frames until the notebook is renamed.
pub async fn follow(mut socket: Socket, clock: &Clock, barrier: &Barrier, measures: bool) -> Result<Counted> {
    barrier.wait().await;
    let mut counted = Counted::default();
    loop {
        let text = socket.next().await?;
        if !text.starts_with(r#"{"events""#) {
            continue;
        }
        let now = clock.now();
        if measures {
            measure(&text, now, clock, &mut counted.latencies);
        }
        counted.deliveries += text.matches(r#""type":"CellSourceEdited""#).count() as u64;
        if clock.done.load(Ordering::Relaxed) && text.contains(r#""NotebookRenamed""#) {
            return Ok(counted);
        }
    }
}

fn measure(text: &str, now: u64, clock: &Clock, latencies: &mut Vec<u64>) {
    for part in text.split(r#""command_id":"w"#).skip(1) {
        let number = part.split_once('-').and_then(|(_, rest)| rest.split('"').next()?.parse::<usize>().ok());
        if let Some(at) = number.and_then(|number| clock.sent.get(number)) {
            latencies.push(now.saturating_sub(at.load(Ordering::Relaxed)));
        }
    }
}

#[derive(Args)]
pub struct History {
    #[arg(long)]
    pub notebook: String,
    #[arg(long, default_value_t = 100_000)]
    pub edits: u64,
}

impl History {
    /// Inserts and removes ten characters, in 16 cells concurrently, until that many edits are in the log.
    pub async fn run(&self, target: &Target) -> Result<Value> {
        let mut writer = Writer::make(target, &self.notebook, 16).await?;
        let (mut sent, mut acked) = (0, 0);
        for cell in 0..16 {
            writer.toggle(cell, &mut sent).await?;
        }
        writer.socket.0.flush().await?;
        while acked < sent {
            let cell = writer.acked().await?;
            writer.cells[cell].length %= 20;
            acked += 1;
            if sent < self.edits {
                writer.toggle(cell, &mut sent).await?;
                writer.socket.0.flush().await?;
            }
        }
        Ok(json!({"notebook": self.notebook, "edits": acked}))
    }
}

impl Writer {
    async fn toggle(&mut self, cell: usize, sent: &mut u64) -> Result<()> {
        let change = if self.cells[cell].length == 0 { r#"[[0,"ten chars "]]"# } else { "[[10]]" };
        self.edit(cell, *sent, change).await?;
        *sent += 1;
        Ok(())
    }
}

#[derive(Args)]
pub struct Open {
    #[arg(long)]
    notebook: String,
}

impl Open {
    pub async fn run(&self, target: &Target) -> Result<Value> {
        let start = Instant::now();
        let mut socket = Socket::open(target).await?;
        let connected = start.elapsed();
        let subscribed = socket.subscribe(&self.notebook).await?;
        let open_ms = start.elapsed().as_secs_f64() * 1e3;
        let connect_ms = connected.as_secs_f64() * 1e3;
        Ok(json!({"open_ms": open_ms, "connect_ms": connect_ms, "version": subscribed["version"]}))
    }
}
