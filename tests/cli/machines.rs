//! Tests of machines on the command line: the choice of an agent, the reason for which a kernel waits, the settings.

use super::support::{EchoAgent, Lines, World, ended};

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_waits_for_the_labels_that_it_needs_and_says_so() {
    let world = World::start().await;
    let token = world.run(&["agent-token", "new", "--all", "--name", "laptop"]).await.ok();
    let laptop = EchoAgent::start(&world.url(), &token).await;
    world.notebook("Big", "hello").await;
    world.run(&["kernels", "settings", "Big", "--label", "gpu=a100", "--when-gone", "replace"]).await.ok();
    let settings = world.run(&["kernels", "settings", "Big"]).await.ok();
    assert_eq!(settings.trim(), "when gone: replace, labels: gpu=a100");

    let mut waiting = world.spawn(&["exec", "Big", "--all"]);
    let said = Lines::of(waiting.stderr.take().unwrap()).until("waiting: ").await;
    assert!(said.contains("no connected agent has gpu=a100"), "{said}");
    let listed = world.run(&["kernels", "ls", "Big"]).await;
    assert!(listed.err.contains("no connected agent has gpu=a100"), "{listed:#?}");

    let token = world.run(&["agent-token", "new", "--all", "--name", "gpu2"]).await.ok();
    let gpu2 = EchoAgent::labelled(&world.url(), &token, &[("gpu", "a100")]).await;
    let ran = ended(waiting).await;
    assert_eq!((ran.code, ran.out.trim()), (0, "hello"), "{ran:#?}");
    let agents = world.run(&["kernels", "agents", "Big"]).await.ok();
    assert!(agents.contains("laptop") && agents.contains("gpu=a100"), "{agents}");
    let log = world.run(&["log", "Big"]).await.ok();
    assert!(log.contains("of an agent with gpu=a100") && log.contains("another replaces it"), "{log}");
    [laptop, gpu2].iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_is_launched_used_and_restarted_on_a_named_agent() {
    let world = World::start().await;
    let mut agents = Vec::new();
    for name in ["laptop", "gpu2"] {
        let token = world.run(&["agent-token", "new", "--all", "--name", name]).await.ok();
        agents.push(EchoAgent::start(&world.url(), &token).await);
    }
    world.notebook("Both", "hello").await;
    world.run(&["kernels", "launch", "Both", "--agent", "laptop"]).await.ok();
    world.run(&["kernels", "launch", "Both", "--agent", "gpu2"]).await.ok();
    assert_eq!(world.run(&["exec", "Both", "--all", "--kernel", "gpu2"]).await.ok().trim(), "hello");
    let state = world.run(&["show", "Both", "--json"]).await.json();
    let ran = state["notebook"]["executions"].as_object().unwrap().values().next().unwrap()["agent"].clone();
    let listed = world.run(&["kernels", "agents", "Both", "--json"]).await.json();
    let id_of = |name: &str| {
        let found = listed.as_array().unwrap().iter().find(|agent| agent["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {listed:#}"))["id"].clone()
    };
    assert_eq!(ran, id_of("gpu2"), "not the notebook's first kernel");

    world.run(&["kernels", "shutdown", "Both"]).await.ok();
    let nobody = world.run(&["kernels", "launch", "Both", "--agent", "gpu3"]).await;
    assert_eq!(nobody.code, 1);
    assert!(nobody.err.contains("no agent of this notebook is called gpu3: there is gpu2, laptop"), "{nobody:#?}");
    let unknown = world.run(&["exec", "Both", "--all", "--kernel", "nowhere"]).await;
    assert!(unknown.code == 1 && unknown.err.contains("has no kernel nowhere"), "{unknown:#?}");
    let odd = world.run(&["kernels", "launch", "Both", "--label", "gpu"]).await;
    assert!(odd.code == 2 && odd.err.contains("KEY=VALUE"), "{odd:#?}");
    agents.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_moves_to_another_machine() {
    let world = World::start().await;
    let token = world.run(&["agent-token", "new", "--all", "--name", "laptop"]).await.ok();
    let laptop = EchoAgent::start(&world.url(), &token).await;
    world.notebook("Moves", "hello").await;
    world.run(&["exec", "Moves", "--all"]).await.ok();
    let token = world.run(&["agent-token", "new", "--all", "--name", "gpu2"]).await.ok();
    let gpu2 = EchoAgent::labelled(&world.url(), &token, &[("gpu", "a100")]).await;
    world.run(&["restart", "Moves", "--label", "gpu=a100"]).await.ok();
    assert_eq!(world.run(&["exec", "Moves", "--all"]).await.ok().trim(), "hello");
    let listed = world.run(&["kernels", "ls", "Moves"]).await.ok();
    assert!(listed.contains("gpu2"), "{listed}");
    [laptop, gpu2].iter().for_each(tokio::task::JoinHandle::abort);
}
