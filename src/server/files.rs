//! Files in and out: `.ipynb` to commands, state to `.ipynb`, large parts to blobs and back. Pure.

pub mod export;
pub mod import;
pub mod parts;
