//! Texts without what differs between two runs of the same code: times, durations, addresses, temporary paths, random ids.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Serialize;

/// Kind of text that differs from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// A time of day, or a date with one. A date alone is data.
    Time,
    /// A number with a unit of time, a rate, or the counts of `%timeit`.
    Duration,
    /// A memory address.
    Address,
    /// A path below a folder for temporary files.
    TemporaryPath,
    /// A UUID.
    Id,
}

impl Noise {
    /// All kinds, each with the name of its group in [`PATTERN`] and the text that replaces it.
    const ALL: [(Noise, &'static str, &'static str); 5] = [
        (Noise::TemporaryPath, "path", "⟨path⟩"),
        (Noise::Address, "address", "⟨address⟩"),
        (Noise::Id, "id", "⟨id⟩"),
        (Noise::Time, "time", "⟨time⟩"),
        (Noise::Duration, "duration", "⟨duration⟩"),
    ];

    /// The kind in words, in the plural.
    pub fn words(self) -> &'static str {
        match self {
            Noise::Time => "times",
            Noise::Duration => "durations",
            Noise::Address => "addresses",
            Noise::TemporaryPath => "temporary paths",
            Noise::Id => "random ids",
        }
    }
}

/// A text with placeholders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NormalText {
    /// The text.
    pub text: String,
    /// The kinds that were replaced.
    pub noise: BTreeSet<Noise>,
}

/// Each group begins with a digit or a slash, and no placeholder has one.
const PATTERN: &str = r#"(?x)
    (?P<before> ^ | [^A-Za-z0-9_./-] ) (?P<path> (?:/private)? /(?:tmp|var/tmp|var/folders) / [^\ \t\r\n'"`:,;)\]}<>|]+ )
  | (?P<address> 0x[0-9a-fA-F]{6,16} (?-u:\b) )
  | (?P<id> (?-u:\b) [0-9a-f]{8} - [0-9a-f]{4} - [0-9a-f]{4} - [0-9a-f]{4} - [0-9a-f]{12} (?-u:\b) )
  | (?P<time>
        (?-u:\b) [0-9]{4}-[0-9]{2}-[0-9]{2} [T\ ] [0-9]{2}:[0-9]{2} (?: :[0-9]{2} (?: [.,][0-9]+ )? )? (?: Z | \ ?[+-][0-9]{2}:?[0-9]{2} )?
      | (?: (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\ )
        (?: (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ +[0-9]{1,2} | [0-9]{1,2}\ (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ [0-9]{4} )
        \ [0-9]{2}:[0-9]{2}:[0-9]{2} (?: \ [A-Z]{3,4} )? (?: \ [0-9]{4} )?
      | (?-u:\b) [0-9]{1,2}:[0-9]{2}:[0-9]{2} (?: [.,][0-9]+ )?
      | (?-u:\b) (?:1[6-9]|2[0-9])[0-9]{8} \. [0-9]+ (?-u:\b)
    )
  | (?P<duration>
        (?-u:\b) [0-9]+:[0-9]{2} < (?: [0-9]+:[0-9]{2} | \? )
      | (?-u:\b) [0-9]+(?:\.[0-9]+)? (?: [kMG]?it/s | \ ?[kMGT]?i?B/s | s/it )
      | (?-u:\b) [0-9][0-9,]* \ loops?\ each
      | (?-u:\b) [0-9]+ (?: \.[0-9]+ )? (?: e[+-]?[0-9]+ )? \ ?
        (?: ns | us | µs | μs | ms | s | secs? | seconds? | min | mins | minutes? | h | hours? | nanoseconds? | microseconds? | milliseconds? ) (?-u:\b)
    )
"#;

static NOISE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PATTERN).ok());

/// Replaces noise by placeholders. Each round replaces digits or slashes and adds none, so the rounds end; the result has no more noise.
pub fn normalised(text: &str) -> NormalText {
    let mut normal = NormalText { text: text.to_owned(), noise: BTreeSet::new() };
    let Some(pattern) = NOISE.as_ref() else { return normal };
    while pattern.is_match(&normal.text) {
        let noise = &mut normal.noise;
        normal.text = pattern.replace_all(&normal.text, |found: &Captures<'_>| placeholder(found, noise)).into_owned();
    }
    normal
}

fn placeholder(found: &Captures<'_>, noise: &mut BTreeSet<Noise>) -> String {
    let before = found.name("before").map_or("", |before| before.as_str());
    let kind = Noise::ALL.into_iter().find(|(_, group, _)| found.name(group).is_some());
    let Some((kind, _, placeholder)) = kind else { return found[0].to_owned() };
    noise.insert(kind);
    format!("{before}{placeholder}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        normalised(text).text
    }

    #[test]
    fn noise_is_replaced() {
        for (noisy, normal) in [
            ("<object at 0x7f3a2b1c9d30>", "<object at ⟨address⟩>"),
            ("now 2026-11-29 09:18:25.123456", "now ⟨time⟩"),
            ("2026-11-29T09:18:25Z and 2026-11-29T09:18+01:00", "⟨time⟩ and ⟨time⟩"),
            ("Sun Nov 29 09:18:25 UTC 2026", "⟨time⟩"),
            ("Sun, 29 Nov 2026 09:18:25", "⟨time⟩"),
            ("at 09:18:25, 1796000000.123456", "at ⟨time⟩, ⟨time⟩"),
            ("Wall time: 1min 3s", "Wall time: ⟨duration⟩ ⟨duration⟩"),
            (
                "1.23 µs ± 4.5 ns per loop (7 runs, 1,000,000 loops each)",
                "⟨duration⟩ ± ⟨duration⟩ per loop (7 runs, ⟨duration⟩)",
            ),
            ("100%|██| 10/10 [00:01<00:00, 9.87it/s]", "100%|██| 10/10 [⟨duration⟩, ⟨duration⟩]"),
            ("took 0.52 seconds", "took ⟨duration⟩"),
            ("/tmp/ipykernel_12/3.py:1: UserWarning", "⟨path⟩:1: UserWarning"),
            ("open('/tmp/tmpab12', 'w')", "open('⟨path⟩', 'w')"),
            ("id 123e4567-e89b-12d3-a456-426614174000.", "id ⟨id⟩."),
        ] {
            assert_eq!(text(noisy), normal);
        }
    }

    #[test]
    fn data_stays() {
        for data in [
            "2026-11-29",
            "0x1f",
            "3 x 4 = 12",
            "v1.5 has 3 stars",
            "/data/tmp/x",
            "1796000000",
            "5 sheep, 3 horses",
            "a5s",
            "/tmp/",
            "100 %",
        ] {
            assert_eq!(normalised(data), NormalText { text: data.to_owned(), noise: BTreeSet::new() });
        }
    }

    #[test]
    fn the_pattern_is_valid() {
        Regex::new(PATTERN).unwrap();
    }
}
