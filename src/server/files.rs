//! Files in and out: `.ipynb` to commands, state to `.ipynb`, large parts to blobs and back. Pure, but for `pieces` and `long`, which
//! read the blobs of a file on its way out.

pub mod export;
pub mod import;
mod long;
mod long_check;
pub mod own;
pub mod parts;
pub mod pieces;
pub mod readable;
