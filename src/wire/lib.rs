//! Under construction.

pub mod ipynb;
