//! Tests of templates on the command line.

use super::support::World;

#[tokio::test(flavor = "multi_thread")]
async fn notebooks_are_made_of_starters_and_of_templates() {
    let world = World::start().await;
    world.notebook("Weekly", "week = 1").await;
    let refused = world.run(&["new", "Week 7", "--template", "Weekly"]).await.fails(1);
    assert!(refused.contains("is no template"), "{refused}");
    world.run(&["template", "Weekly", "--description", "Every Monday"]).await.ok();
    let listed = world.run(&["templates"]).await.ok();
    for expected in ["table", "Look into a table", "Weekly", "Every Monday"] {
        assert!(listed.contains(expected), "{expected}: {listed}");
    }
    world.run(&["new", "Week 7", "--template", "Weekly"]).await.ok();
    assert!(world.run(&["show", "Week 7"]).await.ok().contains("week = 1"));
    world.run(&["new", "Sales", "--template", "table"]).await.ok();
    assert!(world.run(&["show", "Sales"]).await.ok().contains("read_csv"));
    world.run(&["template", "Weekly", "--off"]).await.ok();
    assert!(!world.run(&["templates"]).await.ok().contains("Every Monday"));
}
