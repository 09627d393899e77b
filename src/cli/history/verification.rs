//! Verification of one record, on a server or in a file: what is checked event by event, and how the result is told.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use notarium_core::{Event, Hash, Head, NotebookId, RecordCheck, Stored, UserId, Version};
use notarium_store::blobs::named_in;
use notarium_wire::rest::Verification;
use serde::Serialize;

use crate::cli::history::heads::{AgainstArgs, ProvenHead};
use crate::cli::history::rebuild::{RecordArgs, hash_of};
use crate::cli::terminal::print;
use crate::cli::{Ended, Failure};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium verify analysis
  notarium verify analysis --blobs                   # large outputs too
  notarium verify analysis --expect 42:9f86d081…     # the hash that you noted when it was at version 42
  notarium verify analysis --against head.txt        # the signed head that you kept
  notarium verify --all                              # all notebooks that you can see
  notarium verify --file analysis.jsonl.zst --key notarium-3f2a…   # without a server: the file, by its manifest and who signed it
  notarium verify --file record.jsonl --against head.txt --key notarium-3f2a…")]
pub struct VerifyArgs {
    #[command(flatten)]
    pub record: RecordArgs,
    /// A version and its hash that you noted earlier: whoever rewrote the whole record since is found out.
    #[arg(long, value_name = "VERSION:HASH", value_parser = parse_expected)]
    pub expect: Vec<(Version, Hash)>,
    #[command(flatten)]
    pub signed: AgainstArgs,
    /// All notebooks that you can see, archived ones too, one after the other.
    #[arg(long, conflicts_with_all = ["notebook", "file", "expect"])]
    pub all: bool,
    /// Also read every blob (large output) that the record names, and compare it with its hash. With --file: those beside the file.
    #[arg(long)]
    pub blobs: bool,
}

fn parse_expected(text: &str) -> Result<(Version, Hash), String> {
    let parsed = text.split_once(':').and_then(|(version, hash)| {
        let hash = serde_json::from_value(serde_json::Value::String(hash.to_owned())).ok()?;
        Some((version.parse().ok()?, hash))
    });
    parsed.ok_or_else(|| "write VERSION:HASH with the 64 hexadecimal digits that `notarium verify` printed".to_owned())
}

/// Verifies the record of one notebook event by event: chain, rights, and expected hashes on the way.
pub struct RecordVerifier {
    pub check: RecordCheck,
    expected: Vec<(Version, Hash)>,
    /// Signed heads of this notebook.
    signed: Vec<ProvenHead>,
    /// Large outputs that the events name; `None`: they are not asked for.
    named: Option<BTreeSet<Hash>>,
}

impl RecordVerifier {
    /// Verifier of a record that begins. `signed`: heads of any notebooks.
    pub fn new(args: &VerifyArgs, notebook_id: &NotebookId, signed: Option<&[ProvenHead]>) -> Self {
        let own = |head: &&ProvenHead| head.notebook_id == *notebook_id;
        let signed: Vec<ProvenHead> = signed.unwrap_or_default().iter().filter(own).cloned().collect();
        let heads = signed.iter().map(|head| (head.version, head.hash));
        Self {
            expected: args.expect.iter().copied().chain(heads).collect(),
            signed,
            check: RecordCheck::new(notebook_id.clone()),
            named: args.blobs.then(BTreeSet::new),
        }
    }

    /// Takes the next event; after a break nothing is checked.
    pub fn next(&mut self, stored: &Stored) {
        let recorded = self.check.follow(stored);
        let Head { version: at, hash: actual, .. } = self.check.head;
        if let Some((_, hash)) = self.expected.iter().find(|(version, hash)| *version == at && *hash != actual) {
            self.check.break_off(format!("version {at} has the hash {actual}, not {hash}: the record was rewritten"));
        }
        if let Some(named) = &mut self.named {
            if let Some(Event::ContentRedacted(event)) = recorded.map(|recorded| recorded.event) {
                named.retain(|blob| !event.blobs.contains(blob));
            }
            named.extend(named_in(stored.payload.get()));
        }
    }

    /// Checks the end of the record: against the server's head, and for expected versions that are missing.
    fn check_end(&mut self, end: Option<Head>) {
        let Head { version, hash, .. } = self.check.head;
        let too_late = self.expected.iter().find(|(expected, _)| *expected > version);
        match (end, too_late) {
            (Some(end), _) if (end.version, end.hash) != (version, hash) => {
                self.check.break_off(format!("the record ends at version {version}, the server says {}", end.version));
            }
            (_, Some((expected, _))) => {
                self.check.break_off(format!("the record ends at version {version}, before the expected {expected}"));
            }
            _ => {}
        }
    }

    /// Ends the record. `end`: the server's head; `None` for a file.
    pub fn finish(mut self, end: Option<Head>) -> Result<Proof, Failure> {
        self.check_end(end);
        self.check.end();
        let RecordCheck { head: Head { version, hash, .. }, broken, audit } = self.check;
        let state = audit.as_ref().filter(|_| broken.is_none());
        let verified = Verification {
            ok: broken.is_none(),
            version,
            hash,
            state_hash: state.map(|audit| hash_of(audit.document())).transpose()?,
            state_is_replayed: None,
            untold: audit.as_ref().map(|audit| audit.untold().clone()),
            problem: broken,
            contradiction: None,
            commands: None,
            snapshots: None,
        };
        Ok(Proof {
            verified,
            end_is_proven: end.is_some() || self.expected.iter().any(|(noted, _)| *noted == version),
            signed_heads: self.signed,
            manifest: None,
            named: self.named,
        })
    }
}

/// Result of a verification.
#[derive(Debug, Serialize)]
pub struct Proof {
    #[serde(flatten)]
    pub verified: Verification,
    /// False for a file that may have been cut: no server, no noted hash and no signed head says that its last event is the record's.
    pub end_is_proven: bool,
    /// Signed heads that agree with the record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signed_heads: Vec<ProvenHead>,
    /// The manifest beside the file, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<CheckedManifest>,
    /// Large outputs that the events name, if they are asked for.
    #[serde(skip)]
    pub named: Option<BTreeSet<Hash>>,
}

impl Proof {
    /// Demands that one of the given heads is of this notebook.
    pub fn demand_heads(&self, given: Option<&[ProvenHead]>) -> Ended {
        match given {
            Some(_) if self.signed_heads.is_empty() => Err(Failure::failed(
                "none of the signed heads is of this notebook: name a file with its head (--against)",
            )),
            _ => Ok(()),
        }
    }

    /// Takes over what the server has found beside the record. It reads the same events again.
    pub fn compare(&mut self, on_server: Verification) {
        if let Some(problem) = on_server.problem {
            self.break_off(format!("the server finds: {problem}"));
        }
        self.verified.ok &= on_server.contradiction.is_none();
        self.verified.contradiction = on_server.contradiction;
        self.verified.commands = on_server.commands;
        self.verified.snapshots = on_server.snapshots;
    }

    /// First sentence that says that something is wrong.
    fn fault(&self) -> Option<&String> {
        self.verified.problem.as_ref().or(self.verified.contradiction.as_ref())
    }

    /// Adds a problem that was found later; the first one stays.
    pub fn break_off(&mut self, problem: impl Into<String>) {
        self.verified.ok = false;
        self.verified.problem.get_or_insert_with(|| problem.into());
    }
}

/// A manifest with which the file was compared.
#[derive(Debug, Clone, Serialize)]
pub struct CheckedManifest {
    /// Its path.
    pub file: String,
    /// Name of the key that has signed its head of this notebook; absent: no key was given, and the signature was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<String>,
}

// --- in words ---

/// Failure because of broken records among several.
pub fn not_whole(verified: usize, broken: usize) -> Failure {
    Failure::failed(format!(
        "of {} {} not whole",
        print::count(verified, "record"),
        if broken == 1 { "1 is".to_owned() } else { format!("{broken} are") }
    ))
}

/// Prints a line about one record of several.
pub fn tell_one(id: &NotebookId, title: &str, proof: &Proof, as_json: bool) -> Ended {
    if as_json {
        return print::json_line(&serde_json::json!({"notebook": id, "title": title, "proof": proof}));
    }
    let title = print::clean(title);
    match proof.fault() {
        None => print::line(format!("whole      {id}  {title}  {}:{}", proof.verified.version, proof.verified.hash)),
        Some(problem) => print::line(format!("NOT WHOLE  {id}  {title}  {}", print::clean(problem))),
    }
}

/// Prints the result; a problem is a failure.
pub fn told(proof: Proof, as_json: bool) -> Ended {
    let version = proof.verified.version;
    if as_json {
        print::json(&proof)?;
    } else if proof.verified.ok {
        tell_whole(&proof)?;
        tell_rights(proof.verified.untold.as_ref())?;
        tell_compared(&proof.verified)?;
        for head in &proof.signed_heads {
            print::line(head.sentence())?;
        }
    }
    match (proof.verified.problem, proof.verified.contradiction) {
        (Some(problem), contradiction) => {
            let more = contradiction.map(|more| format!("; {more}")).unwrap_or_default();
            Err(Failure::failed(format!("the record is not whole: {problem} (proven up to version {version}){more}")))
        }
        (None, Some(contradiction)) => Err(Failure::failed(format!(
            "the record is whole up to version {version}, and what the server keeps beside it is not: {contradiction}"
        ))),
        (None, None) => Ok(()),
    }
}

fn tell_whole(proof: &Proof) -> Ended {
    let Verification { version, hash, .. } = proof.verified;
    let blobs = proof.named.as_ref();
    let blobs = blobs.map(|named| format!("; its {} are whole", print::count(named.len(), "blob"))).unwrap_or_default();
    if proof.end_is_proven {
        let state =
            if proof.verified.state_is_replayed.is_some() { ", and leads to what the server shows" } else { "" };
        return print::line(format!("the record is whole{state}: {version} events, hash {version}:{hash}{blobs}"));
    }
    print::line(format!("the file is whole up to version {version}, hash {version}:{hash}{blobs}"))?;
    print::line(match &proof.manifest {
        Some(_) => {
            "its manifest agrees, and anybody who can change the file can change the manifest: the signature of its head was not checked, \
             because no key is given (--key, a line of SERVER/.well-known/notarium-keys that you kept)"
                .to_owned()
        }
        None => format!(
            "whether more events followed a signed head tells (--against), or its server: notarium verify NB --expect {version}:{hash}"
        ),
    })
}

/// Says what the server keeps beside the record, and how much of it the events prove.
fn tell_compared(verified: &Verification) -> Ended {
    let (Some(commands), Some(snapshots)) = (&verified.commands, verified.snapshots) else { return Ok(()) };
    let [agree, snapshots] =
        [(commands.agree, "command"), (snapshots, "snapshot")].map(|(count, word)| print::count(to_usize(count), word));
    print::line(format!("the kept answers to {agree} and {snapshots} agree with the events"))?;
    if let Some(unproven) = commands.unproven.filter(|count| *count > 0) {
        let count = print::count(to_usize(unproven), "other command");
        print::line(format!("{count} led to no event: nothing proves the kept answers to them"))?;
    }
    match commands.imported_to {
        None => Ok(()),
        Some(version) => print::line(format!(
            "the record was imported up to version {version}: the answers to its commands stayed on the server that accepted them"
        )),
    }
}

fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Says whose rights the record proves.
fn tell_rights(untold: Option<&BTreeMap<UserId, u64>>) -> Ended {
    match untold {
        None => print::line(
            "who might do what was not checked: a newer server has written events that this program does not know",
        ),
        Some(untold) if untold.is_empty() => {
            print::line("every author had the right to do it, and every call passed the gate")
        }
        Some(untold) => {
            let people: Vec<String> =
                untold.iter().map(|(id, events)| format!("user:{id} ({events} events)")).collect();
            print::line(format!(
                "every call passed the gate; the rights of these people do not follow from the record, which does not hold the members of \
                 workspaces and the administrators: {}",
                people.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expected_hash_is_read_or_explained() {
        let hash = "a".repeat(64);
        assert_eq!(parse_expected(&format!("7:{hash}")).unwrap().0, 7);
        for wrong in ["7", "x:00", "7:zz", &hash] {
            assert!(parse_expected(wrong).is_err(), "{wrong}");
        }
    }
}
