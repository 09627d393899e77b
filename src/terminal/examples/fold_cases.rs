//! Folds pieces of streams for comparison with other readers: a JSON array of pieces a line on the standard input, an object with
//! the pieces, the folded text and the plain text a line on the standard output. With `--recorded` the pieces are those that an
//! agent records. `tests/fixtures/terminal/streams.py` makes streams.

use std::io::{self, BufRead, Write};

use notarium_terminal::{FoldLimits, StreamFold, folded, folded_plain};
use serde_json::json;

/// The pieces that an agent records of a stream.
fn recorded(parts: &[String]) -> Vec<String> {
    let mut fold = StreamFold::new(FoldLimits::WRITER);
    let pieces = parts.iter().map(|part| {
        fold.push(part);
        fold.take()
    });
    pieces.collect()
}

fn main() -> io::Result<()> {
    let is_recorded = std::env::args().any(|argument| argument == "--recorded");
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let mut pieces: Vec<String> = serde_json::from_str(&line?)?;
        if is_recorded {
            pieces = recorded(&pieces);
        }
        let text = pieces.concat();
        writeln!(out, "{}", json!({"folded": folded(&text), "pieces": pieces, "plain": folded_plain(&text)}))?;
    }
    out.flush()
}
