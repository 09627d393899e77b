//! `serve`: the server alone; `backup` and `restore` of its data folder.

pub mod blobs;
pub mod cluster;
pub mod doors;
pub mod models;
pub mod move_store;
pub mod notices;
pub mod settings;
mod spending;
pub mod tls;
pub mod up;
pub mod upgrade;

use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ipnet::IpNet;
use notarium_server::{GroupSettings, OidcSettings, RunningServer, Server, ServerConfig};
use notarium_store::BlobLocation;
use notarium_store::backup::{self, BackedUp, BackupError, BackupStep};
use notarium_store::blobs::BLOBS_FOLDER;
use notarium_wire::rest::Model;
use secrecy::SecretString;

use crate::cli::connection::context::{DATA_VARIABLE, data_folder};
use crate::cli::connection::session;
use crate::cli::history;
use crate::cli::history::moment::{MOMENT, Moment};
use crate::cli::serve::blobs::BlobsArg;
use crate::cli::serve::cluster::ClusterArgs;
use crate::cli::serve::doors::DoorArgs;
use crate::cli::serve::models::ModelArgs;
use crate::cli::serve::notices::NoticeArgs;
use crate::cli::serve::settings::Settings;
use crate::cli::serve::spending::SpendingArgs;
use crate::cli::serve::tls::TlsArgs;
use crate::cli::terminal::input::{self, Stop};
use crate::cli::terminal::print::{self, announce};
use crate::cli::{CommonOptions, Ended, Failure};

#[derive(Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub models: ModelArgs,
}

/// Data folder and addresses of a server.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// Folder for everything that is kept; made when it is missing. Else ~/.local/share/notarium.
    #[arg(long, value_name = "DIR", env = DATA_VARIABLE)]
    data: Option<PathBuf>,
    /// A PostgreSQL database for the log, accounts and lists, in place of a file in the data folder:
    /// postgresql://USER@HOST/DATABASE?sslmode=verify-full. The password is better in NOTARIUM_STORE, or in a file (~/.pgpass).
    #[arg(long, value_name = "URL", env = "NOTARIUM_STORE", hide_env_values = true)]
    store: Option<SecretString>,
    #[command(flatten)]
    blobs: BlobsArg,
    /// Address and port to listen on; port 0 takes any free one.
    #[arg(long, default_value = "127.0.0.1:8787", value_name = "ADDRESS", env = "NOTARIUM_LISTEN", value_parser = address)]
    listen: SocketAddr,
    /// A further address and port that serves /metrics alone, without a token, to everybody who reaches it: keep it on this machine or
    /// an inner network. Without it /metrics is for administrators.
    #[arg(long, value_name = "ADDRESS", env = "NOTARIUM_METRICS_LISTEN", value_parser = address)]
    metrics_listen: Option<SocketAddr>,
    /// A host (or host:port) under which the server is reached besides this machine's own names; may be repeated.
    #[arg(long, value_name = "HOST", env = "NOTARIUM_ALLOW_HOST", value_delimiter = ',')]
    allow_host: Vec<String>,
    /// An origin, as in https://notes.example.org, from which browsers may use the server; may be repeated.
    #[arg(long, value_name = "ORIGIN", env = "NOTARIUM_ALLOW_ORIGIN", value_delimiter = ',')]
    allow_origin: Vec<String>,
    /// A proxy in front (an address or a network, as in 10.0.0.0/8) whose X-Forwarded-For says who is behind it; may be repeated.
    #[arg(long, value_name = "NETWORK", env = "NOTARIUM_TRUSTED_PROXY", value_delimiter = ',', value_parser = network)]
    trusted_proxy: Vec<IpNet>,
    /// Address that people use, as in https://notes.example.org: share links begin with it, and a provider of OpenID Connect sends
    /// browsers back to it.
    #[arg(long, value_name = "URL", env = "NOTARIUM_PUBLIC_URL")]
    public_url: Option<String>,
    /// Proof that confirming needs: a session, or a fresh sign-in with the password, which holds for 15 minutes and is stored nowhere.
    /// `up` takes the password wherever kernels have no sandbox.
    #[arg(long, value_name = "WHAT", env = "NOTARIUM_CONFIRM_WITH", value_enum, default_value_t = ConfirmWith::Session)]
    pub confirm_with: ConfirmWith,
    #[command(flatten)]
    pub tls: TlsArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    oidc: OidcArgs,
    #[command(flatten)]
    notices: NoticeArgs,
    #[command(flatten)]
    pub doors: DoorArgs,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    spending: SpendingArgs,
}

/// Proof that confirming, sharing, managing and administering need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfirmWith {
    /// The stored session is enough.
    Session,
    /// The password, asked for again.
    Password,
}

impl ConfirmWith {
    /// The setting in one line for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Session => "a session is enough (so keep kernels in a sandbox: notarium agent --check)",
            Self::Password => {
                "asks for the password again; nothing that is stored after signing in confirms, shares or manages"
            }
        }
    }
}

/// Parses an address; `localhost` is accepted too.
fn address(text: &str) -> Result<SocketAddr, String> {
    let numeric = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    let say = "write address and port, as in 127.0.0.1:8787, [::1]:8787 or, for every network, 0.0.0.0:8787";
    numeric.parse().map_err(|_| say.to_owned())
}

/// Parses a network; a single address is accepted too.
fn network(text: &str) -> Result<IpNet, String> {
    let one = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse()
        .or_else(|_| one())
        .map_err(|_| "write an address or a network, as in 10.1.2.3 or 10.0.0.0/8".to_owned())
}

impl PlaceArgs {
    /// Files with secrets of the server, which kernels must not read.
    pub fn secret_files(&self) -> impl Iterator<Item = PathBuf> {
        let own = [self.oidc.secret_file(), self.tls.secret_file(), self.notices.secret_file()];
        own.into_iter().flatten().chain(self.cluster.secret_files())
    }

    /// The data folder: `--data`, else the user's own.
    pub fn folder(&self) -> Result<PathBuf, Failure> {
        let folder = self.data.clone().map_or_else(data_folder, Ok)?;
        // Absolute, because people use it from other folders.
        Ok(std::path::absolute(&folder).unwrap_or(folder))
    }

    /// Starts the server. `models`: the models of the assistants; empty: there are no assistants.
    pub async fn start(&self, folder: &Path, models: Vec<Model>) -> Result<RunningServer, Failure> {
        let mut config = ServerConfig::in_folder(folder);
        config.store.clone_from(&self.store);
        config.tls = self.tls.files();
        config.cluster = self.cluster.settings(self.store.is_some(), self.blobs.is_given(), config.tls.clone())?;
        (config.listen, config.metrics_listen) = (self.listen, self.metrics_listen);
        config.blobs = self.blobs.location()?;
        config.assistants = !models.is_empty();
        config.models = models;
        self.settings.apply(&mut config);
        config.spending = self.spending.settings()?;
        config.trusted_proxies.clone_from(&self.trusted_proxy);
        config.public_url.clone_from(&self.public_url);
        config.oidc = self.oidc.settings()?;
        config.notices = self.notices.options()?;
        config.auth.asks_again = self.confirm_with == ConfirmWith::Password;
        // A host may be reached with TLS (through a proxy) and without.
        let hosts = self.allow_host.iter().flat_map(|host| [format!("https://{host}"), format!("http://{host}")]);
        config.allowed_origins = self.allow_origin.iter().cloned().chain(hosts).collect();
        start(config).await
    }
}

pub async fn start(config: ServerConfig) -> Result<RunningServer, Failure> {
    Server::start(config).await.map_err(|error| Failure::failed(error.to_string()))
}

pub async fn serve(args: ServeArgs, _: &CommonOptions) -> Ended {
    // Before the start, which may take a while: certificates may be renewed meanwhile.
    let _hangups = input::ignore_hangups();
    let folder = args.place.folder()?;
    let config = args.models.config()?;
    let server = args.place.start(&folder, models::offered(&config.models)).await?;
    models::beside(server, config, async |server| {
        // Before the first line: who reads it may stop this at once.
        let mut stop = Stop::listen();
        announce(format_args!("Notarium serves {} on {}", folder.display(), server.shown_url()));
        if let Some(sentence) = args.place.cluster.sentence() {
            announce(format_args!("Between nodes: {sentence}"));
        }
        if !server.app().upgrade.is_finished() {
            announce(upgrade::WAITS);
        }
        if let Some(address) = server.metrics_addr {
            announce(format_args!("Metrics: http://{address}/metrics"));
        }
        args.place.doors.open(server).await?;
        announce(format_args!("Confirming: {}", args.place.confirm_with.sentence()));
        if let Some(token) = &server.owner_token {
            announce(format_args!(
                "Nobody has signed in yet. This token makes you the owner, once (`notarium login`):\n{token}"
            ));
            let address = args.place.public_url.clone().unwrap_or_else(|| server.shown_url());
            announce(format_args!(
                "Or open {} and choose a login and a password",
                session::link_to(&address, token, None)
            ));
        }
        stop.asked().await;
        eprintln!("stopping");
        Ok(())
    })
    .await
}

// --- signing in with OpenID Connect ---

/// Environment variable of the client's secret; an argument would be visible to every user of the machine.
const SECRET_VARIABLE: &str = "NOTARIUM_OIDC_CLIENT_SECRET";

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Signing in with OpenID Connect")]
pub struct OidcArgs {
    /// The provider, as it names itself: https://id.example.org. Register Notarium there with the redirect URI <public URL>/oidc/callback.
    #[arg(long, value_name = "URL", env = "NOTARIUM_OIDC_ISSUER")]
    oidc_issuer: Option<String>,
    /// Which client Notarium is there.
    #[arg(long, value_name = "ID", env = "NOTARIUM_OIDC_CLIENT_ID")]
    oidc_client_id: Option<String>,
    /// A file with the client's secret, which only its owner may read; or set NOTARIUM_OIDC_CLIENT_SECRET to the secret itself. Without
    /// both: a public client.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_OIDC_CLIENT_SECRET_FILE")]
    oidc_client_secret_file: Option<PathBuf>,
    /// Name of the provider on the page's button; default: its host.
    #[arg(long, value_name = "NAME", env = "NOTARIUM_OIDC_NAME")]
    oidc_name: Option<String>,
    /// People who get an account at the first sign-in: a domain of verified addresses (example.org), one such address, or * for all whom
    /// the provider signs in; may be repeated. Default: none; people link the provider to the account that they have.
    #[arg(long, value_name = "WHO", env = "NOTARIUM_OIDC_ALLOW", value_delimiter = ',')]
    oidc_allow: Vec<String>,
    /// Claim of the ID token or the user info with the person's groups: a list, or one text; `realm_access.roles` is the claim `roles` inside
    /// another. Default: groups. Read at each sign-in, if a group gives rights here.
    #[arg(long, value_name = "CLAIM", env = "NOTARIUM_OIDC_GROUPS_CLAIM")]
    oidc_groups_claim: Option<String>,
    /// Group whose members are administrators as long as they are in it; may be repeated, in the variable a line each.
    #[arg(long, value_name = "GROUP", env = "NOTARIUM_OIDC_ADMIN_GROUP", value_delimiter = '\n')]
    oidc_admin_group: Vec<String>,
    /// Group whose members are in a workspace as long as they are in the group: GROUP=WORKSPACE, or GROUP=WORKSPACE:ROLE if the role is
    /// not editor; may be repeated, in the variable a line each.
    #[arg(long, value_name = "GROUP=WORKSPACE", env = "NOTARIUM_OIDC_WORKSPACE_GROUP", value_delimiter = '\n')]
    oidc_workspace_group: Vec<String>,
    /// Scope to ask the provider for, besides openid, profile and email, if it sends groups only then; may be repeated.
    #[arg(long, value_name = "SCOPE", env = "NOTARIUM_OIDC_SCOPE", value_delimiter = ',')]
    oidc_scope: Vec<String>,
}

impl OidcArgs {
    /// The file with the client's secret, which kernels must not read.
    fn secret_file(&self) -> Option<PathBuf> {
        self.oidc_client_secret_file.clone()
    }

    /// The settings; `None` if no provider is named.
    pub fn settings(&self) -> Result<Option<OidcSettings>, Failure> {
        let set = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let Some(issuer) = set(&self.oidc_issuer) else {
            let has_groups = !self.oidc_admin_group.is_empty() || !self.oidc_workspace_group.is_empty();
            let is_alone = set(&self.oidc_client_id).is_some() || !self.oidc_allow.is_empty() || has_groups;
            let say = "--oidc-client-id, --oidc-allow and groups need --oidc-issuer: name the provider too";
            return if is_alone { Err(Failure::usage(say)) } else { Ok(None) };
        };
        let client_id = set(&self.oidc_client_id);
        let client_id =
            client_id.ok_or_else(|| Failure::usage("--oidc-issuer needs --oidc-client-id: the provider gives it"))?;
        let secret = match &self.oidc_client_secret_file {
            Some(file) => Some(secret_of(file)?),
            None => {
                std::env::var(SECRET_VARIABLE).ok().map(|secret| secret.trim().to_owned()).filter(|it| !it.is_empty())
            }
        };
        let allow = self.oidc_allow.iter().filter(|who| !who.trim().is_empty()).cloned().collect();
        let (name, client_secret) = (set(&self.oidc_name), secret.map(Into::into));
        let groups = GroupSettings {
            claim: set(&self.oidc_groups_claim),
            admins: self.oidc_admin_group.clone(),
            workspaces: self.oidc_workspace_group.clone(),
        };
        let scopes = self.oidc_scope.iter().filter(|scope| !scope.trim().is_empty()).cloned().collect();
        Ok(Some(OidcSettings { issuer, client_id, client_secret, name, allow, scopes, groups }))
    }
}

/// Reads a file that its owner alone may read.
fn private_bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |error| Failure::unreadable(file, &error);
    let mode = std::fs::metadata(file).map_err(unreadable)?.permissions().mode() & 0o777;
    let name = file.display();
    if mode & 0o077 != 0 {
        return Err(Failure::usage(format!("{name} can be read by others (mode {mode:o}): run chmod 600 {name}")));
    }
    let bytes = std::fs::read(file).map_err(unreadable)?;
    if bytes.trim_ascii().is_empty() {
        return Err(Failure::usage(format!("{name} is empty: it must hold the secret")));
    }
    Ok(bytes)
}

fn secret_of(file: &Path) -> Result<String, Failure> {
    let text = String::from_utf8(private_bytes(file)?);
    let text = text.map_err(|_| Failure::usage(format!("{} is no text: it must hold the secret", file.display())))?;
    Ok(text.trim().to_owned())
}

// --- backup and restore ---

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium backup /mnt/backup/notarium           # the server may run; again into the same folder copies new blobs only
  notarium backup --data /srv/notarium nightly
  notarium backup monday.tar.zst                 # one file, made anew; needs as much room again while it is written
  notarium restore nightly /srv/restored && notarium serve --data /srv/restored
  notarium backup nightly --blobs s3://notes/team   # of a server that has its blobs there
  notarium backup nightly --store postgresql://notarium@db/notes --blobs s3://notes/team")]
pub struct BackupArgs {
    /// The folder of the backup, made when it is missing; or one file, whose name ends with .tar or .tar.zst.
    #[arg(value_name = "DIR|FILE")]
    into: PathBuf,
    /// The data folder of the server, which may run. Else ~/.local/share/notarium.
    #[arg(long, value_name = "DIR", env = DATA_VARIABLE)]
    data: Option<PathBuf>,
    /// The PostgreSQL database of the server, if it has one. The backup is the same as of a data folder: `notarium move-store` takes what was
    /// restored back to PostgreSQL.
    #[arg(long, value_name = "URL", env = "NOTARIUM_STORE", hide_env_values = true)]
    store: Option<SecretString>,
    #[command(flatten)]
    blobs: BlobsArg,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  notarium restore nightly /srv/restored && notarium serve --data /srv/restored
  notarium restore analysis --to 'as submitted'     # a notebook as it was; `notarium undo` takes that back
  notarium restore analysis --to 2026-11-28T17:00")]
pub struct RestoreArgs {
    /// The folder or file that `notarium backup` wrote; with --to a notebook, by its id or title.
    #[arg(value_name = "BACKUP|NOTEBOOK")]
    from: String,
    /// The data folder to make: empty, or not there.
    #[arg(required_unless_present = "to", conflicts_with = "to")]
    into: Option<PathBuf>,
    #[command(flatten)]
    blobs: BlobsArg,
    /// Take the notebook back to this version: its cells, their order and its metadata. Runs, comments and access stay.
    #[arg(long, value_name = MOMENT)]
    to: Option<Moment>,
}

pub async fn backup(args: BackupArgs, _: &CommonOptions) -> Ended {
    let (data, blobs) = (args.data.map_or_else(data_folder, Ok)?, args.blobs.location()?);
    if let Some(store) = &args.store {
        let blobs = blobs.unwrap_or_else(|| BlobLocation::Folder(data.join(BLOBS_FOLDER)));
        let copy = move_store::copy(store, &blobs, &args.into).await?;
        return backup_from(copy.path(), Some(&blobs), &args.into).await;
    }
    backup_from(&data, blobs.as_ref(), &args.into).await
}

async fn backup_from(data: &Path, blobs: Option<&BlobLocation>, into: &Path) -> Ended {
    let bar = print::spinner();
    let done = backup::backup(data, blobs, into, &|step| bar.set_message(step_words(step))).await;
    bar.finish_and_clear();
    report_copy("backed up", into, done)
}

pub async fn restore(args: RestoreArgs, context: &CommonOptions) -> Ended {
    if let Some(to) = &args.to {
        return history::restore(&context.notebook(&args.from).await?, to).await;
    }
    let (from, into) = (PathBuf::from(args.from), args.into.unwrap_or_default());
    let blobs = args.blobs.location()?;
    let bar = print::spinner();
    let done = backup::restore(&from, &into, blobs.as_ref(), &|step| bar.set_message(step_words(step))).await;
    bar.finish_and_clear();
    report_copy("restored", &into, done)
}

/// Reports copied and missing items.
fn report_copy(verb: &str, into: &Path, done: Result<BackedUp, BackupError>) -> Ended {
    let done = done.map_err(|error| Failure::failed(error.to_string()))?;
    let BackedUp { notebooks, events, blobs, copied_blobs, lost } = done;
    let [notebooks, events, blobs] = [(notebooks, "notebook"), (events, "event"), (blobs, "blob")]
        .map(|(number, word)| print::count(usize::try_from(number).unwrap_or(usize::MAX), word));
    let outcome = if lost.is_empty() { "and verified" } else { "with gaps" };
    print::line(format!(
        "{verb} {outcome}: {notebooks}, {events}, {blobs} ({copied_blobs} copied) in {}",
        into.display()
    ))?;
    if lost.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = lost.iter().map(|(notebook, sha256)| format!("{sha256} of notebook {notebook}")).collect();
    Err(Failure::failed(format!(
        "everything else is there, but {} that the record names could not be copied, because they are missing or damaged (are they in a folder or bucket of their own? Then name it with --blobs): {}",
        print::count(lost.len(), "blob"),
        named.join(", ")
    )))
}

fn step_words(step: BackupStep) -> String {
    match step {
        BackupStep::Database { database_bytes } => format!("copying the database ({})", print::size(database_bytes)),
        BackupStep::Verifying => "verifying the copy".to_owned(),
        BackupStep::Archive => "writing or reading the file".to_owned(),
        BackupStep::Blobs { done, of } => format!("copying blobs: {done} of {of}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    fn args() -> OidcArgs {
        OidcArgs {
            oidc_issuer: Some("https://id.example.org".to_owned()),
            oidc_client_id: Some("notarium".to_owned()),
            oidc_client_secret_file: None,
            oidc_name: None,
            oidc_allow: vec!["example.org".to_owned(), String::new()],
            oidc_groups_claim: None,
            oidc_admin_group: Vec::new(),
            oidc_workspace_group: Vec::new(),
            oidc_scope: Vec::new(),
        }
    }

    #[test]
    fn a_provider_needs_its_client_and_the_rest_needs_a_provider() {
        let settings = args().settings().unwrap().unwrap();
        assert_eq!((settings.client_id.as_str(), settings.allow), ("notarium", vec!["example.org".to_owned()]));
        let workspaces = vec!["cn=staff,ou=groups=Lab:viewer".to_owned()];
        let with_groups = OidcArgs { oidc_workspace_group: workspaces.clone(), ..args() }.settings().unwrap().unwrap();
        assert_eq!(with_groups.groups, GroupSettings { workspaces, ..GroupSettings::default() });
        let nothing = OidcArgs { oidc_issuer: None, oidc_client_id: None, oidc_allow: Vec::new(), ..args() };
        assert!(nothing.settings().unwrap().is_none());
        for (wrong, named) in [
            (OidcArgs { oidc_issuer: None, ..args() }, "--oidc-issuer"),
            (OidcArgs { oidc_admin_group: vec!["root".to_owned()], ..nothing.clone() }, "--oidc-issuer"),
            (OidcArgs { oidc_client_id: Some(" ".to_owned()), ..args() }, "--oidc-client-id"),
        ] {
            let failure = wrong.settings().err().unwrap();
            assert!(failure.message.contains(named), "{}", failure.message);
        }
    }

    #[test]
    fn the_secret_comes_from_a_file_that_is_its_owner_s_alone() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let with = OidcArgs { oidc_client_secret_file: Some(file.path().to_owned()), ..args() };
        let mode = |mode| std::fs::set_permissions(file.path(), PermissionsExt::from_mode(mode)).unwrap();
        mode(0o600);
        assert!(with.settings().err().unwrap().message.contains("empty"));
        std::fs::write(file.path(), "planted\n").unwrap();
        assert_eq!(with.settings().unwrap().unwrap().client_secret.unwrap().expose_secret(), "planted");
        mode(0o640);
        let failure = with.settings().err().unwrap();
        assert!(failure.message.contains("chmod 600") && !failure.message.contains("planted"), "{}", failure.message);
    }
}
