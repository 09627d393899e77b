//! End-to-end tests of `notarium run` with a real kernel.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::processes::{Process, environment, fixture_notebook, notarium};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn run(folder: &Path, file: &Path, arguments: &[&str]) -> Output {
    let mut command = notarium(folder);
    command.arg("run").arg(file).args(["-o", "out.ipynb"]).args(arguments).arg("--kernel-path").arg(environment());
    command.output().unwrap()
}

fn written(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("out.ipynb")).unwrap()).unwrap()
}

fn text_of(cell: &Value) -> String {
    let lines = cell["outputs"][0]["text"].as_array();
    lines.into_iter().flatten().map(|line| line.as_str().unwrap_or_default()).collect()
}

/// Runs Python in the tests' environment.
fn python(folder: &Path, code: &str) -> String {
    let output =
        Command::new(environment().join("bin/python")).args(["-c", code]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn code_that_asks_can_go_on_without_an_answer() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let asks =
        "try:\n    name = input('Name? ')\nexcept Exception as error:\n    name = type(error).__name__\nprint(name)";
    let file = fixture_notebook(folder.path(), &[asks], None);
    let output = run(folder.path(), &file, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(text_of(&written(folder.path())["cells"][0]), "StdinNotImplementedError\n", "as in nbclient");

    let file = fixture_notebook(folder.path(), &["name = input('Name? ')", "print('on')"], None);
    let output = run(folder.path(), &file, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("nobody can answer") && said(&output).contains("-p NAME=VALUE"),
        "{}",
        said(&output)
    );
    let output = run(folder.path(), &file, &["--allow-errors"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(text_of(&written(folder.path())["cells"][1]), "on\n");
}

#[test]
fn parameters_are_exact_and_wrong_names_are_told() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let file = fixture_notebook(folder.path(), &["order_id = 0\nrate = 1.0", "print(repr(order_id), rate)"], Some(0));
    let big = "123456789012345678901234567890";
    let output = run(folder.path(), &file, &["-p", &format!("order_id={big}"), "-p", "rate=NaN", "-p", "rtae=1"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(text_of(&written(folder.path())["cells"][2]), format!("{big} nan\n"));
    assert!(said(&output).contains("no parameter 'rtae' (it has: order_id, rate)"), "{}", said(&output));
    assert!(!said(&output).contains("'rate'"), "{}", said(&output));
    let output = run(folder.path(), &file, &["-p", "class=3"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn a_cell_of_any_size_runs() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let picture = format!("![map](data:image/png;base64,{})", "A".repeat(1_500_000));
    let code = format!("text = '{}'\nprint(len(text))", "x".repeat(1_200_000));
    let cell = |kind: &str, source: &str| json!({"cell_type": kind, "id": kind, "metadata": {}, "source": source});
    let mut code_cell = cell("code", &code);
    code_cell["outputs"] = json!([]);
    code_cell["execution_count"] = Value::Null;
    let file = folder.path().join("large.ipynb");
    let content =
        json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell("markdown", &picture), code_cell]});
    std::fs::write(&file, content.to_string()).unwrap();
    let output = run(folder.path(), &file, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let cells = written(folder.path())["cells"].clone();
    assert_eq!(text_of(&cells[1]), "1200000\n");
    assert_eq!(cells[0]["source"], json!([picture]), "a run leaves texts as they are");
}

#[test]
fn widgets_are_written_as_the_last_cell_left_them() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let cells = [
        "import ipywidgets as w\ns = w.IntSlider(value=1); out = w.Output(); box = w.VBox([s, out]); box",
        "s.value = 7\nwith out: print('from b')",
    ];
    let file = fixture_notebook(folder.path(), &cells, None);
    let output = run(folder.path(), &file, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let states =
        written(folder.path())["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"].clone();
    let states: Vec<&Value> = states.as_object().unwrap().values().collect();
    let model = |name: &str| &states.iter().find(|state| state["model_name"] == name).unwrap()["state"];
    assert_eq!(model("IntSliderModel")["value"], 7);
    assert_eq!(model("OutputModel")["outputs"][0]["text"], "from b\n");
}

/// The languages that Jupyter's own client writes are the oracle.
#[test]
fn the_file_names_its_kernel_and_language() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let file = fixture_notebook(folder.path(), &["print(1)"], None);
    let mut content: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let reference = "
import json, nbformat, nbclient
found = nbformat.read('out.ipynb', as_version=4)
nbformat.validate(found)
expected = nbclient.execute(nbformat.read('out.ipynb', as_version=4), kernel_name='python3')
for part in ['kernelspec', 'language_info']:
    assert found.metadata[part] == expected.metadata[part], (found.metadata, expected.metadata)
print(json.dumps(found.metadata.kernelspec))";
    for metadata in [
        json!({}),
        json!({"language_info": {"name": "julia", "version": "1.9"}}),
        json!({"kernelspec": {"name": "conda-old", "display_name": "old", "language": "python"}, "language_info": {"name": "python", "version": "3.6.7"}}),
    ] {
        content["metadata"] = metadata;
        std::fs::write(&file, content.to_string()).unwrap();
        let output = run(folder.path(), &file, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let kernelspec: Value = serde_json::from_str(&python(folder.path(), reference)).unwrap();
        assert_eq!((&kernelspec["name"], &kernelspec["language"]), (&json!("python3"), &json!("python")));
    }
}

#[test]
fn without_a_kernel_nothing_is_downloaded() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let file = fixture_notebook(folder.path(), &["print(1)"], None);
    let mut command = notarium(folder.path());
    command.arg("run").arg(&file).env("PATH", folder.path());
    for variable in ["JUPYTER_PATH", "JUPYTER_DATA_DIR", "VIRTUAL_ENV", "CONDA_PREFIX", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    if Path::new("/usr/share/jupyter/kernels").exists() || Path::new("/usr/local/share/jupyter/kernels").exists() {
        return;
    }
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("--kernel-path") && said(&output).contains("notarium up"), "{}", said(&output));
    assert!(!folder.path().join(".local/share/notarium/python").exists());
}

/// papermill, which needs a kernelspec and a language in each file, is the oracle.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_here_runs_in_papermill_and_offered_texts_fill_cells() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let mut up = notarium(folder.path());
    up.args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path().join("data"));
    up.arg("--kernel-path").arg(environment());
    let mut up = Process::start(up);
    up.line_with("Kernels: ").await;
    let command = |arguments: &[&str]| {
        let output = notarium(folder.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    command(&["new", "made"]);
    command(&["cell", "add", "made", "--source", "x = 6 * 7\nprint(x)", "--id", "first"]);
    let papermill = "
import nbformat, papermill
papermill.execute_notebook('made.ipynb', 'ran.ipynb', progress_bar=False)
ran = nbformat.read('ran.ipynb', as_version=4)
nbformat.validate(ran)
print(ran.cells[0].outputs[0].text)";
    command(&["export", "made", "-o", "made.ipynb"]);
    assert_eq!(python(folder.path(), papermill), "42", "before a kernel ran");
    assert!(command(&["exec", "made", "first"]).contains("42"));
    command(&["export", "made", "-o", "made.ipynb"]);
    assert_eq!(python(folder.path(), papermill), "42", "while a kernel runs");
    let file: Value = serde_json::from_slice(&std::fs::read(folder.path().join("made.ipynb")).unwrap()).unwrap();
    let version = file["metadata"]["language_info"]["version"].as_str().unwrap();
    assert_eq!(python(folder.path(), "import platform; print(platform.python_version())"), version);

    std::fs::write(folder.path().join("later.py"), "later = 5\n").unwrap();
    let cells = [
        ("pager", "len?"),
        ("load", "%load later.py"),
        ("next", "get_ipython().set_next_input('y = 3')"),
        ("recall", "%recall 1"),
    ];
    for (id, source) in cells {
        command(&["cell", "add", "made", "--source", source, "--id", id]);
    }
    assert!(command(&["exec", "made", "pager"]).contains("len(obj"), "the pager's text is an output");
    command(&["exec", "made", "load"]);
    command(&["exec", "made", "next"]);
    command(&["exec", "made", "recall"]);
    let state: Value = serde_json::from_str(&command(&["show", "made", "--json"])).unwrap();
    let source = |id: &Value| state["notebook"]["cells"][id.as_str().unwrap()]["source"].as_str().unwrap();
    let sources: Vec<&str> = state["notebook"]["order"].as_array().unwrap().iter().map(source).collect();
    assert_eq!(
        sources[1..],
        [
            "len?",
            "# %load later.py\nlater = 5\n",
            "get_ipython().set_next_input('y = 3')",
            "y = 3",
            "%recall 1",
            "x = 6 * 7\nprint(x)",
        ]
    );

    let asks = "try:\n    name = input('Name? ')\nexcept Exception as error:\n    name = 'nobody'\nprint(name)";
    let file = fixture_notebook(folder.path(), &[asks, "input('Really? ')", "print('on')"], None);
    let run = |arguments: &[&str]| {
        let mut command = notarium(folder.path());
        command.args(["run", "--on-server", "-o", "out.ipynb"]).arg(&file).args(arguments).output().unwrap()
    };
    let failed = run(&[]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(said(&failed).contains("asks 'Really? '"), "{}", said(&failed));
    let output = run(&["--allow-errors"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let cells = written(folder.path())["cells"].clone();
    assert_eq!((text_of(&cells[0]), text_of(&cells[2])), ("nobody\n".to_owned(), "on\n".to_owned()));
    assert_eq!(up.stop(), Some(0));
}
