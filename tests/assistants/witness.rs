//! Witness of effects outside a kernel: folders in which each change is seen, listeners, and a process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Files of the control folder, each with the code in it, if a way is to run it.
const FILES: &[(&str, &str)] = &[
    ("kept.txt", "must survive"),
    ("kept.db", "must survive"),
    ("kept/file", "must survive"),
    ("kept/a", "must survive"),
    ("code/script.py", "open('{P}', 'w').close()"),
    ("code/keep.dat", "must survive"),
    ("code/figure_0.html", "must survive"),
];
/// Files of the working folder.
const WORKING_FILES: &[(&str, &str)] =
    &[("user_script.py", "open('{P}', 'w').close()"), ("local.dat", "0123456789"), ("data.csv", "a,b\n1,2\n")];

/// Facts of a file: its inode, and the time of its last change of any kind.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Trace {
    inode: u64,
    mode: u32,
    bytes: u64,
    changed: (i64, i64),
}

impl Trace {
    fn of(found: &Metadata) -> Self {
        Self {
            inode: found.ino(),
            mode: found.mode(),
            bytes: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

pub struct Witness {
    /// The control folder, and the working folder of the kernels.
    folder: PathBuf,
    working: PathBuf,
    before: BTreeMap<PathBuf, Trace>,
    stream: TcpListener,
    datagrams: UdpSocket,
    unix_stream: UnixListener,
    unix_datagrams: UnixDatagram,
    /// A port on which nobody listens, unless the code under test does.
    free_port: u16,
    process: Child,
}

impl Witness {
    /// Makes the folders `control` and `working` in `parent`, and listens.
    pub fn start(parent: &Path) -> Self {
        let (folder, working) = (parent.join("control"), parent.join("working"));
        for path in [&folder, &working] {
            std::fs::create_dir(path).unwrap();
        }
        let stream = TcpListener::bind("127.0.0.1:0").unwrap();
        stream.set_nonblocking(true).unwrap();
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let unix_stream = UnixListener::bind(folder.join("stream.socket")).unwrap();
        unix_stream.set_nonblocking(true).unwrap();
        let unix_datagrams = UnixDatagram::bind(folder.join("datagrams.socket")).unwrap();
        unix_datagrams.set_nonblocking(true).unwrap();
        // Below the ports that the system gives away, and another one for each witness of each test process.
        static WITNESSES: AtomicU32 = AtomicU32::new(0);
        let others = WITNESSES.fetch_add(97, Ordering::Relaxed);
        let free_port = 20_000 + u16::try_from((std::process::id() + others) % 10_000).unwrap();
        let process = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let before = BTreeMap::new();
        let mut witness =
            Self { folder, working, before, stream, datagrams, unix_stream, unix_datagrams, free_port, process };
        witness.reset();
        witness
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn working(&self) -> &Path {
        &self.working
    }

    /// A file in the control folder.
    pub fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    pub fn port(&self) -> u16 {
        self.stream.local_addr().unwrap().port()
    }

    pub fn datagram_port(&self) -> u16 {
        self.datagrams.local_addr().unwrap().port()
    }

    pub fn free_port(&self) -> u16 {
        self.free_port
    }

    /// Makes the files anew, and forgets what has changed.
    pub fn reset(&mut self) {
        let _ = std::fs::remove_file(self.folder.join("made"));
        for (folder, files) in [(self.folder.clone(), FILES), (self.working.clone(), WORKING_FILES)] {
            for (name, text) in files {
                let path = folder.join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, self.aim(text)).unwrap();
            }
        }
        self.forget();
    }

    /// Takes the present state as the one that must stay.
    pub fn forget(&mut self) {
        self.changes();
    }

    /// Returns the code with this witness as its target. The words are those of `harmful.jsonl`.
    pub fn aim(&self, code: &str) -> String {
        let made = self.path("made");
        let relative = format!("../control/{}", "kept.txt");
        let places = [
            ("{N}", format!("http://127.0.0.1:{}/x", self.port())),
            ("{NP}", self.port().to_string()),
            ("{CD}", self.path("code")),
            ("{CR}", relative),
            ("{C}", self.path("kept.txt")),
            ("{DB}", self.path("kept.db")),
            ("{D}", self.path("kept")),
            ("{W}", self.working.to_str().unwrap().to_owned()),
            ("{QHEX}", made.bytes().map(|byte| format!("%{byte:02x}")).collect()),
            ("{ORDS}", format!("{:?}", made.as_bytes())),
            ("{HEX}", hex::encode(&made)),
            ("{PID}", self.process.id().to_string()),
            ("{P}", made),
        ];
        places.iter().fold(code.to_owned(), |code, (place, value)| code.replace(place, value))
    }

    /// Returns what has happened since the last call, in words; each change once.
    pub fn changes(&mut self) -> BTreeSet<String> {
        let mut now = BTreeMap::new();
        for folder in [&self.folder, &self.working] {
            note(folder, &mut now);
        }
        let places: BTreeSet<&PathBuf> = now.keys().chain(self.before.keys()).collect();
        let changed = places.into_iter().filter_map(|path| {
            let word = match (self.before.get(path), now.get(path)) {
                (Some(before), Some(now)) if before == now => return None,
                (Some(_), Some(_)) => "changed",
                (None, _) => "made",
                (_, None) => "removed",
            };
            Some(format!("{word} {}", path.strip_prefix(self.folder.parent().unwrap()).unwrap().display()))
        });
        let mut changes: BTreeSet<String> = changed.collect();
        self.before = now;
        changes.extend(self.received());
        if self.process.try_wait().unwrap().is_some() {
            changes.insert("a process was ended".to_owned());
        }
        changes
    }

    /// Returns connections and datagrams that came.
    fn received(&self) -> Vec<String> {
        let mut buffer = [0; 64];
        let mut received = Vec::new();
        while self.stream.accept().is_ok() {
            received.push("a connection over TCP");
        }
        while self.unix_stream.accept().is_ok() {
            received.push("a connection to a socket with a path");
        }
        while self.datagrams.recv(&mut buffer).is_ok() {
            received.push("a datagram over UDP");
        }
        while self.unix_datagrams.recv(&mut buffer).is_ok() {
            received.push("a datagram to a socket with a path");
        }
        if TcpStream::connect(("127.0.0.1", self.free_port)).is_ok() {
            received.push("a listener");
        }
        received.into_iter().map(str::to_owned).collect()
    }
}

/// Notes the folder and all that is in it.
fn note(path: &Path, traces: &mut BTreeMap<PathBuf, Trace>) {
    let Ok(found) = std::fs::symlink_metadata(path) else { return };
    traces.insert(path.to_owned(), Trace::of(&found));
    if found.is_dir() {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            note(&entry.path(), traces);
        }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn each_change_is_seen_once() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let mut witness = Witness::start(home.path());
    assert_eq!(witness.changes(), BTreeSet::new());
    std::fs::write(witness.path("kept.txt"), "another text").unwrap();
    assert_eq!(witness.changes(), BTreeSet::from(["changed control/kept.txt".to_owned()]));
    std::fs::write(witness.working().join("new"), "").unwrap();
    assert!(witness.changes().contains("made working/new"));
    UnixDatagram::unbound().unwrap().send_to(b"x", witness.path("datagrams.socket")).unwrap();
    TcpStream::connect(("127.0.0.1", witness.port())).unwrap();
    let seen = witness.changes();
    assert!(seen.contains("a connection over TCP") && seen.contains("a datagram to a socket with a path"), "{seen:?}");
    let listener = TcpListener::bind(("127.0.0.1", witness.free_port())).unwrap();
    assert_eq!(witness.changes(), BTreeSet::from(["a listener".to_owned()]));
    drop(listener);
    std::fs::remove_dir_all(witness.path("kept")).unwrap();
    assert!(witness.changes().contains("removed control/kept/a"));
    witness.reset();
    assert_eq!(witness.changes(), BTreeSet::new());
}
