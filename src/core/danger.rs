//! Danger rules: what code that an assistant wants to run could do to files, processes, the network and secrets.
//!
//! Python is parsed, magics included, and names are followed: `import os as o`, `from os import system as s`,
//! `f = os.system`, `getattr(os, "sys" + "tem")`, and functions that another cell defines. A word in a string or a comment
//! is no danger. Other languages, and what does not parse, are judged by words, and rather too strictly.
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
//! | `does_not_parse` | the kernel refuses the cell; its words and what could be parsed are judged all the same |

mod bindings;
mod budget;
mod calls;
mod definitions;
mod line_magics;
pub(crate) mod magics;
pub(crate) mod python;
mod table;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longer code is not checked: it is a danger by itself.
pub const MAX_CHECKED_BYTES: usize = 100_000;
const MAX_FOUND_PER_RULE: usize = 20;
const MAX_LINES_PER_FOUND: usize = 50;
const MAX_FOUND_CHARACTERS: usize = 80;

/// What a piece of code is written in, as far as the rules care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    Python,
    R,
    Julia,
    Bash,
    Sql,
    Other,
}

impl Language {
    /// From the `name` of a kernel's `language_info`, or of a kernelspec's `language`.
    pub fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "python" | "ipython" | "python3" => Self::Python,
            "r" => Self::R,
            "bash" | "sh" | "zsh" | "shell" => Self::Bash,
            "sql" => Self::Sql,
            name if name.starts_with("julia") => Self::Julia,
            _ => Self::Other,
        }
    }
}

/// What a danger does to the tier of the call that would run the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Always asks.
    Destructive,
    /// Is shown; sensitive, not destructive.
    Note,
}

macro_rules! rules {
    ($($variant:ident $name:literal $grade:ident $sentence:literal)*) => {
        /// The rules. Names are stable: policies, grants and the record use them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum DangerRule { $(#[serde(rename = $name)] $variant),* }

        impl DangerRule {
            pub const ALL: &'static [DangerRule] = &[$(DangerRule::$variant),*];

            /// As in JSON.
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
    NetworkRead "network_read" Note "fetches data from another computer."
    EnvironmentRead "environment_read" Note "reads a variable of the environment."
    CreatesFile "creates_file" Note "creates a file where there is none."
    SavesPicture "saves_picture" Note "writes a picture to a file."
    LoadsObjects "loads_objects" Note "loads objects from a file, which may run code that the file brings."
    InsertsRows "inserts_rows" Note "adds rows to a database."
    ComputedAttribute "computed_attribute" Note "uses an attribute whose name is only known when it runs."
    BrowserScript "browser_script" Note "shows a script to the browser."
    UnknownMagic "unknown_magic" Note "is a magic that is not known here."
    DoesNotParse "does_not_parse" Note "does not parse as Python, so its words alone were checked."
}

/// One reason why code should not run unasked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// What the code could do, destructive dangers first, then by line. Empty means that no rule knows anything against it.
///
/// Never panics, whatever the code is; more than [`MAX_CHECKED_BYTES`] is answered by `too_long` alone.
pub fn dangers(code: &str, language: Language) -> Vec<Danger> {
    dangers_after(&[], code, language)
}

/// As [`dangers`], with the names that `earlier` cells of the same kernel bound: `import subprocess as s` in one,
/// `s.run(…)` in the next. What the earlier cells do themselves is not reported.
pub fn dangers_after(earlier: &[&str], code: &str, language: Language) -> Vec<Danger> {
    dangers_of_each(earlier, &[code], language).into_iter().flatten().collect()
}

/// As [`dangers_after`] for several pieces of code, each of which sees the names that any other binds: one list for each.
pub fn dangers_of_each(earlier: &[&str], codes: &[&str], language: Language) -> Vec<Vec<Danger>> {
    let mut findings: Vec<Findings> = codes.iter().map(|_| Findings::default()).collect();
    match language {
        Language::Python => python::check_cells(earlier, codes, &mut findings),
        other => codes.iter().zip(&mut findings).for_each(|(code, findings)| {
            if !findings.is_too_long(code) {
                words::check(code, other, findings);
            }
        }),
    }
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
