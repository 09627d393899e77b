//! Tests of the measured memory and CPU use of kernels.

use notarium_core::Command;

use crate::processes::Fixture;

#[tokio::test(flavor = "multi_thread")]
async fn the_memory_and_processor_of_a_kernel_and_its_children_are_shown() {
    let fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let mut ada = fixture.person().await;
    let id = ada.run("kept = b'x' * (300 << 20)").await;
    ada.until_over(&id).await;
    // Threads of a process share its memory.
    ada.until_usage(|usage| (300 << 20..600 << 20).contains(&usage.memory_bytes)).await;
    let child = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'while True: pass'])";
    let busy = ada.run(child).await;
    ada.until_usage(|usage| usage.cpu_percent.is_some_and(|percent| percent > 10)).await;

    let listed = |more: &[&str]| {
        let mut command = fixture.owner_of(fixture.address());
        let output = command.args(["kernels", "ls", ada.notebook().as_str()]).args(more).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(listed(&[]).contains("MiB, "), "{}", listed(&[]));
    let json: serde_json::Value = serde_json::from_str(&listed(&["--json"])).unwrap();
    assert!(json["status"][0]["usage"]["memory_bytes"].as_u64().unwrap() > 300 << 20, "{json:#}");
    let kernel_session = json["status"][0]["kernel_session"].as_str().unwrap().parse().unwrap();
    ada.command(Command::InterruptKernel { kernel_session }).await;
    ada.until_over(&busy).await;
    agent.stop();
}
