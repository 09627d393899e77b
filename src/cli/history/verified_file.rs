//! `verify --file`: a record without its server, compared with the manifest beside it and with signed heads.

use std::collections::BTreeSet;
use std::path::Path;

use notarium_core::{Hash, NotebookId};
use notarium_wire::record_manifest::{ManifestNotebook, RecordManifest};
use notarium_wire::signed_head::StatedHead;
use notarium_wire::signed_names::StatedNames;
use notarium_wire::signed_note::VerifierKey;

use crate::cli::history::export_record::{beside, manifest_of};
use crate::cli::history::heads::ProvenHead;
use crate::cli::history::manifest_file::{self, hash_of};
use crate::cli::history::record_file::{RecordEvents, UnreadLine};
use crate::cli::history::verification::{
    CheckedManifest, Proof, RecordVerifier, VerifyArgs, not_whole, tell_one, told,
};
use crate::cli::terminal::print;
use crate::cli::{Ended, Failure};

pub async fn verify_file(file: &Path, args: &VerifyArgs) -> Ended {
    let manifest = manifest_file::find(file)?;
    let signed = args.signed.heads_for_file(manifest.is_some()).await?;
    let keys = args.signed.keys();
    let mut found = FileVerification { problem: None, proofs: Vec::new() };
    if let Some(manifest) = &manifest {
        found.problem = manifest_file::problem_of_file(file, manifest)?;
    }
    found.read(file, args, signed.as_deref())?;
    if let [(_, proof)] = &found.proofs[..] {
        proof.demand_heads(signed.as_deref())?;
    }
    if let Some(manifest) = &manifest {
        let checked = ManifestCheck { file, manifest, keys };
        found.proofs.iter_mut().try_for_each(|(id, proof)| checked.compare(id, proof))?;
        found.problem = found.problem.or_else(|| checked.problem_of_all(&found.proofs));
    }
    if args.blobs {
        found.check_blobs(file, manifest.as_ref())?;
    }
    found.tell(manifest.as_ref(), args)
}

/// Notebooks of a file, and the problem of the file as a whole.
struct FileVerification {
    problem: Option<String>,
    proofs: Vec<(NotebookId, Proof)>,
}

impl FileVerification {
    /// Verifies the notebooks of the file, one after the other.
    fn read(&mut self, file: &Path, args: &VerifyArgs, signed: Option<&[ProvenHead]>) -> Ended {
        let mut current: Option<(NotebookId, RecordVerifier)> = None;
        let mut seen = BTreeSet::new();
        for read in RecordEvents::open(file)?.ahead() {
            let stored = match read {
                Ok(stored) => stored,
                Err(UnreadLine::First(failure)) => return Err(self.problem.take().map_or(failure, Failure::failed)),
                Err(UnreadLine::Later(reason)) => {
                    if let Some((_, verifier)) = &mut current {
                        verifier.check.break_off(reason);
                    }
                    break;
                }
            };
            let id = &stored.envelope.notebook_id;
            if current.as_ref().is_none_or(|(current, _)| current != id) {
                self.end(current.take())?;
                let mut verifier = RecordVerifier::new(args, id, signed);
                if !seen.insert(id.clone()) {
                    verifier.check.break_off("its events do not stand together in the file");
                }
                current = Some((id.clone(), verifier));
            }
            if let Some((_, verifier)) = &mut current {
                verifier.next(&stored);
            }
        }
        self.end(current)?;
        if self.proofs.len() > 1 && !args.expect.is_empty() {
            return Err(Failure::usage("the file has several notebooks: --expect names the end of one"));
        }
        Ok(())
    }

    fn end(&mut self, ended: Option<(NotebookId, RecordVerifier)>) -> Ended {
        if let Some((id, verifier)) = ended {
            self.proofs.push((id, verifier.finish(None)?));
        }
        Ok(())
    }

    /// Compares the large outputs beside the file with the hashes that the events name.
    fn check_blobs(&mut self, file: &Path, manifest: Option<&RecordManifest>) -> Ended {
        let folder = beside(file, ".blobs");
        let left_out: BTreeSet<Hash> = manifest.iter().flat_map(|manifest| &manifest.missing_blobs).copied().collect();
        for (_, proof) in &mut self.proofs {
            for sha256 in proof.named.iter().flatten().copied().collect::<Vec<_>>() {
                let path = folder.join(sha256.to_string());
                match path.exists() {
                    true if hash_of(&path)?.0 != sha256 => proof.break_off(format!("{} was changed", path.display())),
                    false if !left_out.contains(&sha256) => proof.break_off(format!("{} is missing", path.display())),
                    _ => {}
                }
            }
        }
        if !left_out.is_empty() {
            print::note(format!("the export has left {} out", print::count(left_out.len(), "large output")));
        }
        Ok(())
    }

    fn tell(self, manifest: Option<&RecordManifest>, args: &VerifyArgs) -> Ended {
        let Self { problem, mut proofs } = self;
        if let [_] = proofs[..]
            && let Some((_, mut proof)) = proofs.pop()
        {
            if let Some(problem) = problem {
                let events = proof.verified.problem.take().map(|events| format!("; {events}")).unwrap_or_default();
                proof.break_off(format!("{problem}{events}"));
            }
            return told(proof, args.record.json);
        }
        let title = |id: &NotebookId| {
            let listed = manifest.and_then(|manifest| manifest.notebooks.iter().find(|one| one.id == *id));
            listed.map_or("", |one| one.title.as_str())
        };
        for (id, proof) in &proofs {
            tell_one(id, title(id), proof, args.record.json)?;
        }
        let broken = proofs.iter().filter(|(_, proof)| !proof.verified.ok).count();
        match problem {
            Some(problem) => Err(Failure::failed(format!("the file is not whole: {problem}"))),
            None if broken > 0 => Err(not_whole(proofs.len(), broken)),
            None if args.record.json => Ok(()),
            None if proofs.iter().all(|(_, proof)| proof.end_is_proven) => {
                print::line("each record ends as its signed head says")
            }
            None => print::line(
                "a file alone does not prove where its records end: give signed heads (--against), or the key for those of its manifest (--key)",
            ),
        }
    }
}

/// Comparison of a file's notebooks with its manifest.
struct ManifestCheck<'a> {
    file: &'a Path,
    manifest: &'a RecordManifest,
    keys: &'a [VerifierKey],
}

impl ManifestCheck<'_> {
    /// Compares the end of a notebook's record, and checks the signature of its head.
    fn compare(&self, id: &NotebookId, proof: &mut Proof) -> Ended {
        let mut checked = CheckedManifest { file: manifest_of(self.file).display().to_string(), signed_by: None };
        match self.manifest.notebooks.iter().find(|listed| listed.id == *id) {
            None => proof.break_off("the manifest does not have this notebook"),
            Some(listed) => match self.head(listed) {
                Err(problem) => proof.break_off(problem),
                Ok(signed) => {
                    let end = (proof.verified.version, proof.verified.hash);
                    if end != (listed.version, listed.hash) {
                        proof.break_off(format!(
                            "the record ends at version {} with the hash {}, its manifest says version {} with {}",
                            end.0, end.1, listed.version, listed.hash
                        ));
                    }
                    if let Some(head) = signed {
                        proof.end_is_proven = true;
                        checked.signed_by = Some(head.key.clone());
                        proof.signed_heads.push(head);
                    }
                }
            },
        }
        proof.manifest = Some(checked);
        Ok(())
    }

    /// The signed head of a notebook; `None`: no key is given, and only its text was compared with the manifest.
    fn head(&self, listed: &ManifestNotebook) -> Result<Option<ProvenHead>, String> {
        let (stated, key) = match self.keys {
            [] => (StatedHead::unproven(&listed.signed_head).ok_or("the manifest has no signed head")?, None),
            keys => {
                let verified = StatedHead::verified(&listed.signed_head, keys);
                let (stated, key) = verified.map_err(|error| format!("the signed head of its manifest: {error}"))?;
                (stated, Some(key))
            }
        };
        if (&stated.notebook_id, stated.version, stated.hash) != (&listed.id, listed.version, listed.hash) {
            return Err(format!(
                "the signed head of its manifest is of version {} with the hash {}, the manifest says version {} with {}",
                stated.version, stated.hash, listed.version, listed.hash
            ));
        }
        Ok(key.map(|key| ProvenHead::new(stated, key.name.clone(), None)))
    }

    /// Problem of the file as a whole: notebooks that are missing, other counts, names that nobody has signed.
    fn problem_of_all(&self, proofs: &[(NotebookId, Proof)]) -> Option<String> {
        let is_there = |listed: &&ManifestNotebook| proofs.iter().any(|(id, _)| *id == listed.id);
        if let Some(missing) = self.manifest.notebooks.iter().find(|listed| !is_there(listed)) {
            return Some(format!("the notebook {} of the manifest is not in the file", missing.id));
        }
        let events: u64 = proofs.iter().map(|(_, proof)| proof.verified.version).sum();
        if events != self.manifest.events && proofs.iter().all(|(_, proof)| proof.verified.ok) {
            return Some(format!("it has {events} events, the manifest says {}", self.manifest.events));
        }
        let notes = self.manifest.signed_names.iter().filter(|_| !self.keys.is_empty());
        notes
            .filter_map(|note| StatedNames::verified(note, self.keys).err())
            .next()
            .map(|error| format!("the signed names of the manifest: {error}"))
    }
}
