//! Usual paths of secrets, of sockets that act for their user, and of files that other programs run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::stand_ins::MissingPlace;

const SECRETS: &str = include_str!("secrets.txt");
/// The administrator's keys, if `HOME` is another folder. (In two pieces: tests/tidy looks for paths of machines.)
const ROOT_KEYS: &str = concat!("/root", "/.ssh");
const STARTUP: &str = include_str!("startup.txt");

/// Variables that name a path of credentials or of a history, in place of the usual folders.
const NAMED_BY: &[&str] = &[
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "DOCKER_CONFIG",
    "GNUPGHOME",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HISTFILE",
    "KUBECONFIG",
    "NETRC",
    "PASSWORD_STORE_DIR",
    "PGPASSFILE",
    "REGISTRY_AUTH_FILE",
    "SSH_AUTH_SOCK",
];

/// Sockets whose servers run commands or show keys.
const SOCKETS: &[&str] = &[
    "/run/user",
    "/run/dbus",
    "/run/docker.sock",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/snapd.socket",
    "/run/screen",
    "/run/systemd/private",
    "/tmp/.X11-unix",
    "/tmp/.ICE-unix",
];

/// Folder within these in which packages may be installed.
pub const LOCAL_PACKAGES: &str = "/usr/local";

/// Folders below the home folder that common programs create for themselves.
const OWN_FOLDERS: &[&str] = &[
    ".ipython",
    ".cache/fontconfig",
    ".cache/huggingface",
    ".cache/matplotlib",
    ".cache/pip",
    ".cache/torch",
    ".cache/uv",
    ".config/matplotlib",
    ".local/bin",
    ".local/lib",
    ".local/share/jupyter",
];

/// Folders of the system in which programs and their libraries, settings and devices are, and temporary ones.
const SYSTEM_FOLDERS: &[&str] = &[
    "/bin",
    "/dev",
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/opt",
    "/proc",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/resolvconf",
    "/run/systemd/resolve",
    "/sbin",
    "/sys",
    "/tmp",
    "/usr",
    "/var/cache/fontconfig",
    "/var/tmp",
];

/// Folders that kernels read whatever they are narrowed to.
pub fn system_folders() -> Vec<PathBuf> {
    SYSTEM_FOLDERS.iter().map(PathBuf::from).chain([std::env::temp_dir()]).collect()
}

/// Folders below the home folder that kernels and their packages use.
pub fn own_folders(home: &Path) -> Vec<PathBuf> {
    OWN_FOLDERS.iter().map(|folder| home.join(folder)).collect()
}

/// Creates the folders of kernels and their packages, because the sandbox prevents new entries in the home folder.
pub fn make_own_folders() {
    let Some(home) = std::env::var_os("HOME").filter(|home| !home.is_empty()) else { return };
    for name in OWN_FOLDERS {
        // On failure the folder is missing, as without this call.
        let _ = std::fs::create_dir_all(Path::new(&home).join(name));
    }
}

/// Keys, credentials, browser profiles and histories of the usual programs.
pub fn secret_places(home: &Path) -> Vec<PathBuf> {
    listed(SECRETS, home).chain([PathBuf::from(ROOT_KEYS)]).collect()
}

/// Paths that the account's own variables name, except those in `passed`: kernels may use these.
pub fn named_places(variable: impl Fn(&str) -> Option<OsString>, passed: &[String]) -> Vec<PathBuf> {
    let names = NAMED_BY.iter().filter(|name| !passed.iter().any(|passed| passed == **name));
    let values = names.filter_map(|name| variable(name));
    let paths = values.flat_map(|value| std::env::split_paths(&value).collect::<Vec<_>>());
    paths.filter(|path| path.is_absolute() && path.parent().is_some()).collect()
}

/// Sockets of the desktop, of containers and of terminals, through which a program could act outside.
pub fn private_sockets(user: u32) -> Vec<PathBuf> {
    let terminals = ["tmux", "uscreens/S", "emacs"].map(|name| PathBuf::from(format!("/tmp/{name}-{user}")));
    SOCKETS.iter().map(PathBuf::from).chain(terminals).chain(runtime_dir()).chain(ssh_agents()).collect()
}

fn runtime_dir() -> Option<PathBuf> {
    std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// SSH agents: `/tmp/ssh-XXXX/agent.N`.
fn ssh_agents() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/tmp").into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("ssh-"));
    named.map(|entry| entry.path()).collect()
}

/// Files that programs outside run later, such as terminals and editors: kernels must not write them.
pub fn startup_files(home: &Path) -> Vec<PathBuf> {
    listed(STARTUP, home).collect()
}

/// Secret places and startup files below the home folder, which may be missing.
pub fn missing_places(home: &Path) -> Vec<MissingPlace> {
    let lines = lines(SECRETS).chain(lines(STARTUP)).filter(|line| !line.starts_with('/'));
    lines
        .map(|line| MissingPlace { path: home.join(line.trim_end_matches('/')), is_folder: line.ends_with('/') })
        .collect()
}

/// Paths of a list, one a line; relative ones are below the home folder.
fn listed(list: &'static str, home: &Path) -> impl Iterator<Item = PathBuf> {
    lines(list).map(|path| home.join(path.trim_end_matches('/')))
}

fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_where_variables_say_and_what_kernels_are_to_have_is_left_out() {
        let variables = [
            ("KUBECONFIG", "/clusters/one:/clusters/two"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/keys/service.json"),
            ("NETRC", "relative"),
            ("HISTFILE", "/"),
            ("HOME", "/home/ann"),
        ];
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(named_places(variable, &[]), paths(&["/keys/service.json", "/clusters/one", "/clusters/two"]));
        let passed = ["GOOGLE_APPLICATION_CREDENTIALS".to_owned()];
        assert_eq!(named_places(variable, &passed), paths(&["/clusters/one", "/clusters/two"]));
    }
}
