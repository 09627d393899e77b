//! Every route, whatever its kind, says who may use it; what is checked in says the same as what is served.

use std::collections::BTreeSet;
use std::path::Path;

use notarium_server::guard::Guard;
use notarium_server::origin::AllowedOrigins;
use notarium_server::routes;

use crate::support::TestServer;

#[tokio::test]
async fn every_route_has_a_guard_that_holds() {
    let server = TestServer::start().await;
    let all = routes::all(server.running().app(), AllowedOrigins::default(), "http://localhost");
    let open: BTreeSet<String> = all
        .guards
        .iter()
        .filter(|route| matches!(route.guard, Guard::Public | Guard::Socket))
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    let expected =
        ["GET /", "GET /api/openapi.json", "GET /api/socket", "GET /healthz", "GET /readyz", "POST /api/session"];
    let expected: BTreeSet<String> = expected.map(str::to_owned).into();
    assert_eq!(open, expected, "a route is open to anybody: is that meant?");
    // Nothing is served that is not in the list.
    for (path, item) in &all.openapi.paths.paths {
        let listed = all.guards.iter().filter(|route| route.path == *path).count();
        let text = serde_json::to_value(item).unwrap();
        let methods =
            ["get", "put", "post", "delete", "patch"].iter().filter(|method| text.get(method).is_some()).count();
        assert_eq!(listed, methods, "{path}");
    }
    let http = server.http_as("none").without_token();
    let viewer = server.http(&server.person("Bob").await);
    for route in all.guards.iter().filter(|route| !matches!(route.guard, Guard::Public | Guard::Socket)) {
        let path = concrete(&route.path);
        let method: reqwest::Method = route.method.as_str().parse().unwrap();
        let answer = http.send(http.request(method.clone(), &path)).await;
        assert_eq!(answer.refused(401), "unauthenticated", "{method} {path}");
        if matches!(route.guard, Guard::Notebook(_)) {
            let answer = viewer.send(viewer.request(method.clone(), &path)).await;
            assert_eq!(answer.refused(404), "unknown_notebook", "{method} {path}");
        }
    }
}

/// The path with an id for each parameter.
fn concrete(path: &str) -> String {
    path.split('/').map(|part| if part.starts_with('{') { "x" } else { part }).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn the_openapi_document_is_the_one_that_is_checked_in() {
    let server = TestServer::start().await;
    let served = server.http_as("none").without_token().get("/api/openapi.json").await.text;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol/openapi.json");
    if std::env::var_os("UPDATE_PROTOCOL").is_some() {
        std::fs::write(&path, &served).unwrap();
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(served == checked_in, "protocol/openapi.json is stale: run the tests once with UPDATE_PROTOCOL=1");
}
