//! End-to-end tests of the built binary: server and agent as processes, with real ipykernel kernels, killed and restarted.

mod downloads;
mod endurance;
mod floods;
mod hanging;
mod headless;
mod jupyter;
mod killing;
mod notices;
mod replays;
mod schedules;
mod stopping;
mod tls;
mod usage;

use std::path::Path;
use std::time::{Duration, Instant};

use notarium_core::{Command, ExecutionStatus};

use crate::processes::{self, Fixture, PATIENCE, environment, fixture_notebook, notarium};

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_comes_back_and_the_kernel_has_lost_nothing() {
    let mut fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let mut ada = fixture.person().await;
    let id = ada.run("x = 42").await;
    assert_eq!(ada.until_over(&id).await.status, ExecutionStatus::Ok);
    let id = ada.run("import time\nfor i in range(60):\n    print(i, flush=True)\n    time.sleep(0.05)").await;
    ada.until("the first output", |state| state.executions.get(&id).is_some_and(|run| !run.outputs.is_empty())).await;
    for _ in 0..2 {
        fixture.kill_server();
        fixture.restart_server().await;
        ada.until_connected().await;
    }
    let run = ada.until_over(&id).await;
    assert_eq!(run.status, ExecutionStatus::Ok, "{:?}", run.notice);
    let expected: String = (0..60).map(|i| format!("{i}\n")).collect();
    assert_eq!(run.text, expected, "every line once, in order");
    let id = ada.run("print(x)").await;
    assert_eq!(ada.until_over(&id).await.text, "42\n");
    agent.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_agent_leaves_no_kernel_and_its_run_is_lost_when_it_comes_back() {
    let fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let mut ada = fixture.person().await;
    let id = ada.run(processes::WHO).await;
    let kernel = processes::number_of(&ada.until_over(&id).await.text);
    let running = ada.run("import time; print('on', flush=True); time.sleep(600)").await;
    ada.until("the start", |state| state.executions.get(&running).is_some_and(|run| !run.outputs.is_empty())).await;
    agent.kill();
    ada.until_unreachable().await;
    let proc = format!("/proc/{kernel}");
    let deadline = Instant::now() + PATIENCE;
    while Path::new(&proc).exists() && Instant::now() < deadline {
        // There is no event for the end of a process that is not our child.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!Path::new(&proc).exists(), "the kernel outlived its agent");
    let mut again = fixture.agent().await;
    let run = ada.until_over(&running).await;
    assert_eq!(run.status, ExecutionStatus::Lost);
    assert!(run.notice.is_some());
    let id = ada.run("print('a new kernel')").await;
    assert_eq!(ada.until_over(&id).await.text, "a new kernel\n");
    again.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_agent_with_the_token_gives_up_and_the_first_keeps_its_kernel() {
    let fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let mut ada = fixture.person().await;
    let id = ada.run("x = 42").await;
    assert_eq!(ada.until_over(&id).await.status, ExecutionStatus::Ok);
    let second = fixture.agent_here(Duration::ZERO);
    let refused = tokio::time::timeout(PATIENCE, second).await.unwrap().unwrap_err().to_string();
    assert!(refused.contains("another process is connected as this agent"), "{refused}");
    let id = ada.run("print(x)").await;
    assert_eq!(ada.until_over(&id).await.text, "42\n");
    agent.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_overtakes_a_flood_and_a_question_is_answered() {
    let fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let mut ada = fixture.person().await;
    let flood = ada.run("i = 0\nwhile True:\n    print('line', i)\n    i += 1").await;
    ada.until("the flood", |state| state.executions.get(&flood).is_some_and(|run| run.outputs.len() > 3)).await;
    let asked = Instant::now();
    ada.command(Command::CancelExecution { execution_id: flood.clone() }).await;
    let run = ada.until_over(&flood).await;
    println!("interrupt to the end of the run, its output delivered: {:?}", asked.elapsed());
    assert_eq!(run.status, ExecutionStatus::Cancelled);

    let id = ada.run("name = input('who? '); print('hello', name)").await;
    ada.until("the question", |state| state.executions.get(&id).is_some_and(|run| run.pending_input.is_some())).await;
    ada.command(Command::AnswerInput { execution_id: id.clone(), value: "bob".into() }).await;
    assert_eq!(ada.until_over(&id).await.text, "hello bob\n");

    let id = ada.run("from getpass import getpass; p = getpass('secret? '); print(len(p))").await;
    ada.until("the question", |state| state.executions.get(&id).is_some_and(|run| run.pending_input.is_some())).await;
    ada.command(Command::AnswerInput { execution_id: id.clone(), value: "abcd".into() }).await;
    assert_eq!(ada.until_over(&id).await.text, "4\n");

    // The pause lets the kernel send its output: what its threads have not sent when it is killed is lost.
    let dying =
        "import os, signal, time; print('bye', flush=True); time.sleep(1.5); os.kill(os.getpid(), signal.SIGKILL)";
    let id = ada.run(dying).await;
    let run = ada.until_over(&id).await;
    assert_eq!((run.status, run.text.as_str()), (ExecutionStatus::Lost, "bye\n"));
    assert!(run.notice.unwrap().contains("SIGKILL"));
    agent.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_megabytes_of_output_arrive_or_are_kept_beside() {
    let fixture = Fixture::start().await;
    let mut agent = fixture.agent().await;
    let mut ada = fixture.person().await;
    let id = ada.run("for i in range(100): print(str(i) + 'x' * 999_990)\nprint('the end')").await;
    let run = ada.until_over(&id).await;
    assert_eq!(run.status, ExecutionStatus::Ok, "{:?}", run.notice);
    let (bytes, overflow) = ada.output_bytes(&id).await;
    println!("{bytes} bytes, of which {} beside the log; {:?}", overflow.len(), run.notice);
    assert!(bytes >= 100 * 999_990, "{bytes} bytes");
    assert!(overflow.ends_with(b"x\nthe end\n"));
    let id = ada.run("print('well')").await;
    assert_eq!(ada.until_over(&id).await.text, "well\n");
    agent.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn up_is_one_process_tree_that_ends_cleanly() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let mut up = notarium(folder.path());
    up.args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path().join("data"));
    up.arg("--kernel-path").arg(environment());
    let mut up = processes::Process::start(up);
    let url = up.line_with("Notarium is up: ").await;
    let token = up.line_with("Token: ").await;
    let mut ada = processes::Visitor::enter(&url, &token).await;
    let id = ada.run(processes::WHO).await;
    let kernel = processes::number_of(&ada.until_over(&id).await.text);
    // The configuration that `up` has stored is enough for the next command.
    let ls = notarium(folder.path()).arg("ls").output().unwrap();
    assert!(ls.status.success(), "{}", String::from_utf8_lossy(&ls.stderr));
    // So are the kernels that `up` was given.
    let file = fixture_notebook(folder.path(), &["import sys; print(sys.prefix)"], None);
    let run = notarium(folder.path()).arg("run").arg(file).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let ran = std::fs::read_to_string(folder.path().join("fixture.out.ipynb")).unwrap();
    assert!(ran.contains(environment().to_str().unwrap()), "{ran}");
    assert_eq!(up.stop(), Some(0));
    assert!(!Path::new(&format!("/proc/{kernel}")).exists(), "the kernel outlived up");
}

/// Needs what `pip install ipykernel` needs: a package index or wheels in the machine's own pip configuration (`/etc/pip.conf`, `PIP_…`),
/// and `python3` with `venv`. The environment of the other tests is not visible here.
#[tokio::test(flavor = "multi_thread")]
async fn up_makes_its_python_environment_where_only_another_kernel_is_installed() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let other = folder.path().join("jupyter/kernels/other");
    std::fs::create_dir_all(&other).unwrap();
    let spec =
        serde_json::json!({"argv": ["other", "{connection_file}"], "display_name": "Other", "language": "other"});
    std::fs::write(other.join("kernel.json"), spec.to_string()).unwrap();
    let errors = folder.path().join("errors");
    let mut up = notarium(folder.path());
    up.args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path().join("data"));
    for variable in ["JUPYTER_DATA_DIR", "VIRTUAL_ENV", "CONDA_PREFIX", "XDG_DATA_HOME"] {
        up.env_remove(variable);
    }
    up.env("JUPYTER_PATH", folder.path().join("jupyter"));
    up.stderr(std::fs::File::create(&errors).unwrap());
    let mut up = processes::Process::start(up);
    // The page opens before the environment is ready: a run requested meanwhile waits in the queue.
    let url = up.line_with("Notarium is up: ").await;
    let token = up.line_with("Token: ").await;
    let mut ada = processes::Visitor::enter(&url, &token).await;
    let id = ada.run("import sys; print(sys.prefix)").await;
    up.line_within("Kernels: ", Duration::from_secs(600)).await;
    let said = std::fs::read_to_string(&errors).unwrap();
    assert!(said.contains("No Jupyter kernel for Python is installed") && said.contains("is ready"), "{said}");
    let own = folder.path().join("data/python");
    assert_eq!(ada.until_over(&id).await.text.trim(), own.to_str().unwrap());
    assert_eq!(up.stop(), Some(0));
}

#[test]
fn a_headless_run_writes_its_file_and_says_what_failed() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let cells = ["alpha = 1", "print('alpha is', alpha)", "1/0", "print('never')"];
    let file = fixture_notebook(folder.path(), &cells, Some(0));
    let run = |arguments: &[&str]| {
        let mut command = notarium(folder.path());
        command.arg("run").arg(&file).args(arguments).arg("--kernel-path").arg(environment());
        command.output().unwrap()
    };
    let failed = run(&["-p", "alpha=0.5", "-o", "out.ipynb"]);
    assert_eq!(failed.status.code(), Some(1));
    let said = String::from_utf8_lossy(&failed.stderr);
    assert!(said.contains("ZeroDivisionError: division by zero") && !said.contains('\u{1b}'), "{said}");
    let written: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("out.ipynb")).unwrap()).unwrap();
    let cells = written["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 5);
    assert_eq!(cells[1]["source"], serde_json::json!(["# Parameters\n", "alpha = 0.5\n"]));
    assert_eq!(cells[2]["outputs"][0]["text"], serde_json::json!(["alpha is 0.5\n"]));
    assert_eq!(cells[3]["outputs"][0]["ename"], "ZeroDivisionError");
    assert_eq!(cells[4]["outputs"], serde_json::json!([]), "what follows an error is not run");

    let went_on = run(&["--allow-errors", "-o", "all.ipynb"]);
    assert_eq!(went_on.status.code(), Some(0), "{}", String::from_utf8_lossy(&went_on.stderr));
    let written = std::fs::read_to_string(folder.path().join("all.ipynb")).unwrap();
    assert!(written.contains("never\\n"));
}

/// Waits until a kernel's code has written this file; there is no event for that.
fn written(path: &Path) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => assert!(Instant::now() < deadline, "{} was never written", path.display()),
        }
        // There is no event for a file that a kernel writes.
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_a_headless_run_and_what_ran_is_in_its_file() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let sleeping = "import os, time\nprint('begun', flush=True)\n\
                    open('begun', 'w').write(open('/proc/self/stat').read())\ntime.sleep(600)";
    let file = fixture_notebook(folder.path(), &["print('first')", sleeping, "print('never')"], None);
    let mut command = notarium(folder.path());
    command.arg("run").arg(file).args(["-o", "out.ipynb", "--kernel-path"]).arg(environment());
    let errors = std::fs::File::create(folder.path().join("errors")).unwrap();
    command.stderr(errors);
    let mut run = processes::Process::start(command);
    let kernel = processes::number_of(&written(&folder.path().join("begun")));
    assert_eq!(run.interrupt(), Some(130));
    assert!(!Path::new(&format!("/proc/{kernel}")).exists(), "the kernel outlived the run");
    let said = std::fs::read_to_string(folder.path().join("errors")).unwrap();
    assert!(said.contains("was interrupted"), "{said}");
    let written: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("out.ipynb")).unwrap()).unwrap();
    let cells = written["cells"].as_array().unwrap();
    assert_eq!(cells[0]["outputs"][0]["text"], serde_json::json!(["first\n"]));
    assert_eq!(cells[1]["outputs"][0]["text"], serde_json::json!(["begun\n"]));
    assert_eq!(cells[2]["outputs"], serde_json::json!([]));
}

#[test]
fn every_fixture_runs_and_its_exit_code_says_whether_a_cell_failed() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/notebooks");
    let files = std::fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "ipynb")).collect();
    assert!(files.len() >= 8, "{files:?}");
    for file in files {
        let mut command = notarium(folder.path());
        command.arg("run").arg(&file).args(["-o", "out.ipynb", "--kernel-path"]).arg(environment());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let written =
            std::fs::read(folder.path().join("out.ipynb")).unwrap_or_else(|_| panic!("{}: {said}", file.display()));
        std::fs::remove_file(folder.path().join("out.ipynb")).unwrap();
        let written: serde_json::Value = serde_json::from_slice(&written).unwrap();
        let outputs = written["cells"].as_array().unwrap().iter().flat_map(|cell| cell["outputs"].as_array());
        let failed = outputs.flatten().any(|output| output["output_type"] == "error");
        assert_eq!(output.status.code(), Some(i32::from(failed)), "{}: {said}", file.display());
    }
}

#[test]
fn wrong_use_and_no_server_have_their_exit_codes() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let run = |arguments: &[&str]| {
        let output = notarium(folder.path()).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run(&["run"]).0, Some(2));
    assert_eq!(run(&["run", "x.ipynb", "-p", "1a=2"]).0, Some(2));
    let (code, said) = run(&["agent", "--server", "http://127.0.0.1:1"]);
    assert!(code.is_some_and(|code| code > 1) && said.contains("token"), "{code:?} {said}");
    let (code, said) = run(&["run", "missing.ipynb"]);
    assert!(code == Some(2) && said.contains("missing.ipynb"), "{code:?} {said}");
}
