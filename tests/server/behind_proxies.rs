//! Tests of client addresses behind proxies: `X-Forwarded-For` counts only if the operator trusts the proxy.

use reqwest::Method;
use serde_json::json;

use crate::support::TestServer;

/// Tries to sign in with a wrong token, through a proxy on this machine; returns the code of the refusal.
async fn attempt(server: &TestServer, forwarded_for: &str) -> String {
    let http = server.http_as("").without_token();
    let request = http.request(Method::POST, "/api/session").json(&json!({"token": "nothing"}));
    let answer = http.send(request.header("x-forwarded-for", forwarded_for)).await;
    let status = if answer.status == 429 { 429 } else { 401 };
    answer.refused(status)
}

/// Repeats attempts with the headers of `of` until one network has too many, even on a slow machine.
async fn exhaust(server: &TestServer, of: impl Fn(usize) -> String) {
    for number in 0..200 {
        match attempt(server, &of(number)).await.as_str() {
            "unauthenticated" => {}
            code => return assert_eq!(code, "too_many_attempts"),
        }
    }
    panic!("it is never too many");
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_network_has_its_own_attempts() {
    let server = TestServer::with(|config| config.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()]).await;
    exhaust(&server, |_| "203.0.113.5".to_owned()).await;
    assert_eq!(attempt(&server, "203.0.113.6").await, "unauthenticated");
    // Addresses that the client itself wrote before the proxy's do not count.
    exhaust(&server, |number| format!("198.51.100.{number}, 203.0.113.6")).await;
    assert_eq!(attempt(&server, "203.0.113.7").await, "unauthenticated");
}

#[tokio::test]
async fn without_trust_the_header_is_the_client_s_word_and_counts_for_nothing() {
    for trusted in [vec![], vec!["192.0.2.0/24".parse().unwrap()]] {
        let server = TestServer::with(|config| config.trusted_proxies = trusted).await;
        exhaust(&server, |number| format!("203.0.113.{number}")).await;
    }
}
