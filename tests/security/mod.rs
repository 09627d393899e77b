//! Tests of attacks by kernel code on the keys of Notarium. `notarium up` runs as people start it, with a real ipykernel; the code knows
//! every file, process and socket. Each attack is also tried without the sandbox, to show that it works there.

mod assistant;
mod held;
mod launcher;
mod missing;
mod unprivileged;

use std::collections::BTreeMap;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};

use notarium_core::{Command, Document, ExecutionStatus};
use serde::Deserialize;
use serde_json::json;

use crate::processes::{Process, Visitor, environment, notarium};

/// Attacks that fail even without a sandbox.
const NEVER_OPEN: &[&str] = &[
    "by_inherited_descriptors",
    "by_arguments_of_processes",
    "by_confirming_without_a_token",
    "by_unmounting_the_cover",
];
/// Attacks that succeed without a sandbox only for root, or only on machines with such a resource.
const OPEN_TO_SOME: &[&str] = &[
    "by_bind_mount",
    "by_chroot",
    "by_file_handle",
    "by_raw_disk",
    "by_settings_of_the_system",
    "by_namespaces_of_its_own",
    "by_ptrace",
    "by_process_vm_readv",
    "by_memory_of_the_server",
    "by_pidfd_getfd",
    "by_writing_the_memory_of_the_server",
    "by_control_groups",
    "by_capabilities",
    "by_a_raw_socket",
    "by_loading_a_module",
    "by_a_device_of_its_own",
];
/// Attacks that succeed under Landlock alone, as `agent --check` reports.
const OPEN_TO_LANDLOCK: &[&str] =
    &["by_limits_of_the_server", "by_priority_of_the_server", "by_socket_with_a_path", "by_the_list_of_processes"];

/// Result of one attack.
#[derive(Debug, Deserialize)]
struct Tried {
    got: Option<String>,
    refused: Option<String>,
}

/// A person's machine: a home with secrets, `notarium up`, two notebooks with a kernel each.
struct Machine {
    home: tempfile::TempDir,
    up: Process,
    ada: Visitor,
    url: String,
    token: String,
    _sockets: [UnixListener; 2],
}

impl Machine {
    async fn start(arguments: &[&str]) -> Self {
        Self::start_as(None, arguments).await
    }

    /// Starts under `account`, by default that of the test's user.
    async fn start_as(account: Option<u32>, arguments: &[&str]) -> Self {
        let home = tempfile::tempdir_in("/tmp").unwrap();
        let work = home.path().join("work");
        for folder in ["work", "bin", ".ssh", ".config/chromium/Default", ".config/containers", "keys"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let secrets = [
            ".ssh/id_ed25519",
            ".netrc",
            ".config/chromium/Default/Cookies",
            ".config/containers/auth.json",
            ".bash_history",
            ".bashrc",
            "keys/model",
            "keys/service.json",
        ];
        for file in secrets {
            std::fs::write(home.path().join(file), "SECRET-OF-THE-PERSON").unwrap();
        }
        let providers = home.path().join("providers.json");
        std::fs::write(&providers, provider(&home.path().join("keys/model"))).unwrap();
        let socket = UnixListener::bind(home.path().join(".ssh/agent.socket")).unwrap();
        let kernels = match account {
            Some(account) => {
                let kernels = unprivileged::kernels(home.path());
                unprivileged::give(home.path(), account);
                kernels
            }
            None => environment(),
        };
        // A separate copy of the program, as one of the attacks is to replace it.
        let binary = home.path().join("bin/notarium");
        let built = notarium(home.path()).get_program().to_owned();
        // Not `fs::copy`: a child of a concurrent test may hold the written file open, and its start would fail (“text file busy”).
        let copied =
            || std::process::Command::new("cp").arg(&built).arg(&binary).status().is_ok_and(|status| status.success());
        assert!(std::fs::hard_link(&built, &binary).is_ok() || copied(), "{}", binary.display());
        let name = format!("notarium-security-{}", home.path().display());
        let abstract_socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let mut up =
            account.map_or_else(|| std::process::Command::new(&binary), |id| unprivileged::run_as(id, &binary));
        up.envs(notarium(home.path()).get_envs().filter_map(|(name, value)| Some((name, value?))));
        up.env("GOOGLE_APPLICATION_CREDENTIALS", home.path().join("keys/service.json"));
        up.args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(home.path().join("deep/notes")).args(arguments);
        up.arg("--providers").arg(providers);
        let mut up = Process::start({
            up.arg("--kernel-path").arg(kernels).current_dir(&work);
            up
        });
        let url = up.line_with("Notarium is up: ").await;
        let token = up.line_with("Token: ").await;
        let ada = Visitor::enter(&url, &token).await;
        let facts = json!({
            "home": home.path(), "work": work, "config": home.path().join(".config/notarium/config.json"),
            "data": home.path().join("deep/notes"), "secrets": home.path().join(".ssh"), "up": up.id(), "url": url,
            "abstract": name, "socket": home.path().join(".ssh/agent.socket"), "binary": binary,
            "ways": Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/security"),
            "address": address_in(up.id()), "wheel": wheel(home.path()),
        });
        std::fs::write(work.join("facts.json"), facts.to_string()).unwrap();
        Self { home, up, ada, url, token, _sockets: [abstract_socket, socket] }
    }

    /// Returns code for the kernel that runs a file of this folder.
    fn code(&self, file: &str) -> String {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/security").join(file);
        let facts = self.home.path().join("work/facts.json");
        format!("FACTS_FILE = {facts:?}\nexec(compile(open({file:?}).read(), {file:?}, 'exec'))")
    }

    /// Runs the file in the kernel; returns the text after `mark` in its output.
    async fn run(&mut self, file: &str, mark: &str) -> String {
        let code = self.code(file);
        let id = self.ada.run(&code).await;
        let run = self.ada.until_over(&id).await;
        assert_eq!(run.status, ExecutionStatus::Ok, "{} {:?}", run.text, run.notice);
        let line = run.text.lines().find_map(|line| line.strip_prefix(mark));
        line.unwrap_or_else(|| panic!("no {mark} in {}", run.text)).to_owned()
    }

    /// Runs all attacks, with the kernel of another notebook as a further target.
    async fn attack(&mut self) -> BTreeMap<String, Tried> {
        let mut other = Visitor::enter(&self.url, &self.token).await;
        let id = other.run("print('a second kernel')").await;
        other.until_over(&id).await;
        serde_json::from_str(&self.run("attacks.py", "RESULTS ").await).unwrap()
    }
}

/// Returns settings of a model with its key in that file. It is never called.
fn provider(key: &Path) -> String {
    std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o600)).unwrap();
    json!([{"family": "compatible", "base_url": "http://127.0.0.1:9", "model": "none", "key_file": key}]).to_string()
}

/// Returns the attacks that succeeded.
fn open(tried: &BTreeMap<String, Tried>) -> Vec<(&String, &String)> {
    tried.iter().filter_map(|(name, tried)| Some((name, tried.got.as_ref()?))).collect()
}

/// Returns an address that the process can read and write.
fn address_in(process: u32) -> String {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let writable = maps.lines().find(|line| line.contains(" rw-p ")).unwrap();
    writable.split('-').next().unwrap().to_owned()
}

/// Creates a package for pip that needs no network.
fn wheel(home: &Path) -> PathBuf {
    let path = home.join("tiny_wheel-1.0-py3-none-any.whl");
    let code = "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w') as wheel:\n    \
                wheel.writestr('tiny_wheel.py', 'ANSWER = 42\\n')\n    \
                info = 'tiny_wheel-1.0.dist-info/'\n    \
                wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: tiny-wheel\\nVersion: 1.0\\n')\n    \
                wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n    \
                wheel.writestr(info + 'RECORD', '')\n";
    let made = std::process::Command::new(environment().join("bin/python")).args(["-c", code]).arg(&path).status();
    assert!(made.unwrap().success());
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn code_in_a_kernel_reaches_no_key_and_the_same_code_does_without_the_sandbox() {
    let mut machine = Machine::start(&[]).await;
    let inside = machine.attack().await;
    println!("a person's code tried {} ways", inside.len());
    assert!(open(&inside).is_empty(), "ways to the keys: {:#?}", open(&inside));
    assert!(inside.len() >= 68, "{} ways", inside.len());
    let results = machine.home.path().join("work/results.json");
    let code = machine.code("attacks.py") + "\npathlib.Path('results.json').write_text(json.dumps(results))";
    assert!(machine.run_as_assistant(&code).await, "it ran before anybody said yes");
    let by_assistant: BTreeMap<String, Tried> =
        serde_json::from_str(&std::fs::read_to_string(results).unwrap()).unwrap();
    assert!(open(&by_assistant).is_empty(), "an assistant's ways to the keys: {:#?}", open(&by_assistant));
    assert_eq!(by_assistant.len(), inside.len());
    assert_eq!(machine.up.stop(), Some(0));

    let mut machine = Machine::start(&["--kernel-sandbox", "off", "--kernel-effects", "off"]).await;
    let without = machine.attack().await;
    let sometimes = |name: &String| NEVER_OPEN.contains(&name.as_str()) || OPEN_TO_SOME.contains(&name.as_str());
    let closed: Vec<_> = without.iter().filter(|(name, tried)| tried.got.is_none() && !sometimes(name)).collect();
    assert!(closed.is_empty(), "these ways prove nothing: {closed:#?}");
    let never: Vec<_> =
        without.iter().filter(|(name, tried)| NEVER_OPEN.contains(&name.as_str()) && tried.refused.is_none()).collect();
    assert!(never.is_empty(), "{never:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_landlock_stands_alone_code_reaches_no_key_either() {
    let mut machine = Machine::start(&["--kernel-sandbox", "landlock"]).await;
    let inside = machine.attack().await;
    let names: Vec<&str> = open(&inside).into_iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.iter().all(|name| OPEN_TO_LANDLOCK.contains(name)), "{:#?}", open(&inside));
    assert!(names.contains(&"by_the_list_of_processes"), "the record would say too much: {names:?}");
    let state = machine.ada.state();
    let sandbox = state.kernels.values().next().unwrap().sandbox.get().to_owned();
    assert!(sandbox.contains(r#""kind":"landlock","file_system":false,"processes":true"#), "{sandbox}");
    assert!(sandbox.contains("sockets in hidden places"), "{sandbox}");
}

#[tokio::test(flavor = "multi_thread")]
async fn places_that_are_named_are_hidden_shown_or_read_only_and_the_check_lists_them() {
    let places = tempfile::tempdir_in("/tmp").unwrap();
    let path = |name: &str| places.path().join(name).to_str().unwrap().to_owned();
    for name in ["hidden/open", "fixed"] {
        std::fs::create_dir_all(path(name)).unwrap();
        std::fs::write(path(name) + "/file", "text").unwrap();
    }
    std::fs::write(path("hidden/file"), "text").unwrap();
    let (hidden, shown, fixed) = (path("hidden"), path("hidden/open"), path("fixed"));
    let arguments = ["--kernel-hide", &hidden, "--kernel-show", &shown, "--kernel-read-only", &fixed];
    for kind in ["auto", "landlock"] {
        let mut machine = Machine::start(&[&arguments[..], &["--kernel-sandbox", kind]].concat()).await;
        let code = format!(
            "def tried(action):\n    try:\n        action()\n        return 'done'\n    except OSError:\n        return 'refused'\n\
             print(*[tried(lambda: open(path, mode)) for path, mode in [({hidden:?} + '/file', 'r'), ({shown:?} + '/file', 'r+'), \
             ({fixed:?} + '/file', 'r'), ({fixed:?} + '/file', 'r+'), ({fixed:?} + '/new', 'w')]])"
        );
        let id = machine.ada.run(&code).await;
        assert_eq!(machine.ada.until_over(&id).await.text, "refused done done refused refused\n", "{kind}");
        assert_eq!(machine.up.stop(), Some(0));
        let mut check = notarium(machine.home.path());
        check.args(["agent", "--check", "--kernel-sandbox", kind]).args(arguments);
        let said = check.current_dir(machine.home.path().join("work")).output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        for (word, path) in [("hidden", &hidden), ("shown", &shown), ("read-only", &fixed)] {
            assert!(said.lines().any(|line| line == format!("{word:<10} {path}")), "{word} {path}: {said}");
        }
        let word = if kind == "auto" { "full" } else { "Landlock only" };
        assert!(said.contains(&format!("kind of sandbox               {word}")), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn up_writes_no_token_to_a_file() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let log = home.path().join("up.log");
    let mut up = notarium(home.path());
    up.args(["up", "--listen", "127.0.0.1:0", "--kernel-path"])
        .arg(environment())
        .arg("--data")
        .arg(home.path().join("data"));
    let mut up = up.stdout(std::fs::File::create(&log).unwrap()).spawn().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let said = loop {
        let said = std::fs::read_to_string(&log).unwrap();
        if said.contains("Data: ") {
            break said;
        }
        assert!(std::time::Instant::now() < deadline, "{said}");
        // There is no event for a file.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    up.kill().unwrap();
    up.wait().unwrap();
    assert!(said.contains("Token: not written") && !said.contains("nt_"), "{said}");
    assert!(said.contains("Confirming: "), "{said}");
}

/// Tests what a kernel under Landlock alone can read of a process that got its token as an argument.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_on_a_command_line_is_there_for_no_kernel() {
    let mut machine = Machine::start(&["--kernel-sandbox", "landlock"]).await;
    let binary = machine.home.path().join("bin/notarium");
    let mut agent = std::process::Command::new(&binary);
    agent.envs(notarium(machine.home.path()).get_envs().filter_map(|(name, value)| Some((name, value?))));
    agent.args(["watch", machine.ada.notebook().as_str(), "--server", &machine.url, "--token", &machine.token]);
    let agent = Process::start(agent);
    let mark = machine.ada.notebook().as_str().to_owned();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while processes_with("--token").contains(&agent.id()) || !processes_with(&mark).contains(&agent.id()) {
        assert!(std::time::Instant::now() < deadline, "the token stays where it was");
        // There is no event for this change.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let code = format!(
        "process = '/proc/{}/'\nprint(open(process + 'cmdline').read())\n\
         try:\n    print(open(process + 'environ').read())\nexcept PermissionError:\n    print('closed')",
        agent.id()
    );
    let id = machine.ada.run(&code).await;
    let said = machine.ada.until_over(&id).await.text;
    assert!(said.contains("watch") && said.ends_with("closed\n"), "{said}");
    assert!(!said.contains("nt_"), "{said}");
}

/// Returns the processes of this machine with this argument.
fn processes_with(argument: &str) -> Vec<u32> {
    let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let has = |id: &u32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|part| part == argument.as_bytes())
    };
    ids.filter(has).collect()
}

/// Waits for the end of processes by polling, as they are not our children.
async fn until_gone(argument: &str) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !processes_with(argument).is_empty() {
        assert!(std::time::Instant::now() < deadline, "{:?} go on", processes_with(argument));
        // There is no event for this change.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

const OUTLIVING: &str = "import subprocess, sys\n\
    subprocess.run(['setsid', '-f', sys.executable, '-c', 'import time; time.sleep(600)', 'MARK'], check=True)\n\
    print('left')";

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_kernel_started_outlives_it_or_its_agent() {
    let mut machine = Machine::start(&[]).await;
    let mark = format!("outlives-{}", machine.home.path().display());
    let code = OUTLIVING.replace("MARK", &mark);
    for end in ["shutdown", "killed agent"] {
        let id = machine.ada.run(&code).await;
        let run = machine.ada.until_over(&id).await;
        assert_eq!(run.text, "left\n", "{end}");
        assert_eq!(processes_with(&mark).len(), 1, "it runs on, outside seen: {end}");
        match end {
            "shutdown" => {
                let session = machine.ada.state().kernels.keys().next().unwrap().clone();
                machine.ada.command(Command::ShutDownKernel { kernel_session: session }).await;
            }
            _ => machine.up.kill(),
        }
        until_gone(&mark).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_and_the_kind_of_an_end_come_through() {
    let mut machine = Machine::start(&[]).await;
    let id = machine.ada.run("import time\nprint('sleeps', flush=True)\ntime.sleep(600)").await;
    let sleeps = |state: &Document| state.executions.get(&id).is_some_and(|run| !run.outputs.is_empty());
    machine.ada.until("the sleep", sleeps).await;
    let session = machine.ada.state().kernels.keys().next().unwrap().clone();
    machine.ada.command(Command::InterruptKernel { kernel_session: session }).await;
    let run = machine.ada.until_over(&id).await;
    assert_eq!(run.status, ExecutionStatus::Error, "KeyboardInterrupt: {}", run.text);
    let mark = format!("outlives-{}", machine.home.path().display());
    let id = machine.ada.run(&OUTLIVING.replace("MARK", &mark)).await;
    assert_eq!(machine.ada.until_over(&id).await.text, "left\n", "it goes on");
    assert_eq!(processes_with(&mark).len(), 1);
    let id = machine.ada.run("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)").await;
    let run = machine.ada.until_over(&id).await;
    assert!(run.notice.as_deref().is_some_and(|notice| notice.contains("signal 11")), "{:?}", run.notice);
    until_gone(&mark).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_there_is_no_sandbox_nothing_on_the_disk_confirms() {
    let mut machine = Machine::start(&["--kernel-sandbox", "off"]).await;
    let found: serde_json::Value = serde_json::from_str(&machine.run("disk.py", "DISK ").await).unwrap();
    assert!(found["tokens"].as_u64() >= Some(2), "the session's and the agent's: {found}");
    let tried = found["tried"].as_array().unwrap();
    assert!(tried.len() >= 8, "{found}");
    for way in tried {
        assert_eq!((&way[1], &way[2]), (&json!(403), &json!("forbidden")), "{way}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn data_below_the_folder_of_kernels_without_a_sandbox_is_refused_with_the_way_out() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let mut up = notarium(home.path());
    up.args(["up", "--kernel-sandbox", "off", "--listen", "127.0.0.1:0", "--kernel-path"]).arg(environment());
    up.args(["--data", "notes", "--working-dir", "."]).current_dir(home.path());
    let ended = up.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("there is no sandbox here (--kernel-sandbox off): choose another --working-dir"), "{said}");

    std::fs::create_dir_all(home.path().join(".ssh")).unwrap();
    std::fs::create_dir_all(home.path().join("work")).unwrap();
    let mut check = notarium(home.path());
    check.args(["agent", "--check", "--kernel-sandbox", "off"]).current_dir(home.path().join("work"));
    let checked = check.output().unwrap();
    let said = String::from_utf8_lossy(&checked.stdout);
    assert_eq!(checked.status.code(), Some(1), "{said}");
    for part in ["without a sandbox", "refuse these places", "/.ssh", "/.config/notarium"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ordinary_work_goes_on_in_the_sandbox() {
    let mut machine = Machine::start(&[]).await;
    let done: Vec<String> = serde_json::from_str(&machine.run("work.py", "WORK ").await).unwrap();
    assert_eq!(done.len(), 12, "{done:?}");
    let state = machine.ada.state();
    let sandbox = state.kernels.values().next().unwrap().sandbox.get().to_owned();
    assert!(
        sandbox.contains(r#""kind":"full","file_system":true,"processes":true,"sockets":true,"network":"all""#),
        "{sandbox}"
    );
}

/// Needs what `pip install` needs: a package index in the machine's own configuration.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs matplotlib and pandas: `make soak`"]
async fn packages_are_installed_and_keep_their_caches_in_the_sandbox() {
    let mut machine = Machine::start(&["--pass-env", "PIP_FIND_LINKS", "--pass-env", "PIP_INDEX_URL"]).await;
    let install = "'env/bin/python', '-m', 'pip', 'install', '--quiet'";
    for command in [
        "sys.executable, '-m', 'venv', 'env'",
        &format!("{install}, 'numpy'"),
        &format!("{install}, 'matplotlib'"),
        &format!("{install}, 'pandas'"),
    ] {
        let id = machine.ada.run(&format!("import subprocess, sys\nsubprocess.run([{command}], check=True)")).await;
        let run = machine.ada.until_over(&id).await;
        assert_eq!(run.status, ExecutionStatus::Ok, "{command}: {}", run.text);
    }
    let done: Vec<String> = serde_json::from_str(&machine.run("packages.py", "PACKAGES ").await).unwrap();
    assert_eq!(done.len(), 3, "{done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_without_the_network_runs_and_reaches_nothing() {
    let code = "import socket\ntry:\n    socket.create_connection(('127.0.0.1', PORT), 5)\n    print('out')\n\
                except OSError as error:\n    print('refused')\n\
                try:\n    server = socket.create_server(('127.0.0.1', 0))\n    \
                socket.create_connection(server.getsockname(), 5)\n    print('own')\nexcept OSError:\n    print('nothing')";
    for (network, said) in [("none", "refused\nnothing\n"), ("loopback", "refused\nown\n"), ("all", "out\nown\n")] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut machine = Machine::start(&["--kernel-network", network]).await;
        let port = listener.local_addr().unwrap().port().to_string();
        let id = machine.ada.run(&code.replace("PORT", &port)).await;
        assert_eq!(machine.ada.until_over(&id).await.text, said, "{network}");
    }
}
