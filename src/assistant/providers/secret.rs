//! API keys: where they are read, and how they are kept out of everything else.

use std::borrow::Cow;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use notarium_core::mask::mask_keys;
use secrecy::{ExposeSecret, SecretString};

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
