//! Clients in other languages against a real server. Their packages come with `make deps`.

mod support;

use std::path::Path;
use std::process::Stdio;

use support::TestServer;
use tokio::process::Command;

/// Written from `protocol/README.md` and the schemas alone, by somebody who had not seen the server.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_written_from_the_document_alone_works() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/stranger");
    assert!(folder.join("node_modules").is_dir(), "run `make deps` first: the client needs its packages");
    let server = TestServer::start().await;
    let person = server.person("Ada").await;
    let output = Command::new("node")
        .arg("test.mjs")
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
