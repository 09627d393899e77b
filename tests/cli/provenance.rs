//! Tests of imported or recorded runs and answers: they are marked as such, and not mistaken for runs of this server.

use serde_json::json;

use super::support::World;

#[tokio::test]
async fn brought_runs_and_replies_are_called_that_everywhere() {
    let world = World::start().await;
    let output = json!({"output_type": "stream", "name": "stdout", "text": "all tests passed"});
    let reply = json!({"status": "finished", "prompt": "Is it safe?", "text": "Perfectly."});
    let cells = json!([
        {"id": "ran", "cell_type": "code", "source": "check()", "metadata": {}, "execution_count": 3, "outputs": [output]},
        {"id": "asked", "cell_type": "markdown", "source": "Is it safe?",
         "metadata": {"notarium": {"cell_type": "prompt", "reply": reply}}},
    ]);
    let file = json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells});
    world.file("theirs.ipynb", &file.to_string());
    world.run(&["import", "theirs.ipynb", "--title", "Theirs"]).await.ok();
    let shown = world.run(&["show", "Theirs"]).await.ok();
    assert!(shown.contains("brought from elsewhere: not run here"), "{shown}");
    assert!(shown.contains("brought from elsewhere: not answered here"), "{shown}");
    let runs = world.run(&["runs", "Theirs"]).await.ok();
    assert!(runs.contains("not run here"), "{runs}");
    let log = world.run(&["log", "Theirs"]).await.ok();
    assert!(log.contains("which happened elsewhere") && log.contains("brought 1 output of an earlier run"), "{log}");
    assert!(!log.contains("finished: cell") && !log.contains("asked to run"), "{log}");
}
