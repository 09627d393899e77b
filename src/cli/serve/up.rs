//! `up` and `demo`: server, runtime agent and a Python kernel in one process; for `demo` also a model without key and costs.

use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use clap::Args;
use notarium_agent::connection::ConnectOptions;
use notarium_assistant::assistants::{AssistantsConfig, ModelProviders};
use notarium_assistant::providers::{Family, ProviderSettings, connect};
use notarium_core::{NotebookId, Scope};
use notarium_scripted::{Script, ScriptedServer};
use notarium_server::auth::{ClientInfo, NewAgent, issue_owner_token};
use notarium_server::{RunningServer, ServerConfig};
use notarium_store::accounts::Coverage;
use notarium_wire::rest::Answer;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cli::agent::environment::{kernel_paths, kernel_places};
use crate::cli::agent::sandbox::KernelRestrictions;
use crate::cli::agent::{KernelArgs, LocalAgent};
use crate::cli::assistants::chat::Chat;
use crate::cli::connection::client::{NotebookClient, RestClient};
use crate::cli::connection::context::{Config, PROGRAM, ServerAccess, data_folder, write_privately};
use crate::cli::connection::session;
use crate::cli::runs::exec;
use crate::cli::serve::models::{self, ModelArgs};
use crate::cli::serve::{self, ConfirmWith, PlaceArgs};
use crate::cli::terminal::input::{self, Stop, stopped};
use crate::cli::terminal::print::announce;
use crate::cli::{CommonOptions, Ended, Failure};

/// File of `up`'s keys in the data folder; only its owner can read it.
const KEYS_FILE: &str = "up.json";
/// Most bytes of output of one headless run.
const MAX_HEADLESS_OUTPUT: u64 = 1 << 30;

#[derive(Debug, Args)]
pub struct UpArgs {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    kernels: KernelArgs,
    #[command(flatten)]
    models: ModelArgs,
}

impl UpArgs {
    /// The data folder, and files with keys of the server and of its assistants.
    fn own(&self, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
        let files = self.models.secret_files()?.into_iter().chain(self.place.secret_files());
        Ok([folder.to_owned()].into_iter().chain(files.filter(|file| file.is_file())).collect())
    }
}

pub async fn up(args: UpArgs, _: &CommonOptions) -> Ended {
    let folder = args.place.folder()?;
    let config = args.models.config()?;
    let server = args.place.start(&folder, models::offered(&config.models)).await?;
    let described = config.models.described();
    models::beside(server, config, async |server| up_with(&args, &folder, server, &described).await).await
}

async fn up_with(args: &UpArgs, folder: &Path, server: &RunningServer, models: &[String]) -> Ended {
    let paths = kernel_places(&args.kernels.setup.kernel_paths, folder);
    let kept = args.kernels.kept(&paths, args.own(folder)?).await?;
    // If kernels could read the disk, stored sessions must not be able to confirm.
    let confirm_with = if kept.holds() { args.place.confirm_with } else { ConfirmWith::Password };
    server.app().accounts.set_asks_again(confirm_with == ConfirmWith::Password);
    let keys = Keys::of_folder(server, folder).await?;
    login(server, &keys, &paths)?;
    // Before the first line: who reads it may stop this at once.
    let mut stop = Stop::listen();
    print_invitation(server, folder, &keys, models, confirm_with).await?;
    announce(format_args!("Data: {} (Ctrl-C stops everything)", folder.display()));
    announce("In another terminal: notarium import FILE.ipynb, notarium ls … (they know the address and the token)");
    args.place.doors.open_all(server).await;
    let agent = tokio::select! {
        agent = start_kernels(args, folder, server, &keys) => agent,
        () = stop.asked() => return Ok(()),
    };
    // Notebooks can be read and written without a kernel.
    let agent = agent.inspect_err(|failure| eprintln!("No kernels: {failure}")).ok();
    stop.asked().await;
    eprintln!("stopping");
    match agent {
        Some(agent) => agent.stop().await,
        None => Ok(()),
    }
}

/// Stores the server's address, a token and the places of kernels for the commands on this machine.
fn login(server: &RunningServer, keys: &Keys, kernel_paths: &[PathBuf]) -> Ended {
    let kernel_paths = kernel_paths.iter().filter_map(|path| std::path::absolute(path).ok()).collect();
    let login = Config { server: Some(server.url()), token: Some(keys.session.clone()), kernel_paths };
    // An unreadable configuration is no login.
    let replaced = Config::load().ok().and_then(|before| replaced(&before, &login));
    login.save()?;
    if let Some(words) = replaced {
        eprintln!("{words}");
    }
    Ok(())
}

async fn print_invitation(
    server: &RunningServer,
    folder: &Path,
    keys: &Keys,
    models: &[String],
    confirm_with: ConfirmWith,
) -> Ended {
    announce(format_args!("Notarium is up: {}", server.url()));
    if server.has_tls {
        announce(format_args!("For other machines: {}, or the name in its certificate", server.shown_url()));
    }
    if is_kept_in_a_file() {
        let keys = folder.join(KEYS_FILE);
        announce(format_args!(
            "Token: not written to a file, which kernels could read; \"session\" in {}",
            keys.display()
        ));
        announce("In a browser: `notarium link` in another terminal prints a link");
    } else {
        announce(format_args!("Token: {}", keys.session));
        announce(format_args!("In a browser: {}", keys.link(server, None).await?));
        announce("(the link is good once, within an hour; `notarium link` prints another)");
    }
    match models {
        [] => announce(
            "Assistants: none; set ANTHROPIC_API_KEY or OPENAI_API_KEY (see `notarium up --help`), or try `notarium demo`",
        ),
        models => announce(format_args!("Assistants: {} (notarium chat NOTEBOOK)", models.join(", "))),
    }
    announce(format_args!("Confirming: {}", confirm_with.sentence()));
    if confirm_with == ConfirmWith::Password {
        print_way_to_a_password(server).await?;
    }
    Ok(())
}

/// True if standard output is a file.
fn is_kept_in_a_file() -> bool {
    let output = std::io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from);
    output.and_then(|output| output.metadata()).is_ok_and(|found| found.is_file())
}

/// Starts this machine's agent. Installs a Python kernel first if there is none, which takes half a minute while
/// the page is already open.
async fn start_kernels(
    args: &UpArgs,
    folder: &Path,
    server: &RunningServer,
    keys: &Keys,
) -> Result<LocalAgent, Failure> {
    let paths = kernel_paths(&args.kernels.setup.kernel_paths, folder).await?;
    let kept = args.kernels.kept(&paths, args.own(folder)?).await?;
    let kernels = kept.sentence();
    let agent = keys.start_agent(server, &args.kernels, paths, Some(folder.to_owned()), kept);
    agent.ready().await;
    announce(format_args!("Kernels: {kernels}"));
    Ok(agent)
}

/// Explains how to choose a password if the owner has none. Only on a terminal, because a file of the output could be read.
async fn print_way_to_a_password(server: &RunningServer) -> Ended {
    let accounts = &server.app().accounts;
    let users = accounts.store().users(None, 2).await.map_err(anyhow::Error::from)?;
    if !matches!(users.as_slice(), [owner] if owner.password_hash.is_none()) {
        return Ok(());
    }
    if !std::io::stdout().is_terminal() {
        announce("You have no password yet: run `notarium up` at a terminal once, which says how to choose one");
        return Ok(());
    }
    let token = issue_owner_token(accounts.store(), accounts.now()).await.map_err(anyhow::Error::from)?;
    let login = std::env::var("USER").unwrap_or_else(|_| "owner".to_owned());
    announce("You have no password yet. Choose one in another terminal, with this token, which is good once:");
    announce(format_args!("  notarium login --server {} --one-time --login {login} --name {login}", server.url()));
    announce(format_args!("  {}", token.text.reveal()));
    Ok(())
}

/// The note if a login of another server is replaced. A session whose port changed is the same login.
fn replaced(before: &Config, now: &Config) -> Option<String> {
    let server = before.server.as_ref().filter(|server| Some(*server) != now.server.as_ref())?;
    let is_lost = before.token.is_some() && before.token != now.token;
    is_lost.then(|| format!("You were logged in at {server}: to work there again, notarium login --server {server}"))
}

/// Tokens of the person at this machine and of its agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Keys {
    pub session: String,
    pub agent: String,
}

impl Keys {
    /// The stored keys if they are valid, else new ones.
    pub async fn of_folder(server: &RunningServer, folder: &Path) -> Result<Self, Failure> {
        let (file, accounts) = (folder.join(KEYS_FILE), &server.app().accounts);
        if let Some(keys) = Self::read(&file) {
            if is_session_as_wanted(server, &keys.session).await && accounts.authenticate(&keys.agent).await.is_ok() {
                return Ok(keys);
            }
            // Other processes may have read the old token.
            let _ = client(server, &keys.session)?.delete("/api/session").await;
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

    /// Signs in as the owner, and creates an agent's token.
    pub async fn make(server: &RunningServer) -> Result<Self, Failure> {
        let accounts = &server.app().accounts;
        let owner = match &server.owner_token {
            Some(token) => token.clone(),
            // Write access to the data folder is enough to become its owner.
            None => {
                issue_owner_token(accounts.store(), accounts.now()).await.map_err(anyhow::Error::from)?.text.reveal()
            }
        };
        let signed_in = accounts
            .exchange_locally(&owner, ClientInfo { label: "notarium up", ..ClientInfo::default() })
            .await
            .map_err(anyhow::Error::from)?;
        let who = accounts.as_session(&signed_in.user.id).await.map_err(anyhow::Error::from)?;
        let who =
            who.ok_or_else(|| Failure::failed("the owner's account is deactivated: no one can use this folder"))?;
        let agent = NewAgent { name: "this machine".to_owned(), coverage: Coverage::All, expires_at: None };
        let agent = accounts.create_agent(&who, agent).await.map_err(anyhow::Error::from)?;
        Ok(Self { session: signed_in.text.reveal(), agent: agent.text.reveal() })
    }

    /// A link that signs one browser in, once.
    pub async fn link(&self, server: &RunningServer, notebook: Option<&NotebookId>) -> Result<String, Failure> {
        let accounts = &server.app().accounts;
        let who = accounts.authenticate(&self.session).await.map_err(anyhow::Error::from)?;
        let token = accounts.browser_link(&who).await.map_err(anyhow::Error::from)?;
        Ok(session::link_to(&server.url(), &token.text.reveal(), notebook))
    }

    /// Starts an agent in this process, for a server in this process.
    pub fn start_agent(
        &self,
        server: &RunningServer,
        kernels: &KernelArgs,
        paths: Vec<PathBuf>,
        state_dir: Option<PathBuf>,
        kept: KernelRestrictions,
    ) -> LocalAgent {
        let connect = ConnectOptions::new(server.url(), &self.agent, PROGRAM);
        LocalAgent::start(kernels.options(connect, paths, state_dir, kept))
    }

    /// Starts an agent whose kernels are told that nobody can answer `input()`.
    pub fn start_headless_agent(
        &self,
        server: &RunningServer,
        kernels: &KernelArgs,
        paths: Vec<PathBuf>,
        kept: KernelRestrictions,
    ) -> LocalAgent {
        let connect = ConnectOptions::new(server.url(), &self.agent, PROGRAM);
        let mut options = kernels.options(connect, paths, None, kept);
        options.limits.may_ask = false;
        // The file that a headless run writes cannot name an overflow: the server's blobs go with the run.
        if kernels.max_run_output.is_none() {
            let outputs = &mut options.limits.outputs;
            (outputs.max_log_bytes, outputs.max_log_lines, outputs.max_large_bytes) =
                (MAX_HEADLESS_OUTPUT, u64::MAX, MAX_HEADLESS_OUTPUT);
        }
        LocalAgent::start(options)
    }
}

/// True if the stored session fits the setting: it can confirm exactly if stored sessions may.
async fn is_session_as_wanted(server: &RunningServer, token: &str) -> bool {
    let accounts = &server.app().accounts;
    let Ok(who) = accounts.authenticate(token).await else { return false };
    let stored = accounts.store().token(&who.token_id).await.ok().flatten();
    stored.is_some_and(|token| token.scopes.scopes().contains(&Scope::Confirm) != accounts.asks_again())
}

/// A REST client for a server in this process.
pub fn client(server: &RunningServer, token: &str) -> Result<RestClient, Failure> {
    RestClient::new(ServerAccess { server: server.url(), token: token.to_owned() })
}

// --- demo: server, kernel and gates are real; the model is a script behind real HTTP ---

/// Sentences that the script answers.
const SENTENCES: [&str; 5] = [
    "What's in this notebook?",
    "Add a cell that prints hello world",
    "Run all cells",
    "Create a data analysis example with a chart",
    "Delete the first cell",
];
/// The sentence for the example notebook.
const CANCEL: &str = "Cancel order 7";

#[derive(Debug, Args)]
#[command(after_help = "Each sentence is played in turn; before the last one, which deletes a cell, you are asked.
On a terminal you can go on talking afterwards: the script knows these five sentences.")]
pub struct DemoArgs {
    /// Folder of the demo's data, with its Python environment. Else notarium-demo beside the data of `up`.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Python, SQL on PostgreSQL and DuckDB, and a function that the assistant calls, in one reactive notebook. It needs the
    /// connection `warehouse`: `make example` in Notarium's folder starts all that is needed.
    #[arg(long)]
    example: bool,
    #[command(flatten)]
    kernels: KernelArgs,
}

pub async fn demo(args: DemoArgs, _: &CommonOptions) -> Ended {
    let folder = match &args.data {
        Some(folder) => folder.clone(),
        None => data_folder()?.with_file_name("notarium-demo"),
    };
    let script = Script::parse(include_str!("demo.json")).map_err(anyhow::Error::from)?;
    let model = ScriptedServer::start(script).await.map_err(anyhow::Error::from)?;
    let settings = ProviderSettings {
        base_url: Some(model.base_url()),
        model: Some("script".to_owned()),
        name: Some("demo".to_owned()),
        ..ProviderSettings::new(Family::Compatible)
    };
    let provider = connect(&settings).map_err(anyhow::Error::from)?;
    let models = ModelProviders::new(vec![provider]);
    let offered = models::offered(&models);
    let server = ServerConfig { assistants: true, models: offered, ..ServerConfig::in_folder(&folder) };
    let server = serve::start(server).await?;
    models::beside(server, AssistantsConfig::new(models), async |server| {
        tokio::select! {
            ended = play(&args, &folder, server) => ended,
            () = stopped() => Ok(()),
        }
    })
    .await
}

async fn play(args: &DemoArgs, folder: &Path, server: &RunningServer) -> Ended {
    let paths = kernel_paths(&args.kernels.setup.kernel_paths, folder).await?;
    // Keys stay in memory: kernels find nothing on the disk that could confirm calls.
    let keys = Keys::make(server).await?;
    let kept = args.kernels.kept(&paths, vec![folder.to_owned()]).await?;
    let agent = keys.start_agent(server, &args.kernels, paths, Some(folder.to_owned()), kept);
    agent.ready().await;
    let client = client(server, &keys.session)?;
    let notebook = if args.example { example_notebook(&client).await? } else { demo_notebook(&client).await? };
    println!("A model that plays a script works in a real notebook, with a real kernel: {}", server.url());
    if input::is_terminal() {
        println!("In a browser, once: {}", keys.link(server, Some(&notebook.id)).await?);
    }
    let mut chat = Chat::new(notebook.clone());
    let mut played =
        if args.example { play_example(notebook, &mut chat).await } else { play_sentences(&mut chat).await };
    if played.is_ok() && input::is_terminal() {
        println!("\nIt is your turn: say one of the sentences above, or press Ctrl-D to end.");
        played = chat.converse().await;
    } else if played.is_ok() {
        println!("\nThe demo ends here. Run it at a terminal to confirm calls and to say sentences of your own.");
    }
    agent.stop().await?;
    played
}

async fn play_sentences(chat: &mut Chat) -> Ended {
    // The last sentence needs a confirmation, which only a terminal can give.
    let sentences = if input::is_terminal() { &SENTENCES[..] } else { &SENTENCES[..4] };
    for sentence in sentences {
        say(chat, sentence).await?;
    }
    Ok(())
}

/// Runs all cells; then the assistant calls the function that they have registered.
async fn play_example(notebook: NotebookClient, chat: &mut Chat) -> Ended {
    println!("\nIts cells run, each after those from which it reads:");
    exec::all(notebook).await?;
    if input::is_terminal() { say(chat, CANCEL).await } else { Ok(()) }
}

async fn say(chat: &mut Chat, sentence: &str) -> Ended {
    println!("\n> {sentence}");
    chat.ask(Some(sentence.to_owned()), None).await
}

/// Creates a notebook with one cell.
async fn demo_notebook(client: &RestClient) -> Result<NotebookClient, Failure> {
    let made: Answer = client.post("/api/notebooks", &json!({"title": "Demo"})).await?;
    let notebook = client.notebook(made.notebook);
    let cell = json!({"cell_type": "code", "source": "answer = 6 * 7\nprint(answer)"});
    notebook.post::<Answer>("/cells", &cell).await?;
    Ok(notebook)
}

/// Creates a notebook from the example template.
async fn example_notebook(client: &RestClient) -> Result<NotebookClient, Failure> {
    let new = json!({"title": "Example", "template": {"starter": "example"}});
    let made: Answer = client.post("/api/notebooks", &new).await?;
    Ok(client.notebook(made.notebook))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_of_another_server_is_not_replaced_in_silence() {
        let of = |server: &str, token: &str| Config {
            server: Some(server.to_owned()),
            token: Some(token.to_owned()),
            ..Config::default()
        };
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
