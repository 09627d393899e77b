//! TODO

pub mod checks;
pub mod diff;
pub mod files;
pub mod fork;
pub mod listing;
pub mod log_watch;
pub mod output_spill;
pub mod replay;
pub mod snippets;
pub mod state_texts;
pub mod templates;
