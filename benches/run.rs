//! Benchmark of executions through server, agent and kernel, as a client sees them: from the request to the end.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};

use crate::socket::{Socket, Target};

#[derive(Args)]
pub struct Run {
    #[arg(long, default_value = "1+1")]
    source: String,
    /// Runs that are measured, one after the other; one more goes before them to start the kernel.
    #[arg(long, default_value_t = 100)]
    times: usize,
    /// Interrupt each run after so many milliseconds, and measure from there to its end.
    #[arg(long)]
    interrupt_after_ms: Option<u64>,
}

impl Run {
    pub async fn run(&self, target: &Target) -> Result<Value> {
        let notebook = format!("run-{}-{}", std::process::id(), self.source.len());
        let mut socket = Socket::open(target).await?;
        let commands = json!([
            {"CreateNotebook": {"title": "run"}},
            {"InsertCell": {"cell_id": "first", "cell_type": "code", "source": "1"}},
            {"InsertCell": {"cell_id": "c", "cell_type": "code", "source": self.source}},
        ]);
        socket.command("make", &notebook, json!({"Batch": {"commands": commands}})).await?;
        socket.subscribe(&notebook).await?;
        self.once(&mut socket, &notebook, "first", 0, None).await?;
        let mut times = Vec::with_capacity(self.times);
        for number in 1..=self.times {
            times.push(self.once(&mut socket, &notebook, "c", number, self.interrupt_after_ms).await?);
        }
        times.sort_by(f64::total_cmp);
        Ok(json!({"median_ms": times[times.len() / 2], "least_ms": times[0], "most_ms": times[times.len() - 1]}))
    }

    async fn once(
        &self,
        socket: &mut Socket,
        notebook: &str,
        cell: &str,
        number: usize,
        interrupt: Option<u64>,
    ) -> Result<f64> {
        let mut start = Instant::now();
        let request =
            json!({"RequestExecution": {"execution_id": format!("e{number}"), "target": {"cell": {"cell_id": cell}}}});
        socket
            .send(&json!({"command": {"id": format!("run-{number}"), "notebook": notebook, "body": request}}))
            .await?;
        let mut interrupt = interrupt.map(Duration::from_millis);
        loop {
            let text = match interrupt {
                None => socket.next().await?,
                Some(after) => match tokio::time::timeout(after.saturating_sub(start.elapsed()), socket.next()).await {
                    Ok(text) => text?,
                    Err(_) => {
                        interrupt = None;
                        start = Instant::now();
                        let cancel = json!({"CancelExecution": {"execution_id": format!("e{number}")}});
                        let id = format!("stop-{number}");
                        socket.send(&json!({"command": {"id": id, "notebook": notebook, "body": cancel}})).await?;
                        continue;
                    }
                },
            };
            anyhow::ensure!(!text.starts_with(r#"{"reject""#), "{text}");
            if text.starts_with(r#"{"events""#) && has_ended(&text).context("events")? {
                return Ok(start.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
}

/// Detects the end of a run. Outputs may contain any text, so types are parsed, but only in frames with the words.
fn has_ended(text: &str) -> Result<bool> {
    let ends = ["ExecutionCompleted", "ExecutionCancelled", "ExecutionLost"];
    if !ends.iter().any(|end| text.contains(end)) {
        return Ok(false);
    }
    let message: Value = serde_json::from_str(text)?;
    let events = message["events"]["events"].as_array().context("an events frame has events")?;
    Ok(events.iter().any(|event| ends.iter().any(|end| event["type"] == *end)))
}
