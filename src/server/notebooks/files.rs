//! Import and export of files: `.ipynb` to commands, state to `.ipynb`, large parts to blobs and back. Pure, except for
//! `pieces`, `long`, `long_check` and `readable`, which read the blobs of a file that is written.

pub mod export;
pub mod import;
mod long;
mod long_check;
pub mod pieces;
pub mod readable;
