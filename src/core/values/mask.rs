//! Masks keys in text that models read and in outputs of assistants' runs. Keys are found by their usual shapes.
//!
//! The text may be JSON: a masked part lies within one string, and the mask needs no escape. Keys of unknown shapes and
//! disguised keys are not found. This prevents accidents; the kernel's sandbox does the rest.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::value::RawValue;

use notarium_record::{Output, RawJson};

/// Replacement of a key.
pub const MASK: &str = "[masked: a key]";
/// Bytes of preceding text that are searched for the beginning of a key.
const LOOK_BACK_BYTES: usize = 256;
/// Hex digits of a whole token's secret.
const WHOLE_SECRET_CHARS: usize = 64;

/// Patterns of keys: the prefix, and the shortest key. Further characters of the same kind belong to the key. If a
/// pattern has the group `key`, only that part is masked. Each pattern begins with literal text, for which the search
/// looks.
const SHAPES: &[&str] = &[
    // Notarium's own, as `src/server/auth.rs` writes them.
    r"nt_(?:owner|session|api|agent|share|reset|link)_[0-9A-Za-z_-]+?_[0-9A-Fa-f]{16,}",
    // OpenAI, Anthropic, and others with keys like theirs; Groq; xAI.
    r"sk-[0-9A-Za-z_-]{20}",
    r"gsk_[0-9A-Za-z]{20}",
    r"xai-[0-9A-Za-z]{20}",
    // Stripe.
    r"[rs]k_(?:live|test)_[0-9A-Za-z]{16}",
    // AWS: the id of a key, and the key itself after its usual names.
    r"A[KS]IA[0-9A-Z]{16}",
    concat!(
        r"(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey|secretAccessKey|",
        r"aws_session_token|AWS_SESSION_TOKEN|SessionToken|sessionToken)",
        r#"[\\"' \t:=]{1,8}(?<key>[0-9A-Za-z/+=]{16,})"#
    ),
    // GitHub, GitLab.
    r"gh[oprsu]_[0-9A-Za-z]{30}",
    r"github_pat_[0-9A-Za-z_]{30}",
    r"glpat-[0-9A-Za-z_-]{20}",
    // Slack.
    r"xox[abeoprs]-[0-9A-Za-z-]{10}",
    r"xapp-[0-9A-Za-z-]{20}",
    // Google.
    r"AIza[0-9A-Za-z_-]{30}",
    r"ya29\.[0-9A-Za-z_-]{20}",
    r"GOCSPX-[0-9A-Za-z_-]{20}",
    // Hugging Face, npm, PyPI.
    r"hf_[0-9A-Za-z]{30}",
    r"npm_[0-9A-Za-z]{30}",
    r"pypi-[0-9A-Za-z_-]{40}",
    // JSON web tokens, also truncated ones.
    r"eyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}(?:\.[0-9A-Za-z_-]*)?",
    // Private keys: up to the END line; of a truncated text, all lines that look like the key's.
    concat!(
        r"-----BEGIN [0-9A-Z ]*PRIVATE KEY(?: BLOCK)?-----",
        r"(?:(?:-?[0-9A-Za-z+/=:,.() \t\r\n\\])*?-----END [0-9A-Z ]*PRIVATE KEY(?: BLOCK)?-----",
        r"|(?:(?:[ \t\r\n]|\\[nrt])*[0-9A-Za-z+/=]{16,})*)"
    ),
    // Continuation of a truncated key whose beginning is masked already.
    concat!(
        r"\[masked: a key\](?<more>[0-9A-Za-z_+/=-]*(?:\.[0-9A-Za-z_-]{8,})?",
        r"(?:(?:[ \t\r\n]|\\[nrt])*[0-9A-Za-z+/=]{40,})*",
        r"(?:(?:[ \t\r\n]|\\[nrt])*[0-9A-Za-z+/=]*(?:[ \t\r\n]|\\[nrt])*",
        r"-----END [0-9A-Z ]*PRIVATE KEY(?: BLOCK)?-----)?)"
    ),
];

static SHAPE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&SHAPES.join("|")).unwrap_or_else(|error| unreachable!("{error}")));

/// Masks tokens of Notarium, keys of known shapes, private keys and JSON web tokens.
pub fn mask_keys(text: &str) -> Cow<'_, str> {
    masked(text, 0)
}

/// Masks text that continues `before`. If a key was cut there, its part in `before` was too short to recognise or is
/// masked already. The rest of the key is removed.
pub fn mask_continued<'a>(before: &str, text: &'a str) -> Cow<'a, str> {
    let tail = &before[before.ceil_char_boundary(before.len().saturating_sub(LOOK_BACK_BYTES))..];
    if tail.is_empty() {
        return mask_keys(text);
    }
    match masked(&format!("{tail}{text}"), tail.len()) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(masked) => Cow::Owned(masked),
    }
}

/// Returns the text after `from` with its keys masked; the whole text is searched for keys.
fn masked(text: &str, from: usize) -> Cow<'_, str> {
    let (mut kept, mut copied, mut at) = (String::new(), from, 0);
    while let Some(found) = SHAPE.captures_at(text, at) {
        let rest = found.name("more");
        let Some(key) = rest.or_else(|| found.name("key")).or_else(|| found.get(0)) else { break };
        let (is_key, next) = match rest {
            Some(rest) => (!rest.is_empty(), rest.end()),
            None => judged(text, key.range()),
        };
        at = next;
        if is_key && next > copied {
            kept.push_str(text.get(copied..key.start()).unwrap_or_default());
            // The rest of a masked key needs no second mask.
            kept.push_str(if rest.is_some() { "" } else { MASK });
            copied = next;
        }
    }
    if copied == from {
        return Cow::Borrowed(&text[from..]);
    }
    kept.push_str(&text[copied..]);
    Cow::Owned(kept)
}

/// Decides whether the match is a key and not a word with the same prefix; returns where to continue. That is never
/// before the end of the characters examined one by one: hostile texts would take quadratic time.
fn judged(text: &str, key: Range<usize>) -> (bool, usize) {
    let (before, begins) = (&text.as_bytes()[..key.start], &text[key.clone()]);
    // The first letter is the end of a JSON escape: `\nt_…` is a line that begins with `t_…`.
    let is_escape = begins.starts_with(['n', 'r', 't', 'b', 'f', 'u'])
        && before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    let is_common =
        ["sk-", "AKIA", "ASIA", "AIza"].iter().any(|common| begins.starts_with(common)) || is_cut_token(begins);
    if is_escape || (is_common && ends_in_word(before)) {
        return (false, text.ceil_char_boundary(key.start + 1));
    }
    let follows = if begins.starts_with('-') { 0 } else { key_characters(&text[key.end..]) };
    let end = key.end + follows;
    (text[key.start..end].bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()), end)
}

/// Checks for a token of Notarium with less than a whole secret: within a word (`client_share_…`) it is part of a name.
fn is_cut_token(key: &str) -> bool {
    let secret = key.rsplit('_').next().unwrap_or_default();
    key.starts_with("nt_") && secret.len() < WHOLE_SECRET_CHARS
}

fn key_characters(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count()
}

fn ends_in_word(before: &[u8]) -> bool {
    let ends_colour = before.strip_suffix(b"m").is_some_and(|colour| {
        let digits = colour.iter().rev().take_while(|byte| matches!(byte, b'0'..=b'9' | b';')).count();
        colour[..colour.len() - digits].ends_with(b"[")
    });
    match before {
        // A line in JSON may begin after `\n`.
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => false,
        [.., last] => last.is_ascii_alphanumeric() && !ends_colour,
        [] => false,
    }
}

// --- outputs ---

/// Masks keys in the text of an nbformat output, as JSON. `None`: there are no keys.
pub fn mask_output(output: &str) -> Option<Box<RawValue>> {
    // Most outputs have no keys and are not parsed.
    if matches!(mask_keys(output), Cow::Borrowed(_)) {
        return None;
    }
    let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(output).ok()?;
    for (name, value) in &mut fields {
        match name.as_str() {
            "data" => mask_bundle(value),
            "metadata" | "output_type" => {}
            _ => mask_value(value),
        }
    }
    serde_json::value::to_raw_value(&fields).ok()
}

/// Checks that values of this MIME type are text that may hold keys. Images are not, whatever their encoding.
pub fn is_text(mime: &str) -> bool {
    let is_picture = ["image/", "audio/", "video/"].iter().any(|kind| mime.starts_with(kind));
    !is_picture && !matches!(mime, "application/pdf" | "application/octet-stream")
}

/// Masks outputs of an assistant's run before they are recorded.
pub(crate) fn mask_outputs(outputs: &mut [Output]) {
    for output in outputs {
        if let Some(masked) = mask_output(output.content.get()) {
            output.content = RawJson::from(masked);
        }
    }
}

fn mask_bundle(data: &mut Box<RawValue>) {
    let Ok(mut bundle) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(data.get()) else { return };
    bundle.iter_mut().filter(|(mime, _)| is_text(mime)).for_each(|(_, value)| mask_value(value));
    if let Ok(masked) = serde_json::value::to_raw_value(&bundle) {
        *data = masked;
    }
}

fn mask_value(value: &mut Box<RawValue>) {
    if let Cow::Owned(masked) = mask_keys(value.get())
        && let Ok(masked) = RawValue::from_string(masked)
    {
        *value = masked;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LONG: &str = "a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2Zy8Xw7Vu";

    /// One key of each shape.
    fn keys() -> Vec<String> {
        let begins = [
            "sk-",
            "sk-ant-api03-",
            "sk-proj-",
            "gsk_",
            "xai-",
            "sk_live_",
            "rk_test_",
            "ghp_",
            "gho_",
            "ghs_",
            "github_pat_",
            "glpat-",
            "xoxb-",
            "xoxp-",
            "xapp-",
            "AIza",
            "ya29.",
            "GOCSPX-",
            "hf_",
            "npm_",
            "pypi-",
        ];
        let mut keys: Vec<String> = begins.iter().map(|begins| format!("{begins}{LONG}")).collect();
        keys.push("AKIAABCDEFGHIJKLMNOP".to_owned());
        keys.push("ASIA2345672ABCDE7XYZ".to_owned());
        keys.push(format!("nt_session_01JAAAAAAAAAAAAAAAAAAAAAAA_{}", "0123456789abcdef".repeat(4)));
        let signature: String = LONG.chars().rev().collect();
        keys.push(format!("eyJ{LONG}.eyJ{LONG}.{signature}"));
        keys.push(private_key("\n"));
        keys
    }

    fn private_key(line_end: &str) -> String {
        let lines = [LONG, LONG, "abc="].join(line_end);
        format!("-----BEGIN OPENSSH PRIVATE KEY-----{line_end}{lines}{line_end}-----END OPENSSH PRIVATE KEY-----")
    }

    #[test]
    fn keys_go_and_the_words_around_them_stay() {
        for key in keys() {
            assert_eq!(mask_keys(&format!("before={key}\nafter ü")), format!("before={MASK}\nafter ü"), "{key}");
            let json = serde_json::json!({ "text": format!("a line\n{key}\nüber"), "n": 1 }).to_string();
            let masked: serde_json::Value = serde_json::from_str(&mask_keys(&json)).expect("still JSON");
            assert_eq!(masked["text"], format!("a line\n{MASK}\nüber"), "{key}");
        }
        assert_eq!(mask_keys("x -----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAabcdef"), format!("x {MASK}"));
        let both = format!("aws_secret_access_key = {LONG}\n\"SecretAccessKey\":\"{LONG}\"");
        let masked = format!("aws_secret_access_key = {MASK}\n\"SecretAccessKey\":\"{MASK}\"");
        assert_eq!(mask_keys(&both), masked);
        let coloured = format!("\u{1b}[0;31msk-{LONG}\u{1b}[0m");
        assert_eq!(mask_keys(&coloured), format!("\u{1b}[0;31m{MASK}\u{1b}[0m"));
        let two = format!("AKIAABCDEFGHIJKLMNOP,sk-{LONG}");
        assert_eq!(mask_keys(&two), format!("{MASK},{MASK}"));
        assert_eq!(mask_keys(&mask_keys(&two)), mask_keys(&two), "once is enough");
        let token = format!("nt_api_01JAAAAAAAAAAAAAAAAAAAAAAA_{}", "0123456789abcdef".repeat(4));
        assert_eq!(mask_keys(&format!("#token%3D{token}")), format!("#token%3D{MASK}"), "also behind letters");
    }

    #[test]
    fn what_is_no_key_stays_as_it_is() {
        let plain = [
            "",
            "the variable nt_ and sk-learn, risk-adjusted-returns-over-many-years-2024",
            "sk-adjusted-returns-over-many-years, count_of_events ghp_short AKIA xAKIAABCDEFGHIJKLMNOP",
            "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----",
            "eyJ.x.y größer SessionToken: short, SecretAccessKey",
            "nt_session_01JAAAAAAAAAAAAAAAAAAAAAAA_…",
            "[masked: a key] and more",
            // Names that hold `nt_`.
            "event_share_price_2024010112304500 client_agent_x_0123456789abcdef0123 patient_api_data.ipynb",
            // JSON: a line that begins with t_session.
            "\\nt_session_01JAAAAAAAAAAAAAAAAAAAAAAA_0123456789abcdef",
        ];
        for text in plain {
            assert!(matches!(mask_keys(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn of_a_key_that_was_cut_only_what_was_too_short_to_know_is_left() {
        for key in keys() {
            for cut in (1..key.len()).filter(|at| key.is_char_boundary(*at)) {
                let first = mask_keys(&key[..cut]).into_owned();
                let second = mask_continued(&first, &key[cut..]);
                let all = format!("{first}{second}");
                let left = all.replace(MASK, "");
                assert!(left.len() <= 64 && !left.ends_with(&key[key.len() - 8..]), "{key} cut at {cut}: {all}");
            }
        }
        assert_eq!(mask_continued("a word", "s and others"), "s and others");
    }

    /// A search from each prefix to the end of the text would take hours for these.
    #[test]
    fn hostile_texts_cost_no_more_than_others() {
        let begins = [
            "sk-",
            "ask-",
            "\\nt_api_",
            "eyJ",
            "eyJaaaaaaaa.",
            "-----BEGIN PRIVATE KEY-----\n",
            "\\-----BEGIN PRIVATE KEY-----",
            MASK,
            "nt_api_",
            "SecretAccessKey=",
            "\\",
        ];
        for begins in begins {
            let text = begins.repeat((1 << 17) / begins.len());
            for end in ["", "A1", "-----END PRIVATE KEY-----"] {
                assert!(mask_keys(&format!("{text}{end}")).len() <= text.len() + end.len());
            }
        }
    }

    #[test]
    fn text_of_an_output_is_masked_and_pictures_are_not() {
        let key = format!("sk-{LONG}");
        let masked = |output: serde_json::Value| {
            mask_output(&output.to_string())
                .map(|masked| serde_json::from_str::<serde_json::Value>(masked.get()).expect("JSON"))
        };
        let display = serde_json::json!({
            "output_type": "display_data", "metadata": {},
            "data": {"text/plain": key, "application/json": {"a": [key]}, "image/png": format!("iVBOR/{key}")},
        });
        let shown = masked(display).expect("a key");
        assert_eq!(shown["data"]["text/plain"], MASK);
        assert_eq!(shown["data"]["application/json"]["a"][0], MASK);
        assert_eq!(shown["data"]["image/png"], format!("iVBOR/{key}"));
        let error = serde_json::json!({"output_type": "error", "ename": "E", "evalue": key, "traceback": ["x", key]});
        let shown = masked(error).expect("a key");
        assert_eq!((&shown["evalue"], &shown["traceback"][1]), (&MASK.into(), &MASK.into()));
        assert_eq!(masked(serde_json::json!({"output_type": "stream", "name": "stdout", "text": "1\n"})), None);
    }

    proptest! {
        #[test]
        fn json_stays_json(words in prop::collection::vec("[a-z\"\\\\\n ü]{0,6}", 0..6), which in 0usize..26, twice in any::<bool>()) {
            let keys = keys();
            let key = &keys[which % keys.len()];
            let text = words.join(key);
            let mut json = serde_json::json!({ "a": [text], "b": 1 }).to_string();
            if twice {
                json = serde_json::json!({ "inner": json }).to_string();
            }
            let masked: serde_json::Value = serde_json::from_str(&mask_keys(&json)).expect("still JSON");
            prop_assert!(masked.is_object());
        }
    }
}
