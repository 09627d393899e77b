//! Under construction.

pub mod rooms;
