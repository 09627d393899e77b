//! Tests of clients in other languages against a real server. `make deps` installs their packages.

use std::path::Path;
use std::process::Stdio;

use notarium_core::Scope;
use notarium_jupyter_door::{DoorOptions, JupyterLimits};
use notarium_server::MountContext;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

use crate::support::TestServer;

/// Runs a client that was written only from `protocol/README.md` and the schemas.
async fn strangers_client(program: &str, folder: &str, test: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop").join(folder);
    let server = TestServer::start().await;
    let person = server.person("Ada").await;
    let output = Command::new(program)
        .arg(test)
        .current_dir(folder)
        .env("NOTARIUM_URL", server.url())
        .env("NOTARIUM_TOKEN", &person.token)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .expect("node runs");
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_in_node_written_from_the_document_alone_works() {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/stranger/node_modules");
    assert!(packages.is_dir(), "run `make deps` first: the client needs its packages");
    strangers_client("node", "stranger", "test.mjs").await;
}

/// The client has about 400 lines, which it checks itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_in_python_written_from_the_document_alone_works() {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-venv/bin/python");
    let python = std::env::var_os("NOTARIUM_TEST_PYTHON").map_or(default, Into::into);
    strangers_client(&python.to_string_lossy(), "stranger_py", "test.py").await;
}

/// The clients that people have, with restarts of the server and a revoked token between.
#[tokio::test(flavor = "multi_thread")]
async fn jupyters_clients_edit_a_shared_notebook() {
    let mut server = TestServer::start().await;
    mount_jupyter(&server);
    let (owner, viewer) = (server.person("Ada").await, server.person("Eve").await);
    let viewer_token = server.api_token(&viewer, &[Scope::Read]).await;
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-venv/bin/python");
    let mut client = Command::new(std::env::var_os("NOTARIUM_TEST_PYTHON").map_or(default, Into::into))
        .arg("test.py")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/jupyter"))
        .env("NOTARIUM_URL", server.url())
        .env("NOTARIUM_TOKEN", &owner.token)
        .env("NOTARIUM_VIEWER", viewer.id.as_str())
        .env("NOTARIUM_VIEWER_TOKEN", &viewer_token)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("python runs");
    let mut input = client.stdin.take().expect("it is piped");
    let mut lines = BufReader::new(client.stdout.take().expect("it is piped")).lines();
    let mut printed = String::new();
    while let Some(line) = lines.next_line().await.expect("it prints text") {
        match line.as_str() {
            "restart" | "restart without documents" => {
                server.stop().await;
                if line.ends_with("documents") {
                    std::fs::remove_dir_all(server.folder().join("jupyter")).expect("documents were kept");
                }
                server.start_again().await;
                mount_jupyter(&server);
            }
            "revoke" => server.revoke(&viewer_token).await,
            line => {
                printed += &format!("{line}\n");
                continue;
            }
        }
        input.write_all(b"done\n").await.expect("it waits for this");
    }
    let ended = client.wait_with_output().await.expect("it ends");
    assert!(ended.status.success(), "{printed}{}", String::from_utf8_lossy(&ended.stderr));
}

fn mount_jupyter(server: &TestServer) {
    let MountContext { api, address, stopping, tasks, folder } = server.running().mount_context();
    // Small enough for a test that makes a document outgrow it.
    let limits = JupyterLimits { max_document_growth_bytes: 4 << 20, ..JupyterLimits::default() };
    let folder = Some(folder.join("jupyter"));
    let options = DoorOptions { api, server: address, stopping, tasks, folder, limits };
    server.running().mount_jupyter(notarium_jupyter_door::router(options));
}
