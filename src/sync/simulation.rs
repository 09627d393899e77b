//! Many clients, an agent, a bad network, a disk that loses what was not synced, restarts: one seed, one story.

mod fault;

pub(crate) use fault::{Fault, plant_in_command, plant_in_records, plants_drop};
