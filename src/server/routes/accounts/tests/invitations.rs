//! Lists of people to invite.

use super::*;

impl Server {
    async fn invite(&self, token: &str, list: impl Into<Body>) -> Answer {
        let request = Request::post("/api/users/invited").header(header::AUTHORIZATION, format!("Bearer {token}"));
        self.send(request.header(header::CONTENT_TYPE, "text/csv; charset=utf-8").body(list.into()).unwrap()).await
    }

    /// Actions of the audit, oldest first, after the first `skipped`.
    async fn actions(&self, owner: &str, skipped: usize) -> Vec<String> {
        let audit = self.get("/api/audit?limit=1000", owner).await.made().body;
        let actions = audit.as_array().unwrap().iter().rev().skip(skipped);
        actions.map(|entry| entry["action"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn a_list_makes_accounts_with_memberships_and_can_be_sent_again() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let (cy, _) = server.person(&owner, "cy").await;
    // The administrator is no member of this workspace.
    let lab = server.post("/api/workspaces", &cy, json!({"name": "Lab"})).await.made().text("id");
    let class = server.post("/api/workspaces", &owner, json!({"name": "Class"})).await.made().text("id");
    let before = server.actions(&owner, 0).await.len();
    let list = format!(
        "\u{feff}login,workspaces,name,admin,email\r\nBob,Lab;{class}:viewer;Class:runner,\"Bob, jr.\",yes,bob@example.org\r\n\
         cy,Lab,Cy,,\r\neve,,,no,\r\n"
    );
    let answer = server.invite(&owner, list.clone()).await.made();
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.body["existing"], json!([{"line": 3, "login": "cy"}]));
    let [bob, eve] = answer.body["invited"].as_array().unwrap().as_slice() else { panic!("{}", answer.body) };
    assert_eq!(
        (&bob["line"], &bob["email"], &bob["user"]["login"]),
        (&json!(2), &json!("bob@example.org"), &json!("bob"))
    );
    assert_eq!((&bob["user"]["name"], &bob["user"]["is_admin"]), (&json!("Bob, jr."), &json!(true)));
    assert_eq!((&eve["line"], &eve["user"]["name"], eve.get("email")), (&json!(4), &json!("eve"), None));
    assert_eq!(eve["expires_at"], START + DAY);
    let expected = ["user.create", "workspace.member", "workspace.member", "user.reset", "user.create", "user.reset"];
    assert_eq!(server.actions(&owner, before).await, expected);

    let session = server.sign_in(json!({"token": bob["token"], "password": PASSWORD})).await.made();
    let me = server.get("/api/me", &session.text("token")).await.made().body;
    let roles: BTreeMap<&str, &str> = me["workspaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|workspace| (workspace["id"].as_str().unwrap(), workspace["role"].as_str().unwrap()))
        .collect();
    assert_eq!(roles, [(lab.as_str(), "editor"), (class.as_str(), "runner")].into());
    server.get("/api/users", &session.text("token")).await.made();

    let again = server.invite(&owner, list).await.made().body;
    assert_eq!((&again["invited"], again["existing"].as_array().unwrap().len()), (&json!([]), 3));
    assert_eq!(server.actions(&owner, before).await.len(), expected.len() + 1, "the sign-in alone");
}

#[tokio::test]
async fn a_wrong_line_invites_nobody() {
    let server = Server::new().await;
    let owner = server.owner().await;
    for _ in 0..2 {
        server.post("/api/workspaces", &owner, json!({"name": "Twice"})).await.made();
    }
    let before = server.actions(&owner, 0).await.len();
    let answer = server.invite(&owner, "login,workspaces,admin\nbob,,\neve,Nowhere,\ndan,Twice,\nfay,,perhaps\n").await;
    answer.refused(422, "wrong_list");
    assert!(answer.text("detail").contains("3 lines are wrong"), "{}", answer.body);
    let lines = answer.body["lines"].as_array().unwrap();
    let said = [(3, "no workspace has the name 'Nowhere'"), (4, "2 workspaces have the name"), (5, "yes, no or empty")];
    assert_eq!(lines.len(), said.len(), "{}", answer.body);
    for (line, (number, said)) in lines.iter().zip(said) {
        assert!(line["line"] == number && line["message"].as_str().unwrap().contains(said), "{line}");
    }
    let unknown = server.invite(&owner, "login,phone\nbob,1\n").await;
    unknown.refused(422, "wrong_list");
    assert_eq!(unknown.body["lines"][0]["line"], 1, "{}", unknown.body);
    let many: String = (0..30).map(|number| format!("user {number}\n")).collect();
    let many = server.invite(&owner, format!("login\n{many}")).await;
    many.refused(422, "wrong_list");
    assert!(
        many.body["lines"].as_array().unwrap().len() == 20 && many.text("detail").contains("30 lines"),
        "{}",
        many.body
    );
    assert_eq!(server.actions(&owner, before).await, [""; 0]);
    assert_eq!(server.get("/api/users", &owner).await.made().body.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_list_is_bounded_and_for_administrators() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let people = |count: usize| {
        let lines: String = (0..count).map(|number| format!("user{number}\n")).collect();
        format!("login\n{lines}")
    };
    server.invite(&owner, people(1_001)).await.refused(413, "limit_exceeded");
    server.invite(&owner, "x".repeat(256 * 1024 + 1)).await.refused(413, "limit_exceeded");
    server.post("/api/users/invited", &owner, json!({})).await.refused(415, "unsupported_media_type");
    let all = server.invite(&owner, people(1_000)).await.made();
    assert_eq!(all.body["invited"].as_array().unwrap().len(), 1_000);
    let (bob, _) = server.person(&owner, "bob").await;
    server.invite(&bob, people(1)).await.refused(403, "forbidden");
}
