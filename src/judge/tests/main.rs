//! The judge's tests by its public API alone.

mod danger;
mod harmless;
mod hostile;
mod names;
mod people;
mod registrations;
mod samples;
mod sql_cells;
