//! The shared document of Jupyter: a projection of a notebook's record, and the commands that clients' changes of it mean.

pub mod cell_view;
pub mod differences;
mod order;
mod own_ids;
pub mod projection;
mod schema;
#[cfg(test)]
mod tests;
pub mod values;
mod writing;
