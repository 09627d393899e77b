//! Measures the kernel driver: `kernel_speed PYTHON` prints the round trip of `1+1`, a flood of 200,000 lines through
//! the output collector, and how soon an interrupt of a flood acts. Compare with `kernel_speed.py`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use notarium_agent::kernel::{ExecuteRequest, Kernel, KernelEvent, LaunchOptions};
use notarium_agent::kernelspecs::Kernelspec;
use notarium_agent::outputs::{Emit, OutputCollector, OutputLimits};
use tokio::sync::mpsc;

const ROUND_TRIPS: usize = 200;
const LINES: usize = 200_000;

#[derive(Default)]
struct Flood {
    emits: usize,
    overflow_bytes: usize,
    took: Duration,
}

struct Measured {
    kernel: Kernel,
    events: mpsc::Receiver<KernelEvent>,
}

impl Measured {
    async fn launch(python: &str) -> anyhow::Result<Self> {
        let resource_dir = std::env::temp_dir().join(format!("kernel-speed-{}", std::process::id()));
        std::fs::create_dir_all(&resource_dir)?;
        let argv = serde_json::json!({"argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]});
        std::fs::write(resource_dir.join("kernel.json"), argv.to_string())?;
        let kernelspec = Kernelspec::read(&resource_dir)?;
        std::fs::remove_dir_all(&resource_dir)?;
        let (sender, events) = mpsc::channel(256);
        let options = LaunchOptions { working_dir: PathBuf::from("."), ..LaunchOptions::default() };
        Ok(Self { kernel: Kernel::launch(kernelspec, options, sender).await?, events })
    }

    async fn execute(&self, source: &str) -> anyhow::Result<()> {
        Ok(self.kernel.execute(ExecuteRequest::new("measured", source)).await?)
    }

    /// Runs to the end, through the collector.
    async fn run(&mut self, source: &str) -> anyhow::Result<Flood> {
        let start = Instant::now();
        self.execute(source).await?;
        let mut flood = Flood::default();
        let mut collector = OutputCollector::new(OutputLimits::default());
        while let Some(event) = self.events.recv().await {
            let now = u64::try_from(start.elapsed().as_millis())?;
            match event {
                KernelEvent::Output { output, .. } => flood.count(collector.handle(now, output)),
                KernelEvent::Finished { .. } => {
                    flood.count(collector.finish(now));
                    break;
                }
                _ => {}
            }
        }
        flood.took = start.elapsed();
        Ok(flood)
    }

    async fn interrupt_flood(&mut self) -> anyhow::Result<Duration> {
        self.execute("while True: print('x' * 80, flush=True)").await?;
        let mut outputs = 0;
        while outputs < 2000 {
            outputs += usize::from(matches!(self.events.recv().await, Some(KernelEvent::Output { .. })));
        }
        let start = Instant::now();
        self.kernel.interrupt()?;
        while !matches!(self.events.recv().await, Some(KernelEvent::Finished { .. }) | None) {}
        Ok(start.elapsed())
    }
}

impl Flood {
    fn count(&mut self, emits: Vec<Emit>) {
        self.emits += emits.len();
        for emit in emits {
            if let Emit::Overflow(bytes) = emit {
                self.overflow_bytes += bytes.len();
            }
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let python = std::env::args().nth(1).ok_or_else(|| anyhow::anyhow!("name a Python that has ipykernel"))?;
    let mut measured = Measured::launch(&python).await?;
    let mut trips = Vec::new();
    for _ in 0..ROUND_TRIPS {
        trips.push(measured.run("1+1").await?.took);
    }
    trips.sort();
    println!("1+1: median {:?}, p99 {:?}", trips[ROUND_TRIPS / 2], trips[ROUND_TRIPS * 99 / 100]);
    for _ in 0..3 {
        let flood = measured.run(&format!("for i in range({LINES}): print('line', i)")).await?;
        println!("{LINES} lines: {:?}, {} emits, {} bytes of overflow", flood.took, flood.emits, flood.overflow_bytes);
    }
    let flushed = measured.run("for i in range(20_000): print('line', i, flush=True)").await?;
    println!("20000 flushed lines: {:?}, {} emits", flushed.took, flushed.emits);
    for _ in 0..3 {
        println!("interrupt of a flood: {:?}", measured.interrupt_flood().await?);
    }
    println!("{}", collector_alone());
    measured.kernel.shutdown().await;
    Ok(())
}

/// The collector's own cost for 200,000 single lines.
fn collector_alone() -> String {
    use notarium_agent::outputs::KernelOutput;
    let start = Instant::now();
    let mut collector = OutputCollector::new(OutputLimits::default());
    let mut emits = 0;
    for line in 0..LINES {
        let output = KernelOutput::Stream { name: "stdout".to_owned(), text: format!("line {line}\n") };
        emits += collector.handle(line as u64 / 100, output).len();
    }
    format!("collector alone: {LINES} single lines in {:?}, {emits} emits", start.elapsed())
}
