//! Tests of a room's behaviour as clients see it.

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
