//! Kernels through the Jupyter door, with the clients that people have: `make deps` installs them.

use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::processes::{Fixture, environment};

#[tokio::test(flavor = "multi_thread")]
async fn jupyters_clients_run_code_on_a_real_kernel() {
    let fixture = Fixture::start_with(&["--door", "jupyter"]).await;
    let mut agent = fixture.agent().await;
    agent.line_with("").await;
    let output = Command::new(environment().join("bin/python"))
        .arg("kernels.py")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/jupyter"))
        .env("NOTARIUM_URL", format!("http://{}", fixture.address()))
        .env("NOTARIUM_TOKEN", fixture.session())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .expect("python runs");
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{said}");
    agent.stop();
}
