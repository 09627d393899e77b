//! Metrics of what nodes forward to each other.

use std::time::Duration;

use notarium_telemetry::{Histogram, SHORT_TIMES};

use super::{Counters, MetricList};

/// Things that are forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardedThing {
    Request,
    /// A command that this node's own parts send.
    Command,
    /// A client's connection.
    Socket,
}

/// End of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardOutcome {
    /// The node answered; a socket: was connected.
    Answered,
    /// The node did not take it: it is tried again elsewhere.
    NotTaken,
    /// The node took it and gave no answer.
    Unknown,
}

/// Metrics of what nodes forward to each other.
#[derive(Debug)]
pub struct ForwardMetrics {
    forwards: Counters<2>,
    times: Histogram,
}

const THINGS: [(ForwardedThing, &str); 3] =
    [(ForwardedThing::Request, "request"), (ForwardedThing::Command, "command"), (ForwardedThing::Socket, "socket")];
const OUTCOMES: [(ForwardOutcome, &str); 3] = [
    (ForwardOutcome::Answered, "answered"),
    (ForwardOutcome::NotTaken, "not_taken"),
    (ForwardOutcome::Unknown, "unknown"),
];

fn word<T: PartialEq>(words: &[(T, &'static str)], wanted: &T) -> &'static str {
    words.iter().find(|(value, _)| value == wanted).map_or(super::OTHER, |(_, word)| word)
}

impl ForwardMetrics {
    pub(super) fn new(list: &mut MetricList) -> Self {
        let forwards = list.add_family(
            "notarium_forwards_total",
            "Attempts to forward something to another node, by what it is and how it ended",
            &["what", "outcome"],
            Counters::default(),
        );
        for (_, thing) in THINGS {
            for (_, outcome) in OUTCOMES {
                drop(forwards.get_or_create(&[("what", thing.into()), ("outcome", outcome.into())]));
            }
        }
        let help = "Time of an attempt to forward something, until the answer begins";
        Self { forwards, times: list.histogram("notarium_forward_seconds", help, SHORT_TIMES) }
    }

    /// Counts an attempt.
    pub fn ended(&self, thing: ForwardedThing, outcome: ForwardOutcome, time: Duration) {
        let labels = [("what", word(&THINGS, &thing).into()), ("outcome", word(&OUTCOMES, &outcome).into())];
        self.forwards.get_or_create(&labels).inc();
        self.times.observe_time(time);
    }
}
