//! Tests of lists of people to invite, and of the list of nodes.

use super::support::World;

#[tokio::test(flavor = "multi_thread")]
async fn people_of_a_list_are_invited_and_come() {
    let world = World::start().await;
    world.run(&["workspace", "new", "Lab"]).await.ok();
    let list = world.folder.path().join("class.csv");
    let file = list.to_str().unwrap();
    std::fs::write(&list, "login,name,email,workspaces\nann-lee,\"Lee, Ann\",ann@example.org,Lab:viewer\nbob,=1+1,,\n")
        .unwrap();
    let csv = world.run(&["user", "invite", file, "--csv"]).await.ok();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "login,name,email,token,url", "{csv}");
    assert!(lines[1].starts_with("ann-lee,\"Lee, Ann\",ann@example.org,nt_reset_"), "{csv}");
    assert!(lines.len() == 3 && lines[2].starts_with("bob,'=1+1,,nt_reset_"), "{csv}: a spreadsheet would calculate");
    let [.., token, url] = lines[2].split(',').collect::<Vec<_>>()[..] else { panic!("{csv}") };
    assert!(url.starts_with("http") && url.ends_with(&format!("/#token={token}")), "{csv}");

    std::fs::write(&list, "login\nbob\ncy\n").unwrap();
    let again = world.run(&["user", "invite", file]).await;
    assert!(again.err.contains("1 account existed already") && again.err.contains("bob"), "{again:?}");
    assert!(again.err.contains("1 account created") && again.err.contains("--one-time"), "{again:?}");
    let out = again.ok();
    assert!(out.starts_with("cy") && out.split_whitespace().last().unwrap().len() > 90, "{out}");
    let nobody = world.run(&["user", "invite", file, "--json"]).await.json();
    assert_eq!((nobody["invited"].as_array().unwrap().len(), nobody["existing"].as_array().unwrap().len()), (0, 2));

    std::fs::write(&list, "login,workspaces\ndan,Nowhere\ndan e,\n").unwrap();
    let refused = world.run(&["user", "invite", file]).await.fails(1);
    for said in ["nobody was invited", "line 2: no workspace has the name 'Nowhere'", "line 3: a login has"] {
        assert!(refused.contains(said), "{said}: {refused}");
    }
    let missing = world.run(&["user", "invite", "nowhere.csv"]).await.fails(2);
    assert!(missing.contains("nowhere.csv cannot be read"), "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_alone_lists_itself_as_a_node() {
    let world = World::start().await;
    let nodes = world.run(&["nodes", "--json"]).await.json();
    assert_eq!((&nodes[0]["is_this"], &nodes[0]["url"], &nodes[0]["rooms"]), (&true.into(), &"".into(), &0.into()));
    let shown = world.run(&["nodes"]).await.ok();
    assert!(shown.contains("alive (answered)") && shown.contains(env!("CARGO_PKG_VERSION")), "{shown}");
}
