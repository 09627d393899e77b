//! Tests of caps and usage on the command line.

use super::support::World;

#[tokio::test(flavor = "multi_thread")]
async fn caps_are_set_listed_and_removed() {
    let world = World::start().await;
    let none = world.run(&["cap", "ls"]).await;
    assert!(none.code == 0 && none.err.contains("there is no cap"), "{none:?}");
    world.run(&["workspace", "new", "Lab"]).await.ok();
    for line in [
        ["each-person", "day", "5", "USD"],
        ["server", "month", "2000000", "tokens"],
        ["workspace:Lab", "month", "0.50", "EUR"],
    ] {
        world.run(&[&["cap", "set"][..], &line].concat()).await.ok();
    }
    let listed = world.run(&["cap", "ls", "--all"]).await.ok();
    for expected in ["each-person", "5.00 USD", "2000000 tokens", "Lab", "0.50 EUR", "administrator"] {
        assert!(listed.contains(expected), "{expected}: {listed}");
    }
    let own = world.run(&["cap", "ls", "--json"]).await.json();
    assert_eq!(own.as_array().unwrap().len(), 3, "{own}");
    assert_eq!(own.as_array().unwrap().iter().filter(|cap| cap["used"] == "0.00").count(), 2, "{own}");
    world.run(&["cap", "rm", "each-person", "day", "USD"]).await.ok();
    let gone = world.run(&["cap", "rm", "each-person", "day", "USD"]).await.fails(1);
    assert!(gone.contains("no cap"), "{gone}");
    for (line, says) in [
        (["server", "day", "five", "USD"], "an amount in USD such as 5.00"),
        (["server", "day", "0.5", "tokens"], "an amount in tokens"),
        (["server", "day", "5", "usd"], "the code of a currency"),
    ] {
        let refused = world.run(&[&["cap", "set"][..], &line].concat()).await.fails(1);
        assert!(refused.contains(says), "{refused}");
    }
    let nobody = world.run(&["cap", "set", "nobody", "day", "5", "USD"]).await.fails(1);
    assert!(nobody.contains("nobody"), "{nobody}");
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_of_models_is_empty_where_no_assistant_was_asked() {
    let world = World::start().await;
    let empty = world.run(&["usage", "--by", "model", "--since", "2026-01-01"]).await;
    assert!(empty.code == 0 && empty.err.contains("no assistant was asked from 2026-01-01"), "{empty:?}");
    let csv = world.run(&["usage", "--by", "notebook", "--all", "--csv"]).await.ok();
    assert!(csv.starts_with("notebook,name,calls,"), "{csv}");
    let refused = world.run(&["usage", "--by", "day", "--since", "yesterday"]).await.fails(1);
    assert!(refused.contains("must be a day such as"), "{refused}");
}
