//! Kernels through the Jupyter door, with the clients that people have: `make deps` installs them.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use crate::processes::{Fixture, environment};

#[tokio::test(flavor = "multi_thread")]
async fn jupyters_python_clients_run_code_on_a_real_kernel() {
    passes(environment().join("bin/python"), "kernels.py").await;
}

/// The library of JupyterLab and of VS Code.
#[tokio::test(flavor = "multi_thread")]
async fn jupyterlabs_services_run_code_on_a_real_kernel() {
    assert!(folder().join("node_modules").is_dir(), "run `make deps` first: the client needs its packages");
    passes("node".into(), "services.mjs").await;
}

/// An assistant's tools in notebooks of a Jupyter Server.
#[tokio::test(flavor = "multi_thread")]
async fn jupyter_mcp_server_works_in_a_shared_notebook() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/jupyter-mcp-venv/bin/python");
    assert!(python.exists(), "run `make deps` first: the client needs its packages");
    passes(python, "mcp_server.py").await;
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/jupyter")
}

async fn passes(program: PathBuf, script: &str) {
    let fixture = Fixture::start_noted(&["--door", "jupyter", "--log", "debug"]).await;
    let mut agent = fixture.agent().await;
    let output = Command::new(program)
        .arg(script)
        .current_dir(folder())
        .env("NOTARIUM_URL", format!("http://{}", fixture.address()))
        .env("NOTARIUM_TOKEN", fixture.session())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .expect("the program runs");
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{said}");
    agent.stop();
    // Clients have sent the token in addresses of WebSockets.
    let log = fixture.notes();
    assert!(log.contains("/jupyter/api/kernels/"), "the log names requests: {}", log.len());
    assert!(!log.contains(fixture.session()), "a token is in the log");
}
