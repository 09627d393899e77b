//! `head`: the end of a record, also signed, to keep elsewhere; and the signed heads that `verify` compares with a record.

use std::path::{Path, PathBuf};

use clap::Args;
use notarium_core::{Hash, NotebookId, Version};
use notarium_wire::rest::SigningKeys;
use notarium_wire::signed_head::{StatedHead, notes_of};
use notarium_wire::signed_note::VerifierKey;
use notarium_wire::tree_log::proof::{self, InclusionProof};
use reqwest::Method;
use serde::Serialize;

use crate::cli::connection::client::{NotebookClient, RestClient};
use crate::cli::connection::find;
use crate::cli::history::publish::publish;
use crate::cli::terminal::{input, print};
use crate::cli::{CommonOptions, Ended, Failure};

/// Most notebooks of `head --all`.
const MAX_HEADS: usize = 100_000;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium head analysis                       # VERSION:HASH, for `notarium verify --expect`
  notarium head analysis --sign -o head.txt    # keep it where the server's owner cannot change it
  notarium head analysis --sign --inclusion -o head.txt   # with the proof that it is in the server's tree of heads
  notarium head --all -o heads.txt             # signed heads of all notebooks that you can see
  notarium head --all --publish log.txt        # the newest checkpoint of that tree, which covers all notebooks
  notarium verify analysis --against head.txt")]
pub struct HeadArgs {
    /// Id or title.
    #[arg(required_unless_present = "all")]
    notebook: Option<String>,
    /// A note with the server's signature (C2SP signed note, Ed25519).
    #[arg(long)]
    sign: bool,
    /// The signed heads of all notebooks that you can see, also archived ones.
    #[arg(long, conflicts_with = "notebook")]
    all: bool,
    /// With --sign: also the proof that the head is in the server's tree of heads (C2SP tlog-proof).
    #[arg(long, requires = "sign")]
    inclusion: bool,
    /// With --all: append the newest checkpoint of the server's tree of heads to this file, or send it to this address (https). A tree
    /// that does not continue the last checkpoint of the file is refused.
    #[arg(long, value_name = "FILE|URL", requires = "all", conflicts_with = "output")]
    publish: Option<String>,
    /// The server's key for --publish, which you kept. Without it the server is asked for its keys.
    #[arg(long, value_name = "KEY", requires = "publish", value_parser = parse_key)]
    key: Vec<VerifierKey>,
    /// Let --publish send to addresses of private networks, also by http.
    #[arg(long, requires = "publish")]
    allow_private: bool,
    /// The file; else standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub async fn head(args: HeadArgs, context: &CommonOptions) -> Ended {
    if let Some(target) = &args.publish {
        let client = context.client()?;
        let keys = keys(&args.key, Some(&client)).await?;
        return publish(&client, target, &keys, args.allow_private).await;
    }
    let text = match &args.notebook {
        None => all(&context.client()?).await?,
        Some(name) => {
            let notebook = context.notebook(name).await?;
            match (args.sign, args.inclusion) {
                (true, true) => note(&notebook, "/proven-head").await?,
                (true, false) => signed(&notebook).await?,
                (false, _) => {
                    let head = notebook.events(0, 1).await?.head;
                    format!("{}:{}\n", head.version, head.hash)
                }
            }
        }
    };
    let Some(output) = args.output.filter(|output| output != Path::new("-")) else {
        return print::bytes(text.as_bytes());
    };
    tokio::fs::write(&output, text).await.map_err(|error| Failure::unwritable(&output, &error))?;
    print::noted(format!("wrote {}", output.display()))
}

/// The signed head of a notebook, from its server.
pub async fn signed(notebook: &NotebookClient) -> Result<String, Failure> {
    note(notebook, "/signed-head").await
}

async fn note(notebook: &NotebookClient, path: &str) -> Result<String, Failure> {
    let answer = notebook.client.send(notebook.request(Method::GET, path)).await?;
    let cut = |error: reqwest::Error| Failure::connection(format!("the answer was cut off ({error}): try again"));
    answer.text().await.map_err(cut)
}

/// Version that a note of the server names.
pub fn version_of(note: &str) -> Result<Version, Failure> {
    let version = note.lines().find_map(|line| line.strip_prefix("version ")?.parse().ok());
    version.ok_or_else(|| Failure::failed("the server sent no signed head: it is too old for this"))
}

async fn all(client: &RestClient) -> Result<String, Failure> {
    let mut notes = String::new();
    for archived in [false, true] {
        for line in find::list(client, None, archived, None, MAX_HEADS).await? {
            notes.push_str(&signed(&client.notebook(line.id)).await?);
        }
    }
    if notes.is_empty() { Err(Failure::failed("you can see no notebook: there is no head to sign")) } else { Ok(notes) }
}

// --- comparing ---

/// Signed heads with which a record must agree.
#[derive(Debug, Args)]
pub struct AgainstArgs {
    /// A file with signed heads that you kept (`notarium head --sign`): whoever cut or rewrote the record since is found out.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// The server's key, a line of SERVER/.well-known/notarium-keys that you kept: NAME+ID+KEY. Without it the server is asked for its keys.
    #[arg(long, value_name = "KEY", requires = "against", value_parser = parse_key)]
    key: Vec<VerifierKey>,
}

pub fn parse_key(text: &str) -> Result<VerifierKey, String> {
    VerifierKey::parse(text).map_err(|error| error.to_string())
}

/// A head that a known key has signed.
#[derive(Debug, Clone, Serialize)]
pub struct ProvenHead {
    #[serde(skip)]
    pub notebook_id: NotebookId,
    pub version: Version,
    pub hash: Hash,
    /// Time of the signature, in milliseconds since 1970.
    pub signed_at: u64,
    /// Name of the key.
    pub key: String,
    /// Size of the server's tree that has this head, if the file proves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree_size: Option<u64>,
}

impl AgainstArgs {
    /// The heads of the file, whose signatures count. `None`: no file is given. `server`: absent for a record in a file.
    pub async fn heads(&self, server: Option<&RestClient>) -> Result<Option<Vec<ProvenHead>>, Failure> {
        let Some(file) = &self.against else { return Ok(None) };
        let keys = keys(&self.key, server).await?;
        let text = input::text(file).await?;
        let unusable = |error: &dyn std::fmt::Display| Failure::failed(format!("{}: {error}", file.display()));
        let log_keys: Vec<VerifierKey> = keys.iter().map(VerifierKey::for_log).collect();
        let heads = notes_of(&text).map(|note| {
            let (note, proof) = proof::split(note);
            let tree = proof.map(|proof| InclusionProof::verify(proof, note.as_bytes(), &log_keys)).transpose();
            let tree_size = tree.map_err(|error| unusable(&error))?.map(|tree| tree.size);
            let (head, key) = StatedHead::verified(note, &keys).map_err(|error| unusable(&error))?;
            let StatedHead { notebook_id, version, hash, signed_at, .. } = head;
            Ok(ProvenHead { notebook_id, version, hash, signed_at, key: key.name.clone(), tree_size })
        });
        let heads = heads.collect::<Result<Vec<ProvenHead>, Failure>>()?;
        if heads.is_empty() {
            return Err(unusable(&"there is no signed head in it: `notarium head NB --sign` makes one"));
        }
        Ok(Some(heads))
    }
}

/// The given keys; without any those of the server.
async fn keys(given: &[VerifierKey], server: Option<&RestClient>) -> Result<Vec<VerifierKey>, Failure> {
    match (given, server) {
        ([], Some(server)) => {
            let listed: SigningKeys = server.get("/.well-known/notarium-keys").await?;
            let keys = listed.keys.iter().map(|line| VerifierKey::parse(&line.key));
            keys.collect::<Result<_, _>>().map_err(|error| Failure::failed(error.to_string()))
        }
        ([], None) => Err(Failure::usage(
            "a file alone does not say whose signature counts: give the server's key (--key), a line of SERVER/.well-known/notarium-keys",
        )),
        (given, _) => Ok(given.to_vec()),
    }
}
