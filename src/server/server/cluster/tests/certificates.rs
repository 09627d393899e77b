//! Nodes that show each other certificates.

use http::Method;
use notarium_core::{Command, RawObject};
use serde_json::json;

use super::scene::{SECRET, Scene};
use crate::auth::ForwardedCaller;
use crate::cluster::{Cluster, HOPS, IDENTITY, Peers};
use crate::tls::tests::Authority;

#[tokio::test]
async fn requests_and_sockets_are_forwarded_by_nodes_with_certificates() {
    let (scene, nodes) = Scene::with_certificates(2).await;
    assert!(nodes.iter().all(|node| node.cluster.url().starts_with("https://")));
    let here = scene.http(&nodes[0]);
    let notebook = scene.notebook_of(&nodes[1]).await;
    here.post("/api/notebooks", json!({"id": notebook, "title": "Notes"})).await.ok();
    let path = format!("/api/notebooks/{notebook}");
    assert_eq!(here.get(&path).await.ok()["notebook"]["title"], "Notes");
    let mut client = scene.connect(&nodes[0]).await;
    client.subscribe(&notebook).await;
    client.run(&notebook, &Command::RenameNotebook { title: "By socket".to_owned() }).await.unwrap();
    assert_eq!(here.get(&path).await.ok()["notebook"]["title"], "By socket");
    let own = scene.notebook_of(&nodes[0]).await;
    let create = Command::CreateNotebook { title: "Own".to_owned(), metadata: RawObject::default(), forked_from: None };
    client.run(&own, &create).await.unwrap();
    assert!(client.errors.is_empty() && client.rejects.is_empty());
    assert!(nodes[1].running().app().rooms.open_ids().contains(&notebook.parse().unwrap()));
}

#[tokio::test]
async fn a_node_without_a_certificate_of_the_cluster_speaks_for_nobody() {
    let (scene, nodes) = Scene::with_certificates(2).await;
    let notebook = scene.notebook_of(&nodes[1]).await;
    scene.http(&nodes[0]).post("/api/notebooks", json!({"id": notebook, "title": "Theirs"})).await.ok();
    let path = format!("/api/notebooks/{notebook}");
    let who = nodes[0].running().app().accounts.authenticate(&scene.token).await.unwrap();
    let caller = ForwardedCaller::from(&who);
    let identity = |peers: &Peers| peers.sign(&Method::GET, &path, &caller).unwrap();
    let ask = async |peers: &Peers| {
        let request = peers.http().get(format!("{}{path}", nodes[1].cluster.url()));
        request.header(IDENTITY, identity(peers)).header(HOPS, "1").send().await
    };
    let ours = nodes[0].cluster.peers().unwrap();
    assert_eq!(ask(ours).await.unwrap().status(), 200);
    // The right secret without a certificate, and with one of another authority.
    let bare = Peers::new(&SECRET.into(), None);
    assert!(ask(&bare).await.is_err());
    let authority = Authority::new();
    let settings = crate::cluster::ClusterSettings {
        url: "https://127.0.0.1:1".to_owned(),
        secret: SECRET.into(),
        certificates: Some(authority.node("127.0.0.1")),
        listen: None,
    };
    let stranger = Peers::new(&SECRET.into(), settings.open_tls().unwrap());
    assert!(ask(&stranger).await.is_err());
    // The address of everybody takes no signed identity.
    let http = scene.http(&nodes[1]).without_token();
    let request = http.request(Method::GET, &path).header(IDENTITY, identity(ours)).header(HOPS, "1");
    assert_eq!(http.send(request).await.refused(401), "unauthenticated");
    let command = http.request(Method::POST, "/api/cluster/commands").header(IDENTITY, identity(ours)).body("{}");
    assert_eq!(http.send(command).await.refused(401), "unauthenticated");
}
