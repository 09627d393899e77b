//! The commands of the `notarium` program. A crate of its own, so that it is compiled while the page is built, which only
//! the program contains.

pub mod cli;
