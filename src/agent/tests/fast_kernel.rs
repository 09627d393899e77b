//! The kernel driver against jupyter-zmq-client's test kernel: a process without Python that echoes its code.

use std::path::Path;
use std::time::{Duration, Instant};

use jupyter_zmq_client::{TestKernel, TestKernelConfig};
use notarium_agent::kernel::{
    EndCause, ExecuteRequest, ExitStatus, FinishStatus, Kernel, KernelEvent, LaunchOptions, TransportChoice,
};
use notarium_agent::kernelspecs::Kernelspec;
use notarium_agent::outputs::KernelOutput;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::mpsc;

/// Not a test: the kernel process. The tests start this binary with this test's name and a connection file.
#[tokio::test]
#[ignore = "is started by the other tests"]
async fn kernel_process() {
    let Some(connection_file) = std::env::args().find(|argument| argument.ends_with("kernel.json")) else { return };
    let kernel = TestKernel::start_from_file(Path::new(&connection_file), TestKernelConfig::default()).await.unwrap();
    kernel.await.unwrap().unwrap();
}

async fn launch(transport: TransportChoice) -> (Kernel, mpsc::Receiver<KernelEvent>, TempDir) {
    let this = std::env::current_exe().unwrap();
    launch_argv(transport, &[this.to_str().unwrap(), "--ignored", "--exact", "kernel_process", "{connection_file}"])
        .await
}

async fn launch_argv(transport: TransportChoice, argv: &[&str]) -> (Kernel, mpsc::Receiver<KernelEvent>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let resource_dir = folder.path().join("echo");
    std::fs::create_dir(&resource_dir).unwrap();
    std::fs::write(resource_dir.join("kernel.json"), json!({"argv": argv}).to_string()).unwrap();
    let (sender, mut events) = mpsc::channel(16);
    let options = LaunchOptions { transport, working_dir: folder.path().to_owned(), ..LaunchOptions::default() };
    let kernel = Kernel::launch(Kernelspec::read(&resource_dir).unwrap(), options, sender).await.unwrap();
    assert!(matches!(next(&mut events).await, KernelEvent::Ready { .. }));
    (kernel, events, folder)
}

async fn next(events: &mut mpsc::Receiver<KernelEvent>) -> KernelEvent {
    tokio::time::timeout(Duration::from_secs(120), events.recv())
        .await
        .expect("the kernel says nothing")
        .expect("the driver is gone")
}

#[tokio::test]
async fn code_is_echoed_over_both_transports() {
    for transport in [TransportChoice::Automatic, TransportChoice::Ipc] {
        let (kernel, mut events, _folder) = launch(transport).await;
        kernel.execute(ExecuteRequest::new("a", "héllo")).await.unwrap();
        assert!(matches!(next(&mut events).await, KernelEvent::Started { execution_id } if execution_id == "a"));
        let KernelEvent::Output { execution_id: Some(id), output: KernelOutput::Stream { text, .. } } =
            next(&mut events).await
        else {
            panic!()
        };
        assert_eq!((id.as_str(), text.as_str()), ("a", "héllo"));
        assert!(matches!(
            next(&mut events).await,
            KernelEvent::Finished { status: FinishStatus::Ok, execution_count: Some(1), .. }
        ));
    }
}

#[tokio::test]
async fn thousands_of_queued_executions_finish_in_order() {
    const COUNT: usize = 1500;
    let (kernel, mut events, _folder) = launch(TransportChoice::Ipc).await;
    let requests = async {
        for number in 0..COUNT {
            kernel.execute(ExecuteRequest::new(number.to_string(), "x")).await.unwrap();
        }
    };
    let finishes = async {
        let mut finished = Vec::new();
        while finished.len() < COUNT {
            if let KernelEvent::Finished { execution_id, .. } = next(&mut events).await {
                finished.push(execution_id);
            }
        }
        finished
    };
    let ((), finished) = tokio::join!(requests, finishes);
    assert!(finished.iter().enumerate().all(|(number, id)| *id == number.to_string()));
}

#[tokio::test]
async fn a_killed_process_ends_the_session() {
    let (kernel, mut events, _folder) = launch(TransportChoice::Ipc).await;
    let process = rustix::process::Pid::from_raw(i32::try_from(kernel.process_id()).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    let KernelEvent::Ended { cause, unfinished } = next(&mut events).await else { panic!() };
    assert!(matches!(cause, EndCause::Died { status: ExitStatus::Signal(9), .. }));
    assert!(unfinished.is_empty());
    assert!(kernel.execute(ExecuteRequest::new("after", "x")).await.is_err());
}

#[tokio::test]
async fn a_shutdown_is_polite() {
    let (kernel, mut events, _folder) = launch(TransportChoice::Ipc).await;
    let asked = Instant::now();
    kernel.shutdown(LaunchOptions::default().shutdown_timeout).await;
    assert!(asked.elapsed() < LaunchOptions::default().shutdown_timeout, "it had to be killed");
    assert!(matches!(next(&mut events).await, KernelEvent::Ended { cause: EndCause::Shutdown, .. }));
    assert!(events.recv().await.is_none());
}

#[tokio::test]
async fn a_kernel_that_lost_its_port_is_started_again() {
    let script = r#"[ -e robbed ] && exec "$0" --ignored --exact kernel_process "$1"
        touch robbed; echo "ZMQError: Address already in use (addr='tcp://127.0.0.1:1')" >&2; exit 1"#;
    let this = std::env::current_exe().unwrap();
    let argv = ["/bin/sh", "-c", script, this.to_str().unwrap(), "{connection_file}"];
    let (_kernel, _events, folder) = launch_argv(TransportChoice::Tcp, &argv).await;
    assert!(folder.path().join("robbed").exists());
}
