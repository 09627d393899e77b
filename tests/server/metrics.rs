//! Tests of metrics: for administrators, or at an address of their own, which serves nothing else.

use super::subjects::administrator;
use crate::support::{Http, TestServer};

#[tokio::test]
async fn only_administrators_read_the_metrics() {
    let server = TestServer::start().await;
    assert_eq!(server.running().metrics_addr, None);
    let ann = server.person("Ann").await;
    assert_eq!(server.http_as("").without_token().get("/metrics").await.refused(401), "unauthenticated");
    assert_eq!(server.http(&ann).get("/metrics").await.refused(403), "forbidden");
    let root = administrator(&server, "Root").await;
    let answer = server.http(&root).get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert!(answer.text.contains("\nnotarium_open_notebooks 0\n"), "{}", answer.text);
}

#[tokio::test]
async fn an_address_of_their_own_serves_the_metrics_alone_and_without_a_token() {
    let server = TestServer::with(|config| config.metrics_listen = Some(([127, 0, 0, 1], 0).into())).await;
    let address = server.running().metrics_addr.unwrap();
    let metrics = Http::new(format!("http://{address}"), None);
    assert!(metrics.get("/metrics").await.text.contains("\nnotarium_open_notebooks 0\n"));
    for path in ["/", "/healthz", "/api/notebooks", "/api/socket"] {
        assert_eq!(metrics.get(path).await.status, 404, "{path}");
    }
    let ann = server.person("Ann").await;
    assert_eq!(server.http(&ann).get("/metrics").await.refused(403), "forbidden", "the other address stays closed");
}
