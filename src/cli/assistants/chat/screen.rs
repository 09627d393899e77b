//! Shows a turn to people: text on standard output, everything else on standard error.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::cli::terminal::print::{self, style};
use crate::cli::{Ended, Failure};

/// Longest excerpt of arguments or results on a line.
const MAX_SHOWN: usize = 120;

/// Result of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Done,
    Cancelled,
    Failed(String),
}

/// State of the screen.
#[derive(Debug, Default)]
pub struct Screen {
    as_json: bool,
    is_within_line: bool,
    /// Text blocks that were begun.
    begun: BTreeSet<Block>,
    /// Texts of the present attempt, and those of the previous, failed one.
    written: BTreeMap<Block, String>,
    failed: BTreeMap<Block, String>,
}

/// Key of a block: `(model_call, block)`.
type Block = (u64, u64);

impl Screen {
    pub fn new(as_json: bool) -> Self {
        Self { as_json, ..Self::default() }
    }

    /// Shows one event; returns the turn's end if it is one.
    pub fn show(&mut self, event: &Value) -> Result<Option<End>, Failure> {
        if self.as_json {
            print::json_line(event)?;
        } else {
            self.show_to_people(event)?;
        }
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        Ok(match text("type") {
            "done" if text("stop_reason") == "cancelled" => Some(End::Cancelled),
            "done" => Some(End::Done),
            "error" => Some(End::Failed(text("error").to_owned())),
            _ => None,
        })
    }

    /// Shows a remark between the texts.
    pub fn note(&mut self, text: &str) -> Ended {
        self.end_line()?;
        print::noted(text)
    }

    /// Begins a new line if the text has not ended one.
    pub fn end_line(&mut self) -> Ended {
        if std::mem::take(&mut self.is_within_line) {
            print::raw("\n")?;
        }
        Ok(())
    }

    fn show_to_people(&mut self, event: &Value) -> Ended {
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        let name = style(print::clean(text("tool_name"))).cyan();
        match text("type") {
            "text_start" => {
                self.written.remove(&block_of(event));
                self.end_line()
            }
            "text_delta" => self.write(block_of(event), text("text")),
            "content_block_stop" => self.end_line(),
            "attempt_failed" => {
                self.failed = std::mem::take(&mut self.written);
                self.note(&format!("(no answer: {})", print::clean(text("error"))))
            }
            "tool_execute" => self.note(&format!("● {name} {}", short(&event["tool_input"].to_string()))),
            "tool_update" => self.note(&format!("  … {}", short(text("message")))),
            "tool_result" => {
                let (mark, result) = (if event["is_error"] == true { "✗" } else { "→" }, short(text("result")));
                self.note(format!("  {mark} {name} {result}").trim_end())
            }
            "done" if text("stop_reason") == "cancelled" => self.note("(stopped)"),
            "done" if text("stop_reason") != "end_turn" => {
                self.note(&format!("(it stopped: {})", text("stop_reason").replace('_', " ")))
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, block: Block, text: &str) -> Ended {
        // The text of a failed attempt is final if no other attempt follows, and it is on the screen already.
        if self.failed.remove(&block).is_some_and(|failed| failed == text) {
            return Ok(());
        }
        if !self.written.contains_key(&block) && !self.begun.insert(block) {
            self.note("(it begins anew)")?;
        }
        self.written.entry(block).or_default().push_str(text);
        let text = print::clean_block(text);
        if let Some(last) = text.chars().last() {
            self.is_within_line = last != '\n';
        }
        print::raw(&text)
    }
}

fn block_of(event: &Value) -> Block {
    (event["model_call"].as_u64().unwrap_or(0), event["block"].as_u64().unwrap_or(0))
}

/// The first line, cut to [`MAX_SHOWN`] characters.
fn short(text: &str) -> String {
    let mut lines = text.lines();
    let line = print::clean(lines.next().unwrap_or_default());
    let is_cut = lines.next().is_some() || line.chars().count() > MAX_SHOWN;
    let shown: String = line.chars().take(MAX_SHOWN).collect();
    if is_cut { format!("{shown} …") } else { shown }
}
