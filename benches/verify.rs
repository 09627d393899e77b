//! Benchmark of verification: reads a record from a data folder, and verifies it step by step on one thread.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use notarium_core::{Head, NotebookId, RecordCheck, verify_chain};
use notarium_store::{EventStore, Sqlite};
use serde_json::{Value, json};

/// Events that are read at once.
const PAGE: usize = 2_000;

#[derive(Args)]
pub struct Verify {
    /// The data folder of a stopped server.
    #[arg(long)]
    data: PathBuf,
    #[arg(long, default_value = "long-record")]
    notebook: String,
}

impl Verify {
    /// Returns events per second of each step.
    pub async fn run(&self) -> Result<Value> {
        let (store, id) = (Sqlite::open(&self.data).await?, NotebookId::new(&self.notebook)?);
        let (mut head, mut check) = (Head::START, RecordCheck::new(id.clone()));
        let (mut read, mut chain, mut checked) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        loop {
            let start = Instant::now();
            let page = store.read(&id, head.version, PAGE).await?;
            read += start.elapsed();
            if page.is_empty() {
                break;
            }
            let start = Instant::now();
            head = verify_chain(head, &page)?;
            chain += start.elapsed();
            let start = Instant::now();
            page.iter().for_each(|stored| drop(check.follow(stored)));
            checked += start.elapsed();
        }
        ensure!(check.broken.is_none(), "the record is broken: {:?}", check.broken);
        store.close().await;
        let rate = |time: Duration| (head.version as f64 / time.as_secs_f64()).round();
        Ok(json!({
            "events": head.version,
            "read_per_second": rate(read),
            "chain_per_second": rate(chain),
            "chain_authority_and_state_per_second": rate(checked),
        }))
    }
}
