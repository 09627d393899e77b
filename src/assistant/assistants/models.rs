//! The providers that a server is configured with, and the choice of one for a turn.

use std::sync::Arc;

use crate::providers::Provider;

/// Message for people on a server without a provider.
pub const NO_PROVIDER: &str = "no model provider is set up here: set ANTHROPIC_API_KEY or OPENAI_API_KEY (GEMINI_API_KEY, \
    XAI_API_KEY) for the server, or name one with --provider";

/// Providers in order of preference: the first is the default.
#[derive(Clone, Default)]
pub struct Models(Vec<Arc<dyn Provider>>);

impl Models {
    pub fn new(providers: Vec<Arc<dyn Provider>>) -> Self {
        Self(providers)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each provider with its default model.
    pub fn defaults(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|provider| (provider.name(), provider.default_model()))
    }

    /// Each provider with its default model, in words.
    pub fn described(&self) -> Vec<String> {
        self.defaults().map(|(name, model)| format!("{name} ({model})")).collect()
    }

    /// Chooses a model by a turn's request: `provider/model`, the name of a provider, or a model of the first one. `None`: the first one's
    /// default.
    pub fn choose(&self, wanted: Option<&str>) -> Result<(Arc<dyn Provider>, String), String> {
        let first = self.0.first().ok_or_else(|| NO_PROVIDER.to_owned())?;
        let named = |name: &str| self.0.iter().find(|provider| provider.name() == name);
        let Some(wanted) = wanted else { return Ok((first.clone(), first.default_model().to_owned())) };
        if let Some(provider) = named(wanted) {
            return Ok((provider.clone(), provider.default_model().to_owned()));
        }
        match wanted.split_once('/').and_then(|(name, model)| Some((named(name)?, model))) {
            Some((provider, model)) => Ok((provider.clone(), model.to_owned())),
            None => Ok((first.clone(), wanted.to_owned())),
        }
    }
}
