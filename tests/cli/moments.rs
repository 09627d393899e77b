//! Moments in a notebook's past: by version, by name, by time; and a notebook taken back to one.

use serde_json::{Value, json};

use super::support::World;

/// A notebook whose cell had three texts; the versions at which it had the first two, and a time between them.
async fn edited(world: &World) -> (String, [String; 2], String) {
    let (notebook, cell) = world.notebook("Work", "one").await;
    let version = async || {
        let head = world.run(&["head", &notebook]).await.ok();
        head.split_once(':').unwrap().0.to_owned()
    };
    let first = version().await;
    let log: Value = world.run(&["log", &notebook, "--json", "--limit", "1"]).await.json();
    let at = log["recorded_at"].as_u64().unwrap() + 5;
    // The next event must be later than the moment between the two.
    while notarium_server::Clock::system().now() <= at {
        tokio::task::yield_now().await;
    }
    world.run(&["edit", &notebook, &cell, "--source", "two"]).await.ok();
    let second = version().await;
    world.run(&["versions", &notebook, "--name", "as submitted"]).await.ok();
    world.run(&["edit", &notebook, &cell, "--source", "three"]).await.ok();
    let time = chrono::DateTime::from_timestamp_millis(at.try_into().unwrap()).unwrap();
    (notebook, [first, second], time.to_rfc3339())
}

async fn source(world: &World, arguments: &[&str]) -> String {
    let shown: Value = world.run(&[&["show", "Work", "--json"], arguments].concat()).await.json();
    let cells = shown["notebook"]["cells"].as_object().unwrap();
    cells.values().map(|cell| cell["source"].as_str().unwrap()).collect::<Vec<_>>().join("|")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moment_is_a_version_a_name_or_a_time() {
    let world = World::start().await;
    let (notebook, [first, second], time) = edited(&world).await;
    assert_eq!(source(&world, &["--at", &first]).await, "one");
    assert_eq!(source(&world, &["--at", &second]).await, "two");
    assert_eq!(source(&world, &["--at", "as submitted"]).await, "two");
    assert_eq!(source(&world, &["--at", &time]).await, "one");
    assert_eq!(source(&world, &[]).await, "three");
    let fork = world.run(&["fork", &notebook, "--at", "as submitted"]).await.ok();
    let forked: Value = world.run(&["show", &fork, "--json"]).await.json();
    assert!(forked.to_string().contains("two"), "{forked}");
    let file = world.run(&["export", &notebook, "--at", &time, "--format", "py"]).await.ok();
    assert!(file.contains("one"), "{file}");
    let later = world.run(&["log", &notebook, "--since", &time, "--type", "CellSourceEdited", "--json"]).await.ok();
    assert_eq!(later.lines().count(), 2, "{later}");
    let earlier = world.run(&["log", &notebook, "--until", &time, "--json"]).await.ok();
    assert_eq!(earlier.lines().count().to_string(), first, "{earlier}");

    let unknown = world.run(&["show", &notebook, "--at", "never"]).await.fails(2);
    assert!(unknown.contains("no version is called 'never'"), "{unknown}");
    let before = world.run(&["show", &notebook, "--at", "2001-01-01"]).await.fails(2);
    assert!(before.contains("did not exist yet"), "{before}");
    world.run(&["versions", &notebook, "--name", "as submitted", "--at", "1"]).await.ok();
    let twice = world.run(&["show", &notebook, "--at", "as submitted"]).await.fails(2);
    assert!(twice.contains("the name of several versions (1, "), "{twice}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notebook_is_taken_back_and_that_is_undone() {
    let world = World::start().await;
    let (notebook, [first, _], _) = edited(&world).await;
    world.run(&["cell", "add", &notebook, "--source", "new"]).await.ok();
    let told = world.run(&["restore", &notebook, "--to", "as submitted"]).await;
    assert!(told.err.contains("took the notebook back to version"), "{told:?}");
    told.ok();
    assert_eq!(source(&world, &[]).await, "two");
    let log = world.run(&["log", &notebook]).await.ok();
    assert!(log.contains("took the notebook back to version"), "{log}");
    world.run(&["undo", &notebook]).await.ok();
    assert_eq!(source(&world, &[]).await, "three|new");
    let now = world.run(&["head", &notebook]).await.ok();
    let nothing = world.run(&["restore", &notebook, "--to", now.split_once(':').unwrap().0]).await;
    assert!(nothing.err.contains("nothing was changed"), "{nothing:?}");

    let future = world.run(&["restore", &notebook, "--to", "1000"]).await.fails(1);
    assert!(future.contains("does not exist"), "{future}");
    let both = world.run(&["restore", &notebook, "folder", "--to", &first]).await.fails(2);
    assert!(both.contains("cannot be used with"), "{both}");
    let neither = world.run(&["restore", &notebook]).await.fails(2);
    assert!(neither.contains("required"), "{neither}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restoration_over_rest_needs_the_right_to_edit() {
    let world = World::start().await;
    let (notebook, [first, _], _) = edited(&world).await;
    let link = world.run(&["share", "new", &notebook, "--role", "viewer", "--json"]).await;
    let link: Value = link.json();
    let guest = link["token"].as_str().unwrap();
    let client = reqwest::Client::new();
    let url = format!("{}/api/notebooks/{notebook}/restore", world.url());
    let version: u64 = first.parse().unwrap();
    let send = async |token: &str, body: &Value| {
        let answer = client.post(&url).bearer_auth(token).json(body).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let (refused, problem) = send(guest, &json!({"version": version})).await;
    assert_eq!((refused, &problem["code"]), (403, &json!("forbidden")), "{problem}");
    let (unclear, problem) = send(&world.token(), &json!({"to": version})).await;
    assert_eq!(unclear, 400, "{problem}");
    let (done, answer) = send(&world.token(), &json!({"version": version})).await;
    assert_eq!(done, 200, "{answer}");
    assert_eq!(source(&world, &[]).await, "one");
}
