//! `watch`: shows all activity in a notebook live, across reconnects and without a gap.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use clap::Args;
use notarium_agent::connection::ConnectionEvent;
use notarium_core::{Document, Event, Recorded, Version};
use notarium_wire::{
    CheckMessage, CheckedMessage, ClientMessage, EventsMessage, KernelStatus, PeerState, ServerMessage,
    SubscribedMessage,
};

use crate::cli::connection::client::NotebookClient;
use crate::cli::runs::follow::NotebookFollower;
use crate::cli::runs::kernels::advice;
use crate::cli::terminal::print::{self, style};
use crate::cli::words::narrate::{NarratedEvent, Narrator};
use crate::cli::words::outputs::{self, Bars};
use crate::cli::{Ended, Failure, history};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium watch analysis
  notarium watch analysis --since 0 --json | jq -r .type
  notarium watch analysis --check")]
pub struct WatchArgs {
    /// Begin with what happened after this version; absent: with what happens from now on.
    #[arg(long, value_name = "VERSION")]
    since: Option<Version>,
    /// One event a line, as the socket sends them; nothing else.
    #[arg(long)]
    json: bool,
    /// Compare the state with the server's by its digest, again and again; exit with 1 if it ever differed.
    #[arg(long)]
    check: bool,
}

pub async fn watch(args: WatchArgs, notebook: NotebookClient) -> Ended {
    let mut follower = NotebookFollower::enter(&notebook).await?;
    let mut watcher = Watcher {
        narrator: Narrator::new(&notebook),
        notebook,
        shown: args.since,
        as_json: args.json,
        here: BTreeMap::new(),
        bars: Bars::default(),
    };
    let mut checker = args.check.then(DigestChecker::default);
    let mut quiet = tokio::time::interval(CHECK_EVERY);
    // Created once: otherwise a Ctrl-C while an event is shown would be missed.
    let mut interrupted = pin!(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            biased;
            _ = &mut interrupted => {
                watcher.bars.erase();
                return checker.map_or(Ok(()), |checker| checker.end());
            }
            event = follower.next() => {
                let event = event?;
                if let Some(checker) = &mut checker {
                    checker.on_event(&event, &follower);
                }
                watcher.bars.erase();
                watcher.on_event(event, &follower).await?;
                watcher.bars.draw(|_| true);
            }
            _ = quiet.tick() => {
                if let Some(checker) = &mut checker {
                    checker.ask(&follower);
                }
            }
        }
    }
}

struct Watcher {
    notebook: NotebookClient,
    /// The last version that was shown; `None` until the start is known.
    shown: Option<Version>,
    as_json: bool,
    narrator: Narrator,
    /// Names of present people by connection.
    here: BTreeMap<String, String>,
    bars: Bars,
}

impl Watcher {
    async fn on_event(&mut self, event: ConnectionEvent, follower: &NotebookFollower) -> Ended {
        match event {
            ConnectionEvent::Subscribed(message) => {
                follower.follow_progress();
                self.subscribed(message, follower.state()).await
            }
            ConnectionEvent::Events { message, recorded } => {
                for recorded in &recorded {
                    if let Event::KernelSessionStarted(event) = &recorded.event {
                        outputs::follow_kernel(&follower.sender(), &follower.notebook, &event.kernel_session);
                    }
                }
                self.events(message, recorded).await
            }
            ConnectionEvent::Message(message) => self.message(message),
            ConnectionEvent::Disconnected { cause, .. } => print::noted(format!("{cause}\nconnecting again …")),
            ConnectionEvent::Connected(_) => print::noted("connected again"),
            ConnectionEvent::Failed(error) => Err(error.into()),
        }
    }

    /// Reads events from the record that are older than the received state and were not shown.
    async fn subscribed(&mut self, message: SubscribedMessage, state: Option<&Document>) -> Ended {
        let held = state.map_or(message.version, |state| state.version);
        if message.diverged {
            print::note(
                "the server's record is another one now, as after a restore from a backup: what follows is its state",
            );
            self.shown = Some(held);
        }
        if let Some(shown) = self.shown.filter(|shown| *shown < held) {
            self.catch_up(shown, held).await?;
        }
        if let Some(state) = state {
            self.narrator.learn(state);
        }
        if self.shown.is_none() && !self.as_json {
            let title = state.map(|state| print::clean(&state.title)).unwrap_or_default();
            print::note(format!("watching \"{title}\" from version {held} on; Ctrl-C ends it"));
        }
        self.shown = Some(self.shown.unwrap_or(held).max(held));
        self.here.clear();
        self.peers(&message.peers, &[])
    }

    async fn catch_up(&mut self, shown: Version, to: Version) -> Ended {
        let mut missed = Vec::new();
        history::each_event(&self.notebook, shown, |stored| {
            missed.extend((stored.envelope.version <= to).then(|| NarratedEvent::from(stored)));
            Ok(())
        })
        .await?;
        for event in missed {
            self.show(event).await?;
        }
        Ok(())
    }

    async fn events(&mut self, message: EventsMessage, recorded: Vec<Recorded>) -> Ended {
        let mut typed: BTreeMap<Version, Recorded> =
            recorded.into_iter().map(|recorded| (recorded.envelope.version, recorded)).collect();
        for message in message.events {
            let recorded = typed.remove(&message.version);
            self.show(NarratedEvent { message, recorded }).await?;
        }
        Ok(())
    }

    /// Shows each version once.
    async fn show(&mut self, event: NarratedEvent) -> Ended {
        let version = event.message.version;
        if self.shown.is_some_and(|last| version <= last) {
            return Ok(());
        }
        self.shown = Some(version);
        match self.as_json {
            true => print::json_line(&event.message),
            false => print::line(self.narrator.line(&event, print::clock).await),
        }
    }

    // --- messages outside the log ---

    fn message(&mut self, message: ServerMessage) -> Ended {
        match message {
            ServerMessage::Presence { notebook, peers, left } if notebook == self.notebook.id => {
                self.peers(&peers, &left)
            }
            ServerMessage::Kernels { notebook, kernels } if notebook == self.notebook.id => self.kernels(&kernels),
            message => {
                if !self.as_json {
                    self.bars.hear(&message);
                }
                Ok(())
            }
        }
    }

    fn peers(&mut self, peers: &[PeerState], left: &[String]) -> Ended {
        for peer in peers {
            let name = print::clean(&peer.name);
            if self.here.insert(peer.connection.clone(), name.clone()).is_none() {
                self.aside(format!("{name} is here"))?;
            }
        }
        for connection in left {
            if let Some(name) = self.here.remove(connection) {
                self.aside(format!("{name} left"))?;
            }
        }
        Ok(())
    }

    fn kernels(&self, kernels: &[KernelStatus]) -> Ended {
        let unreachable = kernels.iter().filter(|kernel| !kernel.reachable);
        unreachable
            .map(|kernel| advice(kernel.unreachable_since, self.notebook.id.as_str()))
            .try_for_each(|text| self.aside(text))
    }

    fn aside(&self, text: String) -> Ended {
        if self.as_json {
            return Ok(());
        }
        print::line(style(format!("       {text}")).dim())
    }
}

// --- --check: compares the state that was folded here with the server's ---

/// Interval of checks while there are changes.
const CHECK_EVERY: Duration = Duration::from_secs(5);

/// Requests the server's digest, one check at a time.
#[derive(Debug, Default)]
struct DigestChecker {
    /// The version of the last check.
    asked: Version,
    is_waiting: bool,
    answers: u64,
    differences: u64,
}

impl DigestChecker {
    fn on_event(&mut self, event: &ConnectionEvent, follower: &NotebookFollower) {
        match event {
            ConnectionEvent::Message(ServerMessage::Checked(answer)) if answer.notebook == follower.notebook => {
                self.answered(answer);
            }
            ConnectionEvent::Subscribed(message) => {
                // A check is lost if its connection is cut.
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

    /// Requests a check of the present state, unless it was checked or an answer is pending.
    fn ask(&mut self, follower: &NotebookFollower) {
        let Some(state) = follower.state().filter(|state| state.version > self.asked && !self.is_waiting) else {
            return;
        };
        // A state without a canonical form has no digest, here or on the server.
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

    /// The result of all checks.
    fn end(self) -> Ended {
        let DigestChecker { answers, differences, .. } = self;
        let told = format!("compared {answers} times with the server, {differences} differences");
        if differences > 0 {
            return Err(Failure::failed(format!(
                "{told}: where the server is newer than this command, update the command; else please report it, with the \
                 notebook's record (notarium log)"
            )));
        }
        print::noted(told)
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
        let mut checker = DigestChecker { asked: 7, is_waiting: true, ..DigestChecker::default() };
        checker.answered(&answer(false));
        assert!(!checker.is_waiting);
        checker.answered(&answer(true));
        assert_eq!((checker.answers, checker.differences), (2, 1));
        checker.end().expect_err("it differed");
    }

    #[test]
    fn no_difference_is_a_success() {
        let mut checker = DigestChecker::default();
        checker.answered(&answer(false));
        checker.end().expect("all the same");
    }
}
