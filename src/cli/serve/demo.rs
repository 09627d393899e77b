//! `demo`: assistants without a key and without costs. Server, kernel and gates are real; the model is a script behind
//! real HTTP.

use std::path::{Path, PathBuf};

use clap::Args;
use notarium_assistant::assistants::{AssistantsConfig, Models};
use notarium_assistant::providers::{Family, ProviderSettings, connect};
use notarium_scripted::{Script, ScriptedServer};
use notarium_server::{RunningServer, ServerConfig};
use notarium_wire::rest::Answer;
use serde_json::json;

use crate::cli::agent::{KernelArgs, python};
use crate::cli::assistants::chat::Chat;
use crate::cli::connection::client::{Client, NotebookClient};
use crate::cli::connection::context::data_folder;
use crate::cli::runs::exec;
use crate::cli::serve::up::{Keys, client};
use crate::cli::serve::{self, models};
use crate::cli::terminal::input::{self, stopped};
use crate::cli::{Context, Ended, Failure};

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

pub async fn demo(args: DemoArgs, _: &Context) -> Ended {
    let folder = match &args.data {
        Some(folder) => folder.clone(),
        None => data_folder()?.with_file_name("notarium-demo"),
    };
    let script = Script::parse(include_str!("demo/script.json")).map_err(anyhow::Error::from)?;
    let model = ScriptedServer::start(script).await.map_err(anyhow::Error::from)?;
    let settings = ProviderSettings {
        base_url: Some(model.base_url()),
        model: Some("script".to_owned()),
        name: Some("demo".to_owned()),
        ..ProviderSettings::new(Family::Compatible)
    };
    let provider = connect(&settings).map_err(anyhow::Error::from)?;
    let models = Models::new(vec![provider]);
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
    let paths = python::kernel_paths(&args.kernels.kernel_paths, folder).await?;
    // Kept in memory: kernels find nothing on the disk that could confirm calls.
    let keys = Keys::make(server).await?;
    let kept = args.kernels.kept(&paths, vec![folder.to_owned()]).await?;
    let agent = keys.start_agent(server, &args.kernels, paths, Some(folder.to_owned()), kept);
    agent.ready().await;
    let client = client(server, &keys.session)?;
    let notebook = if args.example { example(&client).await? } else { notebook(&client).await? };
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
async fn notebook(client: &Client) -> Result<NotebookClient, Failure> {
    let made: Answer = client.post("/api/notebooks", &json!({"title": "Demo"})).await?;
    let notebook = client.notebook(made.notebook);
    let cell = json!({"cell_type": "code", "source": "answer = 6 * 7\nprint(answer)"});
    notebook.post::<Answer>("/cells", &cell).await?;
    Ok(notebook)
}

/// Creates a notebook from the example template.
async fn example(client: &Client) -> Result<NotebookClient, Failure> {
    let new = json!({"title": "Example", "template": {"starter": "example"}});
    let made: Answer = client.post("/api/notebooks", &new).await?;
    Ok(client.notebook(made.notebook))
}
