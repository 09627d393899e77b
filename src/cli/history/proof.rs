//! `verify` and `replay`: check that the record is complete, leads to the server's state, and has all its blobs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;
use notarium_core::{Document, Erasure, Hash, Head, RecordAudit, Stored, UserId, Version, verify_chain};
use notarium_store::blobs::named_in;
use notarium_wire::rest::{NotebookLine, Verification};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::cli::connection::client::{NotebookClient, RestClient};
use crate::cli::connection::find;
use crate::cli::history::each_event;
use crate::cli::history::heads::{AgainstArgs, ProvenHead};
use crate::cli::history::record_file::RecordEvents;
use crate::cli::terminal::print;
use crate::cli::{CommonOptions, Ended, Failure};

/// Code of the server's refusal of a page of events that begins with an unreadable one.
const UNREADABLE: &str = "damaged";
/// Most notebooks of `--all`.
const MAX_NOTEBOOKS: usize = 1_000_000;
const OTHER_STATE: &str =
    "the server shows another state than its record leads to: report it, and keep the record (notarium log --json)";

/// A record: on the server, or in a file that `notarium export-record` or `notarium log --since 0 --json` wrote.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// Id or title.
    notebook: Option<String>,
    /// A file that `notarium export-record` or `notarium log NB --since 0 --json` wrote; no server is asked.
    #[arg(long, value_name = "FILE", conflicts_with = "notebook")]
    file: Option<PathBuf>,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium verify analysis
  notarium verify analysis --blobs                   # large outputs too
  notarium verify analysis --expect 42:9f86d081…     # the hash that you noted when it was at version 42
  notarium verify analysis --against head.txt        # the signed head that you kept
  notarium verify --all                              # all notebooks that you can see
  notarium verify --file record.jsonl --against head.txt --key notarium-3f2a…   # without a server")]
pub struct VerifyArgs {
    #[command(flatten)]
    record: RecordArgs,
    /// A version and its hash that you noted earlier: whoever rewrote the whole record since is found out.
    #[arg(long, value_name = "VERSION:HASH", value_parser = parse_expected)]
    expect: Vec<(Version, Hash)>,
    #[command(flatten)]
    signed: AgainstArgs,
    /// All notebooks that you can see, archived ones too, one after the other.
    #[arg(long, conflicts_with_all = ["notebook", "file", "expect"])]
    all: bool,
    /// Also read every blob (large output) that the record names, and compare it with its hash.
    #[arg(long, conflicts_with = "file")]
    blobs: bool,
}

fn parse_expected(text: &str) -> Result<(Version, Hash), String> {
    let parsed = text.split_once(':').and_then(|(version, hash)| {
        let hash = serde_json::from_value(serde_json::Value::String(hash.to_owned())).ok()?;
        Some((version.parse().ok()?, hash))
    });
    parsed.ok_or_else(|| "write VERSION:HASH with the 64 hexadecimal digits that `notarium verify` printed".to_owned())
}

/// Verifies a record event by event: the hash chain, and expected hashes on the way.
struct RecordVerifier {
    head: Head,
    expected: Vec<(Version, Hash)>,
    broken: Option<String>,
}

impl RecordVerifier {
    /// Takes the next event; after a break nothing is checked.
    fn next(&mut self, stored: &Stored) {
        if self.broken.is_some() {
            return;
        }
        match verify_chain(self.head, [stored]) {
            Ok(head) => self.head = head,
            Err(error) => self.broken = Some(error.to_string()),
        }
        let Head { version: at, hash: actual, .. } = self.head;
        if let Some((_, hash)) = self.expected.iter().find(|(version, hash)| *version == at && *hash != actual) {
            let rewritten = || format!("version {at} has the hash {actual}, not {hash}: the record was rewritten");
            self.broken.get_or_insert_with(rewritten);
        }
    }

    /// Checks the end of the record: against the server's head, and for expected versions that are missing.
    fn finish(&mut self, end: Option<Head>) {
        if self.broken.is_some() {
            return;
        }
        let too_late = self.expected.iter().find(|(version, _)| *version > self.head.version);
        self.broken = match (end, too_late) {
            (Some(end), _) if (end.version, end.hash) != (self.head.version, self.head.hash) => {
                Some(format!("the record ends at version {}, the server says {}", self.head.version, end.version))
            }
            (_, Some((version, _))) => {
                Some(format!("the record ends at version {}, before the expected {version}", self.head.version))
            }
            _ => None,
        };
    }
}

pub async fn verify(args: VerifyArgs, context: &CommonOptions) -> Ended {
    let server = if args.record.file.is_some() { None } else { Some(context.client()?) };
    let signed = args.signed.heads(server.as_ref()).await?;
    if let (true, Some(server)) = (args.all, &server) {
        return verify_all(&args, context, server, signed).await;
    }
    let proven = prove(&args, &args.record, context, signed.clone()).await;
    let (proof, blobs) = match proven {
        Err(Failure { erased: Some(erasure), .. }) => return tell_erased(&erasure, &args.record, signed.as_deref()),
        proven => proven?,
    };
    told(proof, args.blobs.then_some(blobs), args.record.json)
}

/// Verifies all notebooks; those with a problem make it a failure at the end.
async fn verify_all(
    args: &VerifyArgs,
    context: &CommonOptions,
    server: &RestClient,
    signed: Option<Vec<ProvenHead>>,
) -> Ended {
    let (mut verified, mut broken) = (0, 0);
    for archived in [false, true] {
        for line in find::list(server, None, archived, None, MAX_NOTEBOOKS).await? {
            let record = RecordArgs { notebook: Some(line.id.to_string()), file: None, json: args.record.json };
            let own =
                signed.as_ref().map(|heads| heads.iter().filter(|head| head.notebook_id == line.id).cloned().collect());
            // A file of heads may lack notebooks that are newer.
            let own = own.filter(|heads: &Vec<ProvenHead>| !heads.is_empty());
            let (proof, _) = prove(args, &record, context, own).await?;
            verified += 1;
            broken += usize::from(!proof.verified.ok);
            tell_one(&line, &proof, args.record.json)?;
        }
    }
    match (verified, broken) {
        (0, _) => Err(Failure::failed("you can see no notebook: there is nothing to verify")),
        (_, 0) => Ok(()),
        _ => Err(Failure::failed(format!(
            "of {} {} not whole",
            print::count(verified, "record"),
            print::count(broken, "is")
        ))),
    }
}

/// Says of an erased notebook what is left, and whether its end was the one of a signed head.
fn tell_erased(erasure: &Erasure, record: &RecordArgs, signed: Option<&[ProvenHead]>) -> Ended {
    let Erasure { by, at, reason, version, hash } = erasure;
    let own = |head: &&ProvenHead| Some(head.notebook_id.as_str()) == record.notebook.as_deref();
    let agreeing = signed.into_iter().flatten().filter(own).find(|head| head.version == *version);
    if let Some(head) = agreeing.filter(|head| head.hash != *hash) {
        return Err(Failure::failed(format!(
            "the notebook was erased, and its record was another one: version {version} had the hash {}, not {hash}",
            head.hash
        )));
    }
    if record.json {
        let agrees = agreeing.is_some();
        return print::json(&serde_json::json!({"erased": erasure, "agrees_with_signed_head": agrees}));
    }
    print::line(format!(
        "erased at version {} by {} on {}: nothing before is here ({}). Its record ended with {version}:{hash}",
        version + 1,
        by.key(),
        print::time(*at),
        print::clean(reason)
    ))?;
    match (agreeing, signed) {
        (Some(head), _) => {
            print::line(format!("that is the head that {} signed at {}", head.key, print::time(head.signed_at)))
        }
        (None, Some(_)) => {
            print::line(format!("no signed head is of version {version}: others cannot be compared any more"))
        }
        (None, None) => Ok(()),
    }
}

fn tell_one(line: &NotebookLine, proof: &Proof, as_json: bool) -> Ended {
    if as_json {
        return print::json_line(&serde_json::json!({"notebook": line.id, "title": line.title, "proof": proof}));
    }
    let title = print::clean(&line.title);
    match &proof.verified.problem {
        None => {
            print::line(format!("whole      {}  {title}  {}:{}", line.id, proof.verified.version, proof.verified.hash))
        }
        Some(problem) => print::line(format!("NOT WHOLE  {}  {title}  {}", line.id, print::clean(problem))),
    }
}

/// Verifies one record; returns the proof, and the count of blobs that it names.
async fn prove(
    args: &VerifyArgs,
    record: &RecordArgs,
    context: &CommonOptions,
    mut signed: Option<Vec<ProvenHead>>,
) -> Result<(Proof, usize), Failure> {
    let mut proof = RecordVerifier { head: Head::START, expected: args.expect.clone(), broken: None };
    let (mut audit, mut is_known, mut named) = (None::<RecordAudit>, true, BTreeSet::new());
    let visit = |stored: &Stored| {
        if proof.head == Head::START
            && let Some(signed) = &mut signed
        {
            signed.retain(|head| head.notebook_id == stored.envelope.notebook_id);
            proof.expected.extend(signed.iter().map(|head| (head.version, head.hash)));
        }
        proof.next(stored);
        // Unknown events cannot be folded: neither the state nor anybody's right follows.
        match stored.typed() {
            Ok(recorded) if is_known => {
                let new = || RecordAudit::new(stored.envelope.notebook_id.clone());
                if let Err(found) = audit.get_or_insert_with(new).see(&recorded) {
                    proof.broken.get_or_insert_with(|| format!("nobody might have written this: {found}"));
                }
            }
            _ => is_known = false,
        }
        named.extend(named_in(stored.payload.get()));
        Ok(())
    };
    let served = each_recorded(record, context, visit).await;
    let served = match served {
        // The events before it are verified and reported.
        Err(failure) if failure.has_code(UNREADABLE) => {
            proof.broken.get_or_insert(failure.message);
            None
        }
        served => served?,
    };
    proof.finish(served.as_ref().map(|(_, end)| *end));
    if signed.as_ref().is_some_and(Vec::is_empty) {
        return Err(Failure::failed(
            "none of the signed heads is of this notebook: name a file with its head (--against)",
        ));
    }
    let RecordVerifier { head: Head { version, hash, .. }, mut broken, expected } = proof;
    let (mut state_hash, mut state_is_replayed) = (None, None);
    let audit = audit.filter(|_| is_known);
    let untold = audit.as_ref().map(|audit| audit.untold().clone());
    if let (None, Some(state)) = (&broken, audit.as_ref().map(RecordAudit::document)) {
        state_hash = Some(hash_of(state)?);
        let shown = served_hash(served.as_ref(), state.version).await?;
        state_is_replayed = shown.map(|shown| Some(shown) == state_hash);
    }
    if state_is_replayed == Some(false) {
        broken = Some(OTHER_STATE.to_owned());
    }
    if let (None, true, Some((notebook, _))) = (&broken, args.blobs, &served) {
        let (problem, retired) = blob_problem(notebook, &named).await?;
        broken = problem;
        if retired > 0 {
            print::note(format!("{} removed by retention: their events stay", print::count(retired, "blob")));
        }
    }
    let verified =
        Verification { ok: broken.is_none(), version, hash, state_hash, state_is_replayed, untold, problem: broken };
    let end_is_proven = served.is_some() || expected.iter().any(|(noted, _)| *noted == version);
    Ok((Proof { verified, end_is_proven, signed_heads: signed.unwrap_or_default() }, named.len()))
}

#[derive(Debug, Serialize)]
struct Proof {
    #[serde(flatten)]
    verified: Verification,
    /// False for a file that may have been cut: no server and no noted hash says that its last event is the record's.
    end_is_proven: bool,
    /// Signed heads that agree with the record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    signed_heads: Vec<ProvenHead>,
}

/// Prints the result; a problem is a failure.
fn told(proof: Proof, blobs: Option<usize>, as_json: bool) -> Ended {
    let Verification { version, hash, .. } = proof.verified;
    if as_json {
        print::json(&proof)?;
    } else if proof.verified.ok && !proof.end_is_proven {
        print::line(format!(
            "the file is whole from version 1 to {version}, hash {version}:{hash}; a file alone does not prove that the record ends there: \
             compare with its server (notarium verify NB --expect {version}:{hash}), or name the end that you noted (--expect)"
        ))?;
    } else if proof.verified.ok {
        let state =
            if proof.verified.state_is_replayed.is_some() { ", and leads to what the server shows" } else { "" };
        let blobs = blobs.map(|count| format!("; its {} are whole", print::count(count, "blob"))).unwrap_or_default();
        print::line(format!("the record is whole{state}: {version} events, hash {version}:{hash}{blobs}"))?;
    }
    if proof.verified.ok && !as_json {
        tell_rights(proof.verified.untold.as_ref())?;
        for head in &proof.signed_heads {
            let when = print::time(head.signed_at);
            let tree = head.tree_size.map(|size| format!("; that head is in the server's tree of {size} heads"));
            print::line(format!(
                "it agrees with the head of version {} that {} signed at {when}{}",
                head.version,
                head.key,
                tree.unwrap_or_default()
            ))?;
        }
    }
    let broken =
        |problem| Failure::failed(format!("the record is not whole: {problem} (proven up to version {version})"));
    proof.verified.problem.map_or(Ok(()), |problem| Err(broken(problem)))
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

/// The hash of the server's state at a version; `None` if the record is from a file.
async fn served_hash(served: Option<&(NotebookClient, Head)>, version: Version) -> Result<Option<Hash>, Failure> {
    let Some((notebook, _)) = served else { return Ok(None) };
    // The notebook may have changed since, so the version is named.
    hash_of(&notebook.state(Some(version)).await?.notebook).map(Some)
}

/// Passes every event of a record to `visit`. Returns the notebook and its head if the record is on a server.
async fn each_recorded(
    args: &RecordArgs,
    context: &CommonOptions,
    mut visit: impl FnMut(&Stored) -> Ended,
) -> Result<Option<(NotebookClient, Head)>, Failure> {
    if let Some(file) = &args.file {
        for stored in RecordEvents::open(file)? {
            visit(&stored?)?;
        }
        return Ok(None);
    }
    let missing = || Failure::usage("name a notebook, or a file with its record (--file)");
    let notebook = context.notebook(args.notebook.as_deref().ok_or_else(missing)?).await?;
    let end = each_event(&notebook, 0, visit).await?;
    Ok(Some((notebook, end)))
}

// --- replay ---

#[derive(Debug, Serialize)]
struct Replayed {
    version: Version,
    /// SHA-256 of the state's JSON, built here.
    state_hash: Hash,
    /// The same hash of the server's state; absent for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_state_hash: Option<Hash>,
    same: bool,
}

pub async fn replay(args: RecordArgs, context: &CommonOptions) -> Ended {
    let mut state = None;
    let served = each_recorded(&args, context, |stored| fold(&mut state, stored)).await?;
    let state = state.ok_or_else(|| Failure::failed("the record has no events"))?;
    let (version, state_hash) = (state.version, hash_of(&state)?);
    let server_state_hash = served_hash(served.as_ref(), version).await?;
    let same = server_state_hash.is_none_or(|hash| hash == state_hash);
    if args.json {
        print::json(&Replayed { version, state_hash, server_state_hash, same })?;
    } else {
        print::line(format!("replayed {version} events: state {state_hash}"))?;
        let on_server = |hash| print::line(format!("the server shows state {hash} at that version"));
        server_state_hash.map_or(Ok(()), on_server)?;
    }
    if same { Ok(()) } else { Err(Failure::failed(OTHER_STATE)) }
}

fn fold(state: &mut Option<Document>, stored: &Stored) -> Ended {
    let recorded = stored.typed().map_err(|error| Failure::failed(error.to_string()))?;
    state.get_or_insert_with(|| Document::new(stored.envelope.notebook_id.clone())).apply(&recorded);
    Ok(())
}

fn hash_of(state: &Document) -> Result<Hash, Failure> {
    let json = serde_json::to_vec(state).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(Hash(Sha256::digest(json).into()))
}

// --- blobs of a record ---

/// Problems of the named blobs, in one sentence, `None` if there are none; and the count of those that retention has removed.
async fn blob_problem(notebook: &NotebookClient, named: &BTreeSet<Hash>) -> Result<(Option<String>, usize), Failure> {
    let (mut wrong, mut retired) = (Vec::new(), 0);
    for sha256 in named {
        match wrong_with(notebook, sha256).await? {
            Some(RETIRED) => retired += 1,
            Some(word) => wrong.push(format!("blob {sha256} {word}")),
            None => {}
        }
    }
    let say = || format!("{}; upload them again, or restore a backup", wrong.join(", "));
    Ok(((!wrong.is_empty()).then(say), retired))
}

/// Code of a blob that retention has removed, which is no damage.
pub const RETIRED: &str = "blob_retired";

async fn wrong_with(notebook: &NotebookClient, sha256: &Hash) -> Result<Option<&'static str>, Failure> {
    let mut answer = match notebook.blob(&sha256.to_string()).await {
        Ok(answer) => answer,
        Err(failure) if failure.is_not_found() => return Ok(Some("is missing")),
        Err(failure) if failure.has_code("damaged") => return Ok(Some("is damaged")),
        Err(failure) if failure.has_code(RETIRED) => return Ok(Some(RETIRED)),
        Err(failure) => return Err(failure),
    };
    let mut digest = Sha256::new();
    let cut = |error: reqwest::Error| Failure::connection(format!("a blob was cut off ({error}): try again"));
    while let Some(piece) = answer.chunk().await.map_err(cut)? {
        digest.update(&piece);
    }
    Ok((Hash(digest.finalize().into()) != *sha256).then_some("is damaged"))
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
