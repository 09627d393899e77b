//! End-to-end tests of `notarium replay --run`: the runs of a record on a fresh kernel.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::processes::{Process, environment, notarium};

/// A server with a kernel in a folder, as `notarium up` starts it.
struct Recorded {
    folder: TempDir,
    up: Process,
}

impl Recorded {
    /// Runs these cells once, each with a name; a run that fails is recorded like others.
    async fn of(cells: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        std::fs::write(folder.path().join("marker"), "").unwrap();
        let mut up = notarium(folder.path());
        up.args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path().join("data"));
        up.arg("--kernel-path").arg(environment());
        let mut up = Process::start(up);
        up.line_with("Kernels: ").await;
        let recorded = Self { folder, up };
        recorded.ok(&["new", "made"]);
        for (id, source) in cells {
            recorded.ok(&["cell", "add", "made", "--source", source, "--id", id]);
        }
        recorded
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = notarium(self.path());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, "")
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The report of a replay that ends with this code.
    fn replay(&self, code: i32, arguments: &[&str]) -> Value {
        let output = self.run(&[&["replay", "made", "--run", "--json"], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

/// The report of the last run of a cell.
fn of<'a>(report: &'a Value, cell: &str) -> &'a Value {
    let runs = report["runs"].as_array().unwrap();
    runs.iter().rfind(|run| run["cell"] == cell).unwrap_or_else(|| panic!("no run of {cell}: {report}"))
}

/// The places at which a run differs.
fn places(run: &Value) -> Vec<&str> {
    let differences = run["differences"].as_array();
    differences.into_iter().flatten().map(|difference| difference["place"].as_str().unwrap()).collect()
}

const PICTURE: &str = "import struct, zlib
from IPython.display import Image
def part(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
rows = b''.join(b'\\0' + bytes([x * 4 % 256 for x in range(200)]) for y in range(100))
Image(b'\\x89PNG\\r\\n\\x1a\\n' + part(b'IHDR', struct.pack('>IIBBBBB', 200, 100, 8, 0, 0, 0, 0)) + part(b'IDAT', zlib.compress(rows, 0)) + part(b'IEND', b''))";

const TABLE: &str = "import uuid
from IPython.display import HTML
HTML(f'<table id=\"T_{uuid.uuid4()}\"><tr><th>a</th></tr><tr><td>{6 * 7}</td></tr></table>')";

/// nbclient, which runs the same sources, is the oracle of what was recorded.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_runs_are_the_same() {
    let cells = [
        ("clock", "import time\nprint(f'at {time.time()} {object()}')\nx = 6"),
        ("sum", "print(x * 7, end='')\nprint('!')\nx * 7"),
        ("progress", "for step in range(3):\n    print(f'\\r{step} of 2', end='')"),
        ("picture", PICTURE),
        ("table", TABLE),
        ("display", "shown = display('one', display_id=True)\nshown.update('two')"),
        ("late", "shown.update('three')"),
        ("own", "open('own.txt', 'w').write('kept')\nprint(open('own.txt').read())"),
        ("fails", "{}['key']"),
        ("asks", "print('Hello ' + input('Name? '))"),
    ];
    let mut recorded = Recorded::of(&cells).await;
    let ran = recorded.run_with(&["exec", "made", "--all", "--allow-errors"], "Ann\n");
    assert!(ran.status.success(), "{ran:?}");

    let report = recorded.replay(0, &[]);
    assert_eq!(report["same"], true, "{report}");
    for (cell, _) in cells {
        assert_eq!(of(&report, cell)["verdict"], "same", "{}", of(&report, cell));
        assert_eq!(of(&report, cell).get("refused"), None, "{}", of(&report, cell));
    }
    assert_eq!(of(&report, "clock")["apart_from"], json!(["time", "address"]));
    assert_eq!(report["effects_held"], true);
    assert_eq!(report["kernels"][0]["environment_changes"], json!([]), "the same software: {report}");
    let told = recorded.ok(&["replay", "made", "--run", "--order", "notebook"]);
    assert!(told.contains("10 runs: 10 same") && told.contains("the same software as recorded"), "{told}");

    recorded.ok(&["export", "made", "-o", "made.ipynb"]);
    let oracle = "
import nbclient, nbformat
made = nbformat.read('made.ipynb', as_version=4)
made.cells = [cell for cell in made.cells if cell.id in ('sum', 'progress', 'picture', 'fails', 'clock')]
again = nbformat.read('made.ipynb', as_version=4)
again.cells = [cell for cell in again.cells if cell.id in ('sum', 'progress', 'picture', 'fails', 'clock')]
nbclient.execute(again, allow_errors=True)
def said(cell):
    def of(output):
        if output.output_type == 'stream':
            return [output.name, [line.rpartition('\\r')[2] for line in output.text.split('\\n')]]
        return [output.ename, output.evalue] if output.output_type == 'error' else dict(output.data)
    return [of(output) for output in cell.outputs]
for ours, theirs in zip(made.cells[1:], again.cells[1:]):
    assert ours.source == theirs.source and said(ours) == said(theirs), (said(ours), said(theirs))";
    let output = std::process::Command::new(environment().join("bin/python"))
        .args(["-c", oracle])
        .current_dir(recorded.path())
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(recorded.up.stop(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn differences_and_refused_effects_are_named() {
    let cells = [
        ("random", "import random, os\nprint('fixed')\nprint(random.random())"),
        ("error", "raise (ValueError if os.path.exists('marker') else TypeError)('gone')"),
        (
            "table",
            "from IPython.display import HTML\nHTML(f'<table><tr><td>1</td><td>{random.random()}</td></tr></table>')",
        ),
        ("outside", "open('OUTSIDE', 'w').write('harm')"),
        ("network", "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=5)"),
        ("password", "from getpass import getpass\nsecret = getpass('Key? ')"),
        ("slow", "import time\ntime.sleep(600)"),
        ("edited", "print('as it was')"),
        ("dies", "os._exit(3)"),
        ("again", "print('random' in globals())"),
    ];
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let file = outside.path().join("harm.txt");
    let cells = cells.map(|(id, source)| (id, source.replace("OUTSIDE", file.to_str().unwrap())));
    let cells: Vec<(&str, &str)> = cells.iter().map(|(id, source)| (*id, &**source)).collect();
    let mut recorded = Recorded::of(&cells).await;
    let named = ["random", "error", "table", "outside", "network", "password", "edited"];
    let ran = recorded.run_with(&[&["exec", "made", "--allow-errors"][..], &named].concat(), "hidden\n");
    assert!(ran.status.success(), "{ran:?}");
    recorded.run(&["exec", "made", "slow", "--timeout", "1"]);
    recorded.run(&["exec", "made", "dies"]);
    recorded.ok(&["exec", "made", "again"]);
    assert!(file.exists(), "the record's run wrote it");
    std::fs::remove_file(&file).unwrap();

    let report = recorded.replay(1, &["--html", "replay.html"]);
    assert_eq!(places(of(&report, "random")), ["standard output, line 2"]);
    assert_eq!(places(of(&report, "error")), ["type of the error"]);
    assert_eq!(places(of(&report, "table")), ["output 1, text/html, row 1, column 2"]);
    let refused = |cell: &str| of(&report, cell)["refused"][0].clone();
    assert!(["create", "write"].contains(&refused("outside")["kind"].as_str().unwrap()), "{}", refused("outside"));
    assert_eq!(refused("outside")["target"], file.to_str().unwrap());
    assert!(!file.exists(), "a record is not repeated as harm");
    assert_eq!(refused("network")["kind"], "network");
    assert_eq!(of(&report, "password")["verdict"], "not_replayed");
    assert_eq!(of(&report, "slow")["verdict"], "not_compared");
    assert_eq!(of(&report, "edited")["verdict"], "same");
    assert_eq!(of(&report, "dies")["verdict"], "not_compared");
    assert_eq!(of(&report, "again")["verdict"], "same", "a new kernel takes the place of a new one");
    assert_eq!(report["kernels"].as_array().unwrap().len(), 2);
    let page = std::fs::read_to_string(recorded.path().join("replay.html")).unwrap();
    assert!(page.contains("Some outputs differ") && page.contains("type of the error"), "{page}");

    recorded.ok(&["edit", "made", "edited", "--source", "print('as it is')"]);
    let report = recorded.replay(1, &["--order", "notebook"]);
    assert_eq!(of(&report, "edited")["verdict"], "not_compared");

    let report = recorded.replay(1, &["--effects", "create,write", "--yes"]);
    assert_eq!(of(&report, "outside")["verdict"], "same", "{report}");
    assert!(file.exists(), "the effect was allowed");
    let told = recorded.refused(&["replay", "made", "--run", "--effects", "network"]);
    assert!(told.contains("use the network") && told.contains("--yes"), "{told}");
    let told = recorded.refused(&["replay", "made", "--run", "no-such"]);
    assert!(told.contains("no kernel 'no-such'") && told.contains("python3"), "{told}");
    assert_eq!(recorded.up.stop(), Some(0));
}

/// A record in a file, whose environment names other software.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_replayed_without_a_server_and_other_software_is_named() {
    let mut recorded = Recorded::of(&[("large", "print('x' * 20_000)"), ("sum", "6 * 7")]).await;
    recorded.ok(&["exec", "made", "--all"]);
    recorded.ok(&["export-record", "made", "-o", "made.zst"]);
    assert_eq!(recorded.up.stop(), Some(0));
    let blobs = recorded.path().join("made.zst.blobs");
    let lines =
        String::from_utf8(zstd::decode_all(&*std::fs::read(recorded.path().join("made.zst")).unwrap()).unwrap());
    let lines = lines.unwrap();
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let started = events.into_iter().find(|event| event["type"] == "KernelSessionStarted").unwrap();
    let sha256 = started["payload"]["environment"]["sha256"].as_str().expect("an environment").to_owned();
    let text = std::fs::read_to_string(blobs.join(&sha256)).unwrap();
    assert!(text.starts_with("# Python 3.") && text.contains("\nipykernel=="), "{text}");

    let replay = |arguments: &[&str]| {
        let path = environment().to_string_lossy().into_owned();
        let arguments = [&["replay", "--json", "--run", "--kernel-path", &path, "--file"][..], arguments].concat();
        let output = recorded.run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(replay(&["made.zst"])["kernels"][0]["environment_changes"], json!([]));

    let other: String = text
        .lines()
        .map(|line| match line.starts_with("ipykernel==") {
            true => "ipykernel==1.2.3\n".to_owned(),
            false => format!("{line}\n"),
        })
        .collect();
    let other_sha256 = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&other));
    std::fs::rename(&blobs, recorded.path().join("other.jsonl.blobs")).unwrap();
    std::fs::write(recorded.path().join("other.jsonl.blobs").join(&other_sha256), &other).unwrap();
    std::fs::write(recorded.path().join("other.jsonl"), lines.replace(&sha256, &other_sha256)).unwrap();
    let report = replay(&["other.jsonl"]);
    let change = &report["kernels"][0]["environment_changes"][0];
    assert_eq!((&change["name"], &change["recorded"]), (&json!("ipykernel"), &json!("1.2.3")), "{report}");
}
