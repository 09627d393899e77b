//! Python as IPython reads it: what is parsed, and how deep.

use ruff_python_ast::{Alias, ModModule, Pattern, Stmt};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};

/// Longer code is not checked: it is a danger by itself.
pub const MAX_CHECKED_BYTES: usize = 100_000;
/// Depth of a walk, at most; deeper code is a danger by itself. Real cells stay below 60.
pub const MAX_DEPTH: usize = 300;
/// Stack that one byte of hostile code may cost: a tree as deep as the text is long must be dropped again (measured, debug
/// build).
const STACK_BYTES_PER_BYTE: usize = 1_024;
/// Strings with fields in one source: the parser's time grows with the square of how deep they are nested.
const MAX_FIELD_STRINGS: usize = 1_500;
const LEAST_STACK_BYTES: usize = 512 << 10;

/// Runs what parses, walks and drops the tree of a text of this length: on a stack that is large enough for the deepest
/// tree it could make.
pub fn with_stack<T>(source_bytes: usize, work: impl FnOnce() -> T) -> T {
    let stack = source_bytes * STACK_BYTES_PER_BYTE + LEAST_STACK_BYTES;
    stacker::maybe_grow(stack, stack * 2, work)
}

/// `None` where it would take too long, and where the parser itself gives up: it has states that it takes to be impossible
/// and that a hostile text reaches (found by the property test: `&{'']os]await \r,`).
pub fn parse(code: &str) -> Option<Parsed<ModModule>> {
    let quotes =
        code.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_alphabetic() && matches!(pair[1], b'"' | b'\''));
    if quotes.count() > MAX_FIELD_STRINGS {
        return None;
    }
    let parse = || parse_unchecked(code, ParseOptions::from(Mode::Ipython)).try_into_module();
    std::panic::catch_unwind(parse).ok().flatten()
}

/// The names that a statement imports, and their source: nothing, or a module with a dot behind it.
pub fn imports(statement: &Stmt) -> Option<(String, &[Alias])> {
    match statement {
        Stmt::Import(import) => Some((String::new(), &import.names)),
        Stmt::ImportFrom(import) => {
            let module = import.module.as_deref().unwrap_or_default();
            Some((format!("{}{module}.", ".".repeat(import.level as usize)), &import.names))
        }
        _ => None,
    }
}

/// The name that an import binds, if it is no star.
pub fn imported_name(alias: &Alias) -> &str {
    let first = alias.name.split('.').next().unwrap_or_default();
    alias.asname.as_deref().unwrap_or(first)
}

/// The name that a pattern itself binds.
pub fn captured(pattern: &Pattern) -> Option<&str> {
    match pattern {
        Pattern::MatchAs(capture) => capture.name.as_deref(),
        Pattern::MatchStar(rest) => rest.name.as_deref(),
        Pattern::MatchMapping(mapping) => mapping.rest.as_deref(),
        _ => None,
    }
}

/// Checks that it is Python without errors.
pub(crate) fn is_valid(code: &str) -> bool {
    parse(code).is_some_and(|parsed| parsed.has_valid_syntax())
}
