//! Streams of running code, printed line by line. A line without its end is held back, because a carriage return may rewrite it; a
//! terminal shows it meanwhile.

use std::io::Write;

use console::{Term, truncate_str};

use crate::cli::Ended;
use crate::cli::terminal::print;

/// Longest line that is held back, in bytes.
const MAX_BYTES: usize = 64 << 10;

/// The last line of a stream, until it ends.
#[derive(Debug, Default)]
pub struct UnfinishedLine {
    text: String,
    /// True: the line goes to standard error.
    is_alarming: bool,
    is_drawn: bool,
}

impl UnfinishedLine {
    /// Prints the lines that a piece of a stream finishes.
    pub fn add(&mut self, piece: &str, is_alarming: bool) -> Ended {
        if is_alarming != self.is_alarming {
            self.finish()?;
            self.is_alarming = is_alarming;
        }
        let finished = self.finished_by(piece);
        self.write(&finished)
    }

    /// Prints what is held back; call before any other output.
    pub fn finish(&mut self) -> Ended {
        let rest = notarium_terminal::folded(&std::mem::take(&mut self.text));
        self.write(&rest)
    }

    /// Shows the line on a terminal.
    pub fn draw(&mut self) {
        let terminal = if self.is_alarming { Term::stderr() } else { Term::stdout() };
        if !terminal.is_term() || self.text.is_empty() {
            return;
        }
        self.erase();
        let line = print::clean_block(&notarium_terminal::folded(&self.text));
        let width = usize::from(terminal.size().1).saturating_sub(1);
        // Ignored: only the look of a line that is printed again.
        _ = terminal.write_str(&truncate_str(&line, width, "…"));
        self.is_drawn = true;
    }

    fn finished_by(&mut self, piece: &str) -> String {
        self.text.push_str(piece);
        let end = match self.text.rfind('\n') {
            _ if self.text.len() > MAX_BYTES => self.text.len(),
            Some(last) => last + 1,
            None => 0,
        };
        let finished: String = self.text.drain(..end).collect();
        notarium_terminal::folded(&finished)
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let terminal = if self.is_alarming { Term::stderr() } else { Term::stdout() };
            _ = terminal.clear_line();
        }
    }

    fn write(&mut self, text: &str) -> Ended {
        self.erase();
        let text = print::clean_block(text);
        match self.is_alarming {
            // Ignored: without a standard error, no person reads it.
            true => _ = std::io::stderr().write_all(text.as_bytes()),
            false if text.is_empty() => {}
            false => print::raw(&text)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_printed_once_it_can_no_longer_be_rewritten() {
        let mut line = UnfinishedLine::default();
        let finished = ["  0%|  |0/2", "\r 50%|# |1/2", "\r100%|##|2/2\nnext", " one\rdone", "\n"]
            .map(|piece| line.finished_by(piece));
        assert_eq!(finished, ["", "", "100%|##|2/2\n", "", "done one\n"]);
        assert_eq!(line.finished_by(&"x".repeat(MAX_BYTES + 1)).len(), MAX_BYTES + 1, "memory is bounded");
    }
}
