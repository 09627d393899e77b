//! The tree of heads: a log to which a server appends the signed heads of its notebooks, so that one note covers them all.
//!
//! It is a Merkle tree of RFC 6962 with SHA-256, laid out as [tlog-tiles](https://c2sp.org/tlog-tiles). `merkle` has the arithmetic, `tiles`
//! the layout, `checkpoint` the signed note with size and root, and `proof` the proof that a head is in the tree.

pub mod checkpoint;
pub mod merkle;
pub mod proof;
pub mod tiles;
