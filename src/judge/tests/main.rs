//! The judge's tests by its public API alone.

mod danger;
mod hostile;
mod names;
mod samples;
