//! Limits the size of results that go together into one message.

use notarium_core::MessageBlock;

/// Most bytes of the results of one message; the core accepts a message of 1 MiB.
const MAX_RESULTS_BYTES: usize = 800_000;

/// The results of one message, each shortened so that all fit together as JSON.
pub(super) fn fitting(mut blocks: Vec<MessageBlock>) -> Vec<MessageBlock> {
    let most = MAX_RESULTS_BYTES / blocks.len().max(1);
    for block in &mut blocks {
        if let MessageBlock::ToolResult { text: Some(text), .. } = block
            && let Some(end) = end_of_what_fits(text, most)
        {
            text.truncate(end);
            text.push_str("…[truncated]");
        }
    }
    blocks
}

/// Offset at which a text must be cut to have at most `most` bytes as a JSON string; `None`: it fits.
fn end_of_what_fits(text: &str, most: usize) -> Option<usize> {
    let mut written = 0;
    text.char_indices().find_map(|(at, character)| {
        written += match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            other => other.len_utf8(),
        };
        (written > most).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_fit_together_wherever_they_are_dense() {
        let dense = "\u{1}".repeat(100_000) + &"é".repeat(200_000);
        let result = |text: &str| MessageBlock::ToolResult {
            provider_id: "p".to_owned(),
            call_id: "c".parse().unwrap(),
            text: Some(text.to_owned()),
            is_error: false,
        };
        let blocks = fitting(vec![result(&dense), result("short"), result(&dense)]);
        let bytes = serde_json::to_string(&blocks).unwrap().len();
        assert!((500_000..MAX_RESULTS_BYTES + 1_000).contains(&bytes), "{bytes}");
        assert_eq!(blocks[1], result("short"));
        for text in ["\u{0}\u{1f}\u{7f}\"\\\n\r\t\u{8}\u{c}é漢🙂", "plain"] {
            let whole = serde_json::to_string(text).unwrap().len() - 2;
            assert_eq!(end_of_what_fits(text, whole), None, "{text:?}");
            assert!(end_of_what_fits(text, whole - 1).is_some(), "{text:?}");
        }
    }
}
