//! Assistants beside a server in the same process: their models and their host.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use notarium_assistant::assistants::{Assistants, AssistantsConfig, ModelProviders};
use notarium_assistant::context::MAX_CONTEXT_TOKENS;
use notarium_assistant::host::NotebookHost;
use notarium_assistant::mcp;
use notarium_assistant::providers::{Family, ProviderSettings, connect};
use notarium_server::RunningServer;
use notarium_wire::rest::Model;

use crate::cli::{Ended, Failure};

/// Which models the assistants of this server ask.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Assistants")]
pub struct ModelArgs {
    /// A model provider: anthropic, openai, gemini, grok, ollama or vllm; the first one is the default. May be repeated. Else
    /// those whose keys stand in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, XAI_API_KEY).
    #[arg(long, value_name = "NAME", env = "NOTARIUM_PROVIDER", value_delimiter = ',')]
    provider: Vec<String>,
    /// The model that is asked where nobody names one; of the first provider.
    #[arg(long, value_name = "MODEL", env = "NOTARIUM_MODEL")]
    model: Option<String>,
    /// A JSON file with a list of providers: family, base_url, model, key_variable or key_file, and so on
    /// (see protocol/assistants.md, "Model providers"). Instead of --provider.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_PROVIDERS", conflicts_with = "provider")]
    providers: Option<PathBuf>,
    /// Tokens that one model call may read, where its model takes more: of older messages as many are left out as must be.
    #[arg(
        long,
        value_name = "N",
        env = "NOTARIUM_CONTEXT_TOKENS",
        default_value_t = MAX_CONTEXT_TOKENS,
        value_parser = clap::value_parser!(u64).range(4_000..=2_000_000)
    )]
    context_tokens: u64,
}

impl ModelArgs {
    /// The configuration of this server's assistants. Without a provider there are no assistants, which is no error.
    pub fn config(&self) -> Result<AssistantsConfig, Failure> {
        Ok(AssistantsConfig { max_context_tokens: self.context_tokens, ..AssistantsConfig::new(self.models()?) })
    }

    /// Files with keys, which kernels must not read.
    pub fn secret_files(&self) -> Result<Vec<PathBuf>, Failure> {
        let settings = self.providers.as_deref().map(from_file).transpose()?.unwrap_or_default();
        Ok(settings.into_iter().filter_map(|settings| settings.key_file).collect())
    }

    fn models(&self) -> Result<ModelProviders, Failure> {
        let mut settings: Vec<ProviderSettings> = match &self.providers {
            Some(file) => from_file(file)?,
            None if self.provider.is_empty() => with_keys(),
            None => self.provider.iter().map(|name| named(name)).collect::<Result<_, _>>()?,
        };
        if let (Some(first), Some(model)) = (settings.first_mut(), &self.model) {
            first.model = Some(model.clone());
        }
        let connected = settings.iter().map(|settings| {
            connect(settings).map_err(|error| Failure::usage(format!("{}: {error}", settings.family.name())))
        });
        Ok(ModelProviders::new(connected.collect::<Result<_, _>>()?))
    }
}

/// The models that people can choose.
pub fn offered(models: &ModelProviders) -> Vec<Model> {
    let offered = |(provider, model): (&str, &str)| Model { provider: provider.to_owned(), model: model.to_owned() };
    models.defaults().map(offered).collect()
}

/// Providers whose key is set. Local providers are used only if they are named.
fn with_keys() -> Vec<ProviderSettings> {
    let families = [Family::Anthropic, Family::OpenAi, Family::Gemini, Family::Grok];
    families.into_iter().map(ProviderSettings::new).filter(|settings| connect(settings).is_ok()).collect()
}

fn named(name: &str) -> Result<ProviderSettings, Failure> {
    let family = Family::ALL.into_iter().find(|family| family.name() == name);
    let known: Vec<&str> = Family::ALL.iter().map(|family| family.name()).collect();
    let unknown = || Failure::usage(format!("'{name}' is no provider: there are {}", known.join(", ")));
    family.map(ProviderSettings::new).ok_or_else(unknown)
}

fn from_file(file: &Path) -> Result<Vec<ProviderSettings>, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::unreadable(file, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("{} is no list of providers ({error}): see protocol/assistants.md", file.display()))
    })
}

/// Runs the server's assistants and its MCP endpoint while `work` runs; then stops both, and the server.
pub async fn beside(
    server: RunningServer,
    config: AssistantsConfig,
    work: impl AsyncFnOnce(&RunningServer) -> Ended,
) -> Ended {
    let assistants = start(&server, config);
    let ended = work(&server).await;
    assistants.stop().await;
    drop(assistants);
    server.shut_down().await;
    ended
}

/// Starts the assistants of this server and its MCP endpoint. Stop them before the server.
fn start(server: &RunningServer, config: AssistantsConfig) -> Arc<Assistants> {
    let host: Arc<dyn NotebookHost> = Arc::new(server.assistant_host());
    let assistants = Assistants::start(host.clone(), config);
    // The server drops the service when it shuts down.
    server.mount_mcp(Arc::new(mcp::service(assistants.clone(), host)));
    assistants
}
