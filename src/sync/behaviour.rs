//! What clients see of a room, one behaviour each.

mod clients;
mod commands;
mod comms;
mod faults;
mod judging;
mod kernels;
mod maintenance;
mod reactive;
mod rendering;
mod scene;
mod unposted;
