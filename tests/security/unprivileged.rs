//! Tests of the same attacks with the whole of Notarium under an unprivileged account, as most people run it. The tests must run as root to
//! switch accounts; otherwise they are skipped with the reason.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::{Machine, NEVER_OPEN, OPEN_TO_LANDLOCK, OPEN_TO_SOME, environment, open};

/// Id of `nobody` on every Linux.
const ACCOUNT: u32 = 65_534;

/// Returns a command under another account, without root's capabilities.
pub fn run_as(account: u32, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    let id = account.to_string();
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "--"]);
    command.arg(program);
    command
}

/// Makes the account the owner of the folder and its content.
pub fn give(folder: &Path, account: u32) {
    let given = Command::new("chown").args(["-R", &format!("{account}:{account}")]).arg(folder).status().unwrap();
    assert!(given.success());
}

/// Returns a Python with ipykernel that the account may start: the tests' own, or the system's with the same packages.
fn python() -> Result<(PathBuf, PathBuf), String> {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return Err("only root becomes another account".to_owned());
    }
    let code = "import site; print(site.getsitepackages()[0])";
    let own = environment().join("bin/python");
    let packages = Command::new(&own).args(["-c", code]).output().unwrap().stdout;
    let packages = PathBuf::from(String::from_utf8(packages).unwrap().trim());
    let ways = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/security/attacks.py");
    let mut said = String::new();
    for python in [own, PathBuf::from("/usr/bin/python3")] {
        // The shell in between is necessary: `setpriv` itself has root's capabilities until its exec.
        let mut tried = run_as(ACCOUNT, "sh");
        tried.args(["-c", r#"exec "$0" -c "import ipykernel, zmq; open('$1').close()""#]).args([&python, &ways]);
        match tried.env("PYTHONPATH", &packages).output() {
            Err(error) => return Err(format!("setpriv (util-linux) does not start: {error}")),
            Ok(tried) if tried.status.success() => return Ok((python, packages)),
            Ok(tried) => said.push_str(&String::from_utf8_lossy(&tried.stderr)),
        }
    }
    Err(format!("the account {ACCOUNT} reaches no Python with ipykernel, or {} not:\n{said}", ways.display()))
}

/// Creates a folder with the kernel that the account starts, for `--kernel-path`.
pub fn kernels(home: &Path) -> PathBuf {
    let (python, packages) = python().unwrap();
    let folder = home.join("kernels/share/jupyter/kernels/python3");
    std::fs::create_dir_all(&folder).unwrap();
    let spec = json!({
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python", "language": "python",
        "env": {"PYTHONPATH": packages},
    });
    std::fs::write(folder.join("kernel.json"), spec.to_string()).unwrap();
    home.join("kernels")
}

/// Starts the machine of that account; `None`: not possible here.
async fn machine(arguments: &[&str]) -> Option<Machine> {
    if let Err(reason) = python() {
        println!("skipped: {reason}");
        return None;
    }
    Some(Machine::start_as(Some(ACCOUNT), arguments).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unprivileged_account_has_the_whole_sandbox_too() {
    let Some(mut machine) = machine(&[]).await else { return };
    let inside = machine.attack().await;
    println!("code of an unprivileged account tried {} ways", inside.len());
    assert!(open(&inside).is_empty(), "ways to the keys: {:#?}", open(&inside));
    let state = machine.ada.state();
    let sandbox = state.kernels.values().next().unwrap().sandbox.get().to_owned();
    assert!(sandbox.contains(r#""kind":"full","file_system":true,"processes":true"#), "{sandbox}");
}

#[tokio::test(flavor = "multi_thread")]
async fn landlock_alone_holds_for_an_unprivileged_account() {
    let Some(mut machine) = machine(&["--kernel-sandbox", "landlock"]).await else { return };
    let inside = machine.attack().await;
    let names: Vec<&str> = open(&inside).into_iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.iter().all(|name| OPEN_TO_LANDLOCK.contains(name)), "{:#?}", open(&inside));
    assert!(names.contains(&"by_the_list_of_processes"), "the record would say too much: {names:?}");
}

/// Proves that the tests above test something.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_sandbox_an_unprivileged_account_is_open_to_its_kernels() {
    let Some(mut machine) = machine(&["--kernel-sandbox", "off", "--kernel-effects", "off"]).await else { return };
    let without = machine.attack().await;
    let sometimes = |name: &String| NEVER_OPEN.contains(&name.as_str()) || OPEN_TO_SOME.contains(&name.as_str());
    let closed: Vec<_> = without.iter().filter(|(name, tried)| tried.got.is_none() && !sometimes(name)).collect();
    assert!(closed.is_empty(), "these ways prove nothing: {closed:#?}");
}
