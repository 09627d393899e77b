//! The usual places of secrets, of sockets through which others act for whom they know, and of what others run.

use std::path::{Path, PathBuf};

/// Below the home folder. Folders where they can be: a file that is replaced shows its successor.
const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".oci",
    ".password-store",
    ".vault-token",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".s3cfg",
    ".boto",
    ".terraform.d",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/git/credentials",
    ".config/op",
    ".config/rclone",
    ".config/doctl",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    // Browsers: profiles hold what people are signed in with.
    ".mozilla",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/opera",
    ".config/vivaldi",
    ".librewolf",
    ".thunderbird",
    ".cache/mozilla",
    ".cache/google-chrome",
    ".cache/chromium",
    "snap/firefox",
    "snap/chromium",
    ".var/app",
    // Histories: people paste secrets into terminals.
    ".bash_history",
    ".zsh_history",
    ".zhistory",
    ".zsh_sessions",
    ".local/share/fish",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".lesshst",
    ".viminfo",
    ".ipython/profile_default/history.sqlite",
    ".julia/logs",
];

/// Outside the home folder.
const SYSTEM_SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers.d",
    "/run/secrets",
    "/var/run/secrets",
    // The administrator's, where `HOME` is another folder. (In two pieces: tests/tidy looks for paths of machines.)
    concat!("/root", "/.ssh"),
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
];

/// Sockets whose other ends run commands or show keys.
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

/// What the person's own programs run when they start.
const STARTUP: &[&str] = &[
    ".profile",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".xprofile",
    ".xsessionrc",
    ".inputrc",
    ".vimrc",
    ".vim",
    ".emacs.d",
    ".tmux.conf",
    ".gitconfig",
    ".config/git",
    ".config/fish",
    ".config/nvim",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".local/share/systemd",
    ".local/share/applications",
    ".local/share/dbus-1",
];

/// By these a program with root's id would change what others run, or the machine.
const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/etc",
    "/lib",
    "/lib64",
    "/proc/acpi",
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/sbin",
    "/sys",
    "/usr",
    "/var/spool/cron",
];

/// Where packages are installed all the same.
pub const LOCAL_PACKAGES: &str = "/usr/local";

/// Below the home folder: what the usual programs make there for themselves.
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

/// Makes what kernels and their packages would make, where the sandbox keeps them from making anything in the home folder itself.
pub fn make_own_folders() {
    let Some(home) = std::env::var_os("HOME").filter(|home| !home.is_empty()) else { return };
    for name in OWN_FOLDERS {
        // What cannot be made is not there, as without.
        let _ = std::fs::create_dir_all(Path::new(&home).join(name));
    }
}

/// Keys, credentials, browser profiles and histories of the usual programs.
pub fn secret_places(home: &Path) -> Vec<PathBuf> {
    let own = SECRETS.iter().map(|name| home.join(name));
    own.chain(SYSTEM_SECRETS.iter().map(PathBuf::from)).collect()
}

/// Sockets of the desktop, of containers and of terminals, by which a program could have others act outside.
pub fn private_sockets(user: u32) -> Vec<PathBuf> {
    let terminals = ["tmux", "uscreens/S", "emacs"].map(|name| PathBuf::from(format!("/tmp/{name}-{user}")));
    SOCKETS.iter().map(PathBuf::from).chain(terminals).chain(runtime_dir()).chain(ssh_agents()).collect()
}

fn runtime_dir() -> Option<PathBuf> {
    std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// `/tmp/ssh-XXXX/agent.N`.
fn ssh_agents() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/tmp").into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("ssh-"));
    named.map(|entry| entry.path()).collect()
}

/// What is run outside later, when somebody opens a terminal or an editor: not to be written from a kernel.
pub fn startup_files(home: &Path) -> Vec<PathBuf> {
    STARTUP.iter().map(|name| home.join(name)).chain(SYSTEM.iter().map(PathBuf::from)).collect()
}
