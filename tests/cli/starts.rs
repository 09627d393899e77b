//! Tests of a server's start messages, its options for proxies, and the link that opens a browser.

use serde_json::{Value, json};
use tokio::process::Child;

use super::support::{Lines, World, ended, interrupt};

/// Starts `serve`; returns the process, its later lines, and its address.
async fn serve(world: &World, options: &[&str]) -> (Child, Lines<tokio::process::ChildStdout>, String) {
    let arguments = [&["serve", "--data", "data", "--listen", "127.0.0.1:0"], options].concat();
    let mut process = world.spawn(&arguments);
    let mut lines = Lines::of(process.stdout.take().unwrap());
    let ready = lines.until(" on http://").await;
    let url = format!("http://{}", ready.rsplit("http://").next().unwrap().trim());
    (process, lines, url)
}

/// Tries to sign in with a wrong token, through a proxy on this machine; returns the status.
async fn attempt(url: &str, forwarded_for: &str) -> u16 {
    let request = crate::support::client().post(format!("{url}/api/session")).header("x-forwarded-for", forwarded_for);
    request.json(&json!({"token": "nothing"})).send().await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_says_what_confirming_takes() {
    let session = "Confirming: a session is enough (so keep kernels in a sandbox: notarium agent --check)";
    let password =
        "Confirming: asks for the password again; nothing that is stored after signing in confirms, shares or manages";
    for (options, said) in [
        (vec![], session),
        (vec!["--confirm-with", "session"], session),
        (vec!["--confirm-with", "password"], password),
    ] {
        let world = World::empty();
        let (_process, mut lines, _) = serve(&world, &options).await;
        assert_eq!(lines.until("Confirming: ").await, said, "{options:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_option_for_proxies_says_whose_header_counts() {
    let world = World::empty();
    let (_process, _lines, url) = serve(&world, &["--trusted-proxy", "127.0.0.1"]).await;
    // One network may make forty attempts; each of these comes from a different one.
    for number in 0..100 {
        assert_eq!(attempt(&url, &format!("203.0.113.{number}")).await, 401);
    }
    let world = World::empty();
    let (_process, _lines, url) = serve(&world, &[]).await;
    let mut number = 0;
    while attempt(&url, &format!("203.0.113.{number}")).await == 401 {
        number += 1;
        assert!(number < 250, "the header counts though nobody said so");
    }
    let wrong = World::empty().run(&["serve", "--trusted-proxy", "example.org"]).await.fails(2);
    assert!(wrong.contains("as in 10.1.2.3 or 10.0.0.0/8"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_door_is_opened_on_request_and_names_its_address() {
    let door = ["--door", "dialoghelper", "--dialoghelper-listen"];
    let world = World::empty();
    let (_process, mut lines, _) = serve(&world, &[&door[..], &["127.0.0.1:0"]].concat()).await;
    let said = lines.until("dialoghelper: ").await;
    let address = said.rsplit("http://").next().unwrap().trim();
    let answer = crate::support::client().post(format!("http://{address}/curr_dialog_")).send().await.unwrap();
    assert_eq!(answer.status(), 401);
    let taken = [&["serve", "--data", "data", "--listen", "127.0.0.1:0"][..], &door, &[address]].concat();
    let refused = World::empty().run(&taken).await.fails(1);
    assert!(refused.contains("choose another address (--dialoghelper-listen)"), "{refused}");
    let without = World::empty();
    let (_process, mut lines, _) = serve(&without, &[]).await;
    assert!(lines.until("Confirming: ").await.starts_with("Confirming"), "no door without a request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_opens_a_browser_once_and_leads_to_a_notebook() {
    let world = World::start().await;
    let (notebook, _) = world.notebook("Work", "x = 1").await;
    let printed = world.run(&["link", "Work"]).await;
    assert!(printed.err.contains("it opens one browser, once, until "), "{printed:?}");
    let link = printed.ok();
    let (address, hash) = link.split_once("/#token=").unwrap();
    let (token, place) = hash.split_once('&').unwrap();
    assert_eq!((address, place), (world.url().as_str(), format!("notebook={notebook}").as_str()));
    assert!(token.starts_with("nt_link_") && token != world.token(), "{token}");
    let open = async |token: &str| {
        let request = crate::support::client().post(format!("{}/api/session", world.url()));
        let answer = request.json(&json!({"token": token})).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let (status, session) = open(token).await;
    assert_eq!((status, &session["user"]["name"]), (201, &json!("Ann")));
    let (status, again) = open(token).await;
    assert_eq!((status, &again["code"]), (401, &json!("link_ended")));
    let another = world.run(&["link"]).await.ok();
    assert!(!another.contains('&') && another != link, "{another}");

    // A program's token cannot open a browser.
    let program = world.run(&["token", "new", "--label", "job", "--scope", "read", "--json"]).await.json();
    let refused = world.run(&["link", "--token", program["token"].as_str().unwrap()]).await.fails(1);
    assert!(refused.contains("only a kept session opens one for a browser: sign in"), "{refused}");
}

/// Many systems allow 1,024 open files by default, and far more on request.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_asks_for_as_many_open_files_as_the_system_allows() {
    let world = World::empty();
    let mut process = world.spawn_after("ulimit -S -n 100", &["serve", "--data", "data", "--listen", "127.0.0.1:0"]);
    let limits = format!("/proc/{}/limits", process.id().unwrap());
    Lines::of(process.stdout.take().unwrap()).until(" on http://").await;
    let limits = std::fs::read_to_string(limits).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let numbers: Vec<u64> = files.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(numbers[0] == numbers[1] && numbers[0] > 100, "{files}");
}

/// Shells ignore SIGINT in what they start in the background, so a stop before the server listens for it would be lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_right_after_the_first_line_is_heard() {
    let world = World::empty();
    let doors = ["--door", "dialoghelper", "--dialoghelper-listen", "127.0.0.1:0"];
    let arguments = [&["serve", "--data", "data", "--listen", "127.0.0.1:0"][..], &doors].concat();
    let mut process = world.spawn_after("trap '' INT", &arguments);
    Lines::of(process.stdout.take().unwrap()).until(" on http://").await;
    interrupt(&process);
    assert_eq!(ended(process).await.code, 0);
}
