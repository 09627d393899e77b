//! The server and the token of a command.

use std::path::PathBuf;

use clap::Args;
use notarium_agent::connection;

use crate::cli::Failure;
use crate::cli::connection::client::{Client, NotebookClient};
use crate::cli::connection::config::Config;
use crate::cli::connection::find;

/// Name and version of this program, for servers.
pub const PROGRAM: &str = concat!("notarium ", env!("CARGO_PKG_VERSION"));

/// Options of every command: the server, and the verbosity. They may stand before or after the command's name.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connection")]
pub struct Context {
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
}

/// A server and the token for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// `http://…` or `https://…`, without a trailing slash.
    pub server: String,
    pub token: String,
}

impl Context {
    /// The server: flag or variable, else the stored one.
    pub fn server(&self) -> Result<String, Failure> {
        let unknown = "no server is known: start one here with `notarium up`, or name one with `notarium login`, --server URL or NOTARIUM_SERVER";
        self.known_server()?.ok_or_else(|| Failure::usage(unknown))
    }

    /// Like [`Context::server`]; `None` if no server is known.
    pub fn known_server(&self) -> Result<Option<String>, Failure> {
        let server = match self.server.clone() {
            Some(server) => Some(server),
            None => Config::load()?.server,
        };
        server.as_deref().map(http_address).transpose()
    }

    /// The server and a token. A stored token is used only for the server that it was stored for.
    pub fn access(&self) -> Result<Access, Failure> {
        let server = self.server()?;
        if let Some(token) = self.token.clone() {
            return Ok(Access { server, token });
        }
        let config = Config::load()?;
        let stored_for = config.server.as_deref().map(http_address).transpose()?;
        match config.token.filter(|_| stored_for.as_ref() == Some(&server)) {
            Some(token) => Ok(Access { server, token }),
            None => Err(Failure::connection(format!(
                "no token for {server}: pass --token-file, set NOTARIUM_TOKEN, or use `notarium login --server {server}`"
            ))),
        }
    }

    /// A REST client.
    pub fn client(&self) -> Result<Client, Failure> {
        Client::new(self.access()?)
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
