//! Tests of the owner's sign-in: at the first start, and after the session has ended or the password is lost.

use notarium_server::auth::ClientInfo;
use notarium_server::{Server, ServerConfig};

use super::support::World;

const PASSWORD: &str = "correct horse";

async fn start(world: &mut World) -> Option<String> {
    let server = Server::start(ServerConfig::in_folder(world.data_folder())).await.unwrap();
    let token = server.owner_token.clone();
    world.server = Some(server);
    token
}

async fn stop(world: &mut World) {
    world.server.take().unwrap().shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_sign_in_chooses_login_and_password_and_the_next_one_needs_no_token() {
    let mut world = World::empty();
    let token = start(&mut world).await.unwrap();
    let url = world.url();
    let first = ["login", "--server", &url, "--token", &token];
    let nothing = world.run(&first).await.fails(2);
    assert!(nothing.contains("choose your login"), "{nothing}");
    let short = world.run_with(&first, "ann\nshort\n").await.fails(1);
    assert!(short.contains("at least 10 characters"), "{short}");
    // The token is still valid.
    world.run_with(&first, &format!("ann\n{PASSWORD}\n")).await.ok();
    world.run(&["logout"]).await.ok();
    world.run_with(&["login", "--server", &url, "--login", "ann"], &format!("{PASSWORD}\n")).await.ok();
    let me = world.run(&["whoami", "--json"]).await.json();
    assert_eq!((&me["user"]["login"], &me["user"]["is_admin"]), (&"ann".into(), &true.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_stopped_server_whoever_may_write_its_folder_gets_in_again() {
    let mut world = World::empty();
    let token = start(&mut world).await.unwrap();
    let (url, data) = (world.url(), world.data_folder().display().to_string());
    let login = ["login", "--server", &url, "--token", &token, "--login", "ann"];
    world.run_with(&login, &format!("{PASSWORD}\n")).await.ok();
    let refused = world.run(&["user", "reset", "--data", &data]).await.fails(1);
    assert!(refused.contains("another server uses"), "{refused}");
    stop(&mut world).await;

    let unknown = world.run(&["user", "reset", "bob", "--data", &data]).await.fails(1);
    assert!(unknown.contains("no user"), "{unknown}");
    let nowhere = world.folder.path().join("nowhere");
    let none = world.run(&["user", "reset", "--data", nowhere.to_str().unwrap()]).await.fails(2);
    assert!(none.contains("no database") && !nowhere.exists(), "{none}");
    let token = world.run(&["user", "reset", "--data", &data]).await.ok();
    assert!(start(&mut world).await.is_none(), "somebody has signed in");
    let again = ["login", "--server", &world.url(), "--one-time", "--replace"];
    world.run_with(&again, &format!("{token}\nanother horse\n")).await.ok();
    let login = ["login", "--server", &world.url(), "--login", "ann"];
    world.run_with(&login, "another horse\n").await.ok();
    let old = world.run_with(&login, &format!("{PASSWORD}\n")).await.fails(3);
    assert!(old.contains("wrong"), "{old}");
}

/// State left by earlier versions of `notarium up`: signed in once, without login and password.
#[tokio::test(flavor = "multi_thread")]
async fn an_owner_who_never_had_a_password_gets_one_by_a_reset() {
    let mut world = World::empty();
    let token = start(&mut world).await.unwrap();
    world.server.as_ref().unwrap().app().accounts.exchange_locally(&token, ClientInfo::default()).await.unwrap();
    stop(&mut world).await;
    let data = world.data_folder().display().to_string();
    let token = world.run(&["user", "reset", "--data", &data]).await.ok();
    assert!(start(&mut world).await.is_none(), "nobody gets in by a printed token any more");
    let again = ["login", "--server", &world.url(), "--one-time"];
    world.run_with(&again, &format!("{token}\nada\n{PASSWORD}\n")).await.ok();
    let login = ["login", "--server", &world.url(), "--login", "ada"];
    world.run_with(&login, &format!("{PASSWORD}\n")).await.ok();
}
