//! Rules by words, for what is not parsed: other languages, SQL, and Python that does not parse.
//!
//! A word counts wherever it stands, in strings and comments too: without a parser nobody can tell where those end, and a
//! rule that guesses can be led by the nose.

use super::DangerRule::*;
use super::{DangerRule, Findings, Language};

/// Judges a whole cell of a language that is not parsed.
pub(super) fn check(code: &str, language: Language, findings: &mut Findings) {
    check_at(code, language, 1, findings);
}

/// As [`check`]; the first line has this number.
pub(super) fn check_at(code: &str, language: Language, first_line: u32, findings: &mut Findings) {
    match language {
        Language::Sql => check_sql_lines(code, first_line, findings),
        Language::Bash => each_line(code, first_line, |line, text| check_shell_line(text, line, findings)),
        Language::R => check_words(code, &[R_WORDS], first_line, findings),
        Language::Julia => check_words(code, &[JULIA_WORDS], first_line, findings),
        Language::Python => check_unparsed(code, first_line, findings),
        Language::Other => {
            check_words(code, &[R_WORDS, JULIA_WORDS, PYTHON_WORDS, OTHER_WORDS], first_line, findings);
            check_sql_lines(code, first_line, findings);
        }
    }
}

/// Python that does not parse: words, and lines that would be shell commands.
pub(super) fn check_unparsed(code: &str, first_line: u32, findings: &mut Findings) {
    check_words(code, &[PYTHON_WORDS], first_line, findings);
    each_line(code, first_line, |line, text| {
        let text = text.trim_start().trim_start_matches(">>> ").trim_start();
        let command = text.split_once(" = !").map_or(text, |(_, command)| command);
        let is_shell = text.starts_with('!')
            || text.contains(" = !")
            || ["%%bash", "%%sh", "%%script", "%system", "%sx", "%run"].iter().any(|magic| text.starts_with(magic));
        let first = text.split_whitespace().next().unwrap_or_default();
        if is_shell || matches!(first, "rm" | "mv" | "sudo" | "curl" | "wget") {
            findings.add(ShellCommand, command, line);
        } else if matches!(first, "pip" | "conda" | "%pip" | "%conda") {
            findings.add(InstallsPackage, text, line);
        }
    });
}

/// Python's words in a text that something else evaluates.
pub(super) fn check_python_words(text: &str, line: u32, findings: &mut Findings) {
    let mut found = Findings::default();
    check_words(text, &[PYTHON_WORDS], 1, &mut found);
    for (rule, by_words) in found.0 {
        by_words.keys().for_each(|words| findings.add(rule, words, line));
    }
}

type Words = &'static [(DangerRule, &'static str)];

/// `name(` is a call, also `name (`; other words must stand alone.
const PYTHON_WORDS: Words = &[
    (ShellCommand, "os.system os.popen .system( .popen( subprocess pty.spawn"),
    (StartsProcess, "os.exec os.spawn os.fork"),
    (DynamicCode, "eval( exec( execfile( compile("),
    (DynamicImport, "__import__ import_module("),
    (Internals, "__builtins__ __subclasses__ __globals__"),
    (NativeCode, "ctypes cffi"),
    (DeletesFile, "os.remove os.unlink os.rmdir os.rename rmtree( shutil.move .unlink( .rmdir( removedirs("),
    (WritesFile, "write_text( write_bytes( .to_csv( .to_parquet( .savefig("),
    (NetworkSend, "requests.post requests.put requests.delete socket.socket urlopen("),
    (SecretRead, "os.environ getenv("),
    (EndsProcess, "os.kill os._exit"),
];
const R_WORDS: Words = &[
    (ShellCommand, "system( system2( shell( shell.exec( pipe( processx:: callr:: sys::"),
    (DynamicCode, "eval( parse( source( do.call( match.fun( get( py_run_string( sourceCpp("),
    (NativeCode, ".Call( .External( .C( dyn.load("),
    (DeletesFile, "unlink( file.remove( file.rename( file_delete( dir_delete( file_move("),
    (
        WritesFile,
        "file.copy( file.create( file.append( write( write.csv( write.csv2( write.table( write_csv( write_rds( write_parquet( fwrite( saveRDS( save( \
         save.image( dump( dput( writeLines( writeBin( sink( ggsave( download.file( write.xlsx( unzip( untar(",
    ),
    (InstallsPackage, "install.packages( install_github( remove.packages( update.packages( BiocManager::install( pak("),
    (NetworkSend, "POST( PUT( DELETE( PATCH( socketConnection( url( curl( req_perform("),
    (SecretRead, "Sys.getenv("),
    (EndsProcess, "quit( q( pskill( kill("),
    (ClearsSession, "rm("),
    (SqlDestroys, "dbExecute( dbSendStatement( dbRemoveTable( dbWriteTable( dbSendQuery("),
];
const JULIA_WORDS: Words = &[
    (ShellCommand, "run( ` pipeline( shell> ;"),
    (DynamicCode, "eval( @eval Meta.parse( include( include_string( invokelatest( getfield( getproperty( Symbol("),
    (NativeCode, "ccall( @ccall llvmcall( Libdl unsafe_store! pyimport("),
    (DeletesFile, "rm( mv( cp("),
    (WritesFile, "write( open( touch( CSV.write( serialize( savefig( @save jldsave( truncate("),
    (InstallsPackage, "Pkg."),
    (NetworkSend, "HTTP. connect( download( Downloads. Sockets"),
    (SecretRead, "ENV"),
    (EndsProcess, "exit( kill( quit("),
    (ChangesPermissions, "chmod( chown("),
];
const OTHER_WORDS: Words = &[
    (
        ShellCommand,
        "Process( ProcessBuilder Runtime.getRuntime( child_process execSync( spawn( popen( Command::new exec.Command sh! shell_exec( passthru( proc_open( IO.popen %x ` !",
    ),
    (DynamicCode, "Function( instance_eval class_eval load( require( dlopen("),
    (
        DeletesFile,
        "remove( unlinkSync( rmSync( rmdir( removeAll( deleteFile( File.delete( FileUtils. fs:: Files. delete( unlink( removeFile(",
    ),
    (
        WritesFile,
        "writeFile( writeFileSync( appendFile( fopen( File.open( File.write( FileWriter ofstream Deno. fs. os.Create( os.WriteFile( file_put_contents(",
    ),
    (NetworkSend, "fetch( XMLHttpRequest axios net. http. https. TcpStream curl wget Socket("),
    (SecretRead, "process.env System.getenv env:: os.Getenv getenv( ENV["),
    (EndsProcess, "process.exit( abort( System.exit("),
];

fn check_words(code: &str, tables: &[Words], first_line: u32, findings: &mut Findings) {
    each_line(code, first_line, |line, text| {
        for (rule, words) in tables.iter().flat_map(|table| table.iter()) {
            for word in words.split_whitespace().filter(|word| has_word(text, word)) {
                findings.add(*rule, word.trim_end_matches('('), line);
            }
        }
    });
}

fn has_word(text: &str, word: &str) -> bool {
    let (name, is_call) = word.strip_suffix('(').map_or((word, false), |name| (name, true));
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = &text[at + name.len()..];
        let starts = !name.starts_with(is_word)
            || before.is_none_or(|found| !(is_word(found) || is_call && found == '.' && name.len() < 4));
        let ends = if is_call {
            after.trim_start().starts_with('(')
        } else {
            !name.ends_with(is_word) || name.starts_with("os.") || !after.starts_with(is_word)
        };
        starts && ends
    })
}

fn is_word(found: char) -> bool {
    found.is_alphanumeric() || found == '_'
}

fn each_line(code: &str, first_line: u32, mut check: impl FnMut(u32, &str)) {
    for (line, text) in (first_line..).zip(code.split('\n')) {
        check(line, text);
    }
}

/// Names of variables that are likely to hold what nobody else should see.
pub(super) fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let parts = [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASS",
        "PWD",
        "CREDENTIAL",
        "AUTH",
        "PRIVATE",
        "CERT",
        "COOKIE",
        "SESSION",
        "DSN",
        "DATABASE_URL",
        "CONN",
        "SALT",
        "JWT",
    ];
    name != "PWD" && name != "OLDPWD" && parts.iter().any(|part| name.contains(part))
}

// --- shell ---

/// Commands that read and print. Everything else, and everything with a character that the shell gives a meaning, is a
/// danger.
const READING: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "echo",
    "pwd",
    "cd",
    "date",
    "uptime",
    "whoami",
    "hostname",
    "uname",
    "du",
    "df",
    "grep",
    "sort",
    "uniq",
    "cut",
    "file",
    "stat",
    "which",
    "true",
    "false",
    "ps",
    "free",
    "nproc",
    "basename",
    "dirname",
    "sha256sum",
    "md5sum",
    "diff",
    "seq",
];

fn check_shell_line(text: &str, line: u32, findings: &mut Findings) {
    let text = text.trim();
    let is_harmless = text.is_empty() || text.starts_with('#') || reads(first_of(text)) && is_plain_shell(text);
    if !is_harmless {
        findings.add(ShellCommand, text, line);
    }
}

/// Whether a shell does no more with these words than one command, whose output others read: nothing that it expands, runs
/// or writes to.
pub(super) fn is_plain_shell(text: &str) -> bool {
    let signs = [';', '&', '>', '<', '`', '$', '(', ')', '{', '}', '\\', '\'', '"', '=', '\n', '\r'];
    !text.contains(signs) && text.split('|').skip(1).all(reads)
}

fn first_of(pipe: &str) -> &str {
    pipe.split('|').next().unwrap_or_default()
}

/// Whether a command reads and prints, with these arguments.
fn reads(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let name = words.next().unwrap_or_default();
    let mut arguments = words;
    READING.contains(&name)
        && match name {
            // `-o` and `--output` write, `--compress-program` runs.
            "sort" => !arguments.any(|word| word.starts_with('-') && word.contains('o')),
            // A second file is written to.
            "uniq" => arguments.all(|word| word.starts_with('-')),
            "file" => !arguments.any(|word| word.starts_with('-') && word.contains(['C', 'c'])),
            "date" => arguments.all(|word| word.starts_with('+')),
            "hostname" => arguments.next().is_none(),
            _ => true,
        }
}

// --- SQL ---

/// Judges SQL whose every word stands in this line of the cell.
pub(super) fn check_sql_at(text: &str, line: u32, findings: &mut Findings) {
    for (_, rule, word) in sql_dangers(text) {
        findings.add(rule, word, line);
    }
}

fn check_sql_lines(code: &str, first_line: u32, findings: &mut Findings) {
    let lines = super::Lines::of(code, first_line);
    for (at, rule, word) in sql_dangers(code) {
        findings.add(rule, word, lines.at(at));
    }
}

/// Words that begin a statement which changes something; with their offsets.
fn sql_dangers(text: &str) -> Vec<(usize, DangerRule, &'static str)> {
    let mut dangers = Vec::new();
    let (mut starts_statement, mut is_open, mut last) = (true, false, String::new());
    for (at, word) in sql_words(text) {
        if matches!(word, ";" | "(" | "{" | "?" | "\n") {
            starts_statement = true;
            is_open &= word != ";";
            continue;
        }
        let upper = word.to_ascii_uppercase();
        // Behind these words a statement may hold another one.
        let is_inside =
            is_open && !matches!(upper.as_str(), "REPLACE" | "UPDATE") || upper == "REPLACE" && last == "OR";
        if let Some((rule, spoken)) = sql_rule(&upper).filter(|_| starts_statement || is_inside)
            && !is_operand(&text[at + word.len()..])
        {
            dangers.push((at, rule, spoken));
        }
        if matches!(upper.as_str(), "OUTFILE" | "DUMPFILE") {
            dangers.push((at, WritesFile, "INTO OUTFILE"));
        }
        is_open |= matches!(upper.as_str(), "WITH" | "EXPLAIN");
        starts_statement = word == ")"
            || matches!(upper.as_str(), "WITH" | "EXPLAIN" | "ANALYZE" | "BEGIN" | "AS" | "DO" | "THEN" | "VERBOSE");
        last = upper;
    }
    dangers
}

/// Whether a word is a column or a function, by what follows: `update > 3`.
fn is_operand(after: &str) -> bool {
    after.trim_start().starts_with(['>', '<', '=', '!', '+', '.', ',', ')', '&', '|'])
}

fn sql_rule(upper: &str) -> Option<(DangerRule, &'static str)> {
    Some(match upper {
        "DROP" => (SqlDestroys, "DROP"),
        "DELETE" => (SqlDestroys, "DELETE"),
        "TRUNCATE" => (SqlDestroys, "TRUNCATE"),
        "UPDATE" => (SqlDestroys, "UPDATE"),
        "ALTER" => (SqlDestroys, "ALTER"),
        "MERGE" => (SqlDestroys, "MERGE"),
        "REPLACE" => (SqlDestroys, "REPLACE"),
        "GRANT" => (SqlDestroys, "GRANT"),
        "REVOKE" => (SqlDestroys, "REVOKE"),
        "RENAME" => (SqlDestroys, "RENAME"),
        "VACUUM" => (SqlDestroys, "VACUUM"),
        "ATTACH" => (SqlDestroys, "ATTACH"),
        "EXEC" | "EXECUTE" | "CALL" => (SqlDestroys, "CALL"),
        "COPY" | "UNLOAD" | "EXPORT" => (WritesFile, "COPY"),
        "INSTALL" | "LOAD" => (NativeCode, "LOAD"),
        "INSERT" | "UPSERT" => (InsertsRows, "INSERT"),
        _ => return None,
    })
}

/// Words and the signs after which a statement may begin: a new line and a comment's end are among them. What is quoted or
/// a comment is read like the rest, for where those end differs from database to database.
fn sql_words(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let (mut words, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        at = match rest[0] {
            b'*' if rest.starts_with(b"*/") => {
                words.push((at, "\n"));
                at + 2
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let length =
                    rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(rest.len());
                words.push((at, &text[at..at + length]));
                at + length
            }
            b';' | b'(' | b')' | b'{' | b'?' | b'\n' => {
                words.push((at, &text[at..=at]));
                at + 1
            }
            byte if byte.is_ascii_whitespace() || byte == b'/' || byte == b'*' => at + 1,
            _ => {
                words.push((at, ""));
                at + 1
            }
        };
    }
    words
}
