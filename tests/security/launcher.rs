//! Tests of the launcher of kernels by itself: code in its sandbox moves nothing that leads to covered places, and has no keys of the
//! person's session.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::environment;
use crate::processes::notarium;

/// Tries to move each entry away and back, and to put another in its place; prints what was done.
const MOVES: &str = r#"
import json, os, sys
def tried(action):
    try:
        action()
        return "done"
    except OSError as error:
        return "refused"
def moved(path):
    os.rename(path, path + ".moved")
    os.rename(path + ".moved", path)
def replaced(path):
    os.mkdir("other")
    os.rename("other", path)
def unlinked(path):
    target = os.readlink(path)
    os.unlink(path)
    os.symlink(target, path)
home = sys.argv[1]
found = {path: tried(lambda: moved(os.path.join(home, path))) for path in sys.argv[2:]}
found["the link"] = tried(lambda: unlinked(os.path.join(home, ".mozilla")))
found["relative"] = tried(lambda: open(".config/notarium/config.json").read())
found["the link, followed"] = tried(lambda: os.listdir(os.path.join(home, "linked")))
found["work"] = tried(lambda: (open("new", "w").close(), moved("new"), os.remove("new")))
print("FOUND " + json.dumps(found))
"#;

/// Runs Python in the launcher's sandbox; `before` is Python that the process runs before it becomes the launcher.
fn launched(home: &Path, plan: &Value, before: &str, code: &str, arguments: &[&str]) -> Output {
    let promise = home.join("plan.json");
    std::fs::write(&promise, json!({"plan": plan, "standing": null}).to_string()).unwrap();
    let python = environment().join("bin/python");
    let start = format!("import os, sys\n{before}\nos.execv(sys.argv[1], sys.argv[1:])");
    let mut command = Command::new(&python);
    command.args(["-c", &start]).arg(notarium(home).get_program()).arg("kernel-launcher").arg(promise);
    command.arg(&python).args(["-c", code]).args(arguments).env("HOME", home).current_dir(home);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The launcher ends its kernel when its standard input ends.
    let agent = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(agent);
    output
}

fn found(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().find_map(|line| line.strip_prefix("FOUND "));
    serde_json::from_str(line.unwrap_or_else(|| panic!("{output:?}"))).unwrap()
}

fn plan(more: &Value) -> Value {
    let mut plan = json!({"hidden": [], "shown": [], "read_only": [], "network": "all", "namespaces": true, "own_processes": true});
    plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    plan
}

#[test]
fn what_leads_to_a_covered_place_is_neither_moved_nor_replaced() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let at = |path: &str| home.path().join(path);
    for folder in [".config/notarium", ".local/share/notarium/notes", "programs/bin", "dotfiles/mozilla/profile"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    for file in [".config/notarium/config.json", "programs/bin/notarium", "dotfiles/mozilla/profile/key"] {
        std::fs::write(at(file), "SECRET").unwrap();
    }
    symlink("dotfiles/mozilla", at(".mozilla")).unwrap();
    symlink("dotfiles", at("linked")).unwrap();
    let hidden = [".config/notarium", ".local/share/notarium", "linked/mozilla/profile", ".mozilla/profile"].map(at);
    let restricted = plan(&json!({"hidden": hidden, "read_only": [at("programs/bin/notarium")]}));
    let moved = [
        ".config",
        ".config/notarium",
        ".local",
        ".local/share",
        ".local/share/notarium",
        "programs",
        "programs/bin",
        "programs/bin/notarium",
        "dotfiles",
        "dotfiles/mozilla",
        "linked",
        "",
    ];
    let home_path = home.path().to_str().unwrap();
    let arguments = [&[home_path][..], &moved].concat();
    let inside = found(&launched(home.path(), &restricted, "", MOVES, &arguments));
    for path in moved.iter().chain(&["the link", "relative"]) {
        assert_eq!(inside[path], "refused", "{path}: {inside}");
    }
    assert_eq!((&inside["work"], &inside["the link, followed"]), (&json!("done"), &json!("done")), "{inside}");
    // The same code does it where nothing is covered.
    let outside = found(&launched(home.path(), &plan(&json!({})), "", MOVES, &arguments));
    for path in moved.iter().filter(|path| !path.is_empty()).chain(&["the link", "relative"]) {
        assert_eq!(outside[path], "done", "{path}: {outside}");
    }
}

/// Adds a key to the session's keyring, and looks for it.
const ADD_A_KEY: &str = "import ctypes, platform\n\
    add_key, keyctl = {'x86_64': (248, 250), 'aarch64': (217, 219)}[platform.machine()]\n\
    call = ctypes.CDLL(None, use_errno=True).syscall\n\
    print('ADDED', call(add_key, b'user', b'notarium-test', b'SECRET', 6, -3))";
const LOOK_FOR_IT: &str = "import ctypes, json, platform\n\
    keyctl = {'x86_64': 250, 'aarch64': 219}[platform.machine()]\n\
    found = ctypes.CDLL(None, use_errno=True).syscall(keyctl, 10, -3, b'user', b'notarium-test', 0)\n\
    print('FOUND ' + json.dumps('found' if found > 0 else 'nothing'))";

#[test]
fn the_keys_of_the_session_are_left() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let before = format!("{ADD_A_KEY}\nsys.stdout.flush()");
    let outside = format!("{ADD_A_KEY}\n{LOOK_FOR_IT}");
    let python = Command::new(environment().join("bin/python")).args(["-c", &outside]).output().unwrap();
    if String::from_utf8_lossy(&python.stdout).contains("ADDED -1") {
        println!("skipped: this system lets no process add a key");
        return;
    }
    assert_eq!(found(&python), "found", "the code finds a key that is there");
    for more in [json!({}), json!({"own_processes": false}), json!({"namespaces": false, "own_processes": false})] {
        let output = launched(home.path(), &plan(&more), &before, LOOK_FOR_IT, &[]);
        assert_eq!(found(&output), "nothing", "{more}");
    }
}
