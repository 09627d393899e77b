//! Seccomp filter with a listener: the system tells a supervisor of each system call that could have an effect outside its process.
//!
//! Purpose: the table of told and refused calls ([`ToldCall`], [`FilterRule`]), the filter's instructions (`filter`), their
//! installation (`install`), the hand-over of the listener to another process (`handover`), and the supervisor's end of it
//! (`CallListener`). Linux 5.19 or newer on x86-64 and aarch64; elsewhere nothing can be installed.
//!
//! Invariants:
//! - Calls of another architecture (`int 0x80`, x32) fail with ENOSYS, so the table covers all calls that pass.
//! - A call that goes round the filter, answers for the supervisor or reaches into another process fails with EPERM, always.
//! - A call whose flags lie in memory fails with ENOSYS; libraries fall back to one whose flags lie in registers.
//! - The descriptor of the listener never stays in the filtered process.
//! - `unsafe` is used in `system` alone.
//!
//! This crate must never decide whether a told call may happen.

mod calls;
mod filter;
#[cfg(target_os = "linux")]
mod handover;
#[cfg(target_os = "linux")]
mod listener;
#[cfg(target_os = "linux")]
mod system;

pub use calls::{Architecture, CallGroup, Condition, FilterOptions, FilterRule, ToldCall, rules};
pub use filter::{Instruction, program};
#[cfg(target_os = "linux")]
pub use handover::{HandedOver, HandoverError, READY_ERROR, hand_over, inherited, receive};
#[cfg(target_os = "linux")]
pub use listener::{CallListener, Notification, ToldAnswer};
