//! Counts of what happened in the stories, as stories without events prove nothing.

use std::collections::BTreeMap;

use notarium_core::{Actor, Event, ExecutionCause, Stored};

/// Events that must have happened in many stories together.
const AT_LEAST_ONCE: [&str; 30] = [
    "crash",
    "resync",
    "conflict",
    "retry",
    "base too old",
    "store failure",
    "report gap",
    "snapshot",
    "shut out",
    "imported",
    "outcome unknown",
    "waited for its agent",
    "launched for the waiting",
    "AccessGranted",
    "AccessRevoked",
    "NotebookPolicyChanged",
    "NotebookReactivitySet",
    "NotebookKernelSettingsSet",
    "planned",
    "removal",
    "ExecutionLost",
    "ToolCallConfirmed",
    "ToolCallDenied",
    "ToolCallWithdrawn",
    "ToolCallExpired",
    "ToolCallVoided",
    "ToolCallStarted",
    "ToolCallExecuted",
    "TurnFinished",
    "TurnCancelled",
];

#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub stories: u64,
    events: u64,
    counts: BTreeMap<String, u64>,
}

impl Totals {
    pub(crate) fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    pub(crate) fn count_events(&mut self, log: &[Stored]) {
        self.stories = 1;
        self.events = log.len() as u64;
        for stored in log {
            self.count(&stored.envelope.event_type);
            match stored.typed().map(|recorded| (recorded.envelope.actor, recorded.event)) {
                Ok((_, Event::ExecutionRequested(event)))
                    if event.kernel_session.is_none() && event.cause == ExecutionCause::Requested =>
                {
                    self.count("waited for its agent");
                }
                Ok((Actor::Agent { .. }, Event::KernelLaunchRequested(_))) => self.count("launched for the waiting"),
                _ => {}
            }
            let words = [
                ("outcome_unknown", "outcome unknown"),
                (r#""cause":"imported""#, "imported"),
                (r#""waits_for":["#, "planned"),
                ("remove variables", "removal"),
            ];
            for (word, what) in words {
                if stored.payload.get().contains(word) {
                    self.count(what);
                }
            }
        }
    }

    pub(crate) fn add(&mut self, other: Totals) {
        self.stories += other.stories;
        self.events += other.events;
        for (what, count) in other.counts {
            *self.counts.entry(what).or_default() += count;
        }
    }

    pub(crate) fn check_is_eventful(&self) {
        let missing: Vec<&str> = AT_LEAST_ONCE.into_iter().filter(|what| !self.counts.contains_key(*what)).collect();
        assert!(missing.is_empty(), "never happened: {missing:?} in {self:?}");
        assert!(self.events / self.stories > 20, "{self:?}");
    }
}
