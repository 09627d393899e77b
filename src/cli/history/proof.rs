//! `verify`: checks that records are complete, that their authors might write them, and that they lead to what the server shows.

use std::collections::BTreeSet;

use notarium_core::{Erasure, Hash};
use notarium_wire::rest::Verification;
use sha2::{Digest, Sha256};

use crate::cli::connection::client::{NotebookClient, RestClient};
use crate::cli::connection::find;
use crate::cli::history::each_event;
use crate::cli::history::heads::ProvenHead;
use crate::cli::history::rebuild::{OTHER_STATE, RecordArgs, served_hash};
use crate::cli::history::verification::{Proof, RecordVerifier, VerifyArgs, not_whole, tell_one, told};
use crate::cli::history::verified_file::verify_file;
use crate::cli::terminal::print;
use crate::cli::{CommonOptions, Ended, Failure};

/// Code of the server's refusal of a page of events that begins with an unreadable one.
const UNREADABLE: &str = "damaged";
/// Most notebooks of `--all`.
const MAX_NOTEBOOKS: usize = 1_000_000;

pub async fn verify(args: VerifyArgs, context: &CommonOptions) -> Ended {
    if let Some(file) = &args.record.file {
        return verify_file(file, &args).await;
    }
    let server = context.client()?;
    let signed = args.signed.heads(Some(&server)).await?;
    if args.all {
        return verify_all(&args, &server, signed).await;
    }
    let missing = || Failure::usage("name a notebook, or a file with its record (--file)");
    let name = args.record.notebook.as_deref().ok_or_else(missing)?;
    let proven = async { prove(&args, &context.notebook(name).await?, signed.as_deref()).await };
    match proven.await {
        Err(Failure { erased: Some(erasure), .. }) => tell_erased(&erasure, &args.record, signed.as_deref()),
        proven => told(proven?, args.record.json),
    }
}

/// Verifies all notebooks; those with a problem make it a failure at the end.
async fn verify_all(args: &VerifyArgs, server: &RestClient, signed: Option<Vec<ProvenHead>>) -> Ended {
    let (mut verified, mut broken) = (0, 0);
    for archived in [false, true] {
        for line in find::list(server, None, archived, None, MAX_NOTEBOOKS).await? {
            // A file of heads may lack notebooks that are newer.
            let has_head = |heads: &&[ProvenHead]| heads.iter().any(|head| head.notebook_id == line.id);
            let proof = prove(args, &server.notebook(line.id.clone()), signed.as_deref().filter(has_head)).await?;
            verified += 1;
            broken += usize::from(!proof.verified.ok);
            tell_one(&line.id, &line.title, &proof, args.record.json)?;
        }
    }
    match (verified, broken) {
        (0, _) => Err(Failure::failed("you can see no notebook: there is nothing to verify")),
        (_, 0) => Ok(()),
        _ => Err(not_whole(verified, broken)),
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

/// Verifies the record of a notebook on its server.
async fn prove(args: &VerifyArgs, notebook: &NotebookClient, signed: Option<&[ProvenHead]>) -> Result<Proof, Failure> {
    let mut verifier = RecordVerifier::new(args, &notebook.id, signed);
    let visited = each_event(notebook, 0, |stored| {
        verifier.next(stored);
        Ok(())
    });
    let end = match visited.await {
        // The events before it are verified and reported.
        Err(failure) if failure.has_code(UNREADABLE) => {
            verifier.check.break_off(failure.message);
            None
        }
        end => Some(end?),
    };
    let mut proof = verifier.finish(end)?;
    proof.demand_heads(signed)?;
    if proof.verified.ok {
        let mut path = format!("/verify?at={}", proof.verified.version);
        if args.all {
            // Counting reads the commands of all notebooks, once for each of them.
            path.push_str("&unproven=false");
        }
        let compared: Verification = notebook.get(&path).await?;
        proof.compare(compared);
    }
    if let (Some(replayed), Some(_)) = (proof.verified.state_hash, end) {
        let is_shown = served_hash(notebook, proof.verified.version).await? == replayed;
        proof.verified.state_is_replayed = Some(is_shown);
        if !is_shown {
            proof.break_off(OTHER_STATE);
        }
    }
    if let (None, Some(named)) = (&proof.verified.problem, &proof.named) {
        let (problem, retired) = blob_problem(notebook, named).await?;
        if retired > 0 {
            print::note(format!("{} removed by retention: their events stay", print::count(retired, "blob")));
        }
        if let Some(problem) = problem {
            proof.break_off(problem);
        }
    }
    Ok(proof)
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
