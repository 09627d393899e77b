//! Tests of templates through REST.

use serde_json::{Value, json};

use crate::support::TestServer;

fn titles(page: &Value, of: &str) -> Vec<String> {
    page[of].as_array().unwrap().iter().map(|line| line["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_notebook_becomes_a_template_and_others_are_made_of_it() {
    let server = TestServer::start().await;
    let [ann, bob, sam] = [server.person("Ann").await, server.person("Bob").await, server.person("Sam").await];
    let (owner, viewer, stranger) = (server.http(&ann), server.http(&bob), server.http(&sam));
    let metadata = json!({"kernelspec": {"name": "python3", "display_name": "Python 3"}, "notarium": {"odd": 7}});
    owner.post("/api/notebooks", json!({"id": "n", "title": "Weekly", "metadata": metadata})).await.ok();
    owner.post("/api/notebooks/n/cells", json!({"cell_type": "code", "source": "week = 1"})).await.ok();
    let subject = json!({"kind": "user", "id": bob.id.as_str()});
    owner.put("/api/notebooks/n/access", json!({"subject": subject, "role": "viewer"})).await.ok();
    assert_eq!(owner.get("/api/templates").await.ok()["notebooks"], json!([]));
    let of_it = json!({"id": "of-it", "title": "Week 7", "template": {"notebook": "n"}});
    assert!(viewer.post("/api/notebooks", of_it.clone()).await.refused(400).contains("invalid_value"));

    assert_eq!(viewer.put("/api/notebooks/n/template", json!({})).await.refused(403), "forbidden");
    for description in ["two\nlines".to_owned(), "x".repeat(201)] {
        let refused = owner.put("/api/notebooks/n/template", json!({"description": description})).await;
        assert_eq!(refused.refused(400), "invalid_value");
    }
    owner.put("/api/notebooks/n/template", json!({"description": " Every Monday "})).await.ok();
    let listed = owner.get("/api/templates").await.ok();
    assert_eq!(titles(&listed, "notebooks"), ["Weekly"]);
    assert_eq!(listed["notebooks"][0]["description"], "Every Monday");
    assert_eq!(owner.get("/api/notebooks").await.ok()["notebooks"][0]["is_template"], true);
    let seen = viewer.until("/api/templates", |found| found["notebooks"].as_array().unwrap().len() == 1).await;
    assert_eq!(seen["notebooks"][0]["notebook"], "n");
    assert_eq!(stranger.get("/api/templates").await.ok()["notebooks"], json!([]));

    let made = viewer.post("/api/notebooks", of_it.clone()).await;
    assert_eq!(made.status, 201);
    let copy = viewer.get("/api/notebooks/of-it").await.ok();
    assert_eq!((&copy["role"], &copy["notebook"]["title"]), (&json!("owner"), &json!("Week 7")));
    assert_eq!(copy["notebook"]["metadata"], metadata, "what is made of a template is none");
    let cells: Vec<&Value> = copy["notebook"]["cells"].as_object().unwrap().values().collect();
    assert_eq!(cells[0]["source"], "week = 1");
    let events = viewer.get("/api/notebooks/of-it/events").await.ok();
    assert_eq!(events["events"][0]["payload"]["forked_from"]["notebook"], "n");
    assert_eq!(stranger.post("/api/notebooks", json!({"title": "x", "template": {"notebook": "n"}})).await.status, 404);

    owner.delete("/api/notebooks/n/template").await.ok();
    assert_eq!(owner.get("/api/templates").await.ok()["notebooks"], json!([]));
    assert_eq!(owner.get("/api/notebooks/n").await.ok()["notebook"]["metadata"], metadata);
}

#[tokio::test]
async fn every_server_has_starters_and_a_template_brings_all_that_it_has() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let listed = http.get("/api/templates").await.ok();
    for starter in listed["starters"].as_array().unwrap() {
        let id = starter["id"].as_str().unwrap();
        http.post("/api/notebooks", json!({"id": id, "title": id, "template": {"starter": id}})).await.ok();
        let made = http.get(&format!("/api/notebooks/{id}")).await.ok();
        assert!(made["notebook"]["cells"].as_object().unwrap().len() > 3, "{made}");
    }
    assert_eq!(
        http.get("/api/templates").await.ok()["notebooks"],
        json!([]),
        "what begins as a starter is no template"
    );
    let assistant = http.get("/api/notebooks/assistant").await.ok();
    let is_prompt = |cell: &Value| cell["cell_type"] == "prompt";
    assert!(assistant["notebook"]["cells"].as_object().unwrap().values().any(is_prompt));
    for odd in [
        json!({"title": "x", "template": {"starter": "none"}}),
        json!({"title": "x", "template": {"starter": "table"}, "with_cell": true}),
        json!({"title": "x", "template": {"starter": "table"}, "metadata": {"a": 1}}),
    ] {
        assert_eq!(http.post("/api/notebooks", odd.clone()).await.refused(400), "invalid_value", "{odd}");
    }
}
