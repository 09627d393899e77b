//! Differences between two texts, for people.

/// Texts beyond this are compared as a whole only.
const MAX_DIFF_BYTES: usize = 1 << 20;

/// A unified diff; empty if the texts are equal.
pub fn unified(left: &str, right: &str) -> String {
    if left == right {
        return String::new();
    }
    if left.len() + right.len() > MAX_DIFF_BYTES {
        return "(too long to show what differs)".to_owned();
    }
    similar::TextDiff::from_lines(left, right).unified_diff().to_string()
}
