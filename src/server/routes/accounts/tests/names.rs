//! Search for people, and names of people and guests.

use super::*;

async fn names(server: &Server, token: &str, text: &str) -> Vec<String> {
    let found = server.get(&format!("/api/people/matching?text={text}"), token).await.made();
    found.body.as_array().unwrap().iter().map(|person| person["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn people_find_those_of_their_workspaces_and_administrators_find_everybody() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let mut tokens = BTreeMap::new();
    for login in ["bob", "bea", "carl"] {
        tokens.insert(login, server.person(&owner, login).await);
    }
    let (bob, bea) = (&tokens["bob"], &tokens["bea"]);
    assert_eq!(names(&server, &bob.0, "b").await, [""; 0], "of no workspace: nobody is listed");
    let lab = server.post("/api/workspaces", &bob.0, json!({"name": "Lab"})).await.made().text("id");
    assert_eq!(names(&server, &bob.0, "b").await, ["bob"]);
    server.put(&format!("/api/workspaces/{lab}/members/{}", bea.1), &bob.0, json!({"role": "viewer"})).await.made();
    assert_eq!(names(&server, &bob.0, "B").await, ["bea", "bob"]);
    assert_eq!(names(&server, &bea.0, "bo").await, ["bob"]);
    assert_eq!(names(&server, &bob.0, "carl").await, [""; 0]);
    assert_eq!(names(&server, &owner, "carl").await, ["carl"]);
    server.put("/api/me", &tokens["carl"].0, json!({"name": "Karl Löwe", "login": "carl"})).await.made();
    for text in ["l%C3%B6", "karl%20l%C3%B6we", "carl", "KARL"] {
        assert_eq!(names(&server, &owner, text).await, ["Karl Löwe"], "{text}");
    }
    assert_eq!(names(&server, &owner, "arl").await, [""; 0], "words are found by their beginnings");
    server.post(&format!("/api/users/{}/deactivate", tokens["carl"].1), &owner, Value::Null).await.made();
    assert_eq!(names(&server, &owner, "carl").await, [""; 0]);
    for text in ["", "%20", &"x".repeat(101)] {
        server.get(&format!("/api/people/matching?text={text}"), &owner).await.refused(400, "invalid_value");
    }
}

#[tokio::test]
async fn guests_read_names_and_list_nobody() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let me = server.get("/api/me", &owner).await.made();
    let id = UserId::new(me.body["user"]["id"].as_str().unwrap()).unwrap();
    server.notebooks.give("n1", Subject::User { id: id.clone() }, Role::Owner);
    let links = "/api/notebooks/n1/share-links";
    let named = server.post(links, &owner, json!({"role": "editor", "label": "Dr. Who"})).await.made();
    let guest = named.text("token");
    assert_eq!(server.get(&format!("/api/people/{id}"), &guest).await.made().text("name"), "Ann");
    server.get("/api/people/matching?text=a", &guest).await.refused(403, "forbidden");
    server.get("/api/people?login=ann", &guest).await.refused(403, "forbidden");
    let id_of = |answer: &Answer| answer.body["id"].as_str().unwrap().to_owned();
    let path = format!("/api/guests/{}", id_of(&named));
    for token in [&guest, &owner] {
        assert_eq!(server.get(&path, token).await.made().text("name"), "Dr. Who");
    }
    let plain = server.post(links, &owner, json!({"role": "viewer"})).await.made();
    let path = format!("/api/guests/{}", id_of(&plain));
    assert_eq!(server.get(&path, &owner).await.made().text("name"), "Guest");
    server.accounts.guest_says(&id_of(&plain).parse().unwrap(), "Zoe");
    assert_eq!(server.get(&path, &guest).await.made().text("name"), "Zoe");
    server.get("/api/guests/nobody", &owner).await.refused(404, "not_found");
}

#[tokio::test]
async fn the_audit_has_the_names_of_what_was_changed() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let workspace = server.post("/api/workspaces", &owner, json!({"name": "Lab"})).await.made().text("id");
    let (_, bob) = server.person(&owner, "bob").await;
    server.put(&format!("/api/workspaces/{workspace}/members/{bob}"), &owner, json!({"role": "editor"})).await.made();
    server.put(&format!("/api/workspaces/{workspace}"), &owner, json!({"name": "Laboratory"})).await.made();
    server.post("/api/tokens", &owner, json!({"scopes": ["read"], "label": "laptop"})).await.made();
    server.post("/api/tokens", &owner, json!({"scopes": ["read"]})).await.made();
    server.post("/api/agents", &owner, json!({"name": "GPU"})).await.made();

    let audit = server.get("/api/audit", &owner).await.made();
    let named = |action: &str| {
        let entries = audit.body.as_array().unwrap().iter().rev().filter(|entry| entry["action"] == action);
        entries.map(|entry| entry.get("name").and_then(Value::as_str)).collect::<Vec<_>>()
    };
    // The name as it is now.
    assert_eq!(named("workspace.create"), [Some("Laboratory")]);
    assert_eq!(named("workspace.member"), [Some("Laboratory")]);
    assert_eq!(named("token.create"), [Some("laptop"), None]);
    assert_eq!(named("agent.create"), [Some("GPU")]);
    assert_eq!(named("user.create"), [None, None]);
}
