//! Tests of the crate's public interface.

mod pieces;
mod readers;
mod screens;
