//! Rules: each names one thing that code plainly does, its grade, and the sentence that a person reads.

/// Grade of a warning: it decides the tier of the call that would run the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Always asks.
    Destructive,
    /// Asks, unless a person has granted it for the conversation.
    Unknown,
}

macro_rules! rules {
    ($($variant:ident $name:literal $grade:ident $sentence:literal)*) => {
        /// The rules, in the order in which their warnings are listed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum DangerRule { $($variant),* }

        impl DangerRule {
            pub const ALL: &'static [DangerRule] = &[$(DangerRule::$variant),*];

            /// Name of the rule, for lists and tests.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            pub fn grade(self) -> Grade {
                match self { $(Self::$variant => Grade::$grade),* }
            }

            /// The effect, for people; follows the words that were found.
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence),* }
            }
        }
    };
}

rules! {
    EndsKernel "ends_kernel" Destructive "can end the kernel, whose variables are then lost."
    ClearsVariables "clears_variables" Destructive "deletes variables of the kernel."
    DeletesVariable "deletes_variable" Destructive "is deleted, and a person's cell made it."
    ReplacesVariable "replaces_variable" Unknown "is replaced, and a person's cell made it."
    ChangesLibrary "changes_library" Destructive "is changed for all code that runs later, a person's too."
    RunsLater "runs_later" Destructive "can run code after this run has ended, and in a person's run."
    WritesFile "writes_file" Destructive "writes a file, and overwrites what was there."
    DeletesFile "deletes_file" Destructive "deletes, moves or overwrites files."
    InstallsPackage "installs_package" Destructive "changes the installed packages and may run their setup code."
    RegisteredDestructive "registered_destructive" Destructive "is a function of this notebook that is registered as destructive."
    RegisteredSensitive "registered_sensitive" Unknown "is a function of this notebook that reaches outside it."
    SqlDestroys "sql_destroys" Destructive "changes or deletes data or tables of a database."
    SqlLoads "sql_loads" Destructive "loads an extension, whose code can do anything to the process."
    SqlWrites "sql_writes" Unknown "lets this SQL change what its connection leads to."
    SqlInserts "sql_inserts" Unknown "adds rows to a database."
    SqlUnknown "sql_unknown" Unknown "is SQL that is not known to only read."
    SqlFunction "sql_function" Unknown "is not known to be harmless."
    SqlReadsElsewhere "sql_reads_elsewhere" Unknown "reads a file, and not by a literal path inside the working folder."
    SqlFetches "sql_fetches" Unknown "fetches data from another computer."
    TooLong "too_long" Destructive "is too long to check."
    TooNested "too_nested" Destructive "is nested too deeply to check."
    NotChecked "not_checked" Destructive "could not be checked."
}
