//! Text of programs as a terminal shows it: 4,000 columns wide, never scrolling. Carriage returns, backspaces, tabs, cursor moves
//! and erasing are carried out; colours stay.
//!
//! **Invariants.** Pieces of a [`StreamFold`], put together, show the same characters and colours as the text that came, wherever
//! it was cut. Plain lines stay as they came, byte for byte. Memory between pieces is bounded by [`FoldLimits`]. After a
//! sequence whose effect is unknown (another screen, a scroll region), the text stays as it came. Must never wait or do I/O.

mod escape;
mod fold;
mod row;
mod screen;
mod style;
mod write;

pub use fold::{FoldLimits, StreamFold};

/// Columns to which a cursor can be moved.
pub const COLUMNS: usize = 4_000;

/// The text that a terminal shows at its end, with colours as escapes.
pub fn folded(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut fold = StreamFold::new(FoldLimits::READER);
    fold.push(text);
    fold.finish()
}

/// The text that a terminal shows at its end, without colours. Other escapes that are left are removed too.
pub fn folded_plain(text: &str) -> String {
    escape::removed(&folded(text))
}

fn is_plain(text: &str) -> bool {
    escape::plain_bytes(text) == text.len()
}

/// The characters of a text's last screen, with the look of each cell, for comparison with other terminals.
#[doc(hidden)]
pub fn cells_of(text: &str) -> Option<Vec<Vec<(String, style::Style)>>> {
    let mut fold = StreamFold::new(FoldLimits::READER);
    fold.push(text);
    fold.cells()
}

#[doc(hidden)]
pub use style::{Style, TextColour};
