//! Tests of clients in other languages against a real server. `make deps` installs their packages.

use std::path::Path;
use std::process::Stdio;

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
