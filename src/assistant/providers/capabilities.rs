//! Capabilities of providers and their models, as data. Names and limits are as of November 2026; all of them
//! can be overridden in [`super::ProviderSettings`].

use serde::{Deserialize, Serialize};

/// Family of an endpoint, which decides its defaults and its models' capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    Anthropic,
    OpenAi,
    Gemini,
    Grok,
    Ollama,
    Vllm,
    /// Any other endpoint with OpenAI's chat completions. Needs a base URL and a model.
    Compatible,
}

/// The protocol of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// `POST {base}/responses`
    Responses,
    /// `POST {base}/chat/completions`
    #[serde(rename = "chat")]
    ChatCompletions,
    /// `POST {base}/messages`
    Messages,
}

/// Ways to count the tokens of a context.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TokenCounting {
    /// An estimate of this many characters per token, rounded up.
    Estimate { characters_per_token: f64 },
    /// The provider counts (`POST {base}/messages/count_tokens`); until then the estimate serves.
    Endpoint { characters_per_token: f64 },
}

impl TokenCounting {
    /// An estimate that is usually too high for English and code.
    pub fn estimate(self, text: &str) -> u64 {
        let (Self::Estimate { characters_per_token } | Self::Endpoint { characters_per_token }) = self;
        // Characters of other scripts are about one token each.
        let ascii = text.bytes().filter(u8::is_ascii).count();
        let others = text.chars().filter(|character| !character.is_ascii()).count();
        (ascii as f64 / characters_per_token).ceil() as u64 + others as u64
    }
}

/// Capabilities of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capabilities {
    /// Several tool calls in one reply. If false, the request forbids them.
    pub parallel_calls: bool,
    /// Uses the result of one call in the next, within a turn. If false, several steps need one combined tool.
    pub chaining: bool,
    /// Reads images.
    pub images: bool,
    pub token_counting: TokenCounting,
    /// The whole context in tokens, answer included.
    pub context_tokens: u32,
    /// Most tokens of a reply.
    pub max_output_tokens: u32,
    /// Accepts tools over chat completions only with `reasoning_effort: "none"`.
    pub tools_need_no_effort: bool,
    /// The limit is called `max_completion_tokens`, not `max_tokens`.
    pub completion_limit: bool,
    /// Gives its reasoning encrypted, and continues it after calls. Only over Responses.
    pub encrypted_reasoning: bool,
}

/// Defaults for any server of chat completions.
const CHAT: Capabilities = Capabilities {
    parallel_calls: true,
    chaining: true,
    images: true,
    token_counting: TokenCounting::Estimate { characters_per_token: 3.5 },
    context_tokens: 128_000,
    max_output_tokens: 16_384,
    tools_need_no_effort: false,
    completion_limit: false,
    encrypted_reasoning: false,
};

/// Models that run locally: small contexts, and small models handle several calls badly.
const LOCAL: Capabilities = Capabilities {
    parallel_calls: false,
    chaining: false,
    images: false,
    context_tokens: 16_384,
    max_output_tokens: 4_096,
    ..CHAT
};

const LOCAL_STRONG: Capabilities =
    Capabilities { parallel_calls: true, chaining: true, context_tokens: 32_768, max_output_tokens: 8_192, ..LOCAL };

const OPENAI: Capabilities = Capabilities { completion_limit: true, ..CHAT };

const OPENAI_REASONING: Capabilities =
    Capabilities { context_tokens: 400_000, max_output_tokens: 128_000, encrypted_reasoning: true, ..OPENAI };

const CLAUDE: Capabilities = Capabilities {
    token_counting: TokenCounting::Endpoint { characters_per_token: 3.0 },
    context_tokens: 200_000,
    max_output_tokens: 64_000,
    ..CHAT
};

/// Newer models have a tokenizer that makes more tokens of the same text.
const CLAUDE_5: Capabilities = Capabilities {
    token_counting: TokenCounting::Endpoint { characters_per_token: 2.5 },
    context_tokens: 1_000_000,
    max_output_tokens: 128_000,
    ..CLAUDE
};

/// The row with the longest matching prefix of the model's name applies; the empty prefix is the family's default.
const MODELS: &[(Family, &str, Capabilities)] = &[
    (Family::Anthropic, "", CLAUDE),
    (Family::Anthropic, "claude-opus-5", CLAUDE_5),
    (Family::Anthropic, "claude-sonnet-5", CLAUDE_5),
    (Family::Anthropic, "claude-haiku-5", CLAUDE_5),
    (Family::Anthropic, "claude-fable-5", CLAUDE_5),
    (Family::OpenAi, "", OPENAI),
    (Family::OpenAi, "gpt-4.1", Capabilities { context_tokens: 1_000_000, max_output_tokens: 32_768, ..OPENAI }),
    (Family::OpenAi, "o", Capabilities { context_tokens: 200_000, ..OPENAI_REASONING }),
    (Family::OpenAi, "gpt-5", OPENAI_REASONING),
    (Family::OpenAi, "gpt-5-chat", OPENAI),
    (Family::OpenAi, "gpt-5.6", Capabilities { tools_need_no_effort: true, ..OPENAI_REASONING }),
    (Family::OpenAi, "gpt-6", OPENAI_REASONING),
    (Family::OpenAi, "gpt-6-sol", Capabilities { tools_need_no_effort: true, ..OPENAI_REASONING }),
    (Family::OpenAi, "gpt-6-luna", Capabilities { tools_need_no_effort: true, ..OPENAI_REASONING }),
    (Family::Gemini, "", Capabilities { context_tokens: 1_000_000, max_output_tokens: 65_536, ..CHAT }),
    (Family::Grok, "", Capabilities { context_tokens: 256_000, max_output_tokens: 32_768, ..CHAT }),
    (Family::Grok, "grok-4.6", Capabilities { context_tokens: 500_000, max_output_tokens: 32_768, ..CHAT }),
    (Family::Grok, "grok-4.5", Capabilities { context_tokens: 500_000, max_output_tokens: 32_768, ..CHAT }),
    (Family::Ollama, "", LOCAL),
    (Family::Ollama, "qwen3", LOCAL_STRONG),
    (Family::Ollama, "gpt-oss", LOCAL_STRONG),
    (Family::Vllm, "", LOCAL_STRONG),
    (Family::Compatible, "", Capabilities { images: false, context_tokens: 32_768, max_output_tokens: 8_192, ..CHAT }),
];

/// Defaults of a family.
#[derive(Debug, Clone, Copy)]
pub(super) struct FamilyDefaults {
    pub(super) name: &'static str,
    /// The protocol at the family's own address.
    pub(super) protocol: Protocol,
    pub(super) base_url: Option<&'static str>,
    pub(super) model: Option<&'static str>,
    /// Environment variables with the key; the first that is set is used.
    pub(super) key_variables: &'static [&'static str],
    pub(super) needs_key: bool,
}

impl Family {
    /// All families, for help texts and tests.
    pub const ALL: [Self; 7] =
        [Self::Anthropic, Self::OpenAi, Self::Gemini, Self::Grok, Self::Ollama, Self::Vllm, Self::Compatible];

    pub(super) fn defaults(self) -> FamilyDefaults {
        use Protocol::{ChatCompletions as Chat, Messages, Responses};
        let (name, protocol, base_url, model, key_variables): (_, _, _, _, &[&str]) = match self {
            Self::Anthropic => {
                let (url, model) = ("https://api.anthropic.com/v1", "claude-sonnet-5-5");
                ("anthropic", Messages, Some(url), Some(model), &["ANTHROPIC_API_KEY"])
            }
            Self::OpenAi => {
                let (url, model) = ("https://api.openai.com/v1", "gpt-5.4");
                ("openai", Responses, Some(url), Some(model), &["OPENAI_API_KEY"])
            }
            Self::Gemini => {
                let url = "https://generativelanguage.googleapis.com/v1beta/openai";
                ("gemini", Chat, Some(url), Some("gemini-3.8-flash"), &["GEMINI_API_KEY", "GOOGLE_API_KEY"])
            }
            Self::Grok => ("grok", Chat, Some("https://api.x.ai/v1"), Some("grok-4.6"), &["XAI_API_KEY"]),
            Self::Ollama => ("ollama", Chat, Some("http://127.0.0.1:11434/v1"), Some("qwen3"), &[]),
            // vLLM serves the one model that it was started with.
            Self::Vllm => ("vllm", Chat, Some("http://127.0.0.1:8000/v1"), None, &["VLLM_API_KEY"]),
            Self::Compatible => ("compatible", Chat, None, None, &[]),
        };
        let needs_key = matches!(self, Self::Anthropic | Self::OpenAi | Self::Gemini | Self::Grok);
        FamilyDefaults { name, protocol, base_url, model, key_variables, needs_key }
    }

    /// The name in settings, and the provider's name in records.
    pub fn name(self) -> &'static str {
        self.defaults().name
    }

    pub fn capabilities(self, model: &str) -> Capabilities {
        // Gemini accepts model names with and without the prefix.
        let model = model.strip_prefix("models/").unwrap_or(model);
        let rows = MODELS.iter().filter(|(family, prefix, _)| *family == self && model.starts_with(prefix));
        rows.max_by_key(|(_, prefix, _)| prefix.len()).map_or(CHAT, |(_, _, capabilities)| *capabilities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_a_row_of_its_own() {
        for family in Family::ALL {
            assert!(MODELS.iter().any(|(row, prefix, _)| *row == family && prefix.is_empty()), "{family:?}");
        }
    }

    #[test]
    fn a_family_is_called_the_same_in_settings_and_records() {
        for family in Family::ALL {
            assert_eq!(serde_json::to_value(family).unwrap(), family.name());
        }
    }

    #[test]
    fn the_longest_prefix_holds() {
        let needs_none = |model| Family::OpenAi.capabilities(model).tools_need_no_effort;
        assert!(needs_none("gpt-5.6-terra") && needs_none("gpt-6-sol"));
        assert!(!needs_none("gpt-5.4") && !needs_none("gpt-6.1-sol"));
        assert_eq!(Family::Anthropic.capabilities("claude-opus-5-5").context_tokens, 1_000_000);
        assert_eq!(Family::Anthropic.capabilities("claude-haiku-4-5").context_tokens, 200_000);
        assert!(Family::Ollama.capabilities("qwen3:8b").chaining);
        assert!(!Family::Ollama.capabilities("llama3.2").chaining);
    }

    #[test]
    fn estimates_err_on_the_high_side() {
        let counting = Family::OpenAi.capabilities("gpt-5.4").token_counting;
        assert_eq!(counting.estimate(""), 0);
        // 9 tokens in cl100k, where 9 Cyrillic characters are 4.
        assert!(counting.estimate("The quick brown fox jumps over the lazy dog") >= 9);
        assert_eq!(counting.estimate("Привет мир"), 10);
    }
}
