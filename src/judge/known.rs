//! What is known to be harmless: lists that `known/generate.py` makes from the libraries, minus what `known/reviewed.txt`
//! withholds. Read once, then looked up.

use std::collections::BTreeMap;
use std::sync::LazyLock;

const MODULES: &str = include_str!("known/modules.txt");
/// Our own, of which generate.py knows nothing. `call_function` calls whatever is registered, and is not among them.
const OWN: &str = "notarium progress tool";
const ATTRIBUTES: &str = include_str!("known/attributes.txt");

/// Names of a known module that harm nobody, however they are called. `cm=matplotlib.cm` is a module under another name.
static BY_MODULE: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let lines = MODULES.lines().filter(|line| !line.starts_with('#')).chain([OWN]);
    let split = lines.map(|line| line.split_once(' ').unwrap_or((line, "")));
    split.map(|(module, names)| (module, sorted(names.split(' ').filter(|name| !name.is_empty())))).collect()
});

static HARMLESS: LazyLock<Vec<&str>> = LazyLock::new(|| sorted(section("harmless")));
static WITHHELD: LazyLock<Vec<&str>> = LazyLock::new(|| sorted(section("withheld")));
static PRIVATE: LazyLock<Vec<&str>> = LazyLock::new(|| sorted(section("private")));

fn sorted<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut words: Vec<&str> = words.collect();
    words.sort_unstable();
    words
}

fn section(name: &str) -> impl Iterator<Item = &'static str> {
    let after = ATTRIBUTES.lines().skip_while(move |line| *line != name).skip(1);
    after.take_while(|line| !matches!(*line, "harmless" | "withheld" | "private")).flat_map(|line| line.split(' '))
}

/// What a known module has under a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Member {
    Harmless,
    Module(String),
}

pub(crate) fn is_module(path: &str) -> bool {
    BY_MODULE.contains_key(path)
}

pub(crate) fn members(module: &str) -> impl Iterator<Item = &'static str> {
    let names = BY_MODULE.get(module).into_iter().flatten();
    names.map(|name| name.split_once('=').map_or(*name, |(name, _)| name))
}

/// `None`: the module does not have it, or it is withheld.
pub(crate) fn member(module: &str, name: &str) -> Option<Member> {
    let path = format!("{module}.{name}");
    if is_module(&path) {
        return Some(Member::Module(path));
    }
    let names = BY_MODULE.get(module)?;
    let at = names.partition_point(|known| *known < name);
    let found = names.get(at)?;
    match found.split_once('=') {
        None => (*found == name).then_some(Member::Harmless),
        Some((alias, target)) => (alias == name).then(|| Member::Module(target.to_owned())),
    }
}

/// What is known of an attribute's name over all classes that have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attribute {
    Harmless,
    /// Some class does more with it.
    Withheld,
    /// No class of the libraries has it: a column, or an object of another library.
    Unknown,
}

pub(crate) fn attribute(name: &str) -> Attribute {
    if WITHHELD.binary_search(&name).is_ok() {
        Attribute::Withheld
    } else if HARMLESS.binary_search(&name).is_ok() {
        Attribute::Harmless
    } else if sounds_harmful(name) {
        Attribute::Withheld
    } else {
        Attribute::Unknown
    }
}

/// Private attributes of the libraries that hold modules, files or loops, or reach what does harm.
pub(crate) fn is_withheld_private(name: &str) -> bool {
    PRIVATE.binary_search(&name).is_ok()
}

/// What no class of the libraries has, and a module may have: no column is called so.
fn sounds_harmful(name: &str) -> bool {
    const STARTS: &[&str] = &[
        "print_",
        "save_",
        "dump_",
        "load_",
        "read_",
        "write_",
        "sink_",
        "open_",
        "run_",
        "exec",
        "popen",
        "Popen",
        "spawn",
        "posix_",
        "unlink",
        "rmdir",
        "rmtree",
        "chmod",
        "chown",
        "mkdir",
        "makedirs",
        "kill",
        "sendall",
        "sendto",
        "import_",
        "fork",
        "getoutput",
        "getstatus",
        "check_output",
        "check_call",
        "startfile",
        "urlopen",
        "urlretrieve",
        "fdopen",
        "subprocess",
        "create_subprocess",
    ];
    const WORDS: &[&str] = &[
        "sys",
        "os",
        "posix",
        "builtins",
        "shutil",
        "importlib",
        "ctypes",
        "pickle",
        "marshal",
        "pty",
        "runpy",
        "tempfile",
        "system",
        "putenv",
        "environ",
        "getenv",
        "symlink",
        "removedirs",
        "renames",
        "FileIO",
        "modules",
        "user_ns",
        "pub_thread",
        "io_loop",
        "asyncio_loop",
        "io_thread",
        "parent_header",
        "get_ipython",
    ];
    STARTS.iter().any(|start| name.starts_with(start)) || WORDS.contains(&name)
}
