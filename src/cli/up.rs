//! `up`: server, runtime agent and a Python kernel in one process.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use notarium_agent::connection::ConnectOptions;
use notarium_agent::sandbox::Sandbox;
use notarium_server::RunningServer;
use notarium_server::auth::issue_owner_token;
use notarium_wire::rest::IssuedToken;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::agent::{KernelArgs, LocalAgent};
use super::assistants::{self, ModelArgs};
use super::client::Client;
use super::config::{Config, write_privately};
use super::context::{Access, PROGRAM};
use super::serve::{PlaceArgs, stopped};
use super::{Context, Ended, Failure, python, sandbox};

/// What `up` keeps in the data folder, for its owner alone.
const KEYS_FILE: &str = "up.json";

#[derive(Debug, Args)]
pub struct UpArgs {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    kernels: KernelArgs,
    #[command(flatten)]
    models: ModelArgs,
}

pub async fn up(args: UpArgs, _: &Context) -> Ended {
    let folder = args.place.folder()?;
    let config = args.models.config()?;
    let server = args.place.start(&folder, !config.models.is_empty()).await?;
    let described = config.models.described();
    assistants::beside(server, config, async |server| up_with(&args, &folder, server, &described).await).await
}

async fn up_with(args: &UpArgs, folder: &Path, server: &RunningServer, models: &[String]) -> Ended {
    let paths = tokio::select! {
        paths = python::kernel_paths(&args.kernels.kernel_paths, folder) => paths?,
        () = stopped() => return Ok(()),
    };
    let keys = Keys::of_folder(server, folder).await?;
    let sandbox = args.kernels.sandbox(&paths, vec![folder.to_owned()]).await?;
    let kernels = sandbox::sentence(sandbox.as_ref().map(Sandbox::standing).map_err(String::as_str));
    let agent = keys.start_agent(server, &args.kernels, paths, Some(folder.to_owned()), sandbox.ok());
    let login = Config { server: Some(server.url()), token: Some(keys.session.clone()) };
    // One that cannot be read is no login.
    let replaced = Config::load().ok().and_then(|before| replaced(&before, &login));
    login.save()?;
    if let Some(words) = replaced {
        eprintln!("{words}");
    }
    println!("Notarium is up: {}\nToken: {}", server.url(), keys.session);
    // What stands behind the # stays in the browser, which drops it from the address.
    println!("In a browser: {}/#token={}", server.url(), keys.session);
    match models {
        [] => println!(
            "Assistants: none; set ANTHROPIC_API_KEY or OPENAI_API_KEY (see `notarium up --help`), or try `notarium demo`"
        ),
        models => println!("Assistants: {} (notarium chat NOTEBOOK)", models.join(", ")),
    }
    println!("Kernels: {kernels}");
    println!("Data: {} (Ctrl-C stops everything)", folder.display());
    println!("In another terminal: notarium import FILE.ipynb, notarium ls … (they know the address and the token)");
    // Whoever reads this through a pipe waits for it.
    let _ = std::io::stdout().flush();
    stopped().await;
    eprintln!("stopping");
    agent.stop().await
}

/// What there is to say when the login of another server goes. A session that moved to another port is the same login.
fn replaced(before: &Config, now: &Config) -> Option<String> {
    let server = before.server.as_ref().filter(|server| Some(*server) != now.server.as_ref())?;
    let is_lost = before.token.is_some() && before.token != now.token;
    is_lost.then(|| format!("You were logged in at {server}: to work there again, notarium login --server {server}"))
}

/// The tokens of the person at this machine and of its agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Keys {
    pub session: String,
    pub agent: String,
}

impl Keys {
    /// Those of last time while they are good, else new ones.
    pub async fn of_folder(server: &RunningServer, folder: &Path) -> Result<Self, Failure> {
        let file = folder.join(KEYS_FILE);
        if let Some(keys) = Self::read(&file)
            && is_good(server, &keys.session).await
            && is_good(server, &keys.agent).await
        {
            return Ok(keys);
        }
        let keys = Self::make(server).await?;
        let text = serde_json::to_string(&keys).map_err(anyhow::Error::from)?;
        let unusable = |error| Failure::failed(format!("{} cannot be written: {error}", file.display()));
        write_privately(&file, &text).map_err(unusable)?;
        Ok(keys)
    }

    fn read(file: &Path) -> Option<Self> {
        serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()
    }

    /// Signs in as the owner, and lets an agent in.
    pub async fn make(server: &RunningServer) -> Result<Self, Failure> {
        let accounts = &server.app().accounts;
        let owner = match &server.owner_token {
            Some(token) => token.clone(),
            // Whoever may write the data folder may become its owner again.
            None => {
                issue_owner_token(accounts.store(), accounts.now()).await.map_err(anyhow::Error::from)?.text.reveal()
            }
        };
        let signed_in =
            accounts.exchange(&owner, None, None, None, "notarium up").await.map_err(anyhow::Error::from)?;
        let session = signed_in.text.reveal();
        let client = client(server, &session)?;
        let agent: IssuedToken = client.post("/api/agents", &json!({"name": "this machine"})).await?;
        Ok(Self { session, agent: agent.token })
    }

    /// An agent in this process, for a server in this process.
    pub fn start_agent(
        &self,
        server: &RunningServer,
        kernels: &KernelArgs,
        paths: Vec<PathBuf>,
        state_dir: Option<PathBuf>,
        sandbox: Option<Sandbox>,
    ) -> LocalAgent {
        let connect = ConnectOptions::new(server.url(), &self.agent, PROGRAM);
        LocalAgent::start(kernels.options(connect, paths, state_dir, sandbox))
    }
}

async fn is_good(server: &RunningServer, token: &str) -> bool {
    let Ok(client) = client(server, token) else { return false };
    client.get::<Value>("/api/me").await.is_ok()
}

/// REST of a server in this process.
pub fn client(server: &RunningServer, token: &str) -> Result<Client, Failure> {
    Client::new(Access { server: server.url(), token: token.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_of_another_server_is_not_replaced_in_silence() {
        let of = |server: &str, token: &str| Config { server: Some(server.to_owned()), token: Some(token.to_owned()) };
        let now = of("http://127.0.0.1:1", "mine");
        let said = replaced(&of("https://lab.example", "other"), &now).unwrap();
        assert!(said.contains("notarium login --server https://lab.example"), "{said}");
        let signed_out = Config { token: None, ..of("https://lab.example", "") };
        let own = [Config::default(), signed_out, of("http://127.0.0.1:1", "older"), of("http://127.0.0.1:2", "mine")];
        for before in own {
            assert_eq!(replaced(&before, &now), None, "{before:?}");
        }
    }
}
