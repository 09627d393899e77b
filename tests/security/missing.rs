//! Tests of secret places and startup files that do not exist when a kernel starts, of folders to which its reading is narrowed, and of
//! a configuration folder that somebody put in the place of Notarium's own.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use notarium_agent::sandbox::{StandIns, missing_places};

use super::Machine;
use crate::processes::{PATIENCE, notarium};

/// Code that tries each action on paths below the home folder, and prints a word for each.
fn tries(home: &Path, actions: &[&str]) -> String {
    let tried = "def tried(action):\n    try:\n        action()\n        return 'done'\n    except OSError:\n        return 'refused'\n";
    let words: Vec<String> = actions.iter().map(|action| format!("tried(lambda: {action})")).collect();
    format!("import os\nos.chdir({home:?})\n{tried}print({})", words.join(", "))
}

async fn said(machine: &mut Machine, actions: &[&str]) -> String {
    let code = tries(machine.home.path(), actions);
    let id = machine.ada.run(&code).await;
    machine.ada.until_over(&id).await.text
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_places_are_covered_also_when_the_person_makes_them_and_nothing_is_left() {
    let mut machine = Machine::start(&[]).await;
    let home = machine.home.path().to_owned();
    let write = [
        "open('.bash_profile', 'w')",
        "open('.zshenv', 'w')",
        "open('.config/autostart/x.desktop', 'w')",
        "os.mkdir('.aws')",
        "os.rename('work', '.gnupg')",
        "os.symlink('work', '.kube')",
        "os.unlink('.npmrc')",
        "open('.npmrc')",
        "open('ordinary', 'w')",
    ];
    assert_eq!(said(&mut machine, &write).await, "refused ".repeat(8) + "done\n");
    // Missing files stay missing for the person's programs.
    assert!(std::fs::read(home.join(".bash_profile")).is_err());
    std::fs::create_dir_all(home.join(".aws")).unwrap();
    std::fs::write(home.join(".aws/credentials"), "SECRET").unwrap();
    std::fs::write(home.join(".npmrc"), "SECRET").unwrap();
    let read = [
        "open('.aws/credentials')",
        "os.stat('.aws/credentials')",
        "open('.npmrc')",
        "open('.npmrc', 'w')",
        "open('.bashrc')",
    ];
    assert_eq!(said(&mut machine, &read).await, "refused ".repeat(4) + "done\n");
    // A second kernel sees no more than the first.
    let mut other = crate::processes::Visitor::enter(&machine.url, &machine.token).await;
    let id = other.run(&tries(&home, &["open('.aws/credentials')", "open('.npmrc')", "os.mkdir('.gnupg')"])).await;
    assert_eq!(other.until_over(&id).await.text, "refused refused refused\n");
    machine.up.kill();
    until_cleaned(&home).await;
    assert_eq!(std::fs::read_to_string(home.join(".aws/credentials")).unwrap(), "SECRET");
    assert_eq!(std::fs::read_to_string(home.join(".npmrc")).unwrap(), "SECRET");
    for path in
        [".bash_profile", ".zshenv", ".config/autostart", ".gnupg", ".kube", ".local/share/applications", "snap"]
    {
        assert!(home.join(path).symlink_metadata().is_err(), "{path} is left");
    }
}

/// Waits until the keeper of the stand-ins has ended.
async fn until_cleaned(home: &Path) {
    let list = home.join(".local/state/notarium/stand-ins/made");
    let deadline = std::time::Instant::now() + PATIENCE;
    while std::fs::metadata(&list).unwrap().len() > 0 {
        assert!(std::time::Instant::now() < deadline, "{:?}", std::fs::read_to_string(&list));
        // There is no event for a file.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Starts the keeper of a home's stand-ins as an agent does, and waits until they are there.
fn keeper(home: &Path) -> Child {
    let hidden = home.join(".local/state/notarium/stand-ins");
    let stand_ins = StandIns { home: home.to_owned(), hidden, places: missing_places(home) };
    let mut command = notarium(home);
    command.arg("kernel-stand-ins").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut keeper = command.spawn().unwrap();
    let order = [serde_json::to_vec(&stand_ins).unwrap(), b"\n".to_vec()].concat();
    keeper.stdin.as_mut().unwrap().write_all(&order).unwrap();
    keeper.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    keeper
}

/// Returns what `notarium agent --check` prints.
fn checked(home: &Path) -> String {
    let ended = notarium(home).args(["agent", "--check"]).current_dir(home.join("work")).output().unwrap();
    String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr)
}

#[test]
fn a_check_finds_the_same_sandbox_while_the_keeper_of_another_agent_cleans_up() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::create_dir(home.path().join("work")).unwrap();
    let found = || checked(home.path()).lines().next().map(str::to_owned);
    let alone = found();
    let found: BTreeSet<_> = std::thread::scope(|scope| {
        let checks = scope.spawn(|| (0..12).map(|_| found()).collect());
        while !checks.is_finished() {
            let mut keeper = keeper(home.path());
            drop(keeper.stdin.take());
            assert!(keeper.wait().unwrap().success());
        }
        checks.join().unwrap()
    });
    assert_eq!(found, BTreeSet::from([alone]));
}

#[test]
fn a_secret_behind_the_link_of_a_killed_keeper_is_hidden_at_its_place() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::create_dir(home.path().join("work")).unwrap();
    let mut killed = keeper(home.path());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let secret = home.path().join(".netrc");
    std::fs::write(&secret, "SECRET").unwrap();
    assert!(secret.is_symlink(), "it is written through the link");
    let said = checked(home.path());
    let line = format!("{:<10} {}", "hidden", secret.display());
    assert!(said.lines().any(|found| found == line), "{said}");
    let mut next = keeper(home.path());
    assert!(!secret.is_symlink(), "the next keeper moves it to its place");
    drop(next.stdin.take());
    next.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_is_narrowed_to_folders_and_the_check_lists_them() {
    let places = tempfile::tempdir_in("/var/tmp").unwrap();
    let named = places.path().join("named");
    std::fs::create_dir(&named).unwrap();
    std::fs::write(named.join("data.csv"), "1").unwrap();
    for kind in ["auto", "landlock"] {
        let reads = ["--kernel-sandbox", kind, "--kernel-reads", named.to_str().unwrap()];
        let mut machine = Machine::start(&reads).await;
        let home = machine.home.path().to_owned();
        std::fs::create_dir_all(home.join("documents")).unwrap();
        std::fs::write(home.join("documents/letter"), "text").unwrap();
        // The machine's home is in /tmp, which every kernel reads: what lies beside it in the root does not.
        let data = named.join("data.csv");
        let open_data = format!("open({data:?})");
        let actions =
            [&open_data, "os.listdir('/')", "open('/etc/passwd')", "os.listdir('/home')", "os.listdir('/srv')"];
        assert_eq!(said(&mut machine, &actions).await, "done refused done refused refused\n", "{kind}");
        assert_eq!(machine.up.stop(), Some(0));
        let mut check = notarium(&home);
        check.args(["agent", "--check"]).args(reads);
        let said = check.current_dir(home.join("work")).output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let line = format!("{:<10} {}", "in reach", named.display());
        assert!(said.lines().any(|found| found == line), "{said}");
        assert!(!said.contains("/documents"), "{said}");
    }
    let home = tempfile::tempdir_in("/tmp").unwrap();
    for folder in ["documents", ".ssh", "work"] {
        std::fs::create_dir(home.path().join(folder)).unwrap();
    }
    let mut check = notarium(home.path());
    let said = check.args(["agent", "--check"]).current_dir(home.path().join("work")).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let in_reach = |path: &str| format!("{:<10} {}", "in reach", home.path().join(path).display());
    assert!(said.lines().any(|line| line == in_reach("documents")), "{said}");
    assert!(!said.contains(&in_reach(".ssh")), "{said}");
}

#[test]
fn a_configuration_folder_that_notarium_did_not_make_is_refused() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let at = |path: &str| home.path().join(path);
    let ask = || {
        let ended = notarium(home.path()).arg("ls").output().unwrap();
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let login = r#"{"server": "http://127.0.0.1:9", "token": "nt_session_x"}"#;
    std::fs::create_dir_all(at(".config/notarium")).unwrap();
    std::fs::write(at(".config/notarium/config.json"), login).unwrap();
    let (code, known) = ask();
    assert!(code != Some(0) && !known.contains("Notarium made"), "no server answers there: {known}");
    std::fs::rename(at(".config"), at(".config-moved")).unwrap();
    let (code, gone) = ask();
    assert!(code == Some(1) && gone.contains("was made by Notarium and is gone"), "{gone}");
    std::fs::create_dir_all(at(".config/notarium")).unwrap();
    std::fs::write(at(".config/notarium/config.json"), login).unwrap();
    let (code, planted) = ask();
    assert!(code == Some(1) && planted.contains("is not the folder that Notarium made"), "{planted}");
    // The way out that the words name.
    std::fs::remove_dir_all(at(".config")).unwrap();
    std::fs::rename(at(".config-moved"), at(".config")).unwrap();
    assert_eq!(ask().1, known, "it is back");
    std::fs::rename(at(".config"), at(".config-moved")).unwrap();
    std::fs::remove_file(at(".local/state/notarium/made-folders.json")).unwrap();
    assert!(ask().1.contains("no server is known"));
}
