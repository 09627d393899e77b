//! The module `notarium` in a real ipykernel: registered functions, their cells, calls of them; progress.

use notarium_agent::kernel::{CommKind, CommTarget, ExecuteRequest, KernelEvent};
use serde_json::{Value, json};

use crate::scene::*;

const REGISTERS: &str = "import notarium\n@notarium.tool(risk='read')\ndef add(a: int, b: int = 1) -> int:\n    'Adds.'\n    return a + b\n";

#[tokio::test]
async fn every_kernel_has_the_module_and_tells_its_functions_with_their_cell() {
    let mut test = Test::start().await;
    let request = ExecuteRequest { cell_id: Some("c1".into()), ..ExecuteRequest::new("define", REGISTERS) };
    test.kernel.execute(request).await.unwrap();
    let events = test.until(|event| is_finished(event, "define")).await;
    let told = events.iter().find_map(|event| match event {
        KernelEvent::Functions { execution_id, data } => Some((execution_id.clone(), data.get().to_owned())),
        _ => None,
    });
    let (run, data) = told.unwrap_or_else(|| panic!("{:?}", shown(&events)));
    let data: Value = serde_json::from_str(&data).unwrap();
    assert_eq!(run.as_deref(), Some("define"));
    let add = &data["functions"][0];
    assert_eq!((&add["name"], &add["place"]), (&json!("add"), &json!({"line": 2, "cell_id": "c1"})), "{data}");
    assert_eq!(test.shown("notarium.call_function('add', {'a': 2})").await[1], "execute_result:\"3\"");
    // Deleting a function unregisters it, even in code without a cell.
    let events = test.run("del add").await;
    let left = events.iter().find_map(|event| match event {
        KernelEvent::Functions { data, .. } => Some(data.get().to_owned()),
        _ => None,
    });
    assert_eq!(left.as_deref(), Some(r#"{"functions": []}"#));
}

#[tokio::test]
async fn an_installed_module_comes_before_the_embedded_one() {
    let mut test = Test::start().await;
    std::fs::write(test.folder.path().join("notarium.py"), "installed = True").unwrap();
    assert_eq!(test.shown("import notarium; notarium.installed").await[1], "execute_result:\"True\"");
}

#[tokio::test]
async fn progress_goes_beside_the_outputs_and_belongs_to_its_run() {
    let mut test = Test::start().await;
    let id = test.execute("import notarium\nfor _ in notarium.progress(range(3), label='reading'): pass").await;
    let events = test.until(|event| is_finished(event, &id)).await;
    let comms: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            KernelEvent::Comm(comm) => Some(comm),
            _ => None,
        })
        .collect();
    let (first, last) = (comms[0], comms[comms.len() - 1]);
    assert_eq!((first.kind, first.target), (CommKind::Opened, CommTarget::Progress));
    assert_eq!((first.execution_id.as_deref(), last.kind), (Some(id.as_str()), CommKind::Closed));
    assert!(comms[comms.len() - 2].data.get().contains("\"done\":3"), "{comms:?}");
    let outputs: Vec<_> = events.into_iter().filter(|event| !matches!(event, KernelEvent::Comm(_))).collect();
    assert_eq!(shown(&outputs), ["started:", "finished:Ok 1"]);
}

#[tokio::test]
async fn async_functions_print_into_the_run_that_called_them_and_are_interrupted() {
    let mut test = Test::start().await;
    let source = "import notarium, asyncio\n@notarium.tool(risk='read')\nasync def wait(seconds: float) -> str:\n    'Waits.'\n    print('begun', flush=True)\n    try:\n        await asyncio.sleep(seconds)\n    finally:\n        print('ended', flush=True)\n    return 'done'\n";
    test.run(source).await;
    let call = |seconds: u32| format!("notarium.call_function('wait', {{'seconds': {seconds}}})");
    let text = test.shown(&call(0)).await.concat();
    assert!(text.contains("begun\n") && text.contains("ended\n") && text.contains("'done'"), "{text}");
    let id = test.execute(&call(1_000)).await;
    test.until_text("begun\n").await;
    test.kernel.interrupt().unwrap();
    let events = test.until(|event| is_finished(event, &id)).await;
    let text = shown(&events).concat();
    assert!(text.contains("ended\n") && text.contains("KeyboardInterrupt"), "{text}");
}
