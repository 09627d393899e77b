//! Shell lines that plainly remove or overwrite files, or end processes. Other lines are held by the system while they run.

use crate::rules::DangerRule::{self, *};
use crate::words::Words;

static REMOVING: Words = Words::of("rm rmdir unlink shred mv cp dd truncate tee mkfs");
static ENDING: Words = Words::of("kill pkill killall shutdown reboot");
/// Words behind which a command begins.
static BEFORE_COMMANDS: Words = Words::of("sudo xargs exec time nohup env command then do else -exec -execdir");

/// The rule of one line.
pub(super) fn rule_of(line: &str) -> Option<DangerRule> {
    let line = without_quoted(line);
    if overwrites(&line) {
        return Some(DeletesFile);
    }
    let commands = line.split([';', '|', '&', '(', '{', '`', '\n']);
    commands.filter_map(rule_of_command).min()
}

fn rule_of_command(command: &str) -> Option<DangerRule> {
    let words: Vec<&str> = command.split_whitespace().map(file_name).collect();
    let begins = |at: usize| at == 0 || BEFORE_COMMANDS.has(words[at - 1]);
    let has = |word: &str| words.contains(&word);
    words.iter().enumerate().find_map(|(at, word)| match *word {
        "-delete" => Some(DeletesFile),
        _ if !begins(at) => None,
        "#" => None,
        "sed" if words.iter().any(|word| word.starts_with("-i") || *word == "--in-place") => Some(DeletesFile),
        "git" if ["clean", "rm", "reset", "restore"].into_iter().any(has) => Some(DeletesFile),
        "pip" | "conda" if has("uninstall") || has("remove") => Some(InstallsPackage),
        word if REMOVING.has(word) => Some(DeletesFile),
        word if ENDING.has(word) => Some(EndsKernel),
        _ => None,
    })
}

fn file_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Checks that a `>` opens a file anew: `>>` appends, and `>&` and `/dev/null` overwrite nothing.
fn overwrites(line: &str) -> bool {
    line.match_indices('>').any(|(at, _)| {
        let (before, after) = (&line[..at], line[at + 1..].trim_start_matches('|'));
        let target = after.trim_start();
        let is_sign = before.ends_with(['>', '-', '=']) || after.starts_with(['>', '&', '=']);
        !is_sign && !target.is_empty() && !target.starts_with("/dev/null") && !target.starts_with('(')
    })
}

/// The line without its quoted parts and its comment.
fn without_quoted(line: &str) -> String {
    let (mut kept, mut quote) = (String::new(), None);
    for found in line.chars() {
        match quote {
            Some(open) if open == found => quote = None,
            Some(_) => {}
            None if matches!(found, '\'' | '"') => quote = Some(found),
            None if found == '#' && kept.chars().last().is_none_or(char::is_whitespace) => break,
            None => kept.push(found),
        }
    }
    kept
}
