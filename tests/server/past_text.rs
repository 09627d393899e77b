//! Search in a notebook's cells and in its past, compared with a look at every version.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Http, Person, TestServer};

/// Numbers that look random, always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

struct Scene {
    server: TestServer,
    ann: Person,
    notebook: String,
}

impl Scene {
    async fn new() -> Self {
        let server = TestServer::start().await;
        let ann = server.person("Ann").await;
        let (notebook, _) = server.http(&ann).notebook("first = 1").await;
        Self { server, ann, notebook }
    }

    fn http(&self) -> Http {
        self.server.http(&self.ann)
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/notebooks/{}{rest}", self.notebook)
    }

    async fn state(&self, at: Option<u64>) -> Value {
        let query = at.map(|at| format!("?at={at}")).unwrap_or_default();
        self.http().get(&self.path(&query)).await.ok()["notebook"].clone()
    }

    async fn find(&self, query: &str) -> Value {
        self.http().get(&self.path(&format!("/find?{query}"))).await.ok()
    }

    /// Changes a cell at random: its text at a place, or as a whole; or the cell goes, or returns; or a new one comes.
    async fn change(&self, numbers: &mut Numbers) {
        let state = self.state(None).await;
        let cells: Vec<_> = state["cells"].as_object().cloned().unwrap_or_default().into_iter().collect();
        let pieces = ["ab", "a", "B", "\n", "abc\nab", ""];
        let piece = pieces[numbers.below(pieces.len())];
        if cells.is_empty() || numbers.below(8) == 0 {
            let trash = self.http().get(&self.path("/trash")).await.ok();
            match trash["cells"].as_array().and_then(|cells| cells.first()).filter(|_| numbers.below(2) == 0) {
                Some(cell) => {
                    let path = self.path(&format!("/cells/{}/restore", cell["cell_id"].as_str().unwrap()));
                    self.http().post(&path, json!({})).await.ok();
                }
                None => {
                    let cell = json!({"cell_type": "code", "source": piece});
                    self.http().post(&self.path("/cells"), cell).await.ok();
                }
            }
            return;
        }
        let (id, cell) = &cells[numbers.below(cells.len())];
        let path = self.path(&format!("/cells/{id}"));
        if numbers.below(12) == 0 {
            self.http().delete(&path).await.ok();
            return;
        }
        let mut source: Vec<char> = cell["source"].as_str().unwrap().chars().collect();
        let at = numbers.below(source.len() + 1);
        let gone = numbers.below(3).min(source.len() - at);
        source.splice(at..at + gone, piece.chars());
        let source: String = source.into_iter().collect();
        let change = json!({"cell_version": cell["cell_version"], "source": source});
        self.http().patch(&path, change).await;
    }

    /// Adds the sources of the cells at each version to `known`, up to `now`.
    async fn look_at(&self, known: &mut Vec<Vec<(String, String)>>, now: u64) {
        for version in known.len() as u64 + 1..=now {
            let state = self.state(Some(version)).await;
            let cells = state["cells"].as_object().into_iter().flatten();
            known.push(cells.map(|(id, cell)| (id.clone(), cell["source"].as_str().unwrap().to_lowercase())).collect());
        }
    }
}

/// Cells and versions at which a cell held the text.
fn held(known: &[Vec<(String, String)>], text: &str) -> BTreeSet<(String, u64)> {
    let versions = (1..).zip(known).flat_map(|(version, cells)| cells.iter().map(move |cell| (version, cell)));
    let holding = versions.filter(|(_, (_, source))| source.split('\n').any(|line| line.contains(text)));
    holding.map(|(version, (id, _))| (id.clone(), version)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_in_the_past_finds_what_every_version_holds() {
    let scene = Scene::new().await;
    let (mut numbers, mut known) = (Numbers(27), Vec::new());
    for round in 0..4 {
        for _ in 0..25 {
            scene.change(&mut numbers).await;
        }
        let now = scene.state(None).await["version"].as_u64().unwrap();
        scene.look_at(&mut known, now).await;
        for text in ["a", "ab", "abc", "bab"] {
            let answer = scene.find(&format!("text={text}&ever=true")).await;
            assert_eq!((&answer["is_complete"], &answer["looked_up_to"]), (&json!(true), &json!(now)));
            let mut told = BTreeSet::new();
            for place in answer["found"].as_array().unwrap() {
                let id = place["cell_id"].as_str().unwrap();
                assert!(place["line"].as_str().unwrap().to_lowercase().contains(text), "{place}");
                let (first, last) = (place["first"].as_u64().unwrap(), place["last"].as_u64().unwrap_or(now));
                told.extend((first..=last).map(|version| (id.to_owned(), version)));
            }
            assert_eq!(told, held(&known, text), "'{text}' in round {round}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_says_lines_versions_and_the_trash() {
    let scene = Scene::new().await;
    let http = scene.http();
    let cell = http.post(&scene.path("/cells"), json!({"cell_type": "code", "source": "one\nSecret key"})).await.ok();
    let id = cell["outcome"]["cells"][0].as_str().unwrap().to_owned();
    let found = scene.find("text=secret%20KEY").await;
    let place = json!({"cell_id": id, "line": "Secret key", "line_number": 2});
    assert_eq!(found, json!({"found": [place], "is_complete": true}));
    let version = cell["version"].as_u64().unwrap();
    http.patch(&scene.path(&format!("/cells/{id}")), json!({"cell_version": version, "source": "one"})).await.ok();
    assert_eq!(scene.find("text=secret").await["found"], json!([]));
    let ever = scene.find("text=secret&ever=true").await;
    let place = json!({"cell_id": id, "line": "Secret key", "first": version, "last": version});
    assert_eq!(ever["found"], json!([place]));
    http.delete(&scene.path(&format!("/cells/{id}"))).await.ok();
    assert_eq!(scene.find("text=secret&ever=true").await["found"][0]["is_deleted"], true);

    for wrong in ["", "text=", "text=a%0Ab", "text=x&since=1"] {
        let refused = http.get(&scene.path(&format!("/find?{wrong}"))).await;
        assert_eq!(refused.status.as_u16(), 400, "{wrong}: {}", refused.text);
    }
    let long = "x".repeat(1_001);
    assert_eq!(http.get(&scene.path(&format!("/find?text={long}"))).await.status.as_u16(), 400);
    let bob = scene.server.person("Bob").await;
    let stranger = scene.server.http(&bob).get(&scene.path("/find?text=one&ever=true")).await;
    assert_eq!(stranger.status.as_u16(), 404);
}
