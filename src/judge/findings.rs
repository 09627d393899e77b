//! Warnings as they are collected: by rule, words and line, with limits.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::{DangerRule, Grade};

const MAX_FOUND_PER_RULE: usize = 20;
const MAX_LINES_PER_FOUND: usize = 50;
const MAX_FOUND_CHARACTERS: usize = 80;

/// One reason to ask before code runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Danger {
    pub rule: DangerRule,
    /// The words that were found, as code: `os._exit`, `%reset -f`, `DROP`. At most 80 characters.
    pub found: String,
    /// 1, 2, 3 …, sorted; at most 50.
    pub lines: Vec<u32>,
}

impl Danger {
    pub fn grade(&self) -> Grade {
        self.rule.grade()
    }

    /// Sentence for people: "Line 3: `os._exit` can end the kernel …".
    pub fn sentence(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(u32::to_string).collect();
        let word = if lines.len() == 1 { "Line" } else { "Lines" };
        format!("{word} {}: `{}` {}", lines.join(", "), self.found, self.rule.sentence())
    }
}

/// Lines by rule and words.
#[derive(Default)]
pub(crate) struct Findings(BTreeMap<DangerRule, BTreeMap<String, BTreeSet<u32>>>);

impl Findings {
    pub(crate) fn add(&mut self, rule: DangerRule, found: &str, line: u32) {
        let by_words = self.0.entry(rule).or_default();
        let words: String = found.chars().take(MAX_FOUND_CHARACTERS).collect();
        if by_words.len() >= MAX_FOUND_PER_RULE && !by_words.contains_key(&words) {
            return;
        }
        let lines = by_words.entry(words).or_default();
        if lines.len() < MAX_LINES_PER_FOUND {
            lines.insert(line);
        }
    }

    /// Destructive dangers first, then by line.
    pub(crate) fn into_dangers(self) -> Vec<Danger> {
        let flat = self.0.into_iter().flat_map(|(rule, by_words)| by_words.into_iter().map(move |found| (rule, found)));
        let danger = |(rule, (found, lines)): (_, (_, BTreeSet<u32>))| Danger {
            rule,
            found,
            lines: lines.into_iter().collect(),
        };
        let mut dangers: Vec<Danger> = flat.map(danger).collect();
        dangers.sort_by_key(|danger| (danger.grade(), danger.lines.first().copied(), danger.rule));
        dangers
    }
}

/// Line numbers of a text, by offset.
pub(crate) struct LineNumbers {
    starts: Vec<usize>,
    first: u32,
}

impl LineNumbers {
    /// `first` is the number of the text's first line.
    pub(crate) fn of(text: &str, first: u32) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(breaks).collect(), first }
    }

    pub(crate) fn at(&self, offset: usize) -> u32 {
        let before = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        self.first.saturating_add(u32::try_from(before).unwrap_or(u32::MAX))
    }
}
