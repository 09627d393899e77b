//! Finds the kernels that are installed here, as Jupyter does, without running Python.
//!
//! Unusable kernelspecs are reported beside usable ones: one broken `kernel.json` hides no other kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use notarium_core::KernelEffects;
use notarium_wire::OfferedKernelspec;
use serde::Deserialize;

/// Longest `kernel.json` that is read, in bytes.
const MAX_KERNELSPEC_BYTES: u64 = 1 << 20;
/// Most kernelspecs that are read in one folder.
const MAX_KERNELSPECS_PER_FOLDER: usize = 1000;

/// Ways to interrupt a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InterruptMode {
    /// SIGINT to the process group.
    #[default]
    Signal,
    /// `interrupt_request` on the control channel.
    Message,
}

/// An installed kernel: the content of its `kernel.json`, with its name and place.
#[derive(Debug, Clone)]
pub struct Kernelspec {
    /// Folder name, in lower case; the kernel's name for users and notebooks.
    pub name: String,
    /// The folder that holds `kernel.json` (`{resource_dir}`).
    pub resource_dir: PathBuf,
    /// Command line, with `{connection_file}` and `{resource_dir}` not yet filled in; never empty.
    pub argv: Vec<String>,
    pub display_name: String,
    pub language: String,
    pub interrupt_mode: InterruptMode,
    /// Environment of the kernel; values may name variables of the agent as `${NAME}`.
    pub env: BTreeMap<String, String>,
}

/// A kernelspec that cannot be used, or a folder that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct KernelspecProblem {
    pub path: PathBuf,
    pub reason: String,
}

/// Result of a search.
#[derive(Debug, Clone, Default)]
pub struct FoundKernelspecs {
    /// One per name, the first on the search path; sorted by name.
    pub kernelspecs: Vec<Kernelspec>,
    pub problems: Vec<KernelspecProblem>,
}

impl FoundKernelspecs {
    /// The kernelspec with this name (in any case).
    pub fn get(&self, name: &str) -> Option<&Kernelspec> {
        self.kernelspecs.iter().find(|kernelspec| kernelspec.name.eq_ignore_ascii_case(name))
    }
}

/// Reads one environment variable. A function, so that tests need not change the process.
pub type ReadEnvironment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Finds the kernelspecs of this machine: first the virtual environments in `prefixes`, then Jupyter's own search path.
pub fn discover(prefixes: &[PathBuf]) -> FoundKernelspecs {
    discover_in(&search_path(prefixes, &|name| std::env::var_os(name)))
}

/// The Jupyter data folders to search, best first: `prefixes`, `JUPYTER_PATH`, the user's folder, the active or first
/// Python's prefix, the system.
pub fn search_path(prefixes: &[PathBuf], environment: ReadEnvironment) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = prefixes.iter().map(|prefix| share_jupyter(prefix)).collect();
    if let Some(paths) = environment("JUPYTER_PATH") {
        folders.extend(std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()));
    }
    folders.extend(user_folder(environment));
    folders.extend(environment_prefixes(environment).iter().map(|prefix| share_jupyter(prefix)));
    folders.extend(["/usr/local/share/jupyter", "/usr/share/jupyter"].map(PathBuf::from));
    let mut seen = BTreeSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

fn share_jupyter(prefix: &Path) -> PathBuf {
    prefix.join("share").join("jupyter")
}

fn set(environment: ReadEnvironment, name: &str) -> Option<PathBuf> {
    environment(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn user_folder(environment: ReadEnvironment) -> Option<PathBuf> {
    if let Some(folder) = set(environment, "JUPYTER_DATA_DIR") {
        return Some(folder);
    }
    let home = set(environment, "HOME");
    if cfg!(target_os = "macos") {
        return Some(home?.join("Library").join("Jupyter"));
    }
    let data = set(environment, "XDG_DATA_HOME").or_else(|| Some(home?.join(".local").join("share")))?;
    Some(data.join("jupyter"))
}

/// Candidates for Python's `sys.prefix`: the active environment, and the folder above the first Python on `PATH`.
fn environment_prefixes(environment: ReadEnvironment) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|name| set(environment, name)).collect();
    let path = environment("PATH").unwrap_or_default();
    for program in ["python3", "python"] {
        let folder = std::env::split_paths(&path).find(|folder| folder.join(program).is_file());
        prefixes.extend(folder.as_deref().and_then(Path::parent).map(Path::to_owned));
    }
    prefixes
}

/// Reads the kernelspecs in the `kernels` folders of these Jupyter data folders.
pub fn discover_in(folders: &[PathBuf]) -> FoundKernelspecs {
    let (mut found, mut problems) = (BTreeMap::new(), Vec::new());
    for folder in folders.iter().map(|folder| folder.join("kernels")) {
        let resource_dirs = resource_dirs(&folder, &mut problems).unwrap_or_else(|error| {
            problems.push(problem(&folder, format!("the folder cannot be read: {error}")));
            Vec::new()
        });
        for resource_dir in resource_dirs {
            match Kernelspec::read(&resource_dir) {
                Ok(kernelspec) => _ = found.entry(kernelspec.name.clone()).or_insert(kernelspec),
                Err(problem) => problems.push(problem),
            }
        }
    }
    FoundKernelspecs { kernelspecs: found.into_values().collect(), problems }
}

/// The folders in `folder` that hold a `kernel.json`, sorted.
fn resource_dirs(folder: &Path, problems: &mut Vec<KernelspecProblem>) -> std::io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut resource_dirs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    resource_dirs.retain(|path| path.join("kernel.json").exists());
    resource_dirs.sort();
    if resource_dirs.len() > MAX_KERNELSPECS_PER_FOLDER {
        problems
            .push(problem(folder, format!("more than {MAX_KERNELSPECS_PER_FOLDER} kernelspecs; the rest is not read")));
        resource_dirs.truncate(MAX_KERNELSPECS_PER_FOLDER);
    }
    Ok(resource_dirs)
}

fn problem(path: &Path, reason: impl Into<String>) -> KernelspecProblem {
    KernelspecProblem { path: path.to_owned(), reason: reason.into() }
}

#[derive(Deserialize)]
struct KernelJson {
    argv: Vec<String>,
    display_name: Option<String>,
    language: Option<String>,
    interrupt_mode: Option<String>,
    env: Option<BTreeMap<String, EnvironmentValue>>,
}

/// Accepts numbers and booleans too: a common mistake with one meaning.
#[derive(Deserialize)]
#[serde(untagged)]
enum EnvironmentValue {
    Text(String),
    Integer(i64),
    Boolean(bool),
}

impl From<EnvironmentValue> for String {
    fn from(value: EnvironmentValue) -> Self {
        match value {
            EnvironmentValue::Text(text) => text,
            EnvironmentValue::Integer(number) => number.to_string(),
            EnvironmentValue::Boolean(boolean) => boolean.to_string(),
        }
    }
}

impl Kernelspec {
    /// Reads `resource_dir/kernel.json`.
    pub fn read(resource_dir: &Path) -> Result<Self, KernelspecProblem> {
        let path = resource_dir.join("kernel.json");
        let name = valid_name(resource_dir).ok_or_else(|| {
            problem(&path, "the folder's name is no kernel name: use letters, digits, '-', '.' and '_'")
        })?;
        let content = read_limited(&path)?;
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content);
        let json: KernelJson =
            serde_json::from_slice(content).map_err(|error| problem(&path, format!("not a kernelspec: {error}")))?;
        if json.argv.first().is_none_or(String::is_empty) {
            return Err(problem(&path, "argv is empty: it must hold the command that starts the kernel"));
        }
        Self::from_json(name, resource_dir, json).map_err(|reason| problem(&path, reason))
    }

    fn from_json(name: String, resource_dir: &Path, json: KernelJson) -> Result<Self, String> {
        let interrupt_mode = match json.interrupt_mode.as_deref() {
            None | Some("signal") => InterruptMode::Signal,
            Some("message") => InterruptMode::Message,
            Some(other) => {
                return Err(format!("interrupt_mode is {other:?}: it must be \"signal\" or \"message\""));
            }
        };
        Ok(Self {
            display_name: json.display_name.unwrap_or_else(|| name.clone()),
            language: json.language.unwrap_or_default(),
            argv: json.argv,
            interrupt_mode,
            env: json.env.unwrap_or_default().into_iter().map(|(name, value)| (name, value.into())).collect(),
            name,
            resource_dir: resource_dir.to_owned(),
        })
    }

    /// The offer of such kernels to a server.
    pub fn offered(&self, effects: KernelEffects) -> OfferedKernelspec {
        let Self { name, display_name, language, .. } = self.clone();
        OfferedKernelspec { name, display_name, language, effects: Some(effects) }
    }

    /// The command line with `{connection_file}`, `{resource_dir}` and `{prefix}` filled in. A bare `python` means the
    /// Python of the environment in which the kernelspec is installed, if that has one.
    pub fn command_line(&self, connection_file: &Path) -> Vec<OsString> {
        let prefix = self.prefix().unwrap_or_default();
        let fill = |argument: &String| {
            let filled = argument
                .replace("{connection_file}", &connection_file.to_string_lossy())
                .replace("{resource_dir}", &self.resource_dir.to_string_lossy())
                .replace("{prefix}", &prefix.to_string_lossy());
            OsString::from(filled)
        };
        let mut command: Vec<OsString> = self.argv.iter().map(fill).collect();
        if let (Some(python), Some(program)) = (self.own_python(), command.first_mut()) {
            *program = python.into_os_string();
        }
        command
    }

    /// The environment of the kernel, with `${NAME}` replaced by its value from `environment`, or by nothing.
    pub fn environment(&self, environment: ReadEnvironment) -> BTreeMap<String, OsString> {
        self.env.iter().map(|(name, value)| (name.clone(), substitute(value, environment))).collect()
    }

    /// True for ipykernel, started in its usual way (`python -m ipykernel_launcher`).
    pub fn is_ipykernel(&self) -> bool {
        self.argv
            .windows(2)
            .any(|pair| pair[0] == "-m" && matches!(pair[1].as_str(), "ipykernel_launcher" | "ipykernel"))
    }

    /// True for kernels whose threads and processes can be told apart: those that run code in their main thread, or in
    /// one child process.
    pub fn can_be_held(&self) -> bool {
        self.is_ipykernel() || self.language == "R" || self.runs_in_child()
    }

    /// True for kernels that run code in a child process that is there before the first run.
    pub fn runs_in_child(&self) -> bool {
        self.language == "bash" || self.argv.iter().any(|argument| argument == "bash_kernel")
    }

    /// `P` if the kernelspec is in `P/share/jupyter/kernels/name`.
    fn prefix(&self) -> Option<PathBuf> {
        let share = self.resource_dir.parent()?.parent()?.parent()?;
        (share.file_name()? == "share").then(|| share.parent().map(Path::to_owned)).flatten()
    }

    fn own_python(&self) -> Option<PathBuf> {
        let program = self.argv.first()?;
        let is_bare_python = program
            .strip_prefix("python")
            .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'));
        let python = self.prefix()?.join("bin").join(program);
        (is_bare_python && python.is_file()).then_some(python)
    }
}

fn valid_name(resource_dir: &Path) -> Option<String> {
    let name = resource_dir.file_name()?.to_str()?;
    let valid = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'));
    valid.then(|| name.to_ascii_lowercase())
}

fn read_limited(path: &Path) -> Result<Vec<u8>, KernelspecProblem> {
    let cannot_read = |error: std::io::Error| problem(path, format!("cannot be read: {error}"));
    let bytes = std::fs::metadata(path).map_err(cannot_read)?.len();
    if bytes > MAX_KERNELSPEC_BYTES {
        return Err(problem(
            path,
            format!("{bytes} bytes are too long for a kernelspec (limit {MAX_KERNELSPEC_BYTES})"),
        ));
    }
    std::fs::read(path).map_err(cannot_read)
}

fn substitute(value: &str, environment: ReadEnvironment) -> OsString {
    let mut filled = OsString::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else {
            break;
        };
        filled.push(before);
        filled.push(environment(name).unwrap_or_default());
        rest = behind;
    }
    filled.push(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
    }

    fn install(folder: &Path, name: &str, json: &str) -> PathBuf {
        let resource_dir = folder.join("kernels").join(name);
        std::fs::create_dir_all(&resource_dir).unwrap();
        std::fs::write(resource_dir.join("kernel.json"), json).unwrap();
        resource_dir
    }

    fn paths(texts: &[&str]) -> Vec<PathBuf> {
        texts.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn searches_where_jupyter_does() {
        let variables =
            [("JUPYTER_PATH", "/a::/b"), ("HOME", "/home/u"), ("VIRTUAL_ENV", "/venv"), ("PATH", "/nowhere")];
        let found = search_path(&paths(&["/given"]), &environment(&variables));
        let expected = [
            "/given/share/jupyter",
            "/a",
            "/b",
            "/home/u/.local/share/jupyter",
            "/venv/share/jupyter",
            "/usr/local/share/jupyter",
            "/usr/share/jupyter",
        ];
        assert_eq!(found, paths(&expected));
    }

    #[test]
    fn data_folder_of_the_user_can_be_moved() {
        let user = |variables: &[(&str, &str)]| search_path(&[], &environment(variables))[0].clone();
        assert_eq!(user(&[("HOME", "/h"), ("JUPYTER_DATA_DIR", "/data")]), Path::new("/data"));
        assert_eq!(user(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")]), Path::new("/x/jupyter"));
        assert_eq!(user(&[("JUPYTER_DATA_DIR", "")]), Path::new("/usr/local/share/jupyter"));
    }

    #[test]
    fn python_on_the_path_adds_its_prefix() {
        let prefix = tempfile::tempdir().unwrap();
        std::fs::create_dir(prefix.path().join("bin")).unwrap();
        std::fs::write(prefix.path().join("bin/python3"), "").unwrap();
        let path = prefix.path().join("bin");
        let found = search_path(&[], &environment(&[("PATH", path.to_str().unwrap())]));
        assert_eq!(found[0], prefix.path().join("share/jupyter"));
    }

    #[test]
    fn the_first_folder_wins_and_names_are_lower_case() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("1"), folder.path().join("2"));
        install(&first, "Python3", r#"{"argv": ["first"], "display_name": "P", "language": "python"}"#);
        install(&second, "python3", r#"{"argv": ["second"], "display_name": "P", "language": "python"}"#);
        install(
            &second,
            "ir",
            r#"{"argv": ["R"], "metadata": {"x": 1.50}, "env": {"N": 4}, "interrupt_mode": "message"}"#,
        );
        let found = discover_in(&[first, second]);
        assert!(found.problems.is_empty(), "{:?}", found.problems);
        assert_eq!(found.kernelspecs.iter().map(|k| k.name.as_str()).collect::<Vec<_>>(), ["ir", "python3"]);
        assert_eq!(found.get("PYTHON3").unwrap().argv, ["first"]);
        let ir = found.get("ir").unwrap();
        assert_eq!((ir.env["N"].as_str(), ir.interrupt_mode), ("4", InterruptMode::Message));
    }

    #[test]
    fn broken_kernelspecs_are_reported_and_hide_nothing() {
        let folder = tempfile::tempdir().unwrap();
        install(folder.path(), "good", "\u{feff}{\"argv\": [\"x\"]}");
        for (name, json) in [
            ("broken", "{"),
            ("empty", r#"{"argv": []}"#),
            ("no-argv", "{}"),
            ("wrong-type", r#"{"argv": "python"}"#),
            ("mode", r#"{"argv": ["x"], "interrupt_mode": "shout"}"#),
            ("a b", r#"{"argv": ["x"]}"#),
        ] {
            install(folder.path(), name, json);
        }
        std::fs::create_dir_all(folder.path().join("kernels/folder/kernel.json")).unwrap();
        std::fs::create_dir_all(folder.path().join("kernels/nothing-here")).unwrap();
        let found = discover_in(&[folder.path().to_owned(), folder.path().join("missing")]);
        assert_eq!(found.kernelspecs.len(), 1);
        assert_eq!(found.problems.len(), 7, "{:#?}", found.problems);
        assert!(found.problems.iter().any(|problem| problem.to_string().contains("interrupt_mode is \"shout\"")));
    }

    #[test]
    fn templates_are_filled_in() {
        let folder = tempfile::tempdir().unwrap();
        let resource_dir = install(
            folder.path(),
            "k",
            r#"{"argv": ["{resource_dir}/run", "-f={connection_file}"], "env": {"A": "x${HOME}y${NO}", "B": "${"}}"#,
        );
        let kernelspec = Kernelspec::read(&resource_dir).unwrap();
        let command = kernelspec.command_line(Path::new("/c.json"));
        assert_eq!(command, [resource_dir.join("run").into_os_string(), "-f=/c.json".into()]);
        let filled = kernelspec.environment(&environment(&[("HOME", "/h")]));
        assert_eq!((filled["A"].to_str(), filled["B"].to_str()), (Some("x/hy"), Some("${")));
    }

    #[test]
    fn a_bare_python_is_the_one_beside_the_kernelspec() {
        let prefix = tempfile::tempdir().unwrap();
        let resource_dir =
            install(&prefix.path().join("share/jupyter"), "p", r#"{"argv": ["python", "-m", "ipykernel_launcher"]}"#);
        let kernelspec = Kernelspec::read(&resource_dir).unwrap();
        assert_eq!(kernelspec.command_line(Path::new("c"))[0], "python");
        std::fs::create_dir(prefix.path().join("bin")).unwrap();
        std::fs::write(prefix.path().join("bin/python"), "").unwrap();
        assert_eq!(kernelspec.command_line(Path::new("c"))[0], prefix.path().join("bin/python"));
        assert!(kernelspec.is_ipykernel());
    }
}
