//! Tokens, workspaces, share links; secrets in the data folder.

use super::*;

// --- tokens ---

#[tokio::test]
async fn confirm_is_for_persons_who_ask_for_it() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let create = async |scopes: Value| server.post("/api/tokens", &owner, json!({"scopes": scopes})).await;
    let plain = create(json!(["read", "edit", "run", "manage"])).await.made();
    assert_eq!(plain.body["scopes"], json!(["read", "edit", "run", "manage"]), "nothing comes unasked");
    let with_confirm = create(json!(["read", "confirm"])).await.made();
    let me = server.get("/api/me", &with_confirm.text("token")).await.made();
    assert_eq!(me.body["scopes"], json!(["read", "confirm"]));
    create(json!(["read", "agent"])).await.refused(400, "invalid_value");
    create(json!(["edit"])).await.refused(400, "invalid_value");
    create(json!(["read", "everything"])).await.refused(400, "malformed");
    let by_token = json!({"scopes": ["read"]});
    server.post("/api/tokens", &plain.text("token"), by_token).await.refused(403, "forbidden");
    let asking = json!({"name": "GPU", "scopes": ["read", "agent", "confirm"]});
    server.post("/api/agents", &owner, asking).await.refused(400, "malformed");
    let agent = server.post("/api/agents", &owner, json!({"name": "GPU"})).await.made();
    assert_eq!(agent.body["scopes"], json!(["read", "agent"]));
    let (bob, _) = server.person(&owner, "bob").await;
    let asking = json!({"scopes": ["read", "admin"]});
    server.post("/api/tokens", &bob, asking).await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_token_is_listed_and_revoked_by_who_made_it() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let (bob, _) = server.person(&owner, "bob").await;
    // The list is sorted by time, and signing in made a token too.
    server.advance(1);
    let new = json!({"label": "script", "scopes": ["read"], "expires_at": START + DAY});
    let token = server.post("/api/tokens", &bob, new).await.made();
    let (text, id) = (token.text("token"), token.text("id"));
    let listed = server.get("/api/tokens", &bob).await.made().body;
    assert_eq!((&listed[0]["label"], listed[0].get("token")), (&json!("script"), None));
    let (carl, _) = server.person(&owner, "carl").await;
    server.delete(&format!("/api/tokens/{id}"), &carl).await.refused(404, "not_found");
    server.get("/api/me", &text).await.made();
    let mut followed = server.accounts.follow(&server.accounts.authenticate(&text).await.unwrap()).await.unwrap();
    server.delete(&format!("/api/tokens/{id}"), &bob).await.made();
    assert_eq!(followed.changed().await.unwrap_err(), AuthError::Revoked);
    server.get("/api/me", &text).await.refused(401, "token_revoked");
    let past = json!({"scopes": ["read"], "expires_at": START});
    server.post("/api/tokens", &bob, past).await.refused(400, "invalid_value");
}

#[tokio::test]
async fn a_connection_hears_that_its_token_expired() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let new = json!({"scopes": ["read"], "expires_at": START + 5});
    let token = server.post("/api/tokens", &owner, new).await.made().text("token");
    let who = server.accounts.authenticate(&token).await.unwrap();
    let mut followed = server.accounts.follow(&who).await.unwrap();
    server.advance(5);
    assert_eq!(followed.changed().await.unwrap_err(), AuthError::Expired);
    assert_eq!(server.accounts.follow(&who).await.err(), Some(AuthError::Expired));
    server.get("/api/me", &token).await.refused(401, "token_expired");
}

#[tokio::test]
async fn a_token_bound_to_notebooks_sees_no_other() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let owner_id = server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap().to_owned();
    for notebook in ["n1", "n2"] {
        server.notebooks.give(notebook, Subject::User { id: UserId::new(&owner_id).unwrap() }, Role::Owner);
    }
    let new = json!({"scopes": ["read", "manage"], "covers": {"notebooks": ["n1"]}});
    let token = server.post("/api/tokens", &owner, new).await.made().text("token");
    server.get("/api/notebooks/n1/share-links", &token).await.made();
    server.get("/api/notebooks/n2/share-links", &token).await.refused(404, "unknown_notebook");
    let who = server.accounts.authenticate(&token).await.unwrap();
    let (inside, outside) = (NotebookId::new("n1").unwrap(), NotebookId::new("n2").unwrap());
    assert_eq!(who.authority_for(&inside).scopes, [Scope::Read, Scope::Manage].into());
    assert_eq!(who.authority_for(&outside), notarium_core::Authority::default());
    server.post("/api/workspaces", &token, json!({"name": "Lab"})).await.refused(403, "forbidden");
    let both = json!({"scopes": ["read"], "covers": {"notebooks": ["n1"], "workspace": "w"}});
    server.post("/api/tokens", &owner, both).await.refused(400, "invalid_value");
    let none = json!({"scopes": ["read"], "covers": {"notebooks": []}});
    server.post("/api/tokens", &owner, none).await.refused(400, "invalid_value");
}

#[tokio::test]
async fn an_agent_is_let_in_by_who_may_share() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let (bob, bob_id) = server.person(&owner, "bob").await;
    let subject = Subject::User { id: bob_id };
    server.notebooks.give("own", subject.clone(), Role::Owner);
    server.notebooks.give("shared", subject, Role::Editor);
    let create = async |covers: Value| server.post("/api/agents", &bob, json!({"name": "GPU", "covers": covers})).await;
    create(json!({"notebooks": ["shared"]})).await.refused(403, "forbidden");
    create(json!({"notebooks": ["own", "secret"]})).await.refused(404, "unknown_notebook");
    create(json!({"workspace": "elsewhere"})).await.refused(404, "not_found");
    create(json!({})).await.refused(403, "forbidden");
    let agent = create(json!({"notebooks": ["own"]})).await.made();
    let who = server.accounts.authenticate(&agent.text("token")).await.unwrap();
    assert!(matches!(&who.actor, Actor::Agent { id } if id.as_str() == agent.text("agent")));
    assert_eq!(who.authority_for(&NotebookId::new("own").unwrap()), notarium_core::Authority::agent());
    assert_eq!(who.authority_for(&NotebookId::new("shared").unwrap()), notarium_core::Authority::default());
    assert_eq!(server.get("/api/agents", &bob).await.made().body.as_array().unwrap().len(), 1);
    assert_eq!(server.get("/api/agents", &owner).await.made().body.as_array().unwrap().len(), 1, "an administrator's");
    server.delete(&format!("/api/agents/{}", agent.text("id")), &bob).await.made();
    assert_eq!(server.accounts.authenticate(&agent.text("token")).await.unwrap_err(), AuthError::Revoked);
}

// --- workspaces ---

#[tokio::test]
async fn a_workspace_gives_its_members_their_role_until_they_leave() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let owner_id = UserId::new(server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap()).unwrap();
    let (bob, bob_id) = server.person(&owner, "bob").await;
    server.notebooks.give("n1", Subject::User { id: owner_id.clone() }, Role::Owner);
    let lab = server.post("/api/workspaces", &owner, json!({"name": "Lab"})).await.made().text("id");
    let mut followed = server.accounts.follow(&server.accounts.authenticate(&bob).await.unwrap()).await.unwrap();
    let member = format!("/api/workspaces/{lab}/members/{bob_id}");
    server.put(&member, &bob, json!({"role": "owner"})).await.refused(404, "not_found");
    server.put(&member, &owner, json!({"role": "agent"})).await.refused(400, "invalid_value");
    server.put(&member, &owner, json!({"role": "editor"})).await.made();
    let notebook = NotebookId::new("n1").unwrap();
    assert_eq!(followed.changed().await.unwrap().authority_for(&notebook).ambient_role, None);
    server.put("/api/notebooks/n1/workspace", &owner, json!({"workspace": lab})).await.made();
    assert_eq!(followed.changed().await.unwrap().authority_for(&notebook).ambient_role, Some(Role::Editor));
    server.put(&member, &bob, json!({"role": "owner"})).await.refused(403, "forbidden");
    let rename = json!({"name": "Mine"});
    server.put(&format!("/api/workspaces/{lab}"), &bob, rename).await.refused(403, "forbidden");
    let listed = server.get("/api/workspaces", &bob).await.made().body;
    assert_eq!((&listed[0]["name"], &listed[0]["role"]), (&json!("Lab"), &json!("editor")));
    assert_eq!(
        server.get(&format!("/api/workspaces/{lab}/members"), &bob).await.made().body.as_array().unwrap().len(),
        2
    );
    server.delete(&member, &bob).await.made();
    assert_eq!(followed.changed().await.unwrap().authority_for(&notebook).ambient_role, None);
    let last = format!("/api/workspaces/{lab}/members/{owner_id}");
    server.delete(&last, &owner).await.refused(409, "last_owner");
}

#[tokio::test]
async fn an_agent_of_a_workspace_follows_its_notebooks() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let owner_id = UserId::new(server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap()).unwrap();
    server.notebooks.give("n1", Subject::User { id: owner_id }, Role::Owner);
    let lab = server.post("/api/workspaces", &owner, json!({"name": "Lab"})).await.made().text("id");
    let new = json!({"name": "GPU", "covers": {"workspace": lab}});
    let agent = server.post("/api/agents", &owner, new).await.made().text("token");
    let who = server.accounts.authenticate(&agent).await.unwrap();
    let mut followed = server.accounts.follow(&who).await.unwrap();
    let notebook = NotebookId::new("n1").unwrap();
    assert!(!who.may_see(&notebook));
    server.put("/api/notebooks/n1/workspace", &owner, json!({"workspace": lab})).await.made();
    assert_eq!(followed.changed().await.unwrap().authority_for(&notebook), notarium_core::Authority::agent());
    server.put("/api/notebooks/n1/workspace", &owner, json!({"workspace": null})).await.made();
    assert!(!followed.changed().await.unwrap().may_see(&notebook));
}

// --- share links ---

#[tokio::test]
async fn a_share_link_opens_one_notebook_until_it_is_revoked() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let owner_id = UserId::new(server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap()).unwrap();
    server.notebooks.give("n1", Subject::User { id: owner_id }, Role::Owner);
    let new = json!({"role": "commenter", "label": "Reviewer", "expires_at": START + DAY});
    let link = server.post("/api/notebooks/n1/share-links", &owner, new).await.made();
    let (token, id) = (link.text("token"), link.text("id"));
    assert_eq!(link.text("url"), format!("https://notes.example.org/notebooks/n1#token={token}"));
    let who = server.accounts.authenticate(&token).await.unwrap();
    let subject = subject_of(&who.actor).unwrap();
    assert_eq!(server.notebooks.role("n1", &subject), Some(Role::Commenter), "granted in the notebook");
    assert_eq!((who.name.as_str(), who.scopes.contains(&Scope::Confirm)), ("Reviewer", false));
    assert!(who.may_see(&NotebookId::new("n1").unwrap()) && !who.may_see(&NotebookId::new("n2").unwrap()));
    server.get("/api/notebooks/n1/share-links", &token).await.refused(403, "forbidden");
    let listed = server.get("/api/notebooks/n1/share-links", &owner).await.made().body;
    assert_eq!((&listed[0]["id"], listed[0].get("token")), (&json!(id), None));
    let mut followed = server.accounts.follow(&who).await.unwrap();
    server.notebooks.give(
        "n2",
        subject_of(&server.accounts.authenticate(&owner).await.unwrap().actor).unwrap(),
        Role::Owner,
    );
    server.delete(&format!("/api/notebooks/n2/share-links/{id}"), &owner).await.refused(404, "not_found");
    server.delete(&format!("/api/notebooks/n1/share-links/{id}"), &owner).await.made();
    assert_eq!(followed.changed().await.unwrap_err(), AuthError::Revoked);
    assert_eq!(server.notebooks.role("n1", &subject), None);
    server.get("/api/me", &token).await.refused(401, "token_revoked");
}

#[tokio::test]
async fn a_share_link_expires_and_one_that_the_notebook_refuses_is_no_link() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let owner_id = UserId::new(server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap()).unwrap();
    server.notebooks.give("n1", Subject::User { id: owner_id }, Role::Owner);
    let path = "/api/notebooks/n1/share-links";
    let new = json!({"role": "viewer", "expires_at": START + DAY});
    let token = server.post(path, &owner, new).await.made().text("token");
    server.get("/api/me", &token).await.made();
    server.advance(DAY);
    server.get("/api/me", &token).await.refused(401, "token_expired");
    server.notebooks.refuses_grants.store(true, Ordering::SeqCst);
    server.post(path, &owner, json!({"role": "viewer"})).await.refused(400, "invalid_value");
    let listed = server.get(path, &owner).await.made().body;
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

// --- at rest ---

fn files_in(folder: &std::path::Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    files.flatten().collect()
}

#[tokio::test]
async fn no_secret_is_in_the_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let database = Arc::new(Sqlite::open(folder.path()).await.unwrap());
    let server = Server::with_store(database).await;
    let printed = server.accounts.first_start().await.unwrap().unwrap().text.reveal();
    let profile = json!({"token": printed, "name": "Ann", "login": "ann-the-owner", "password": PASSWORD});
    let owner = server.sign_in(profile).await.made().text("token");
    let owner_id = UserId::new(server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap()).unwrap();
    server.notebooks.give("n1", Subject::User { id: owner_id }, Role::Owner);
    let api = server.post("/api/tokens", &owner, json!({"scopes": ["read"]})).await.made().text("token");
    let agent = server.post("/api/agents", &owner, json!({"name": "GPU"})).await.made().text("token");
    let link = server.post("/api/notebooks/n1/share-links", &owner, json!({"role": "viewer"})).await.made();
    let invited = server.post("/api/users", &owner, json!({"name": "Bob", "login": "bob"})).await.made();
    let reset = invited.body["invitation"]["token"].as_str().unwrap().to_owned();
    let bytes = files_in(folder.path());
    let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    assert!(has(b"ann-the-owner") && has(b"$argon2id$"), "the search finds what is there");
    for token in [printed, owner, api, agent, link.text("token"), reset] {
        let secret = token.rsplit('_').next().unwrap();
        assert_eq!(secret.len(), 64);
        assert!(!has(secret.as_bytes()), "{token} is in the data folder");
        assert!(!has(&hex::decode(secret).unwrap()), "{token} is in the data folder, as bytes");
    }
    assert!(!has(PASSWORD.as_bytes()));
}
