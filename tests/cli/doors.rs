//! Tests of refused requests: rights for inactive accounts, a sign-in in place of another.

use tokio::io::AsyncWriteExt;

#[cfg(unix)]
use super::support::Words;
use super::support::World;

#[tokio::test(flavor = "multi_thread")]
async fn who_has_left_gets_no_role_and_leaves_the_notebooks_to_somebody() {
    let world = World::start().await;
    let made = world.run(&["user", "new", "bob", "--name", "Bob B", "--json"]).await.json();
    let invitation = made["invitation"]["token"].as_str().unwrap();
    let bob = World::empty();
    let input = format!("{invitation}\ncorrect horse battery\n");
    bob.run_with(&["login", "--server", &world.url(), "--one-time"], &input).await.ok();
    let notebook = bob.run(&["new", "Left behind"]).await.ok();
    let in_use = world.run(&["user", "take-over", "bob"]).await.fails(1);
    assert!(in_use.contains("is in use"), "{in_use}");

    world.run(&["user", "deactivate", "bob"]).await.ok();
    let own = world.run(&["new", "Own"]).await.ok();
    let refused = world.run(&["access", "grant", &own, "bob", "editor"]).await.fails(1);
    assert!(refused.contains("the account of Bob B is deactivated"), "{refused}");
    let nobody = world.run(&["access", "grant", &own, "user:nobody", "editor"]).await.fails(1);
    assert!(nobody.contains("nobody has an account of the id nobody"), "{nobody}");

    world.run(&["show", &notebook]).await.fails(1);
    let other = world.run(&["user", "take-over", "bob", "--notebook", "Other"]).await.fails(1);
    assert!(other.contains("owns no notebook of the id or title 'Other'"), "{other}");
    let taken = world.run(&["user", "take-over", "bob"]).await;
    assert!(taken.err.contains("Left behind"), "{taken:?}");
    taken.ok();
    let log = world.run(&["log", &notebook]).await.ok();
    assert!(log.contains("put Ann in the place of the owner Bob B, who has left"), "{log}");
    let nothing = world.run(&["user", "take-over", "bob"]).await.fails(1);
    assert!(nothing.contains("nothing to take over"), "{nothing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_in_as_somebody_else_asks_first() {
    let world = World::start().await;
    let made = world.run(&["user", "new", "bob", "--name", "Bob B", "--json"]).await.json();
    let input = format!("{}\ncorrect horse battery\n", made["invitation"]["token"].as_str().unwrap());
    let (url, stored) = (world.url(), world.token());
    let one_time = ["login", "--server", &url, "--one-time"];
    let refused = world.run_with(&one_time, &input).await.fails(2);
    assert!(refused.contains("signed in to") && refused.contains("as Ann: add --replace"), "{refused}");
    assert_eq!(world.token(), stored);
    let bob = World::empty();
    bob.run_with(&one_time, &input).await.ok();

    let login = ["login", "--server", &url, "--login", "bob"];
    let refused = world.run_with(&login, "correct horse battery\n").await.fails(2);
    assert!(refused.contains("--replace") && refused.contains("NOTARIUM_CONFIG"), "{refused}");
    let refused = world.run(&["login", "--server", &url, "--token", &bob.token()]).await.fails(2);
    assert!(refused.contains("--replace"), "{refused}");
    bob.run_with(&login, "correct horse battery\n").await.ok();
    let again = world.run(&["login", "--server", &url, "--token", &stored]).await;
    again.ok();
    world.run_with(&[&login[..], &["--replace"]].concat(), "correct horse battery\n").await.ok();
    assert!(world.run(&["whoami"]).await.ok().contains("Bob B"));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn at_a_terminal_the_question_is_asked_and_no_keeps_the_session() {
    let world = World::start().await;
    let url = world.url();
    let login = ["login", "--server", &url, "--login", "bob"];
    let stored = world.token();
    let mut child = world.spawn_at_terminal(&login);
    let mut words = Words::of(child.stdout.take().unwrap());
    words.until("replace that session? [y/N] ").await;
    child.stdin.as_mut().unwrap().write_all(b"n\n").await.unwrap();
    words.until("nothing was changed: you are signed in as Ann").await;
    assert_eq!((child.wait().await.unwrap().code(), world.token()), (Some(1), stored));
}
