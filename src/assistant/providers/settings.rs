//! Settings of a provider: its family, address, model and key. A key is a [`Secret`]: read here, and kept out of everything else.

use std::borrow::Cow;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use notarium_core::mask::mask_keys;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::capabilities::{Family, Protocol};

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
    /// The protocol. Absent: Responses at OpenAI's own address, Messages for Anthropic, chat completions elsewhere.
    pub protocol: Option<Protocol>,
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
    /// Overrides the table's entry for encrypted reasoning, over Responses.
    pub encrypted_reasoning: Option<bool>,
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
            protocol: None,
            key_variable: None,
            key_file: None,
            context_tokens: None,
            images: None,
            parallel_calls: None,
            chaining: None,
            encrypted_reasoning: None,
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

    pub(super) fn protocol(&self) -> Result<Protocol, SetupError> {
        let default = match self.family.defaults().protocol {
            // Another address is a compatible server, which may know only chat completions.
            Protocol::Responses if !self.base_url.as_deref().is_none_or(is_openai) => Protocol::ChatCompletions,
            protocol => protocol,
        };
        match self.protocol {
            Some(protocol) if (protocol == Protocol::Messages) != (default == Protocol::Messages) => {
                Err(SetupError::OtherProtocol { family: self.family.name() })
            }
            chosen => Ok(chosen.unwrap_or(default)),
        }
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

/// True for OpenAI's own addresses, those of its regions included.
fn is_openai(base_url: &str) -> bool {
    let url = Url::parse(base_url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    host == "api.openai.com" || host.ends_with(".api.openai.com")
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
    #[error(
        "A provider of the family `{family}` cannot speak this protocol: `messages` is Anthropic's, `responses` and `chat` are \
         those of all others."
    )]
    OtherProtocol { family: &'static str },
    // The address itself is not shown: it may hold a password.
    #[error("The base_url cannot be used: {reason}.")]
    BadBaseUrl { reason: String },
    #[error(transparent)]
    Key(#[from] SecretError),
    #[error("The HTTP client cannot be built: {0}")]
    Http(reqwest::Error),
}

const MAX_KEY_BYTES: usize = 4_096;
/// Shorter keys are not masked: that would mask ordinary words.
const MIN_REDACTED_BYTES: usize = 6;

/// An API key. It cannot be printed or serialized, and its memory is wiped.
#[derive(Clone)]
pub struct Secret(SecretString);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("The key from {source_name} is empty, has spaces or control characters, or is longer than 4096 bytes.")]
    Unusable { source_name: String },
    #[error("The key file {path} cannot be read: {error}")]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("The key file {path} can be read by others (mode {mode:o}). Run: chmod 600 {path}")]
    OpenToOthers { path: PathBuf, mode: u32 },
}

impl Secret {
    /// Takes a key from `source_name`, which errors name in place of the key. Spaces around it are cut.
    pub fn new(text: &str, source_name: &str) -> Result<Self, SecretError> {
        let key = text.trim();
        let is_usable =
            !key.is_empty() && key.len() <= MAX_KEY_BYTES && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_usable {
            return Err(SecretError::Unusable { source_name: source_name.to_owned() });
        }
        Ok(Self(SecretString::from(key)))
    }

    /// Reads a key from a file that only its owner may read.
    pub fn from_file(path: &Path) -> Result<Self, SecretError> {
        let unreadable = |error| SecretError::Unreadable { path: path.to_owned(), error };
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(SecretError::OpenToOthers { path: path.to_owned(), mode });
        }
        let mut text = String::new();
        file.take(MAX_KEY_BYTES as u64 + 2).read_to_string(&mut text).map_err(unreadable)?;
        Self::new(&text, &path.display().to_string())
    }

    /// The key, only for the header of a request.
    pub(super) fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

/// Prefixes of keys of well-known providers: such words are masked even if they are not our key.
const KEY_PREFIXES: [&str; 5] = ["sk-", "xai-", "AIza", "gsk_", "hf_"];

/// `text` with `secret` and all words that look like keys masked.
pub(super) fn redact(text: &str, secret: Option<&Secret>) -> String {
    let key = secret.map(Secret::expose).filter(|key| key.len() >= MIN_REDACTED_BYTES);
    let text = key.map_or_else(|| text.to_owned(), |key| text.replace(key, "[key]"));
    text.split_inclusive(|character: char| !is_key_character(character)).map(redact_word).collect()
}

fn is_key_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '*' | '.')
}

fn redact_word(word: &str) -> String {
    let end = word.trim_end_matches(|character| !is_key_character(character));
    let is_key = end.len() >= 8 && KEY_PREFIXES.iter().any(|prefix| end.starts_with(prefix));
    // The core recognises Notarium's own tokens: the prefix `nt_` alone is not one.
    let is_key = is_key || matches!(mask_keys(end), Cow::Owned(_));
    if is_key { format!("[key]{}", &word[end.len()..]) } else { word.to_owned() }
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
    fn openai_itself_is_asked_over_responses_and_compatible_servers_over_chat() {
        let settings = |family, base_url: Option<&str>, protocol| ProviderSettings {
            base_url: base_url.map(str::to_owned),
            protocol,
            ..ProviderSettings::new(family)
        };
        let spoken = |family, base_url, protocol| settings(family, base_url, protocol).protocol().unwrap();
        assert_eq!(spoken(Family::OpenAi, None, None), Protocol::Responses);
        assert_eq!(spoken(Family::OpenAi, Some("https://eu.api.openai.com/v1"), None), Protocol::Responses);
        for other in ["http://127.0.0.1:9000/v1", "https://api.openai.com.example/v1", "https://x/api.openai.com"] {
            assert_eq!(spoken(Family::OpenAi, Some(other), None), Protocol::ChatCompletions, "{other}");
        }
        assert_eq!(spoken(Family::OpenAi, None, Some(Protocol::ChatCompletions)), Protocol::ChatCompletions);
        assert_eq!(spoken(Family::Compatible, Some("https://x/v1"), None), Protocol::ChatCompletions);
        assert_eq!(spoken(Family::Vllm, None, Some(Protocol::Responses)), Protocol::Responses);
        assert_eq!(spoken(Family::Anthropic, None, None), Protocol::Messages);
        let foreign = [(Family::Anthropic, Protocol::ChatCompletions), (Family::OpenAi, Protocol::Messages)];
        for (family, protocol) in foreign {
            let error = settings(family, None, Some(protocol)).protocol().unwrap_err().to_string();
            assert!(error.contains(family.name()) && error.contains("`chat`"), "{error}");
        }
        let chat: ProviderSettings = serde_json::from_str(r#"{ "family": "openai", "protocol": "chat" }"#).unwrap();
        assert_eq!(chat.protocol, Some(Protocol::ChatCompletions));
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

    #[test]
    fn keys_are_cut_and_checked() {
        assert_eq!(Secret::new(" abc\n", "test").unwrap().expose(), "abc");
        for text in ["", " \n", "two words", "tab\there", "ключ", &"a".repeat(4_097)] {
            let error = Secret::new(text, "OPENAI_API_KEY").unwrap_err().to_string();
            assert!(error.contains("OPENAI_API_KEY") && (text.trim().is_empty() || !error.contains(text)), "{error}");
        }
    }

    #[test]
    fn no_way_of_printing_shows_a_key() {
        let secret = Secret::new("planted-key-123456", "test").unwrap();
        assert!(!format!("{secret:?} {secret:#?}").contains("planted"));
    }

    #[test]
    fn a_key_file_that_others_can_read_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "planted-key-123456\n").unwrap();
        let set_mode = |mode| std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        set_mode(0o640);
        let error = Secret::from_file(file.path()).unwrap_err().to_string();
        assert!(error.contains("640") && error.contains("chmod 600") && !error.contains("planted"), "{error}");
        set_mode(0o600);
        assert_eq!(Secret::from_file(file.path()).unwrap().expose(), "planted-key-123456");
    }

    #[test]
    fn keys_are_blotted_out_of_texts() {
        let secret = Secret::new("planted-key-123456", "test").unwrap();
        let text = "Incorrect key: planted-key-123456. You sent sk-proj-abc***xyz, \"AIzaSyAbcdefgh\"; task sk-1.";
        let clean = redact(text, Some(&secret));
        assert_eq!(clean, "Incorrect key: [key]. You sent [key], \"[key]\"; task sk-1.");
        let token = format!("nt_api_01JA_{}", "ab12".repeat(16));
        assert_eq!(redact(&format!("{token} is not nt_values_of_2024"), None), "[key] is not nt_values_of_2024");
        assert_eq!(redact("nothing to hide · ключ", None), "nothing to hide · ключ");
    }
}
