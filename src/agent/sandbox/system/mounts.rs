//! Empty read-only mounts over hidden paths, in the kernel's own mount namespace.

mod pins;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::mount::{MsFlags, mount};
use nix::sys::statvfs::{FsFlags, statvfs};

use super::super::Plan;
use crate::supervisor::launcher::{SHARED_MEMORY_MOUNT, TERMINALS_MOUNT};

const NOTHING: Option<&str> = None;
/// Depth of the search for devices.
const MAX_DEVICE_DEPTH: usize = 3;
/// Memory devices by number: `mem`, `kmem`, `port`, `kmsg`.
const MEMORY_MAJOR: u64 = 1;
const MEMORY_MINORS: &[u64] = &[1, 2, 4, 11];
/// Raw disks as character devices, keyboards, and devices that emulate keyboards: `sg`, `input`, `uinput`.
const RAW_NAMES: &[&str] = &["sg", "bsg", "nvme", "input", "uinput", "uhid", "vcs", "loop-control", "mapper"];

/// Covers the plan's places. False: links on the way to them (in `wanted`, the plan with its paths unresolved) are not kept.
pub fn cover(plan: &Plan, wanted: &Plan) -> Result<bool, String> {
    let working_dir = std::env::current_dir();
    // Later mounts of the system still propagate in; none propagate out.
    let private = mount(NOTHING, "/", NOTHING, MsFlags::MS_SLAVE | MsFlags::MS_REC, NOTHING);
    private.map_err(|error| format!("the system allows no mounts of one's own ({error})"))?;
    if plan.own_processes {
        own_processes()?;
    }
    let shown: Vec<ShownPath> = plan.shown.iter().filter_map(|path| ShownPath::open(path)).collect();
    let inside = |place: &Path| shown.iter().filter(move |shown| shown.path.starts_with(place)).collect::<Vec<_>>();
    let are_links_kept = pins::pin(wanted)?;
    for path in &plan.read_only {
        protect(path, &inside(path))
            .map_err(|error| format!("{} cannot be made read-only: {error}", path.display()))?;
    }
    own_terminals();
    own_shared_memory();
    let (folders, files): (Vec<&PathBuf>, Vec<&PathBuf>) = plan.hidden.iter().partition(|path| path.is_dir());
    for path in &folders {
        cover_folder(path, &inside(path)).map_err(|error| cannot(path, error))?;
    }
    cover_files(folders.first(), &files)?;
    folders.iter().try_for_each(|path| seal(path).map_err(|error| cannot(path, error)))?;
    enter(working_dir);
    Ok(are_links_kept)
}

/// Enters the working folder by its path. The one that the process began in lies below the new mounts: relative paths in it would lead
/// past them.
fn enter(working_dir: std::io::Result<PathBuf>) {
    let entered = working_dir.and_then(std::env::set_current_dir);
    if entered.is_err() {
        // Never fails for the root.
        let _ = std::env::set_current_dir("/");
    }
}

/// Mounts `/proc` of the separate PID namespace, in which this process is the first. Done before any part of the system's `/proc` is
/// covered: afterwards the system would refuse another.
fn own_processes() -> Result<(), String> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC | MsFlags::MS_NODEV;
    let mounted = mount(Some("proc"), "/proc", Some("proc"), flags, NOTHING);
    mounted.map_err(|error| format!("the system allows no /proc of one's own ({error})"))
}

fn cannot(path: &Path, error: nix::Error) -> String {
    format!("{} cannot be hidden: {error}", path.display())
}

/// A path that stays reachable: opened before it is covered.
struct ShownPath {
    path: PathBuf,
    file: File,
}

impl ShownPath {
    fn open(path: &Path) -> Option<Self> {
        let file = File::options().read(true).custom_flags(OFlag::O_PATH.bits()).open(path).ok()?;
        Some(Self { path: path.to_owned(), file })
    }
}

/// Path of the open file, whatever covers its own path since.
fn behind(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

const EMPTY_FOLDER: MsFlags = MsFlags::MS_NOSUID.union(MsFlags::MS_NODEV);

/// Covers a folder with an empty one, in which only `inside` is bound.
fn cover_folder(path: &Path, inside: &[&ShownPath]) -> nix::Result<()> {
    mount(Some("none"), path, Some("tmpfs"), EMPTY_FOLDER, Some("size=64k,mode=755"))?;
    for ShownPath { path, file } in inside {
        let made = if behind(file).is_dir() { std::fs::create_dir_all(path) } else { make_file(path) };
        made.map_err(|error| nix::Error::from_raw(error.raw_os_error().unwrap_or_default()))?;
        bind(&behind(file), path, MsFlags::MS_REC)?;
    }
    Ok(())
}

fn seal(path: &Path) -> nix::Result<()> {
    let flags = EMPTY_FOLDER | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    mount(NOTHING, path, NOTHING, flags, NOTHING)
}

/// Covers files with an empty file, which exists in a covered folder meanwhile; without such a folder, with `/dev/null`.
fn cover_files(folder: Option<&&PathBuf>, files: &[&PathBuf]) -> Result<(), String> {
    let empty = folder.map(|folder| folder.join("empty"));
    if let Some(empty) = &empty {
        make_file(empty).map_err(|error| format!("hidden files cannot be covered: {error}"))?;
    }
    let cover = empty.as_deref().unwrap_or(Path::new("/dev/null"));
    for path in files {
        let covered = bind(cover, path, MsFlags::empty()).and_then(|()| make_read_only(path));
        covered.map_err(|error| cannot(path, error))?;
    }
    empty.map_or(Ok(()), std::fs::remove_file).map_err(|error| format!("hidden files cannot be covered: {error}"))
}

/// Makes a path read-only with all mounts below, except `inside`.
fn protect(path: &Path, inside: &[&ShownPath]) -> nix::Result<()> {
    bind(path, path, MsFlags::MS_REC)?;
    for mounted in mounts_below(path) {
        make_read_only(&mounted)?;
    }
    inside.iter().try_for_each(|ShownPath { path, file }| bind(&behind(file), path, MsFlags::MS_REC))
}

/// Mount points below a path: the fifth field of each line. Paths with blanks, which the table writes as octal numbers, are skipped.
fn mounts_below(path: &Path) -> Vec<PathBuf> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounted = table.lines().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from);
    let mut below: Vec<PathBuf> = mounted.filter(|mounted| mounted.starts_with(path)).collect();
    below.push(path.to_owned());
    below.sort();
    below.dedup();
    // A link that is kept where it is leads elsewhere.
    below.retain(|path| path.exists() && !path.is_symlink());
    below
}

fn make_file(path: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
    File::create(path).map(drop)
}

fn bind(source: &Path, target: &Path, more: MsFlags) -> nix::Result<()> {
    mount(Some(source), target, NOTHING, MsFlags::MS_BIND | more, NOTHING)
}

/// Remounts read-only. The mount's existing restrictions must be kept, or the system refuses.
fn make_read_only(path: &Path) -> nix::Result<()> {
    let kept = statvfs(path)?.flags();
    let mut flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    let forbidden = [
        (FsFlags::ST_NOSUID, MsFlags::MS_NOSUID),
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
        (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
        (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
        (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
    ];
    for (flag, same) in forbidden {
        if kept.contains(flag) {
            flags |= same;
        }
    }
    mount(NOTHING, path, NOTHING, flags, NOTHING)
}

/// Mounts separate terminals: in those of the person, code could read input.
fn own_terminals() {
    let place = Path::new("/dev/pts");
    if place.is_dir() {
        let options = Some("newinstance,ptmxmode=0666,mode=0620");
        // The default mode allows only the owner, and programs of the kernel have none.
        let _ = mount(Some(TERMINALS_MOUNT), place, Some("devpts"), MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC, options);
    }
}

/// Mounts a `/dev/shm` of the kernel's own. Without it, held runs have no shared memory.
fn own_shared_memory() {
    let place = Path::new("/dev/shm");
    if place.is_dir() {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        let _ = mount(Some(SHARED_MEMORY_MOUNT), place, Some("tmpfs"), flags, Some("mode=1777"));
    }
}

/// Disks, memory and keyboards: reading these bypasses hidden paths.
pub fn raw_devices() -> Vec<PathBuf> {
    let mut found = Vec::new();
    find_devices(Path::new("/dev"), MAX_DEVICE_DEPTH, &mut found);
    found
}

fn find_devices(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(metadata) = path.symlink_metadata() else { continue };
        let kind = metadata.file_type();
        let number = (nix::sys::stat::major(metadata.rdev()), nix::sys::stat::minor(metadata.rdev()));
        let is_memory = kind.is_char_device() && number.0 == MEMORY_MAJOR && MEMORY_MINORS.contains(&number.1);
        let is_raw = is_memory || kind.is_block_device() || is_named_raw(&entry.file_name().to_string_lossy());
        if is_raw && !kind.is_symlink() {
            found.push(path);
        } else if kind.is_dir() && depth > 0 {
            find_devices(&path, depth - 1, found);
        }
    }
}

fn is_named_raw(name: &str) -> bool {
    RAW_NAMES.iter().any(|raw| name.starts_with(raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_for_computing_stay_in_reach() {
        let computing =
            ["nvidia0", "nvidiactl", "nvidia-uvm", "nvidia-caps", "dri", "renderD128", "kfd", "accel", "null"];
        assert!(!computing.into_iter().any(is_named_raw));
        assert!(["sg0", "nvme0", "nvme0n1", "input", "vcs1", "mapper"].into_iter().all(is_named_raw));
    }
}
