//! The server and the token of a command, and where this account stores them: the file of `login` and `up`, folders of data.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use notarium_agent::connection;
use serde::{Deserialize, Serialize};

use crate::cli::Failure;
use crate::cli::connection::client::{NotebookClient, RestClient};
use crate::cli::connection::{find, made_folder};
use crate::cli::logging::LogFormat;

/// Name and version of this program, for servers.
pub const PROGRAM: &str = concat!("notarium ", env!("CARGO_PKG_VERSION"));

/// Options of every command: the server, and the verbosity. They may stand before or after the command's name.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connection")]
pub struct CommonOptions {
    /// The server: http://host:port, https://host or wss://host. Else what `login` or `up` stored.
    #[arg(long, global = true, env = "NOTARIUM_SERVER", value_name = "URL")]
    pub server: Option<String>,
    /// The token. Else what `login` or `up` stored for that server.
    #[arg(long, global = true, env = "NOTARIUM_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// A file with the token in its first line; - is standard input.
    #[arg(long, global = true, env = "NOTARIUM_TOKEN_FILE", value_name = "FILE", conflicts_with = "token")]
    pub token_file: Option<PathBuf>,
    /// Log level on standard error, for instance `info` or `notarium=debug`.
    #[arg(long, global = true, env = "NOTARIUM_LOG", value_name = "FILTER")]
    pub log: Option<String>,
    /// Form of the log's lines.
    #[arg(long, global = true, env = "NOTARIUM_LOG_FORMAT", value_name = "FORM", value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// A collector of OpenTelemetry, as in http://127.0.0.1:4318, to which serve, up, demo and agent send traces. The OTEL_ variables work too.
    #[arg(long, global = true, env = "NOTARIUM_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,
}

/// A server and the token for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAccess {
    /// `http://…` or `https://…`, without a trailing slash.
    pub server: String,
    pub token: String,
}

impl CommonOptions {
    /// The server: flag or variable, else the stored one.
    pub fn server(&self) -> Result<String, Failure> {
        let unknown = "no server is known: start one here with `notarium up`, or name one with `notarium login`, --server URL or NOTARIUM_SERVER";
        self.known_server()?.ok_or_else(|| Failure::usage(unknown))
    }

    /// Like [`CommonOptions::server`]; `None` if no server is known.
    pub fn known_server(&self) -> Result<Option<String>, Failure> {
        let server = match self.server.clone() {
            Some(server) => Some(server),
            None => Config::load()?.server,
        };
        server.as_deref().map(http_address).transpose()
    }

    /// The server and a token. A stored token is used only for the server that it was stored for.
    pub fn access(&self) -> Result<ServerAccess, Failure> {
        let server = self.server()?;
        if let Some(token) = self.token.clone() {
            return Ok(ServerAccess { server, token });
        }
        match Config::load()?.token_for(&server)? {
            Some(token) => Ok(ServerAccess { server, token }),
            None => Err(Failure::connection(format!(
                "no token for {server}: pass --token-file, set NOTARIUM_TOKEN, or use `notarium login --server {server}`"
            ))),
        }
    }

    /// A REST client.
    pub fn client(&self) -> Result<RestClient, Failure> {
        RestClient::new(self.access()?)
    }

    /// A notebook by its id, else by its unique title.
    pub async fn notebook(&self, name: &str) -> Result<NotebookClient, Failure> {
        find::notebook(&self.client()?, name).await
    }
}

/// The server's HTTP address; `ws` and `wss` become `http` and `https`.
pub fn http_address(server: &str) -> Result<String, Failure> {
    connection::http_address(server).map_err(|error| Failure::usage(error.to_string()))
}

// --- the file of `login` and `up`: a server and its token; only its owner may read it ---

/// Environment variable that names another file than the one in the user's configuration folder.
pub const CONFIG_VARIABLE: &str = "NOTARIUM_CONFIG";

/// Content of the file.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    pub server: Option<String>,
    pub token: Option<String>,
    /// Environments with kernels that the last `up` used: `run` uses them too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernel_paths: Vec<PathBuf>,
}

/// `$NOTARIUM_CONFIG`: a file that the person chose.
fn named_config() -> Option<PathBuf> {
    std::env::var_os(CONFIG_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// `$NOTARIUM_CONFIG`, else `notarium/config.json` in the user's configuration folder.
pub fn config_path() -> Result<PathBuf, Failure> {
    named_config()
        .or_else(|| Some(dirs::config_dir()?.join("notarium").join("config.json")))
        .ok_or_else(|| Failure::usage(format!("no home folder is known: set {CONFIG_VARIABLE} to a file")))
}

/// Refuses a configuration folder in its usual place that is not the one that this program made.
pub fn check_config_folder() -> Result<(), Failure> {
    let path = config_path()?;
    match path.parent().filter(|_| named_config().is_none()) {
        Some(folder) => made_folder::check(folder),
        None => Ok(()),
    }
}

impl Config {
    /// An absent file is an empty configuration.
    pub fn load() -> Result<Self, Failure> {
        check_config_folder()?;
        let path = config_path()?;
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unusable(&path, &error)),
        };
        serde_json::from_str(&text).map_err(|error| unusable(&path, &error))
    }

    /// The stored token, if it was stored for this server.
    pub fn token_for(self, server: &str) -> Result<Option<String>, Failure> {
        let stored_for = self.server.as_deref().map(http_address).transpose()?;
        Ok(self.token.filter(|_| stored_for.as_deref() == Some(server)))
    }

    /// Replaces the file as a whole. From its first byte on, only its owner can read it.
    pub fn save(&self) -> Result<PathBuf, Failure> {
        let path = config_path()?;
        let text = serde_json::to_string_pretty(self).map_err(|error| unusable(&path, &error))?;
        check_config_folder()?;
        write_privately(&path, &text).map_err(|error| unusable(&path, &error))?;
        check_config_folder()?;
        Ok(path)
    }
}

fn unusable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::failed(format!("{} cannot be used ({error}): mend or remove it, then log in again", path.display()))
}

pub fn write_privately(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let _ = std::fs::remove_file(&beside);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}

// --- folders of this account ---

/// Environment variable of the data folder, named in advice.
pub const DATA_VARIABLE: &str = "NOTARIUM_DATA";

/// `~/.local/share/notarium` (XDG), on macOS `~/Library/Application Support/notarium`.
pub fn data_folder() -> Result<PathBuf, Failure> {
    let unknown = || Failure::usage(format!("no home folder is known: pass --data DIR or set {DATA_VARIABLE}"));
    dirs::data_dir().map(|base| base.join("notarium")).ok_or_else(unknown)
}

/// `~/.local/state/notarium` (XDG), on macOS `~/Library/Application Support/notarium`.
pub fn state_dir() -> Option<PathBuf> {
    dirs::state_dir().or_else(dirs::data_local_dir).map(|base| base.join("notarium"))
}

/// Parent of the private folders of kernels. It is outside of them: each kernel sees only its own.
pub fn runtime_dir() -> PathBuf {
    let base = dirs::runtime_dir().map(|base| base.join("notarium"));
    base.or_else(|| Some(state_dir()?.join("run"))).unwrap_or_else(std::env::temp_dir)
}
