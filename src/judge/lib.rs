//! The judge: what code that an assistant wants to run could do to files, processes, the network and secrets; and which
//! names of the notebook a cell reads and writes.
//!
//! Purpose: [`judge`] answers with a [`Judgement`], a pure function of the sources, so that the server can keep it by their
//! hash; [`cell_names`] and [`sql_cell_names`] tell how cells hang together: to models, to people, and to reactive notebooks.
//!
//! Invariants:
//! - No panic, whatever the code is; the work is bounded by [`MAX_CHECKED_BYTES`] a piece and a budget of
//!   steps. What is beyond them is answered by "could not be checked", which asks.
//! - Python alone is judged: what does not parse asks.
//!
//! This crate must never know notebooks, commands or the gate, and nothing that the gate stands on may know this crate.
//!
//! **One walk, two lists.** `harmless` looks up every import, name, attribute and call in the lists of `known/` that
//! `known/generate.py` makes from the libraries. What they do not know is [`Grade::Unknown`]: it asks, and a person may grant
//! it for a conversation. `known/dangers.txt` says what of that is known to destroy (`table`): [`Grade::Destructive`], which
//! always asks. The second list makes nothing pass. Code in which the walk finds nothing runs unasked.
//!
//! Names that other cells bind are judged by what those cells bind them to, functions and classes by their bodies.
//!
//! **Limit.** What the kernel holds from code that no cell shows any more is not seen, nor are errors in the libraries' native
//! code. The sandbox around the kernel answers for those.

mod budget;
mod harmless;
mod known;
mod magics;
mod names;
mod python;
mod sql;
mod table;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use harmless::Known;
use sha2::{Digest, Sha256};

pub use names::{CellNames, cell_names};
pub use sql::{is_elsewhere, sql_cell_names};

/// Longer code is not checked: it is a danger by itself.
pub const MAX_CHECKED_BYTES: usize = 100_000;
const MAX_FOUND_PER_RULE: usize = 20;
const MAX_LINES_PER_FOUND: usize = 50;
const MAX_FOUND_CHARACTERS: usize = 80;
const MAX_REASONS: usize = 20;

/// What a danger does to the tier of the call that would run the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Always asks.
    Destructive,
    /// Asks, unless a person has granted it for the conversation.
    Unknown,
}

macro_rules! rules {
    ($($variant:ident $name:literal $grade:ident $sentence:literal)*) => {
        /// The rules.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum DangerRule { $($variant),* }

        impl DangerRule {
            pub const ALL: &'static [DangerRule] = &[$(DangerRule::$variant),*];

            /// For lists and tests.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            pub fn grade(self) -> Grade {
                match self { $(Self::$variant => Grade::$grade),* }
            }

            /// What it could do, for people; follows the words that were found.
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence),* }
            }
        }
    };
}

rules! {
    ShellCommand "shell_command" Destructive "runs a command of the operating system with the rights of the kernel."
    OtherProgram "other_program" Destructive "runs code in another program, where it is not checked."
    DynamicCode "dynamic_code" Destructive "runs text as code, which cannot be checked before it runs."
    DynamicImport "dynamic_import" Destructive "imports a module whose name is only known when it runs."
    HiddenCode "hidden_code" Destructive "reaches a module or function by a name that is only known when it runs."
    Internals "internals" Destructive "reaches into Python's internals, where any function can be found."
    NativeCode "native_code" Destructive "calls native code, which can do anything to the process."
    RunsFile "runs_file" Destructive "runs a file that is not shown here."
    InstallsPackage "installs_package" Destructive "changes the installed packages and may run their setup code."
    DeletesFile "deletes_file" Destructive "deletes, moves or renames files."
    WritesFile "writes_file" Destructive "writes a file, and overwrites what was there."
    ChangesPermissions "changes_permissions" Destructive "changes the owner, the rights or the identity of files or processes."
    EndsProcess "ends_process" Destructive "stops a process; the kernel's variables may be lost."
    StartsProcess "starts_process" Destructive "starts another process."
    ClearsSession "clears_session" Destructive "deletes the kernel's variables."
    NetworkSend "network_send" Destructive "can send data to another computer."
    SecretRead "secret_read" Destructive "can read secrets from the environment; its output is shown to the model."
    SqlDestroys "sql_destroys" Destructive "changes or deletes data or tables of a database."
    SqlWrites "sql_writes" Unknown "lets this SQL change what its connection leads to."
    SqlUnknown "sql_unknown" Unknown "is SQL that is not known to only read."
    TooLong "too_long" Destructive "is too long to check."
    TooNested "too_nested" Destructive "is nested too deeply to check."
    NotChecked "not_checked" Destructive "could not be checked."
    OddLines "odd_lines" Destructive "has characters at which IPython cuts lines and Python does not, so it was not checked."
    DrawsWithProgram "draws_with_program" Destructive "draws with another program (TeX), which can run commands and write files."
    Destroys "destroys" Destructive "deletes or changes data, to go by its name."
    RegisteredDestructive "registered_destructive" Destructive "is a function of this notebook that is registered as destructive."
    DoesNotParse "does_not_parse" Destructive "does not parse as Python, so it was not checked."
    NetworkRead "network_read" Unknown "fetches data from another computer."
    EnvironmentRead "environment_read" Unknown "reads a variable of the environment."
    CreatesFile "creates_file" Unknown "creates a file where there is none."
    SavesPicture "saves_picture" Destructive "writes a picture to a file, and overwrites what was there."
    LoadsObjects "loads_objects" Destructive "loads objects from a file, which may run code that the file brings."
    InsertsRows "inserts_rows" Unknown "adds rows to a database."
    ComputedAttribute "computed_attribute" Unknown "uses an attribute whose name is only known when it runs."
    BrowserScript "browser_script" Unknown "shows a script to the browser."
    UnknownMagic "unknown_magic" Unknown "is a magic that is not known to be harmless with these arguments."
    RegisteredSensitive "registered_sensitive" Unknown "is a function of this notebook that reaches outside it."
    UnknownModule "unknown_module" Unknown "is a module that is not known to be harmless."
    UnknownName "unknown_name" Unknown "is a name that no cell of this notebook defines."
    UnknownFunction "unknown_function" Unknown "is not known to be harmless."
    UnknownAttribute "unknown_attribute" Unknown "is not known to be harmless on every object that has it."
    ReadsElsewhere "reads_elsewhere" Unknown "reads a file, and not by a literal path inside the working folder."
    HandedOn "handed_on" Unknown "is handed on, and nobody sees what it is called with."
    ChangesLibrary "changes_library" Unknown "changes a library for all code that runs later."
    RunsText "runs_text" Destructive "evaluates a text, or calls what a text names."
    UnknownSetting "unknown_setting" Unknown "is a setting that is not known to be harmless."
    HooksIn "hooks_in" Unknown "is called by Python itself, in ways that nobody sees."
}

/// One reason why code should not run unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Danger {
    pub rule: DangerRule,
    /// What was found, as code: `os.system`, `%pip install`, `DROP`. At most 80 characters.
    pub found: String,
    /// 1, 2, 3 …, sorted; at most 50.
    pub lines: Vec<u32>,
    /// The name of another cell through which it is reached.
    pub through: Option<String>,
}

impl Danger {
    pub fn grade(&self) -> Grade {
        self.rule.grade()
    }

    /// For people: "Line 3: `os.system` runs a command …".
    pub fn sentence(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(u32::to_string).collect();
        let word = if lines.len() == 1 { "Line" } else { "Lines" };
        let (lines, found, what) = (lines.join(", "), &self.found, self.rule.sentence());
        match &self.through {
            Some(name) => format!("{word} {lines}: `{name}` leads to `{found}`, which {what}"),
            None => format!("{word} {lines}: `{found}` {what}"),
        }
    }
}

/// What pieces of code could do together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The worst; `None`: no rule knows anything against it.
    pub grade: Option<Grade>,
    /// Of each piece.
    pub each: Vec<Option<Grade>>,
    /// Sentences, destructive dangers first; at most 20.
    pub reasons: Vec<String>,
}

/// What these pieces of Python could do when they run, after the `earlier` cells of the same kernel, whose names they see
/// (`import subprocess as s` in one, `s.run(…)` in the next). What the earlier cells do themselves is not reported.
///
/// `registered`: functions of the notebook that a kernel knows by these names; `None` where they are known to be harmless.
pub fn judge(earlier: &[&str], codes: &[&str], registered: &[(&str, Option<Grade>)]) -> Judgement {
    judgement(found_in_each(earlier, codes, Known { registered, registers: false }))
}

/// As [`judge`] for cells that run again only to register their functions with `@notarium.tool`, in a kernel that has none: a
/// function that is registered is not called by that, so its body is not judged unless the pieces name it elsewhere.
pub fn judge_registrations(earlier: &[&str], codes: &[&str]) -> Judgement {
    judgement(found_in_each(earlier, codes, Known { registered: &[], registers: true }))
}

fn judgement(found: Vec<Vec<Danger>>) -> Judgement {
    let each = found.iter().map(|found| found.iter().map(Danger::grade).min()).collect();
    let found: Vec<Danger> = found.into_iter().flatten().collect();
    let mut seen = BTreeSet::new();
    let reasons = found.iter().map(Danger::sentence).filter(|sentence| seen.insert(sentence.clone()));
    Judgement { grade: found.iter().map(Danger::grade).min(), each, reasons: cut(reasons.collect()) }
}

/// What is left out is counted and named by a hash: a list of other dangers reads otherwise.
fn cut(mut reasons: Vec<String>) -> Vec<String> {
    if reasons.len() > MAX_REASONS {
        let rest = reasons.split_off(MAX_REASONS - 1);
        let digest = Sha256::digest(rest.join("\n"));
        let name: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        reasons.push(format!("and {} more, in all {name}", rest.len()));
    }
    reasons
}

/// What the code could do, destructive dangers first, then by line. Empty means that no rule knows anything against it.
///
/// Never panics, whatever the code is; more than [`MAX_CHECKED_BYTES`] is answered by `too_long` alone.
pub fn dangers(code: &str) -> Vec<Danger> {
    dangers_of_each(&[], &[code]).into_iter().flatten().collect()
}

/// As [`dangers`] for several pieces of code, each of which sees the names that any other and the `earlier` ones bind: one
/// list for each.
pub fn dangers_of_each(earlier: &[&str], codes: &[&str]) -> Vec<Vec<Danger>> {
    found_in_each(earlier, codes, Known::default())
}

fn found_in_each(earlier: &[&str], codes: &[&str], known: Known<'_>) -> Vec<Vec<Danger>> {
    let mut findings: Vec<Findings> = codes.iter().map(|_| Findings::default()).collect();
    harmless::check(earlier, codes, known, &mut findings);
    findings.into_iter().map(Findings::into_dangers).collect()
}

/// What was found so far: rule, words and the name that leads there, lines.
#[derive(Default)]
struct Findings(BTreeMap<DangerRule, ByWords>);

/// Lines by the words and the name that leads there.
type ByWords = BTreeMap<(String, Option<String>), BTreeSet<u32>>;

impl Findings {
    fn add(&mut self, rule: DangerRule, found: &str, line: u32) {
        self.insert(rule, found, None, line);
    }

    fn insert(&mut self, rule: DangerRule, found: &str, through: Option<String>, line: u32) {
        let by_words = self.0.entry(rule).or_default();
        let words: String = found.chars().take(MAX_FOUND_CHARACTERS).collect();
        let key = (words, through);
        if by_words.len() >= MAX_FOUND_PER_RULE && !by_words.contains_key(&key) {
            return;
        }
        let lines = by_words.entry(key).or_default();
        if lines.len() < MAX_LINES_PER_FOUND {
            lines.insert(line);
        }
    }

    fn into_dangers(self) -> Vec<Danger> {
        let flat = self.0.into_iter().flat_map(|(rule, by_words)| by_words.into_iter().map(move |found| (rule, found)));
        let danger = |(rule, ((found, through), lines)): (_, ((_, _), BTreeSet<u32>))| {
            let lines = lines.into_iter().collect();
            Danger { rule, found, lines, through }
        };
        let mut dangers: Vec<Danger> = flat.map(danger).collect();
        dangers.sort_by_key(|danger| (danger.grade(), danger.lines.first().copied(), danger.rule));
        dangers
    }
}

/// The lines of a text, by offset.
struct Lines {
    starts: Vec<usize>,
    first: u32,
}

impl Lines {
    /// `first` is the number of the text's first line.
    fn of(text: &str, first: u32) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(breaks).collect(), first }
    }

    fn at(&self, offset: usize) -> u32 {
        let before = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        self.first.saturating_add(u32::try_from(before).unwrap_or(u32::MAX))
    }
}
