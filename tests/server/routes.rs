//! Tests that every route has a permission check, and that the checked-in description equals the served one.

use std::collections::BTreeSet;

use notarium_server::http::guard::Guard;
use notarium_server::http::origin::AllowedOrigins;
use notarium_server::routes;

use crate::support::TestServer;

#[tokio::test]
async fn every_route_has_a_guard_that_holds() {
    let server = TestServer::start().await;
    let all = routes::all(server.running().app(), AllowedOrigins::default(), "http://localhost");
    let open: BTreeSet<String> = all
        .list
        .iter()
        .filter(|route| matches!(route.guard, Guard::Public | Guard::Socket))
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    let expected = "GET /, GET /.well-known/notarium-keys, GET /api/openapi.json, GET /api/socket, GET /assets/{file}, GET /api/session/options, GET /frame.html, GET /healthz, GET /jupyter/api/status, GET /notebooks/{notebook}, GET /oidc/callback, GET /readyz, \
         POST /api/session, POST /api/session/challenge, POST /api/session/oidc, POST /api/session/oidc/begin, POST /api/session/one-time, \
         POST /api/session/resume";
    let expected: BTreeSet<String> = expected.split(", ").map(str::to_owned).collect();
    assert_eq!(open, expected, "a route is open to anybody: is that meant?");
    // Every served route is in the list.
    let document = server.http_as("none").without_token().get("/api/openapi.json").await.ok();
    for (path, item) in document["paths"].as_object().unwrap() {
        let listed = all.list.iter().filter(|route| route.path == path).count();
        assert_eq!(listed, item.as_object().unwrap().len(), "{path}");
    }
    let http = server.http_as("none").without_token();
    let viewer = server.http(&server.person("Bob").await);
    for route in all.list.iter().filter(|route| !matches!(route.guard, Guard::Public | Guard::Socket)) {
        let path = concrete(route.path);
        let method: reqwest::Method = route.method.as_str().parse().unwrap();
        let answer = http.send(http.request(method.clone(), &path)).await;
        assert_eq!(answer.refused(401), "unauthenticated", "{method} {path}");
        if matches!(route.guard, Guard::Notebook(_)) {
            let answer = viewer.send(viewer.request(method.clone(), &path)).await;
            assert_eq!(answer.refused(404), "unknown_notebook", "{method} {path}");
        }
    }
}

/// Returns the path with an id for each parameter.
fn concrete(path: &str) -> String {
    path.split('/').map(|part| if part.starts_with('{') { "x" } else { part }).collect::<Vec<_>>().join("/")
}
