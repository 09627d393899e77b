//! Files that the processes of a kernel can write, their mappings and connections: their calls were told earlier, or never.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use hashlink::LruCache;

/// Most names of open things that are listed.
pub const MAX_LISTED: usize = 20;
/// Most connected Unix sockets that are remembered.
const MAX_CONNECTIONS: usize = 10_000;
/// State of a connected internet socket in `/proc/net/tcp` and `udp`.
const CONNECTED: &str = "01";

/// Addresses of Unix sockets that were connected, by inode: `/proc` does not tell the other end.
#[derive(Debug)]
pub struct ConnectedSockets(LruCache<u64, String>);

impl Default for ConnectedSockets {
    fn default() -> Self {
        Self(LruCache::new(MAX_CONNECTIONS))
    }
}

impl ConnectedSockets {
    /// Notes what `/proc/N/fd` says of a socket, and the address that it is being connected to.
    pub fn note(&mut self, socket: &Path, address: String) {
        if let Some(inode) = inode_of(socket) {
            self.0.insert(inode, address);
        }
    }
}

/// The inode in `socket:[7]`.
fn inode_of(link: &Path) -> Option<u64> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Things that do not count as open.
#[derive(Debug, Clone, Default)]
pub struct OwnThings {
    /// Folders whose files held runs may change: temporary ones, shared memory of the kernel's own.
    pub folders: Vec<PathBuf>,
    /// Ports of the kernel's own sockets.
    pub ports: Vec<u16>,
}

/// Processes that hold a socket, by its inode.
type SocketHolders = BTreeMap<u64, BTreeSet<u32>>;

/// Names of all open things of these processes. `Err`: a process cannot be looked into.
pub fn list(processes: &[u32], own: &OwnThings, connections: &mut ConnectedSockets) -> std::io::Result<Vec<String>> {
    let (mut found, mut sockets) = (BTreeSet::new(), SocketHolders::new());
    for &process in processes {
        match open_files(process, own, &mut found, &mut sockets) {
            // It has ended since.
            Err(error) if fs::exists(format!("/proc/{process}/fd")).unwrap_or(false) => return Err(error),
            _ => {}
        }
        found.extend(mappings(process, own));
    }
    found.extend(processes.first().map(|process| internet(*process, &sockets, own)).into_iter().flatten());
    found.extend(sockets.keys().filter_map(|inode| connections.0.get(inode).cloned()));
    Ok(found.into_iter().take(MAX_LISTED).collect())
}

fn open_files(
    process: u32,
    own: &OwnThings,
    found: &mut BTreeSet<String>,
    sockets: &mut SocketHolders,
) -> std::io::Result<()> {
    for entry in fs::read_dir(format!("/proc/{process}/fd"))? {
        let place = entry?.path();
        let Ok(link) = fs::read_link(&place) else { continue };
        if let Some(inode) = inode_of(&link) {
            sockets.entry(inode).or_default().insert(process);
        } else if link.is_absolute() && !is_own(&link, own) && can_write(process, &place) && is_lasting(&place) {
            found.insert(link.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

fn is_own(path: &Path, own: &OwnThings) -> bool {
    own.folders.iter().any(|folder| path.starts_with(folder))
}

/// True if the descriptor's flags, which are octal, have an access mode that writes.
fn can_write(process: u32, place: &Path) -> bool {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let text = fs::read_to_string(format!("/proc/{process}/fdinfo/{name}")).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok()).is_none_or(|flags| flags & 3 != 0)
}

/// False for what is gone with the process (a removed file), and for devices that keep nothing: terminals, `/dev/null`.
fn is_lasting(place: &Path) -> bool {
    let Ok(file) = fs::metadata(place) else { return true };
    file.nlink() > 0 && !file.file_type().is_char_device()
}

/// Files of shared writable mappings.
fn mappings(process: u32, own: &OwnThings) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    text.lines().filter_map(|line| mapped_file(line, own)).collect()
}

/// `7f00-7f01 rw-s 00000000 08:01 77    /path`.
fn mapped_file(line: &str, own: &OwnThings) -> Option<String> {
    let mut fields = line.split_ascii_whitespace();
    let rights = fields.nth(1)?;
    let path = &line[line.find('/')?..];
    let lasts = !path.ends_with(" (deleted)") && !path.starts_with("/dev/") && !path.starts_with("/memfd:");
    (rights.contains('w') && rights.ends_with('s') && lasts && !is_own(Path::new(path), own)).then(|| path.to_owned())
}

/// A line of `/proc/net/tcp`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct InternetSocket {
    local: String,
    remote: String,
    inode: u64,
}

/// The other ends of connected internet sockets, except the kernel's own, and those with both ends in one process. A process
/// that was there before takes orders over such a socket, and may have kinds that the code has not.
fn internet(process: u32, sockets: &SocketHolders, own: &OwnThings) -> Vec<String> {
    let mut connected = BTreeMap::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/{process}/net/{table}")).unwrap_or_default();
        connected.extend(text.lines().filter_map(parse_socket).map(|socket| (socket.inode, socket)));
    }
    connected.retain(|inode, _| sockets.contains_key(inode));
    let holders = |socket: &InternetSocket| sockets.get(&socket.inode).into_iter().flatten();
    let is_within = |socket: &InternetSocket| {
        let mut others =
            connected.values().filter(|other| other.local == socket.remote && other.remote == socket.local);
        others.any(|other| holders(socket).chain(holders(other)).collect::<BTreeSet<_>>().len() == 1)
    };
    let is_kernels = |socket: &InternetSocket| port(&socket.local).is_some_and(|port| own.ports.contains(&port));
    let outside = connected.values().filter(|socket| !is_within(socket) && !is_kernels(socket));
    outside.filter_map(|socket| address(&socket.remote)).collect()
}

fn parse_socket(line: &str) -> Option<InternetSocket> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    if *fields.get(3)? != CONNECTED {
        return None;
    }
    let inode = fields.get(9)?.parse().ok()?;
    Some(InternetSocket { local: fields[1].to_owned(), remote: fields[2].to_owned(), inode })
}

fn port(address: &str) -> Option<u16> {
    u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok()
}

/// `0100007F:1538` is `127.0.0.1:5432`: each group of 32 bits is in the machine's order.
fn address(text: &str) -> Option<String> {
    let (host, _) = text.rsplit_once(':')?;
    let groups: Vec<u32> =
        (0..host.len() / 8).filter_map(|at| u32::from_str_radix(host.get(8 * at..8 * at + 8)?, 16).ok()).collect();
    let bytes: Vec<u8> = groups.iter().flat_map(|group| group.to_ne_bytes()).collect();
    let host = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => std::net::IpAddr::from(four),
        Err(_) => std::net::IpAddr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?),
    };
    Some(std::net::SocketAddr::new(host.to_canonical(), port(text)?).to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn addresses_are_read() {
        if cfg!(target_endian = "little") {
            assert_eq!(address("0100007F:1538").unwrap(), "127.0.0.1:5432");
            assert_eq!(address("0000000000000000FFFF00000100007F:0050").unwrap(), "127.0.0.1:80");
        }
        let line =
            "   0: 0100007F:C350 0100007F:1538 01 00000000:00000000 00:00000000 00000000  0  0 4711 1 0 20 4 30 10 -1";
        let found = parse_socket(line).unwrap();
        assert_eq!((found.inode, port(&found.local)), (4711, Some(50000)));
        assert_eq!(parse_socket(&line.replace(" 01 ", " 0A ")), None, "it listens");
    }

    #[test]
    fn shared_writable_mappings_of_files_count() {
        let own = OwnThings { folders: vec!["/tmp/own".into()], ports: Vec::new() };
        let file = |line: &str| mapped_file(line, &own);
        assert_eq!(file("7f00-7f01 rw-s 00000000 08:01 77    /data/a b.dat").unwrap(), "/data/a b.dat");
        for line in [
            "7f00-7f01 rw-p 00000000 08:01 77    /data/a.dat",
            "7f00-7f01 r--s 00000000 08:01 77    /data/a.dat",
            "7f00-7f01 rw-s 00000000 08:01 77    /data/a.dat (deleted)",
            "7f00-7f01 rw-s 00000000 00:01 77    /dev/zero (deleted)",
            "7f00-7f01 rw-s 00000000 08:01 77    /tmp/own/a.dat",
            "7f00-7f01 rw-s 00000000 00:00 0 ",
        ] {
            assert_eq!(file(line), None, "{line}");
        }
    }

    #[test]
    fn files_and_connections_of_this_process_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = fs::File::create(folder.path().join("sales.db")).unwrap();
        file.write_all(b"x").unwrap();
        let reader = fs::File::open(folder.path().join("sales.db")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = std::process::id();
        let list = |folders: Vec<PathBuf>, connections: &mut ConnectedSockets| {
            super::list(&[here], &OwnThings { folders, ports: Vec::new() }, connections).unwrap()
        };
        let mut connections = ConnectedSockets::default();
        let open = list(Vec::new(), &mut connections);
        assert!(open.iter().any(|name| name.ends_with("/sales.db")), "{open:?}");
        let open = list(vec![folder.path().to_owned()], &mut connections);
        assert!(!open.iter().any(|name| name.ends_with("/sales.db")), "{open:?}");
        // Both ends are in this process.
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let other = listener.accept().unwrap();
        let address = stream.peer_addr().unwrap().to_string();
        assert!(!list(Vec::new(), &mut connections).contains(&address));
        drop((file, reader, other));
    }
}
