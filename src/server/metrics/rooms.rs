//! Metrics of rooms: commands and their outcomes, appends, waits in the inbox, loads and catch-ups.

use std::borrow::Cow;

use notarium_core::{RejectionCode, wire_word};
use notarium_telemetry::{Histogram, SHORT_TIMES};
use prometheus_client::metrics::counter::Counter;

use super::{Counters, MetricList, OpenRooms, begin_at_zero};

/// Metrics of rooms.
#[derive(Debug)]
pub struct RoomMetrics {
    commands: Counters<1>,
    /// Commands that were acknowledged: the frequent ones, without a look at the family.
    pub acked: Counter,
    /// Time that a message waits in a room's inbox.
    pub inbox_waits: Histogram,
    /// Time from a room's append to its answer.
    pub append_times: Histogram,
    /// Time of the load of a notebook.
    pub load_times: Histogram,
    pub snapshots_sent: Counter,
    pub tails_sent: Counter,
    /// Subscribers whose queue was full, so that they are caught up.
    pub lagging: Counter,
    /// Rooms that a fault of the program has ended.
    pub faults: Counter,
    pub leases_lost: Counter,
    pub leases_released: Counter,
    /// Rooms that are open, with their work.
    pub open: OpenRooms,
}

impl RoomMetrics {
    pub(super) fn new(list: &mut MetricList) -> Self {
        let commands = list.add_family(
            "notarium_commands_total",
            "Commands by outcome: ack, or the code of the rejection",
            &["outcome"],
            Counters::default(),
        );
        let acked = commands.get_or_create_owned(&[("outcome", "ack".into())]);
        let inbox = "Time that a message waits in the inbox of its room";
        let inbox_waits = list.histogram("notarium_room_inbox_wait_seconds", inbox, SHORT_TIMES);
        let append = "Time of a room's append, with its wait for a batch";
        let append_times = list.histogram("notarium_append_seconds", append, SHORT_TIMES);
        let load = "Time in which a notebook is loaded from the store";
        let load_times = list.histogram("notarium_room_load_seconds", load, SHORT_TIMES);
        let catch_ups = list.add_family(
            "notarium_catch_ups_total",
            "Subscriptions by what the client was sent: events since its version, or a snapshot",
            &["with"],
            Counters::default(),
        );
        begin_at_zero(&catch_ups, "with", ["events", "snapshot"]);
        let lagging = "Times that a subscriber read too slowly and was caught up";
        let faults = "Rooms that a fault of the program has ended";
        let leases = list.add_family(
            "notarium_leases_ended_total",
            "Leases by their end: given back, or lost to another node",
            &["end"],
            Counters::default(),
        );
        Self {
            commands,
            acked,
            inbox_waits,
            append_times,
            load_times,
            snapshots_sent: catch_ups.get_or_create_owned(&[("with", "snapshot".into())]),
            tails_sent: catch_ups.get_or_create_owned(&[("with", "events".into())]),
            lagging: list.add("notarium_lagging_subscribers_total", lagging, Counter::default()),
            faults: list.add("notarium_room_faults_total", faults, Counter::default()),
            leases_lost: leases.get_or_create_owned(&[("end", "lost".into())]),
            leases_released: leases.get_or_create_owned(&[("end", "released".into())]),
            open: OpenRooms::default(),
        }
    }

    /// Counts the answer to a command.
    pub fn answered(&self, refusal: Option<RejectionCode>) {
        match refusal {
            None => _ = self.acked.inc(),
            Some(code) => _ = self.commands.get_or_create(&[("outcome", Cow::Owned(wire_word(&code)))]).inc(),
        }
    }
}
