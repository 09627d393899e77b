//! The machine of this agent: processors, memory, graphics processors, and their load.

use std::process::Stdio;
use std::time::Duration;

use notarium_client::CommandSender;
use notarium_wire::{ClientMessage, GpuLoad, MachineLoad, OfferedGpu, OfferedMachine};
use sysinfo::System;
use tokio::process::Command;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// Time between two measurements.
const PERIOD: Duration = Duration::from_secs(10);

/// Deadline for the driver's program.
const DRIVER_TIMEOUT: Duration = Duration::from_secs(5);

/// Most graphics processors that are listed.
const MAX_GPUS: usize = 64;

const MEBIBYTE: u64 = 1 << 20;

/// Measures this machine.
pub(crate) struct MachineMeter {
    /// `None` if the system offers no such data.
    system: Option<System>,
    /// False: no graphics processor was found, and none is looked for again.
    has_gpus: bool,
    /// True after the first measurement: the use of processors needs two.
    has_measured: bool,
}

impl MachineMeter {
    pub fn new() -> Self {
        Self { system: System::new().ok(), has_gpus: true, has_measured: false }
    }

    /// The machine as it is offered.
    pub async fn machine(&mut self) -> OfferedMachine {
        let gpus = self.gpus().await;
        self.has_gpus = !gpus.is_empty();
        let memory_bytes = self.system.as_mut().map_or(0, |system| {
            system.refresh_memory();
            system.total_memory()
        });
        let cores = std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1));
        OfferedMachine { cores, memory_bytes, gpus: gpus.into_iter().map(|(gpu, _)| gpu).collect() }
    }

    async fn load(&mut self) -> MachineLoad {
        let gpus = self.gpus().await.into_iter().map(|(_, load)| load).collect();
        let has_measured = std::mem::replace(&mut self.has_measured, true);
        let Some(system) = self.system.as_mut() else { return MachineLoad { gpus, ..MachineLoad::default() } };
        system.refresh_memory();
        system.refresh_cpu_usage();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let cpu_percent = has_measured.then(|| system.global_cpu_usage().round() as u32);
        MachineLoad { cpu_percent, memory_used_bytes: system.used_memory(), gpus }
    }

    /// Reports the load while `wanted` is true.
    pub async fn report(mut self, sender: CommandSender, mut wanted: watch::Receiver<bool>) {
        let mut timer = interval(PERIOD);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while wanted.wait_for(|wanted| *wanted).await.is_ok() {
            timer.tick().await;
            let load = self.load().await;
            sender.ephemeral(ClientMessage::MachineLoad { load });
        }
    }

    /// The graphics processors that NVIDIA's driver knows, with their load. Others can be told by labels.
    async fn gpus(&self) -> Vec<(OfferedGpu, GpuLoad)> {
        if !self.has_gpus {
            return Vec::new();
        }
        let query = "--query-gpu=name,memory.total,memory.used,utilization.gpu";
        let mut command = Command::new("nvidia-smi");
        command.args([query, "--format=csv,noheader,nounits"]).stdin(Stdio::null()).kill_on_drop(true);
        match timeout(DRIVER_TIMEOUT, command.output()).await {
            Ok(Ok(output)) if output.status.success() => parsed(&String::from_utf8_lossy(&output.stdout)),
            _ => Vec::new(),
        }
    }
}

/// Lines such as `NVIDIA A100-SXM4-80GB, 81920, 1024, 35`. A value that the driver does not know is `[N/A]`.
fn parsed(lines: &str) -> Vec<(OfferedGpu, GpuLoad)> {
    let gpu = |line: &str| {
        let mut fields = line.rsplitn(4, ',').map(str::trim);
        let busy_percent = fields.next()?.parse().ok();
        let mut bytes = || fields.next()?.parse::<u64>().ok().map(|mebibytes| mebibytes.saturating_mul(MEBIBYTE));
        let (memory_used_bytes, memory_bytes) = (bytes().unwrap_or_default(), bytes().unwrap_or_default());
        let name = fields.next()?.to_owned();
        Some((OfferedGpu { name, memory_bytes }, GpuLoad { busy_percent, memory_used_bytes }))
    };
    lines.lines().filter_map(gpu).take(MAX_GPUS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_s_lines_are_graphics_processors() {
        let found = parsed("NVIDIA A100-SXM4-80GB, 81920, 1024, 35\nOdd, named, 100, [N/A], [N/A]\nnonsense\n");
        let (a100, odd) = (&found[0], &found[1]);
        assert_eq!(found.len(), 2);
        assert_eq!((a100.0.name.as_str(), a100.0.memory_bytes), ("NVIDIA A100-SXM4-80GB", 80 << 30));
        assert_eq!((a100.1.busy_percent, a100.1.memory_used_bytes), (Some(35), 1 << 30));
        assert_eq!((odd.0.name.as_str(), odd.0.memory_bytes), ("Odd, named", 100 << 20));
        assert_eq!((odd.1.busy_percent, odd.1.memory_used_bytes), (None, 0));
    }

    #[tokio::test]
    async fn this_machine_has_cores_memory_and_a_load() {
        let mut meter = MachineMeter::new();
        let machine = meter.machine().await;
        assert!(machine.cores > 0 && machine.memory_bytes > 0, "{machine:?}");
        let load = meter.load().await;
        assert_eq!(load.cpu_percent, None, "one measurement says nothing");
        assert!(load.memory_used_bytes > 0 && load.memory_used_bytes <= machine.memory_bytes, "{load:?}");
        assert!(meter.load().await.cpu_percent.is_some_and(|percent| percent <= 100));
    }
}
