//! Tests of workspaces and administrators by groups of an independent OpenID Connect provider.

use notarium_server::{GroupSettings, OidcSettings};
use serde_json::{Value, json};

use super::oidc::{owner, settings, text};
use super::provider::{Browser, Provider};
use crate::support::{Http, TestServer};

/// A server whose groups give rights, with its owner.
struct GroupServer {
    provider: Provider,
    server: TestServer,
    owner: Http,
}

impl GroupServer {
    async fn start() -> Self {
        let provider = Provider::start().await;
        let groups = GroupSettings {
            claim: None,
            admins: vec!["root".to_owned()],
            workspaces: ["staff=Lab", "students=Class:viewer", "staff=Nowhere"].map(str::to_owned).into(),
        };
        let oidc = OidcSettings { groups, ..settings(&provider.issuer, &["*"]) };
        let server = TestServer::with(|config| config.oidc = Some(oidc)).await;
        let owner = owner(&server).await;
        Self { provider, server, owner }
    }

    async fn workspace(&self, name: &str) -> String {
        text(&self.owner.post("/api/workspaces", json!({"name": name})).await.ok(), "id").to_owned()
    }

    /// Signs in as a person with these groups; `null`: without the claim.
    async fn sign_in(&self, groups: Value) -> Value {
        let mut claims = json!({"name": "Bea", "preferred_username": "bea"});
        if !groups.is_null() {
            claims["groups"] = groups;
        }
        self.provider.knows("17", claims).await;
        let http = Http::new(self.server.url(), None);
        Browser::at(&http).sign_in("17").await.ok()
    }

    async fn me(&self, session: &Value) -> Value {
        self.server.http_as(text(session, "token")).get("/api/me").await.ok()
    }

    /// Entries of the audit that groups caused, oldest first: action and subject.
    async fn by_groups(&self) -> Vec<(String, String)> {
        let audit = self.owner.get("/api/audit?limit=1000").await.ok();
        let entries =
            audit.as_array().unwrap().iter().rev().filter(|entry| text(entry, "action").starts_with("group."));
        let entry = |entry: &Value| {
            assert_eq!(entry["actor"], "system", "{entry}");
            (text(entry, "action").to_owned(), text(entry, "subject").to_owned())
        };
        entries.map(entry).collect()
    }
}

fn roles(me: &Value) -> Vec<(&str, &str)> {
    me["workspaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|workspace| (text(workspace, "id"), text(workspace, "role")))
        .collect()
}

#[tokio::test]
async fn memberships_and_administrators_follow_the_groups_at_each_sign_in() {
    let scene = GroupServer::start().await;
    let (lab, class) = (scene.workspace("Lab").await, scene.workspace("Class").await);
    let first = scene.sign_in(json!(["staff", "others"])).await;
    let bea = text(&first["user"], "id").to_owned();
    assert_eq!(first["user"]["is_admin"], false);
    assert_eq!(roles(&scene.me(&first).await), [(lab.as_str(), "editor")]);
    let members = scene.owner.get(&format!("/api/workspaces/{lab}/members")).await.ok();
    let groups: Vec<_> = members.as_array().unwrap().iter().map(|member| member.get("group").cloned()).collect();
    assert!(groups.contains(&None) && groups.contains(&Some(json!("staff"))), "{members}");

    let second = scene.sign_in(json!(["students", "root"])).await;
    assert_eq!((&second["user"]["id"], &second["user"]["is_admin"]), (&first["user"]["id"], &json!(true)));
    // The older session has the new rights too.
    for session in [&first, &second] {
        let me = scene.me(session).await;
        assert_eq!(roles(&me), [(class.as_str(), "viewer")]);
        assert!(me["scopes"].as_array().unwrap().contains(&json!("admin")), "{me}");
    }
    let before = scene.by_groups().await;
    let in_lab = format!("{lab}/{bea}");
    let in_class = format!("{class}/{bea}");
    let expected = [
        ("group.member", &in_lab),
        ("group.member_removed", &in_lab),
        ("group.member", &in_class),
        ("group.admin", &bea),
    ];
    assert_eq!(before, expected.map(|(action, subject)| (action.to_owned(), subject.clone())));

    // Without the claim nothing changes, and what is current is not written again.
    for groups in [Value::Null, json!({"root": false}), json!(["students", "root"])] {
        let session = scene.sign_in(groups).await;
        assert_eq!(roles(&scene.me(&session).await), [(class.as_str(), "viewer")]);
        assert_eq!(session["user"]["is_admin"], true);
    }
    assert_eq!(scene.by_groups().await.len(), before.len());

    let third = scene.sign_in(json!("students")).await;
    assert_eq!(third["user"]["is_admin"], false);
    let me = scene.me(&second).await;
    assert_eq!(roles(&me), [(class.as_str(), "viewer")]);
    assert!(!me["scopes"].as_array().unwrap().contains(&json!("admin")), "{me}");
    assert_eq!(scene.by_groups().await.last().unwrap(), &("group.admin_removed".to_owned(), bea));
}

#[tokio::test]
async fn what_a_person_gave_stays_whatever_the_groups_say() {
    let scene = GroupServer::start().await;
    let (lab, class) = (scene.workspace("Lab").await, scene.workspace("Class").await);
    let session = scene.sign_in(json!(["students"])).await;
    let bea = text(&session["user"], "id").to_owned();
    let member = async |workspace: &str, role: &str| {
        let path = format!("/api/workspaces/{workspace}/members/{bea}");
        assert_eq!(scene.owner.put(&path, json!({"role": role})).await.status, 204);
    };
    member(&lab, "runner").await;
    member(&class, "commenter").await;
    assert_eq!(scene.owner.put(&format!("/api/users/{bea}/admin"), json!({"is_admin": true})).await.status, 204);
    let mut expected = [(lab.as_str(), "runner"), (class.as_str(), "commenter")];
    expected.sort_unstable();
    for groups in [json!(["staff", "students", "root"]), json!([])] {
        let session = scene.sign_in(groups).await;
        assert_eq!(roles(&scene.me(&session).await), expected);
        assert_eq!(session["user"]["is_admin"], true);
    }
}

#[tokio::test]
async fn the_last_administrator_stays_one_without_the_group() {
    let scene = GroupServer::start().await;
    let bea = scene.sign_in(json!(["root"])).await;
    let me = scene.owner.get("/api/me").await.ok();
    let path = format!("/api/users/{}/admin", text(&me["user"], "id"));
    let bea = scene.server.http_as(text(&bea, "token"));
    assert_eq!(bea.put(&path, json!({"is_admin": false})).await.status, 204);
    assert_eq!(scene.sign_in(json!([])).await["user"]["is_admin"], true);
    assert_eq!(bea.put(&path, json!({"is_admin": true})).await.status, 204);
    assert_eq!(scene.sign_in(json!([])).await["user"]["is_admin"], false);
    assert_eq!(bea.get("/api/users").await.refused(403), "forbidden");
}
