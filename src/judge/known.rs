//! What is known to be harmless: lists that `known/generate.py` makes from the libraries, minus what `known/reviewed.txt`
//! withholds. Read once, then looked up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::words::Words;

const MODULES: &str = include_str!("known/modules.txt");
/// Our own, of which generate.py knows nothing. `call_function` calls whatever is registered, and is not among them.
const OWN: &str = "notarium progress tool";
const ATTRIBUTES: &str = include_str!("known/attributes.txt");

/// Names of a known module that harm nobody, however they are called. `cm=matplotlib.cm` is a module under another name.
static BY_MODULE: LazyLock<BTreeMap<&str, BTreeMap<&str, Option<&str>>>> = LazyLock::new(|| {
    let named = |name: &'static str| name.split_once('=').map_or((name, None), |(name, module)| (name, Some(module)));
    let lines = MODULES.lines().filter(|line| !line.starts_with('#')).chain([OWN]);
    let split = lines.map(|line| line.split_once(' ').unwrap_or((line, "")));
    split.map(|(module, names)| (module, names.split_whitespace().map(named).collect())).collect()
});

static HARMLESS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| section("harmless"));
static WITHHELD: LazyLock<BTreeSet<&str>> = LazyLock::new(|| section("withheld"));
static PRIVATE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| section("private"));

fn section(name: &str) -> BTreeSet<&'static str> {
    let after = ATTRIBUTES.lines().skip_while(|line| *line != name).skip(1);
    let lines = after.take_while(|line| !matches!(*line, "harmless" | "withheld" | "private"));
    lines.flat_map(|line| line.split(' ')).collect()
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
    BY_MODULE.get(module).into_iter().flat_map(BTreeMap::keys).copied()
}

/// `None`: the module does not have it, or it is withheld.
pub(crate) fn member(module: &str, name: &str) -> Option<Member> {
    let path = format!("{module}.{name}");
    if is_module(&path) {
        return Some(Member::Module(path));
    }
    let found = BY_MODULE.get(module)?.get(name)?;
    Some(found.map_or(Member::Harmless, |module| Member::Module(module.to_owned())))
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
    if WITHHELD.contains(name) {
        Attribute::Withheld
    } else if HARMLESS.contains(name) {
        Attribute::Harmless
    } else if sounds_harmful(name) {
        Attribute::Withheld
    } else {
        Attribute::Unknown
    }
}

/// Private attributes of the libraries that hold modules, files or loops, or reach what does harm.
pub(crate) fn is_withheld_private(name: &str) -> bool {
    PRIVATE.contains(name)
}

/// What no class of the libraries has, and a module may have: no column is called so.
fn sounds_harmful(name: &str) -> bool {
    static STARTS: Words = Words::of(
        "print_ save_ dump_ load_ read_ write_ sink_ open_ run_ exec popen Popen spawn posix_ unlink rmdir rmtree \
         chmod chown mkdir makedirs kill sendall sendto import_ fork getoutput getstatus check_output check_call \
         startfile urlopen urlretrieve fdopen subprocess create_subprocess",
    );
    static WORDS: Words = Words::of(
        "sys os posix builtins shutil importlib ctypes pickle marshal pty runpy tempfile system putenv environ getenv \
         symlink removedirs renames FileIO modules user_ns pub_thread io_loop asyncio_loop io_thread parent_header \
         get_ipython",
    );
    STARTS.all().iter().any(|start| name.starts_with(start)) || WORDS.has(name)
}
