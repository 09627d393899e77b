//! A kernel in a temporary folder, and its events.

use std::path::{Path, PathBuf};
use std::time::Duration;

use notarium_agent::kernel::{ExecuteRequest, Kernel, KernelEvent, LaunchOptions};
use notarium_agent::kernelspecs::Kernelspec;
use notarium_agent::outputs::KernelOutput;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;

pub const PATIENCE: Duration = Duration::from_secs(120);

pub fn python() -> String {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-venv/bin/python");
    let python = std::env::var("NOTARIUM_TEST_PYTHON").map_or(default, PathBuf::from);
    assert!(python.exists(), "{} is missing: `make test` makes it, or set NOTARIUM_TEST_PYTHON", python.display());
    python.to_string_lossy().into_owned()
}

pub fn kernelspec(folder: &TempDir, argv: &[&str]) -> Kernelspec {
    kernelspec_from(folder, &json!({"argv": argv, "display_name": "Test", "language": "python"}))
}

pub fn kernelspec_from(folder: &TempDir, kernel_json: &Value) -> Kernelspec {
    let resource_dir = folder.path().join("test");
    std::fs::create_dir_all(&resource_dir).unwrap();
    std::fs::write(resource_dir.join("kernel.json"), kernel_json.to_string()).unwrap();
    Kernelspec::read(&resource_dir).unwrap()
}

pub fn ipykernel(folder: &TempDir) -> Kernelspec {
    kernelspec(folder, &[&python(), "-m", "ipykernel_launcher", "-f", "{connection_file}"])
}

pub struct Test {
    pub kernel: Kernel,
    pub events: mpsc::Receiver<KernelEvent>,
    pub folder: TempDir,
    pub next: usize,
}

impl Test {
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    pub async fn start_with(change: impl FnOnce(&mut LaunchOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = LaunchOptions { working_dir: folder.path().to_owned(), ..LaunchOptions::default() };
        change(&mut options);
        let kernelspec = ipykernel(&folder);
        Self::launch(folder, kernelspec, options).await
    }

    /// A kernel in a folder in which another one has ended.
    pub async fn launch_in(folder: TempDir) -> Self {
        let options = LaunchOptions { working_dir: folder.path().to_owned(), ..LaunchOptions::default() };
        let kernelspec = ipykernel(&folder);
        Self::launch(folder, kernelspec, options).await
    }

    pub async fn launch(folder: TempDir, kernelspec: Kernelspec, options: LaunchOptions) -> Self {
        let (sender, events) = mpsc::channel(64);
        let kernel = Kernel::launch(kernelspec, options, sender).await.unwrap();
        let mut test = Self { kernel, events, folder, next: 0 };
        assert!(matches!(test.event().await, KernelEvent::Ready { .. }));
        test
    }

    pub async fn event(&mut self) -> KernelEvent {
        let event = tokio::time::timeout(PATIENCE, self.events.recv()).await;
        event.expect("the kernel says nothing").expect("the driver is gone")
    }

    pub async fn execute(&mut self, source: &str) -> String {
        self.next += 1;
        let id = format!("run {}", self.next);
        self.kernel.execute(ExecuteRequest::new(id.clone(), source)).await.unwrap();
        id
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

    pub async fn run(&mut self, source: &str) -> Vec<KernelEvent> {
        let id = self.execute(source).await;
        self.until(|event| is_finished(event, &id)).await
    }

    pub async fn shown(&mut self, source: &str) -> Vec<String> {
        let events = self.run(source).await;
        shown(&events)
    }

    pub async fn until_text(&mut self, text: &str) {
        self.until(|event| matches!(event, KernelEvent::Output { execution_id: Some(_), output: KernelOutput::Stream { text: wrote, .. } } if wrote.contains(text))).await;
    }
}

pub fn is_finished(event: &KernelEvent, id: &str) -> bool {
    matches!(event, KernelEvent::Finished { execution_id, .. } if execution_id == id)
}

/// Short forms of execution events: outputs in order, streams joined. Outputs without an execution are left out, such as the
/// debugger's warning that ipykernel writes when it starts.
pub fn shown(events: &[KernelEvent]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for event in events.iter().filter(|event| !matches!(event, KernelEvent::Output { execution_id: None, .. })) {
        match (brief(event), lines.last_mut()) {
            ((kind, text), Some(last)) if kind.starts_with("std") && last.starts_with(&format!("{kind}:")) => {
                last.push_str(&text)
            }
            ((kind, text), _) => lines.push(format!("{kind}:{text}")),
        }
    }
    lines
}

pub fn brief(event: &KernelEvent) -> (String, String) {
    match event {
        KernelEvent::Started { .. } => ("started".into(), String::new()),
        KernelEvent::Output { output, .. } => brief_output(output),
        KernelEvent::InputRequest { prompt, password, .. } => {
            (if *password { "password" } else { "input" }.into(), prompt.clone())
        }
        KernelEvent::Finished { status, execution_count, .. } => {
            ("finished".into(), format!("{status:?} {}", execution_count.unwrap_or(0)))
        }
        other => ("other".into(), format!("{other:?}")),
    }
}

pub fn brief_output(output: &KernelOutput) -> (String, String) {
    match output {
        KernelOutput::Stream { name, text } => (name.clone(), text.clone()),
        KernelOutput::Clear { wait } => ("clear".into(), wait.to_string()),
        KernelOutput::Update { display_id, content } => {
            let content: Value = serde_json::from_str(content.get()).unwrap();
            ("update".into(), format!("{display_id} {}", content["data"]["text/plain"]))
        }
        KernelOutput::Object { output, display_id } => {
            let output: Value = serde_json::from_str(output.get()).unwrap();
            let kind = output["output_type"].as_str().unwrap().to_owned();
            let text = if kind == "error" { output["ename"].clone() } else { output["data"]["text/plain"].clone() };
            (kind, format!("{text}{}", display_id.as_deref().map(|id| format!(" as {id}")).unwrap_or_default()))
        }
    }
}
