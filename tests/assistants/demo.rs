//! Tests of `notarium demo`, with and without a terminal.

use std::process::Stdio;

use tokio::io::AsyncWriteExt;

use crate::processes::{PATIENCE, environment, notarium};
use crate::support::terminal::{Words, at_terminal};

/// Sentences without a confirmation, with parts of their answers.
const SAID: [(&str, &str); 4] = [
    ("What's in this notebook?", "answer = 6 * 7"),
    ("Add a cell that prints hello world", "I added a cell that prints hello world."),
    ("Run all cells", "All cells ran."),
    ("Create a data analysis example with a chart", "The example is there, with a chart of the losses."),
];

fn check_order(told: &str) {
    let place = |part: &str| told.find(part).unwrap_or_else(|| panic!("'{part}' is missing: {told}"));
    let parts: Vec<&str> = SAID.iter().flat_map(|(sentence, answer)| [*sentence, *answer]).collect();
    assert!(parts.windows(2).all(|pair| place(pair[0]) < place(pair[1])), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_plays_its_sentences_to_the_end_where_nobody_can_be_asked() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let mut demo = notarium(home.path());
    demo.args(["demo", "--data"]).arg(home.path().join("demo")).arg("--kernel-path").arg(environment());
    let mut demo = tokio::process::Command::from(demo);
    demo.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let ran = tokio::time::timeout(PATIENCE, demo.output()).await.expect("it ends").unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}{err}");
    check_order(&out);
    assert!(!out.contains("Delete the first cell"), "nobody can be asked: {out}");
    for tool in ["get_notebook_state", "create_cell", "run_all", "create_cells"] {
        assert!(err.contains(tool), "what it does is told beside what it says: {tool}: {err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_terminal_the_demo_asks_before_it_deletes_and_goes_on_as_long_as_somebody_talks() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let (data, kernels) = (home.path().join("demo"), environment());
    let arguments = ["demo", "--data", data.to_str().unwrap(), "--kernel-path", kernels.to_str().unwrap()];
    let mut demo = at_terminal(&arguments);
    let mut demo = demo.current_dir(home.path()).env("HOME", home.path()).spawn().unwrap();
    let mut words = Words::of(demo.stdout.take().unwrap());
    let mut keys = demo.stdin.take().unwrap();
    let told = words.until("[q]uit: ").await;
    check_order(&told);
    assert!(told.contains("delete_cell") && told.contains("print(answer)"), "what goes is shown: {told}");
    keys.write_all(b"y\n").await.unwrap();
    words.until("It is gone.").await;
    words.until("It is your turn").await;
    words.until("> ").await;
    keys.write_all(b"What's in this notebook?\n").await.unwrap();
    words.until("print('hello world')").await;
    words.until("> ").await;
    // End of the input.
    keys.write_all(b"\x04").await.unwrap();
    let ended = tokio::time::timeout(PATIENCE, demo.wait()).await.expect("it ends").unwrap();
    assert!(ended.success());
}
