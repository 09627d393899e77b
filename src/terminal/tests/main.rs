//! Tests of the crate's public interface.

mod pieces;
mod screens;
