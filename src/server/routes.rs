//! The REST routes: one file per subject.

pub mod accounts;
