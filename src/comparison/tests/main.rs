//! The comparison: what counts and what does not, and laws that hold for all outputs.

mod counts;
mod laws;
