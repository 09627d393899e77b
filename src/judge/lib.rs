//! The judge: what code that an assistant wants to run could do to files, processes, the network and secrets; and which
//! names of the notebook a cell reads and writes.
//!
//! Purpose: [`judge`] answers with a [`Judgement`], a pure function of the sources, so that the server can keep it by their
//! hash; [`cell_names`] tells models and people how cells hang together.
//!
//! Invariants:
//! - No panic, whatever the code is; the work is bounded by [`MAX_CHECKED_BYTES`] a piece and a budget of
//!   steps. What is beyond them is answered by "could not be checked", which asks.
//! - Python alone is judged: what does not parse asks.
//!
//! This crate must never know notebooks, commands or the gate, and nothing that the gate stands on may know this crate.
//!
//! Names are followed within the cell and into other cells of the notebook: `import os as o`, `from os import system as s`,
//! `f = os.system`, `getattr(os, "sys" + "tem")`. A word in a string or a comment is no danger. What a kernel was given before,
//! and what functions of other cells do when they are called, is not followed.
//!
//! **Limit.** This is a reason to ask a person, not a sandbox: code that wants to hide can (a module of its own, a pickle,
//! arithmetic on names). What is hidden in a known way is a danger by itself.
//!
//! **Grades.** A [`Grade::Destructive`] danger always asks. A [`Grade::Note`] is told to whoever decides; the gate
//! treats such code as sensitive, which the policy *guarded* asks about and *trusted* lets pass.
//! Note is for what reads, for what can be made again, and for what is so common in harmless notebooks that asking each time
//! would teach people to say yes:
//!
//! | note | why it is not destructive |
//! | --- | --- |
//! | `network_read` | fetching data is what notebooks do; sending is its own rule |
//! | `environment_read` | one variable whose name does not sound like a secret; others are `secret_read` |
//! | `creates_file` | mode `x` never overwrites |
//! | `saves_picture` | a literal name of a picture; running the cell again makes it again |
//! | `loads_objects` | a pickle can run code, but only one that was put there before, by a write that asked |
//! | `inserts_rows` | adds, removes nothing |
//! | `computed_attribute` | `getattr(object, name)` on an ordinary object; on a dangerous module it is `hidden_code` |
//! | `browser_script` | runs in the reader's page, which the page's own sandbox answers for |
//! | `unknown_magic` | an extension that was loaded before |

mod bindings;
mod budget;
mod calls;
mod line_magics;
mod magics;
mod names;
mod python;
mod sql;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

pub use names::{CellNames, cell_names};

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
    /// Is shown; sensitive, not destructive.
    Note,
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
    TooLong "too_long" Destructive "is too long to check."
    TooNested "too_nested" Destructive "is nested too deeply to check."
    NotChecked "not_checked" Destructive "could not be checked."
    DoesNotParse "does_not_parse" Destructive "does not parse as Python, so it was not checked."
    NetworkRead "network_read" Note "fetches data from another computer."
    EnvironmentRead "environment_read" Note "reads a variable of the environment."
    CreatesFile "creates_file" Note "creates a file where there is none."
    SavesPicture "saves_picture" Note "writes a picture to a file."
    LoadsObjects "loads_objects" Note "loads objects from a file, which may run code that the file brings."
    InsertsRows "inserts_rows" Note "adds rows to a database."
    ComputedAttribute "computed_attribute" Note "uses an attribute whose name is only known when it runs."
    BrowserScript "browser_script" Note "shows a script to the browser."
    UnknownMagic "unknown_magic" Note "is a magic that is not known here."

}

/// One reason why code should not run unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Danger {
    pub rule: DangerRule,
    /// What was found, as code: `os.system`, `%pip install`, `DROP`. At most 80 characters.
    pub found: String,
    /// 1, 2, 3 …, sorted; at most 50.
    pub lines: Vec<u32>,
}

impl Danger {
    pub fn grade(&self) -> Grade {
        self.rule.grade()
    }

    /// For people: "Line 3: `os.system` runs a command …".
    pub fn sentence(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(u32::to_string).collect();
        let word = if lines.len() == 1 { "Line" } else { "Lines" };
        format!("{word} {}: `{}` {}", lines.join(", "), self.found, self.rule.sentence())
    }
}

/// What pieces of code could do together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The worst; `None`: no rule knows anything against it.
    pub grade: Option<Grade>,
    /// Sentences, destructive dangers first; at most 20.
    pub reasons: Vec<String>,
}

/// What these pieces of Python could do when they run, after the `earlier` cells of the same kernel, whose names they see
/// (`import subprocess as s` in one, `s.run(…)` in the next). What the earlier cells do themselves is not reported.
pub fn judge(earlier: &[&str], codes: &[&str]) -> Judgement {
    let found: Vec<Danger> = dangers_of_each(earlier, codes).into_iter().flatten().collect();
    let mut seen = BTreeSet::new();
    let reasons = found.iter().map(Danger::sentence).filter(|sentence| seen.insert(sentence.clone()));
    Judgement { grade: found.iter().map(Danger::grade).min(), reasons: cut(reasons.collect()) }
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
    let mut findings: Vec<Findings> = codes.iter().map(|_| Findings::default()).collect();
    python::check_cells(earlier, codes, &mut findings);
    findings.into_iter().map(Findings::into_dangers).collect()
}

/// What was found so far: rule, words, lines.
#[derive(Default)]
struct Findings(BTreeMap<DangerRule, BTreeMap<String, BTreeSet<u32>>>);

impl Findings {
    fn is_too_long(&mut self, code: &str) -> bool {
        let is_too_long = code.len() > MAX_CHECKED_BYTES;
        if is_too_long {
            self.add(DangerRule::TooLong, "This code", 1);
        }
        is_too_long
    }

    fn add(&mut self, rule: DangerRule, found: &str, line: u32) {
        let by_words = self.0.entry(rule).or_default();
        let words: String = found.chars().take(MAX_FOUND_CHARACTERS).collect();
        if by_words.len() >= MAX_FOUND_PER_RULE && !by_words.contains_key(&words) {
            return;
        }
        let lines = by_words.entry(words).or_default();
        if lines.len() < MAX_LINES_PER_FOUND {
            lines.insert(line);
        }
    }

    fn into_dangers(self) -> Vec<Danger> {
        let flat = self.0.into_iter().flat_map(|(rule, by_words)| by_words.into_iter().map(move |found| (rule, found)));
        let mut dangers: Vec<Danger> =
            flat.map(|(rule, (found, lines))| Danger { rule, found, lines: lines.into_iter().collect() }).collect();
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
