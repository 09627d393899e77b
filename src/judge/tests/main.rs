//! The judge's tests by its public API alone.

mod danger;
mod grades;
mod harmless;
mod hostile;
mod names;
mod registrations;
mod samples;
mod sql_cells;
