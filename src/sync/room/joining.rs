//! Subscriptions and catch-up: missing events if that is cheap, else a snapshot, serialised once for all waiting clients. Always from the state
//! on disk.

use std::sync::Arc;

use notarium_core::{CellId, EventId, HistoryQuery, Rejection, RejectionCode, Role, Stored, Version};
use notarium_wire::{
    DOCUMENT, ErrorCode, EventMessage, ServerMessage, SubscribeMessage, SubscribedMessage, UnconfirmedText, frame,
};

use super::subscribers::Transport;
use super::{Cycle, Room};
use crate::io::{Caller, ClientId, Identity, Output, ReadFailure, ReadState, Rendered};

/// A request that is answered from the state on disk, when no append is in flight.
#[derive(Debug)]
pub(super) enum WaitingRequest {
    Read {
        identity: Arc<Identity>,
        caller: Caller<Result<ReadState, Rejection>>,
    },
    Subscribe {
        client: ClientId,
        identity: Arc<Identity>,
        request: SubscriptionRequest,
        /// Arrival number; earlier commands of the client are decided first.
        arrival: u64,
    },
}

impl WaitingRequest {
    pub(super) fn is_subscription_of(&self, client: ClientId) -> bool {
        matches!(self, WaitingRequest::Subscribe { client: other, .. } if *other == client)
    }
}

/// State that a subscriber has, and what it requests.
#[derive(Debug, Clone, Default)]
pub(super) struct SubscriptionRequest {
    transport: Transport,
    since: Option<Version>,
    /// Id of the event at `since`; absent: the room knows that the client has it.
    event_id: Option<EventId>,
    /// True if `since` is not in this log.
    diverged: bool,
    unconfirmed: Vec<UnconfirmedText>,
    /// Reason of a resync, for the client.
    resync: Option<&'static str>,
    /// Minimum version of a snapshot.
    at_least: Version,
}

impl SubscriptionRequest {
    /// Requests the whole state, for this reason.
    fn resync(reason: &'static str) -> Self {
        Self { resync: Some(reason), ..Self::default() }
    }
}

/// A subscription that waits for the store, or for a snapshot.
#[derive(Debug)]
pub(super) struct PendingJoin {
    pub client: ClientId,
    pub(super) identity: Arc<Identity>,
    pub(super) request: SubscriptionRequest,
    question: JoinQuestion,
    /// Version up to which the answer is complete.
    asked_at: Version,
    pub found: Option<Result<Vec<Stored>, ReadFailure>>,
}

impl PendingJoin {
    pub(super) fn waits_for_state(&self) -> bool {
        matches!(self.question, JoinQuestion::State)
    }

    fn of(joining: ReadyJoin, question: JoinQuestion, asked_at: Version) -> Self {
        let ReadyJoin { client, identity, request, .. } = joining;
        PendingJoin { client, identity, request, question, asked_at, found: None }
    }
}

/// Question of a join to the store.
#[derive(Debug, Clone, Copy)]
enum JoinQuestion {
    /// Events after a version.
    Tail(Version),
    /// Events of the cells with unconfirmed text.
    Cells,
    /// The serialised state.
    State,
}

/// A subscription that can be answered.
struct ReadyJoin {
    client: ClientId,
    identity: Arc<Identity>,
    role: Role,
    request: SubscriptionRequest,
}

/// Events of cells with unconfirmed text, and those cells that are too far back.
type UnconfirmedEvents = (Vec<EventMessage>, Vec<CellId>);

impl Room {
    pub(super) fn take_subscribe(
        &mut self,
        cycle: &mut Cycle,
        client: ClientId,
        identity: Arc<Identity>,
        message: SubscribeMessage,
    ) {
        let (since, event_id) = message.since.map(|last| (last.version, last.event_id)).unzip();
        let unconfirmed = message.unconfirmed;
        self.waiting.retain(|waiting| !waiting.is_subscription_of(client));
        self.joins.retain(|_, join| join.client != client);
        let request = SubscriptionRequest { since, event_id, unconfirmed, ..SubscriptionRequest::default() };
        self.enqueue(cycle, client, identity, request);
    }

    pub(super) fn take_follow(&mut self, cycle: &mut Cycle, client: ClientId, identity: Arc<Identity>) {
        let request = SubscriptionRequest { transport: Transport::Values, ..SubscriptionRequest::default() };
        self.enqueue(cycle, client, identity, request);
    }

    pub(super) fn enqueue(
        &mut self,
        cycle: &mut Cycle,
        client: ClientId,
        identity: Arc<Identity>,
        request: SubscriptionRequest,
    ) {
        let arrival = self.next_arrival();
        self.wait(cycle, WaitingRequest::Subscribe { client, identity, request, arrival });
    }

    /// Resyncs a lagging client from the version that it has, unless a subscription is already in progress.
    pub(super) fn resync(&mut self, cycle: &mut Cycle, client: ClientId, reason: &'static str) {
        let is_coming = self.waiting.iter().any(|waiting| waiting.is_subscription_of(client));
        if is_coming || self.joins.values().any(|join| join.client == client) {
            return;
        }
        let Some(subscriber) = self.subscribers.get(&client) else { return };
        if subscriber.transport == Transport::Values {
            return self.send_position(cycle, client);
        }
        let since = Some(subscriber.sent).filter(|sent| *sent <= self.committed);
        let identity = subscriber.identity.clone();
        self.enqueue(cycle, client, identity, SubscriptionRequest { since, ..SubscriptionRequest::resync(reason) });
    }

    /// Resyncs a client whose state differs from the notebook's. A waiting subscription does the same.
    pub(super) fn take_differing(&mut self, cycle: &mut Cycle, client: ClientId) {
        if self.waiting.iter().any(|waiting| waiting.is_subscription_of(client)) {
            return;
        }
        self.joins.retain(|_, join| join.client != client);
        self.resync_from_nothing(cycle, client, "your state was not that of the notebook");
    }

    /// Gives a subscriber the whole state.
    pub(super) fn resync_from_nothing(&mut self, cycle: &mut Cycle, client: ClientId, reason: &'static str) {
        let Some(subscriber) = self.subscribers.get_mut(&client) else { return };
        if subscriber.transport == Transport::Values {
            return self.send_position(cycle, client);
        }
        subscriber.is_lagging = true;
        let identity = subscriber.identity.clone();
        self.enqueue(cycle, client, identity, SubscriptionRequest::resync(reason));
    }

    /// Serves all requests that can be answered now.
    pub(super) fn serve_waiting(&mut self, cycle: &mut Cycle) {
        let is_state_there = !self.rendering.is_under_way();
        let is_ready = |join: &PendingJoin| join.found.is_some() || (is_state_there && join.waits_for_state());
        let ready: Vec<u64> = self.joins.iter().filter(|(_, join)| is_ready(join)).map(|(id, _)| *id).collect();
        for ticket in ready {
            if let Some(join) = self.joins.remove(&ticket) {
                self.finish_join(cycle, join);
            }
        }
        for waiting in std::mem::take(&mut self.waiting) {
            self.serve(cycle, waiting);
        }
    }

    fn serve(&mut self, cycle: &mut Cycle, waiting: WaitingRequest) {
        match waiting {
            WaitingRequest::Read { identity, caller } => {
                let state = self.read_state(cycle, &identity);
                cycle.out.push(Output::State { caller, state });
            }
            WaitingRequest::Subscribe { client, arrival, .. } if self.has_earlier(client, arrival) => {
                self.waiting.push(waiting);
            }
            WaitingRequest::Subscribe { client, identity, request, .. } => self.join(cycle, client, identity, request),
        }
    }

    fn join(&mut self, cycle: &mut Cycle, client: ClientId, identity: Arc<Identity>, mut request: SubscriptionRequest) {
        request.at_least = self.committed;
        let role = match self.reading_role(cycle.now, &identity) {
            Ok(role) => role,
            Err(rejection) => {
                let code = match rejection.code {
                    RejectionCode::Forbidden => ErrorCode::Forbidden,
                    _ => ErrorCode::UnknownNotebook,
                };
                return self.send_refusal(cycle, client, code, rejection);
            }
        };
        if request.transport == Transport::Values {
            // Its position has the activity that waits to be sent. It reads the past from the store.
            self.send_activity(cycle);
            self.admit(cycle, client, identity, role, Transport::Values);
            return self.send_position(cycle, client);
        }
        let joining = ReadyJoin { client, identity, role, request };
        match joining.request.since {
            Some(since) if since == 0 || since > self.committed => self.join_diverged(cycle, joining),
            // The client may hold content that is gone.
            Some(since) if since < self.state.redaction_epoch => self.join_with_snapshot(cycle, joining),
            Some(since) => self.join_from(cycle, joining, since),
            None => self.join_with_snapshot(cycle, joining),
        }
    }

    /// Sends a snapshot to a client with events that this log lacks: its state and the bases of its texts are useless.
    fn join_diverged(&mut self, cycle: &mut Cycle, mut joining: ReadyJoin) {
        joining.request.diverged = true;
        self.join_with_snapshot(cycle, joining);
    }

    fn is_near(&self, since: Version) -> bool {
        self.committed.saturating_sub(since) <= self.config.max_tail_events as Version
    }

    fn join_from(&mut self, cycle: &mut Cycle, joining: ReadyJoin, since: Version) {
        if let Some(id) = self.ring.event_id(since) {
            if joining.request.event_id.as_ref().is_some_and(|wanted| *wanted != id) {
                return self.join_diverged(cycle, joining);
            }
            if !self.is_near(since) {
                return self.join_with_snapshot(cycle, joining);
            }
            let frames = self.ring.frames(&self.notebook_id, since, self.committed);
            return self.welcome_with_events(cycle, joining, (since, id), frames);
        }
        let ticket = self.next_ticket();
        // Includes the event that the client has, to compare its id.
        let limit = if self.is_near(since) { self.config.max_tail_events + 1 } else { 1 };
        cycle.out.push(Output::ReadTail { ticket, after: since - 1, limit });
        self.joins.insert(ticket, PendingJoin::of(joining, JoinQuestion::Tail(since), self.committed));
    }

    /// Sends the tail from the store and later events from the ring; a snapshot if there is a gap.
    fn join_with_tail(&mut self, cycle: &mut Cycle, joining: ReadyJoin, since: Version, tail: &[Stored]) {
        let Some((last, tail)) = tail.split_first() else { return self.join_diverged(cycle, joining) };
        let is_it = joining.request.event_id.as_ref().is_none_or(|id| *id == last.envelope.id);
        if last.envelope.version != since || !is_it {
            return self.join_diverged(cycle, joining);
        }
        let mut texts = Vec::new();
        for stored in tail.iter().take_while(|stored| stored.envelope.version <= self.committed) {
            let is_next = stored.envelope.version == since + texts.len() as Version + 1;
            match frame::event(stored) {
                Ok(text) if is_next => texts.push(text),
                _ => return self.join_with_snapshot(cycle, joining),
            }
        }
        let end = since + texts.len() as Version;
        if !self.ring.covers(end) {
            return self.join_with_snapshot(cycle, joining);
        }
        let mut frames = Vec::new();
        let mut from = since + 1;
        for part in texts.chunks(100) {
            frames.push((from, frame::events(&self.notebook_id, from, part.iter().map(String::as_str))));
            from += part.len() as Version;
        }
        frames.extend(self.ring.frames(&self.notebook_id, end, self.committed));
        self.welcome_with_events(cycle, joining, (since, last.envelope.id.clone()), frames);
    }

    fn welcome_with_events(
        &mut self,
        cycle: &mut Cycle,
        joining: ReadyJoin,
        since: (Version, EventId),
        frames: Vec<(Version, String)>,
    ) {
        let client = joining.client;
        self.welcome(cycle, joining, since, None, (Vec::new(), Vec::new()));
        for (_, text) in frames {
            cycle.out.push(Output::Send { client, text });
        }
    }

    fn join_with_snapshot(&mut self, cycle: &mut Cycle, joining: ReadyJoin) {
        let Some(rendered) = self.rendered(cycle, joining.request.at_least) else {
            return self.wait_for_state(joining);
        };
        if joining.request.diverged {
            return self.welcome_without_texts(cycle, joining, &rendered);
        }
        let unread: Vec<&UnconfirmedText> =
            joining.request.unconfirmed.iter().filter(|cell| self.recent_events(cell).is_none()).collect();
        let Some(since) = unread.iter().map(|cell| cell.base).min() else {
            return self.join_with_history(cycle, joining, self.committed, &[]);
        };
        // One scan for all cells, whose oldest base may be far back.
        let cells = unread.iter().map(|cell| cell.cell_id.clone()).collect();
        let queries = vec![HistoryQuery::Cells { cells, since, with_notebook: false }];
        let ticket = self.next_ticket();
        cycle.out.push(Output::ReadHistory { ticket, queries });
        self.joins.insert(ticket, PendingJoin::of(joining, JoinQuestion::Cells, self.committed));
    }

    /// Returns the events of a cell since its base from memory; `None`: the store has to be read.
    fn recent_events(&self, cell: &UnconfirmedText) -> Option<Vec<EventMessage>> {
        let is_unchanged = self.state.cells.get(&cell.cell_id).is_some_and(|live| live.source_version <= cell.base);
        match self.ring.covers(cell.base) {
            true => Some(self.ring.about_cell(&cell.cell_id, cell.base)),
            false => is_unchanged.then(Vec::new),
        }
    }

    fn wait_for_state(&mut self, joining: ReadyJoin) {
        // Pauses its events: they could be newer than the snapshot it will get.
        if let Some(subscriber) = self.subscribers.get_mut(&joining.client) {
            subscriber.is_lagging = true;
        }
        let ticket = self.next_ticket();
        self.joins.insert(ticket, PendingJoin::of(joining, JoinQuestion::State, self.committed));
    }

    /// Sends a snapshot, with events of unconfirmed cells from memory, or from the store with later ones from the ring.
    fn join_with_history(&mut self, cycle: &mut Cycle, joining: ReadyJoin, asked_at: Version, found: &[Stored]) {
        let rendered = self.rendered(cycle, joining.request.at_least);
        let Some(rendered) = rendered.filter(|_| self.ring.covers(asked_at)) else {
            return self.join_with_snapshot(cycle, joining);
        };
        let of_cell = |cell: &UnconfirmedText| {
            if let Some(events) = self.recent_events(cell) {
                return (cell.cell_id.clone(), events);
            }
            let is_its = |stored: &&Stored| {
                let version = stored.envelope.version;
                version > cell.base && version <= asked_at && is_about(stored, &cell.cell_id)
            };
            let mut events: Vec<EventMessage> = found.iter().filter(is_its).map(EventMessage::from).collect();
            events.extend(self.ring.about_cell(&cell.cell_id, asked_at));
            (cell.cell_id.clone(), events)
        };
        let events = joining.request.unconfirmed.iter().map(of_cell).collect();
        let unconfirmed = self.bounded(events);
        self.welcome_with_snapshot(cycle, joining, &rendered, unconfirmed);
    }

    /// Limits the number of events; cells beyond it become conflict copies.
    fn bounded(&self, cells: Vec<(CellId, Vec<EventMessage>)>) -> UnconfirmedEvents {
        let (mut all, mut too_old) = (Vec::new(), Vec::new());
        for (cell_id, events) in cells {
            if all.len() + events.len() <= self.config.max_unconfirmed_events {
                all.extend(events);
            } else {
                too_old.push(cell_id);
            }
        }
        all.sort_by_key(|event: &EventMessage| event.version);
        (all, too_old)
    }

    /// Sends a snapshot without events of unconfirmed cells: their bases are too old, or of another branch.
    fn welcome_without_texts(&mut self, cycle: &mut Cycle, mut joining: ReadyJoin, rendered: &Rendered) {
        let too_old = std::mem::take(&mut joining.request.unconfirmed).into_iter().map(|cell| cell.cell_id).collect();
        self.welcome_with_snapshot(cycle, joining, rendered, (Vec::new(), too_old));
    }

    /// Sends the snapshot and all events since.
    fn welcome_with_snapshot(
        &mut self,
        cycle: &mut Cycle,
        joining: ReadyJoin,
        rendered: &Rendered,
        (mut events, too_old): UnconfirmedEvents,
    ) {
        let (client, version) = (joining.client, rendered.version);
        events.retain(|event| event.version <= version);
        self.welcome(cycle, joining, (version, rendered.event_id.clone()), Some(rendered), (events, too_old));
        for (_, text) in self.ring.frames(&self.notebook_id, version, self.committed) {
            cycle.out.push(Output::Send { client, text });
        }
    }

    fn finish_join(&mut self, cycle: &mut Cycle, join: PendingJoin) {
        let PendingJoin { client, identity, request, question, asked_at, found } = join;
        let Ok(role) = self.reading_role(cycle.now, &identity) else {
            return self.join(cycle, client, identity, request);
        };
        let joining = ReadyJoin { client, identity, role, request };
        match (question, found) {
            (JoinQuestion::Tail(since), Some(Ok(tail))) => self.join_with_tail(cycle, joining, since, &tail),
            (JoinQuestion::Tail(_), _) => self.join_with_snapshot(cycle, joining),
            (JoinQuestion::Cells, Some(Ok(history))) => self.join_with_history(cycle, joining, asked_at, &history),
            (JoinQuestion::Cells, _) => match self.rendered(cycle, joining.request.at_least) {
                Some(rendered) => self.welcome_without_texts(cycle, joining, &rendered),
                None => self.wait_for_state(joining),
            },
            (JoinQuestion::State, _) => self.join_with_snapshot(cycle, joining),
        }
    }

    fn welcome(
        &mut self,
        cycle: &mut Cycle,
        joining: ReadyJoin,
        (version, event_id): (Version, EventId),
        rendered: Option<&Rendered>,
        unconfirmed: UnconfirmedEvents,
    ) {
        let ReadyJoin { client, identity, role, request } = joining;
        if let Some(reason) = request.resync {
            let (notebook, reason) = (self.notebook_id.clone(), reason.to_owned());
            cycle.send(client, &ServerMessage::Resync { notebook, reason });
        }
        let (unconfirmed_events, base_too_old) = unconfirmed;
        let message = SubscribedMessage {
            notebook: self.notebook_id.clone(),
            version,
            event_id,
            diverged: request.diverged,
            role,
            document: DOCUMENT,
            redaction_epoch: self.state.redaction_epoch,
            digest: rendered.and_then(|rendered| rendered.digest),
            undo: self.next_steps(&identity),
            read_only: self.read_only.is_some(),
            snapshot: None,
            unconfirmed_events,
            base_too_old,
            peers: self.peers_beside(client),
            kernels: self.leases.statuses(&self.state, cycle.now, &self.config),
        };
        let snapshot = rendered.map(|rendered| rendered.snapshot.clone());
        cycle.out.push(Output::Subscribed { client, text: frame::subscribed(message, snapshot) });
        self.admit(cycle, client, identity, role, Transport::Frames);
    }
}

fn is_about(stored: &Stored, cell_id: &CellId) -> bool {
    stored.typed().is_ok_and(|recorded| recorded.event.subject() == Some(cell_id.as_str()))
}
