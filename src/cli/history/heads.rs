//! `head`: the end of a record, also signed, to keep elsewhere; and the signed heads that `verify` compares with a record.

use std::path::{Path, PathBuf};

use clap::Args;
use notarium_core::{Hash, Millis, NotebookId, Version};
use notarium_wire::rest::SigningKeys;
use notarium_wire::signed_head::{StatedHead, notes_of};
use notarium_wire::signed_note::{NoteError, VerifierKey};
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
        let keys = known_keys(&args.key, Some(&client)).await?.keys;
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
    let signer = if args.sign || args.all { listed_keys(&context.client()?).await?.newest() } else { String::new() };
    tokio::fs::write(&output, text).await.map_err(|error| Failure::unwritable(&output, &error))?;
    print::noted(format!("wrote {}{signer}", output.display()))
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
    /// With --file: the key by which the signatures of its manifest are checked.
    #[arg(long, value_name = "KEY", value_parser = parse_key)]
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
    pub signed_at: Millis,
    /// Name of the key.
    pub key: String,
    /// Time from which the server signs with this key, in milliseconds since 1970; absent if the server was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_since: Option<Millis>,
    /// Size of the server's tree that has this head, if the file proves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree_size: Option<u64>,
}

impl ProvenHead {
    pub fn new(head: StatedHead, key: String, key_since: Option<Millis>) -> Self {
        let StatedHead { notebook_id, version, hash, signed_at, .. } = head;
        Self { notebook_id, version, hash, signed_at, key, key_since, tree_size: None }
    }

    /// The agreement of a record with this head, in words.
    pub fn sentence(&self) -> String {
        let Self { version, key, key_since, tree_size, .. } = self;
        let tree = tree_size.map(|size| format!("; that head is in the server's tree of {size} heads"));
        let since = key_since.map(|since| format!(" (its key since {})", print::time(since))).unwrap_or_default();
        format!(
            "it agrees with the head of version {version} that {key}{since} signed at {}{}",
            print::time(self.signed_at),
            tree.unwrap_or_default()
        )
    }
}

/// A key, and since when the server signs with it, if the server says so.
struct KnownKeys {
    keys: Vec<VerifierKey>,
    since: Vec<Option<Millis>>,
}

impl KnownKeys {
    fn since(&self, key: &VerifierKey) -> Option<Millis> {
        self.keys.iter().position(|known| known == key).and_then(|index| self.since[index])
    }

    /// The key that signs now, in words.
    fn newest(&self) -> String {
        match (self.keys.last(), self.since.last()) {
            (Some(key), Some(Some(since))) => {
                format!(", signed by {}, the server's key since {}", key.name, print::time(*since))
            }
            _ => String::new(),
        }
    }

    /// The keys with their times, in words; empty if the server did not list them.
    fn listed(&self) -> String {
        let lines = self.keys.iter().zip(&self.since);
        let lines = lines.filter_map(|(key, since)| Some(format!("{} since {}", key.name, print::time((*since)?))));
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() { String::new() } else { format!("; the server signs with {}", lines.join(", then with ")) }
    }
}

impl AgainstArgs {
    /// The given keys.
    pub fn keys(&self) -> &[VerifierKey] {
        &self.key
    }

    /// The heads for a record in a file. `has_manifest`: there are signatures beside the file.
    pub async fn heads_for_file(&self, has_manifest: bool) -> Result<Option<Vec<ProvenHead>>, Failure> {
        if !self.key.is_empty() && self.against.is_none() && !has_manifest {
            return Err(Failure::usage(
                "there is nothing that the key could have signed: name a file with signed heads (--against), or keep FILE.manifest.json beside the file",
            ));
        }
        self.read(None).await
    }

    /// The heads of the file, whose signatures count. `None`: no file is given.
    pub async fn heads(&self, server: Option<&RestClient>) -> Result<Option<Vec<ProvenHead>>, Failure> {
        if !self.key.is_empty() && self.against.is_none() {
            return Err(Failure::usage("a key is for signed heads: name a file with them (--against)"));
        }
        self.read(server).await
    }

    /// `server`: absent for a record in a file.
    async fn read(&self, server: Option<&RestClient>) -> Result<Option<Vec<ProvenHead>>, Failure> {
        let Some(file) = &self.against else { return Ok(None) };
        let known = known_keys(&self.key, server).await?;
        let text = input::text(file).await?;
        let unusable = |error: &dyn std::fmt::Display| Failure::failed(format!("{}: {error}", file.display()));
        let log_keys: Vec<VerifierKey> = known.keys.iter().map(VerifierKey::for_log).collect();
        let heads = notes_of(&text).map(|note| {
            let (note, proof) = proof::split(note);
            let tree = proof.map(|proof| InclusionProof::verify(proof, note.as_bytes(), &log_keys)).transpose();
            let tree_size = tree.map_err(|error| unusable(&error))?.map(|tree| tree.size);
            let (head, key) = StatedHead::verified(note, &known.keys).map_err(|error| match error {
                NoteError::UnknownKey { .. } => unusable(&format!("{error}{}", known.listed())),
                error => unusable(&error),
            })?;
            let since = known.since(key);
            if let Some(since) = since.filter(|since| head.signed_at < *since) {
                return Err(unusable(&format!(
                    "{} signed this head at {}, and the server says that it signs with this key since {}: its list of keys was changed, or its clock",
                    key.name,
                    print::time(head.signed_at),
                    print::time(since)
                )));
            }
            Ok(ProvenHead { tree_size, ..ProvenHead::new(head, key.name.clone(), since) })
        });
        let heads = heads.collect::<Result<Vec<ProvenHead>, Failure>>()?;
        if heads.is_empty() {
            return Err(unusable(&"there is no signed head in it: `notarium head NB --sign` makes one"));
        }
        Ok(Some(heads))
    }
}

/// The given keys; without any those of the server.
async fn known_keys(given: &[VerifierKey], server: Option<&RestClient>) -> Result<KnownKeys, Failure> {
    match (given, server) {
        ([], Some(server)) => listed_keys(server).await,
        ([], None) => Err(Failure::usage(
            "a file alone does not say whose signature counts: give the server's key (--key), a line of SERVER/.well-known/notarium-keys",
        )),
        (given, _) => Ok(KnownKeys { keys: given.to_vec(), since: vec![None; given.len()] }),
    }
}

/// The keys that a server lists, the oldest first.
async fn listed_keys(server: &RestClient) -> Result<KnownKeys, Failure> {
    let listed: SigningKeys = server.get("/.well-known/notarium-keys").await?;
    let keys = listed.keys.iter().map(|line| VerifierKey::parse(&line.key)).collect::<Result<_, _>>();
    let keys = keys.map_err(|error| Failure::failed(error.to_string()))?;
    Ok(KnownKeys { keys, since: listed.keys.iter().map(|line| Some(line.since)).collect() })
}
