//! A kernel whose effects are held, in a folder beside one that it must not touch.

use std::path::{Path, PathBuf};
use std::time::Duration;

use notarium_agent::kernel::{ExecuteRequest, FinishStatus, Kernel, KernelEvent, LaunchOptions};
use notarium_agent::kernelspecs::Kernelspec;
use notarium_agent::outputs::KernelOutput;
use notarium_agent::sandbox::{Plan, Sandbox};
use notarium_agent::supervisor::Holding;
use notarium_core::{Effect, Effects};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;

pub const PATIENCE: Duration = Duration::from_secs(120);
const LAUNCHER: &str = env!("CARGO_BIN_EXE_notarium-test-launcher");

pub fn python() -> String {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-venv/bin/python");
    let python = std::env::var("NOTARIUM_TEST_PYTHON").map_or(default, PathBuf::from);
    assert!(python.exists(), "{} is missing: `make test` makes it, or set NOTARIUM_TEST_PYTHON", python.display());
    python.to_string_lossy().into_owned()
}

pub fn kernelspec(folder: &Path, kernel_json: &Value) -> Kernelspec {
    let resource_dir = folder.join("spec");
    std::fs::create_dir_all(&resource_dir).unwrap();
    std::fs::write(resource_dir.join("kernel.json"), kernel_json.to_string()).unwrap();
    Kernelspec::read(&resource_dir).unwrap()
}

pub fn ipykernel(folder: &Path) -> Kernelspec {
    let argv = [&*python(), "-m", "ipykernel_launcher", "-f", "{connection_file}"];
    kernelspec(folder, &json!({"argv": argv, "display_name": "Test", "language": "python"}))
}

/// A kernel with a supervisor. Its working folder is `work`; `outside` is beside it.
pub struct Held {
    pub kernel: Option<Kernel>,
    pub events: mpsc::Receiver<KernelEvent>,
    pub folder: TempDir,
    next: usize,
}

/// Events of a run.
#[derive(Debug)]
pub struct Ran {
    pub events: Vec<KernelEvent>,
}

impl Held {
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// In a full sandbox, as far as this system allows it.
    pub async fn start_in_sandbox() -> Self {
        let sandbox = Sandbox::check(LAUNCHER.into(), Plan::default(), None).await.expect("a sandbox");
        Self::start_with(|options| options.sandbox = Some(sandbox)).await
    }

    pub async fn start_with(change: impl FnOnce(&mut LaunchOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kernelspec = ipykernel(folder.path());
        Self::launch(folder, kernelspec, change).await
    }

    pub async fn launch(folder: TempDir, kernelspec: Kernelspec, change: impl FnOnce(&mut LaunchOptions)) -> Self {
        for name in ["work", "outside"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("kept.txt"), "kept").unwrap();
        }
        let holding = Holding::check(LAUNCHER.into(), &std::env::temp_dir()).await.expect("effects can be held here");
        let mut options =
            LaunchOptions { working_dir: folder.path().join("work"), holding: Ok(holding), ..LaunchOptions::default() };
        change(&mut options);
        let (sender, events) = mpsc::channel(64);
        let kernel = Kernel::launch(kernelspec, options, sender).await.unwrap();
        let mut held = Self { kernel: Some(kernel), events, folder, next: 0 };
        let KernelEvent::Ready { sandbox, .. } = held.event().await else { panic!("not ready first") };
        let sandbox: Value = serde_json::from_str(sandbox.get()).unwrap();
        assert_eq!(sandbox["effects"], "held", "{sandbox}");
        held
    }

    pub fn kernel(&self) -> &Kernel {
        self.kernel.as_ref().expect("a kernel")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub async fn event(&mut self) -> KernelEvent {
        let event = tokio::time::timeout(PATIENCE, self.events.recv()).await;
        event.expect("the kernel says nothing").expect("the driver is gone")
    }

    /// Events up to and including the first for which `last` is true.
    pub async fn until(&mut self, last: impl Fn(&KernelEvent) -> bool) -> Vec<KernelEvent> {
        let mut events = Vec::new();
        loop {
            events.push(self.event().await);
            if last(&events[events.len() - 1]) {
                return events;
            }
        }
    }

    /// Queues a run. `OUT` in its source is the folder outside.
    pub async fn execute(&mut self, source: &str, effects: Effects) -> String {
        self.next += 1;
        let id = format!("run {}", self.next);
        let source = source.replace("OUT", &self.path("outside").to_string_lossy());
        let request = ExecuteRequest { effects, ..ExecuteRequest::new(id.clone(), source) };
        self.kernel().execute(request).await.unwrap();
        id
    }

    pub async fn end_of(&mut self, id: &str) -> Ran {
        Ran { events: self.until(|event| is_end(event, id)).await }
    }

    pub async fn run(&mut self, source: &str, effects: Effects) -> Ran {
        let id = self.execute(source, effects).await;
        self.end_of(&id).await
    }

    /// A person's run.
    pub async fn free(&mut self, source: &str) -> Ran {
        self.run(source, Effects::Free).await
    }

    /// An assistant's run that nobody confirmed.
    pub async fn held(&mut self, source: &str) -> Ran {
        self.run(source, Effects::held([])).await
    }

    /// A held run to make the kernel mixed.
    pub async fn mix(&mut self) {
        self.held("pass").await.is_ok();
    }

    pub async fn until_text(&mut self, text: &str) {
        self.until(|event| matches!(event, KernelEvent::Output { output: KernelOutput::Stream { text: wrote, .. }, .. } if wrote.contains(text))).await;
    }

    /// Asserts that the folder outside is as it was.
    pub fn nothing_outside_changed(&self) {
        let entries: Vec<_> =
            std::fs::read_dir(self.path("outside")).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(entries, ["kept.txt"]);
        assert_eq!(std::fs::read_to_string(self.path("outside/kept.txt")).unwrap(), "kept");
    }
}

fn is_end(event: &KernelEvent, id: &str) -> bool {
    match event {
        KernelEvent::Finished { execution_id, .. } | KernelEvent::HoldsOpen { execution_id, .. } => execution_id == id,
        KernelEvent::Ended { cause, .. } => panic!("the kernel ended: {cause}"),
        _ => false,
    }
}

impl Ran {
    /// Everything that runs wrote, with the name and text of their errors. Output without a run is left out, such as the
    /// debugger's warning that ipykernel writes when it starts.
    pub fn text(&self) -> String {
        let text = |event: &KernelEvent| match event {
            KernelEvent::Output { execution_id: Some(_), output: KernelOutput::Stream { text, .. } } => text.clone(),
            KernelEvent::Output { execution_id: Some(_), output: KernelOutput::Object { output, .. } } => {
                let output: Value = serde_json::from_str(output.get()).unwrap();
                match output["output_type"].as_str() {
                    Some("error") => format!("[{}: {}]", output["ename"], output["evalue"]),
                    _ => output["data"]["text/plain"].as_str().unwrap_or_default().to_owned(),
                }
            }
            _ => String::new(),
        };
        self.events.iter().map(text).collect()
    }

    /// Kinds and counts of refused effects.
    pub fn refused(&self) -> Vec<(Effect, u64)> {
        self.refusals().into_iter().map(|(kind, _, count)| (kind, count)).collect()
    }

    pub fn refusals(&self) -> Vec<(Effect, String, u64)> {
        let refusals = self.events.iter().filter_map(|event| match event {
            KernelEvent::EffectRefused { refusal, .. } => Some((refusal.kind, refusal.target.clone(), refusal.count)),
            _ => None,
        });
        refusals.collect()
    }

    /// Kinds of refused effects.
    pub fn kinds(&self) -> Vec<Effect> {
        self.refused().into_iter().map(|(kind, _)| kind).collect()
    }

    pub fn open(&self) -> Option<Vec<String>> {
        self.events.iter().find_map(|event| match event {
            KernelEvent::HoldsOpen { open, .. } => Some(open.clone()),
            _ => None,
        })
    }

    /// Asserts that it ended well and nothing was refused.
    pub fn is_ok(&self) -> String {
        let is_ok = self.events.iter().any(|it| matches!(it, KernelEvent::Finished { status: FinishStatus::Ok, .. }));
        assert!(is_ok && self.refused().is_empty(), "{} {:?}", self.text(), self.refusals());
        self.text()
    }
}
