//! Tests of names and words that contain `nt_`, as tokens do: they are not treated as tokens.

use super::support::World;

const FILE: &str = r#"{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"id":"c","cell_type":"code","source":"event_log = client_list","metadata":{},"execution_count":null,"outputs":[]}]}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_notebook_may_have_any_name_and_is_found_by_it() {
    let world = World::start().await;
    for name in ["patient_data", "client_list", "event_log", "nt_api_key", "nt_owner_01J_0123456789abcdef"] {
        let file = format!("{name}.ipynb");
        world.file(&file, FILE);
        world.run(&["import", &file]).await.ok();
        let shown = world.run(&["show", name]).await.ok();
        assert!(shown.contains("event_log = client_list"), "{shown}");
        let found = world.run(&["ls", "--search", name]).await.ok();
        assert!(found.contains(name), "{found}");
        world.run(&["export", name, "-o", &format!("{name}.out.ipynb")]).await.ok();
    }
    let again = world.run(&["import", "client_list.ipynb"]).await;
    assert!(again.err.contains(r#"the title "client_list" is taken: this one is "client_list 2""#), "{again:?}");
    world.run(&["import", "client_list.ipynb"]).await.ok();
    for name in ["client_list", "client_list 2", "client_list 3"] {
        world.run(&["show", name]).await.ok();
    }
    let found = world.run(&["ls", "--search", "client_list"]).await.ok();
    assert!(found.contains("patient_data") && found.contains("event_log"), "{found}");
    let token = world.token();
    let refused = world.run(&["ls", "--search", &token]).await.fails(1);
    assert!(refused.contains("never stands in a URL") && !refused.contains(&token), "{refused}");
}
