//! `watch --check`: is the state that was folded here the server's?

use std::time::Duration;

use notarium_agent::connection::ConnectionEvent;
use notarium_core::Version;
use notarium_wire::{CheckMessage, CheckedMessage, ClientMessage, ServerMessage};

use super::follow::Follower;
use super::{Ended, Failure, print};

/// Where something happened, the server is asked that often.
pub const CHECK_EVERY: Duration = Duration::from_secs(5);

/// Asks for the server's digest, one question at a time.
#[derive(Debug, Default)]
pub struct Checker {
    /// The version of the last question.
    asked: Version,
    is_waiting: bool,
    answers: u64,
    differences: u64,
}

impl Checker {
    pub fn on_event(&mut self, event: &ConnectionEvent, follower: &Follower) {
        match event {
            ConnectionEvent::Message(ServerMessage::Checked(answer)) if answer.notebook == follower.notebook => {
                self.answered(answer);
            }
            ConnectionEvent::Subscribed(message) => {
                // A question before a cut is lost with its connection.
                self.is_waiting = false;
                let own = message.digest.and_then(|_| follower.state()?.digest().ok());
                if own.is_some()
                    && own != message.digest
                    && follower.state().map(|state| state.version) == Some(message.version)
                {
                    self.differs(message.version);
                }
                self.ask(follower);
            }
            _ => {}
        }
    }

    /// Asks about the state that is held now, unless that was asked, or an answer is to come.
    pub fn ask(&mut self, follower: &Follower) {
        let Some(state) = follower.state().filter(|state| state.version > self.asked && !self.is_waiting) else {
            return;
        };
        // What has no canonical form has no digest, here as there.
        let Ok(digest) = state.digest() else { return };
        (self.asked, self.is_waiting) = (state.version, true);
        let (notebook, version) = (follower.notebook.clone(), state.version);
        follower.sender().ephemeral(ClientMessage::Check(CheckMessage { notebook, version, digest: Some(digest) }));
    }

    fn answered(&mut self, answer: &CheckedMessage) {
        (self.is_waiting, self.answers) = (false, self.answers + 1);
        if answer.differs {
            self.differs(answer.version);
        }
    }

    fn differs(&mut self, version: Version) {
        self.differences += 1;
        print::note(format!("at version {version} the state here is not the server's: the server's takes its place"));
    }

    /// What it came to.
    pub fn end(self) -> Ended {
        let Checker { answers, differences, .. } = self;
        let told = format!("compared {answers} times with the server, {differences} differences");
        if differences > 0 {
            return Err(Failure::failed(format!(
                "{told}: where the server is newer than this command, update the command; else please report it, with the \
                 notebook's record (notarium log)"
            )));
        }
        print::note(told);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(differs: bool) -> CheckedMessage {
        CheckedMessage { notebook: "nb".parse().unwrap(), version: 7, digest: None, differs }
    }

    #[test]
    fn a_difference_ends_in_a_failure() {
        let mut checker = Checker { asked: 7, is_waiting: true, ..Checker::default() };
        checker.answered(&answer(false));
        assert!(!checker.is_waiting);
        checker.answered(&answer(true));
        assert_eq!((checker.answers, checker.differences), (2, 1));
        checker.end().expect_err("it differed");
    }

    #[test]
    fn no_difference_is_a_success() {
        let mut checker = Checker::default();
        checker.answered(&answer(false));
        checker.end().expect("all the same");
    }
}
