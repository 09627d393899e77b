//! Settings of a provider: its family, address, model and key.

use std::path::PathBuf;

use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::capabilities::Family;
use super::secret::{Secret, SecretError};

/// Settings of one provider. There is no field for a key: it comes from the environment or a file.
///
/// ```
/// use notarium_assistant::providers::{Family, ProviderSettings};
/// let settings: ProviderSettings = serde_json::from_str(
///     r#"{ "family": "compatible", "base_url": "http://127.0.0.1:9000/v1", "model": "mixtral", "key_file": "secrets/key" }"#,
/// )?;
/// assert_eq!(settings.family, Family::Compatible);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderSettings {
    pub family: Family,
    /// Name in records; absent: the family's name.
    pub name: Option<String>,
    /// Base URL up to and including `/v1`, without user, password, query or fragment.
    pub base_url: Option<String>,
    /// The default model.
    pub model: Option<String>,
    /// Environment variable with the key, in place of the family's.
    pub key_variable: Option<String>,
    /// File with the key that only its owner can read (mode 600). Takes precedence over the environment.
    pub key_file: Option<PathBuf>,
    /// Overrides the table's context size for this model, in tokens.
    pub context_tokens: Option<u32>,
    /// Overrides the table's entry for images.
    pub images: Option<bool>,
    /// Overrides the table's entry for several calls in one reply.
    pub parallel_calls: Option<bool>,
    /// Overrides the table's entry for calls that use results of earlier calls.
    pub chaining: Option<bool>,
    /// Fields that are added to the body of every request, for instance `reasoning_effort`. They override ours.
    #[serde(default)]
    pub extra_body: Map<String, Value>,
}

impl ProviderSettings {
    pub fn new(family: Family) -> Self {
        Self {
            family,
            name: None,
            base_url: None,
            model: None,
            key_variable: None,
            key_file: None,
            context_tokens: None,
            images: None,
            parallel_calls: None,
            chaining: None,
            extra_body: Map::new(),
        }
    }

    pub(super) fn base_url(&self) -> Result<String, SetupError> {
        let default = self.family.defaults().base_url.map(str::to_owned);
        let text = self.base_url.clone().or(default).ok_or(SetupError::NoBaseUrl { family: self.family.name() })?;
        let url = Url::parse(&text).map_err(|error| SetupError::BadBaseUrl { reason: error.to_string() })?;
        check_base_url(&url)?;
        Ok(text.trim_end_matches('/').to_owned())
    }

    pub(super) fn model(&self) -> Result<String, SetupError> {
        let default = self.family.defaults().model.map(str::to_owned);
        self.model.clone().or(default).ok_or(SetupError::NoModel { family: self.family.name() })
    }

    pub(super) fn key(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Secret>, SetupError> {
        if let Some(path) = &self.key_file {
            return Ok(Some(Secret::from_file(path)?));
        }
        let defaults = self.family.defaults();
        let own: Vec<&str> = self.key_variable.as_deref().into_iter().collect();
        let names = if own.is_empty() { defaults.key_variables } else { &own };
        let found =
            names.iter().find_map(|name| Some((name, variable(name).filter(|value| !value.trim().is_empty())?)));
        match found {
            Some((name, value)) => Ok(Some(Secret::new(&value, name)?)),
            None if defaults.needs_key || !own.is_empty() => Err(SetupError::NoKey { variables: names.join(" or ") }),
            None => Ok(None),
        }
    }
}

fn check_base_url(url: &Url) -> Result<(), SetupError> {
    let reason = match url {
        _ if !matches!(url.scheme(), "http" | "https") => "it is neither http nor https",
        _ if !url.username().is_empty() || url.password().is_some() => "it holds a user or a password",
        _ if url.query().is_some() || url.fragment().is_some() => "it has a query or a fragment",
        _ if url.host().is_none() => "it names no host",
        _ => return Ok(()),
    };
    Err(SetupError::BadBaseUrl { reason: reason.to_owned() })
}

/// Reasons why a provider cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("There is no key: set {variables}, or name a key_file.")]
    NoKey { variables: String },
    #[error("A provider of the family `{family}` needs a base_url.")]
    NoBaseUrl { family: &'static str },
    #[error("A provider of the family `{family}` needs a model.")]
    NoModel { family: &'static str },
    // The address itself is not shown: it may hold a password.
    #[error("The base_url cannot be used: {reason}.")]
    BadBaseUrl { reason: String },
    #[error(transparent)]
    Key(#[from] SecretError),
    #[error("The HTTP client cannot be built: {0}")]
    Http(reqwest::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn a_missing_key_names_where_it_is_looked_for() {
        let error = ProviderSettings::new(Family::Gemini).key(none).unwrap_err().to_string();
        assert!(error.contains("GEMINI_API_KEY or GOOGLE_API_KEY"), "{error}");
        assert!(ProviderSettings::new(Family::Ollama).key(none).unwrap().is_none());
    }

    #[test]
    fn an_own_variable_replaces_the_familys() {
        let settings = ProviderSettings { key_variable: Some("OURS".into()), ..ProviderSettings::new(Family::OpenAi) };
        let environment = |name: &str| (name == "OPENAI_API_KEY").then(|| "abc".to_owned());
        assert!(matches!(settings.key(environment), Err(SetupError::NoKey { variables }) if variables == "OURS"));
    }

    #[test]
    fn bad_addresses_are_refused_without_repeating_them() {
        for text in ["ftp://x/v1", "https://me:planted@x/v1", "https://x/v1?key=planted", "planted", "data:planted"] {
            let settings = ProviderSettings { base_url: Some(text.into()), ..ProviderSettings::new(Family::OpenAi) };
            let error = settings.base_url().unwrap_err().to_string();
            assert!(!error.contains("planted"), "{error}");
        }
    }

    #[test]
    fn what_has_no_default_is_asked_for() {
        let settings = ProviderSettings::new(Family::Compatible);
        assert!(matches!(settings.base_url(), Err(SetupError::NoBaseUrl { .. })));
        assert!(matches!(settings.model(), Err(SetupError::NoModel { .. })));
        assert!(matches!(ProviderSettings::new(Family::Vllm).model(), Err(SetupError::NoModel { .. })));
    }
}
