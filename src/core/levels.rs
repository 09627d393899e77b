//! Levels of releases: events that a release does not read are not written while it may still open the store.

use crate::command::Command;

/// Level of this build: 1 is release 0.1, 2 is 0.2.
pub const LEVEL: u32 = 2;

/// The lowest level that reads all events of a command.
pub const fn required_level(command: &Command) -> u32 {
    match command {
        Command::SetSchedule(_)
        | Command::RemoveSchedule(_)
        | Command::RunSchedule(_)
        | Command::StartScheduledRun(_)
        | Command::EndScheduledRun(_) => 2,
        _ => 1,
    }
}
