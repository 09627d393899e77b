//! Simulated person: types as CodeMirror does (one unacked change per cell and a buffer), and follows others' changes.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::text::{ChangeSet, utf16_len};
use notarium_core::{
    Actor, Authority, CellId, Command, CommandId, CorrelationId, EditSource, Event, Millis, Recorded, RejectionCode,
    Version,
};
use notarium_wire::{CommandMessage, ServerMessage, SubscribeMessage, UnconfirmedText};

use super::chance::Chance;
use super::replica::{Received, Replica};
use crate::io::Identity;

/// Unconfirmed changes of a cell.
#[derive(Default)]
struct Draft {
    sent: Option<Sent>,
    buffer: Option<ChangeSet>,
}

struct Sent {
    id: CommandId,
    change: ChangeSet,
    /// Version of the ack: at that version the change is in the text, or had no effect.
    acked_at: Option<Version>,
}

pub(crate) struct Editor {
    pub replica: Replica,
    /// Cells that the last `subscribe` named as unconfirmed.
    named: BTreeSet<CellId>,
    /// True while a `subscribe` is unanswered.
    is_asking: bool,
    /// True if the server initiated the next `subscribed`.
    pub is_resync: bool,
    drafts: BTreeMap<CellId, Draft>,
    /// True if a change was refused because of its base.
    pub must_subscribe: bool,
    tokens: u64,
}

/// Handling of a message.
#[derive(PartialEq, Eq)]
pub(crate) enum Judgement {
    Take,
    Ignore,
    AskAgain,
}

impl Editor {
    pub(crate) fn new(actor: Actor, name: &str) -> Self {
        let (authority, name) = (Authority::session(), name.to_owned());
        let identity = Identity { actor, authority, connection: name.clone(), name };
        Self {
            replica: Replica::new(identity),
            named: BTreeSet::new(),
            is_asking: false,
            is_resync: false,
            drafts: BTreeMap::new(),
            must_subscribe: false,
            tokens: 0,
        }
    }

    /// Returns the subscription to send after a connect, and after a state that does not cover unconfirmed text.
    pub(crate) fn subscription(&mut self) -> SubscribeMessage {
        let unconfirmed = self.unconfirmed();
        self.named = unconfirmed.iter().map(|cell| cell.cell_id.clone()).collect();
        self.replica.is_subscribed = false;
        (self.is_asking, self.must_subscribe) = (true, false);
        self.replica.subscription(unconfirmed)
    }

    /// Decides whether to take a `subscribed`, or to subscribe again. A state that does not cover unconfirmed text (typed after the
    /// `subscribe`, or after a `resync`) is not taken. At most one `subscribe` is open.
    pub(crate) fn judge(&mut self, message: &ServerMessage) -> Judgement {
        match message {
            ServerMessage::Resync { .. } => {
                self.is_resync = true;
                Judgement::Take
            }
            ServerMessage::Subscribed(subscribed) => {
                let is_resync = std::mem::take(&mut self.is_resync);
                if is_resync && self.is_asking {
                    return Judgement::Ignore;
                }
                let is_named = |cell: &UnconfirmedText| !is_resync && self.named.contains(&cell.cell_id);
                if subscribed.snapshot.is_some() && !self.unconfirmed().iter().all(is_named) {
                    return Judgement::AskAgain;
                }
                self.is_asking = false;
                Judgement::Take
            }
            _ => Judgement::Take,
        }
    }

    fn unconfirmed(&self) -> Vec<UnconfirmedText> {
        let base = self.replica.notebook.version;
        let cells = self.drafts.iter().filter(|(_, draft)| draft.sent.is_some() || draft.buffer.is_some());
        cells.map(|(cell_id, _)| UnconfirmedText { cell_id: cell_id.clone(), base }).collect()
    }

    pub(crate) fn has_drafts(&self) -> bool {
        !self.unconfirmed().is_empty()
    }

    // --- from the server ---

    /// Takes a message; returns the commands that follow.
    pub(crate) fn take(&mut self, message: ServerMessage) -> Result<Vec<CommandMessage>, String> {
        for received in self.replica.take(message)? {
            match received {
                Received::Applied(recorded) => self.rebase(&recorded)?,
                Received::Replaced { unconfirmed } => {
                    for recorded in unconfirmed {
                        self.rebase(&recorded)?;
                    }
                    self.forget_gone();
                }
                Received::Acked(ack) => self.acked(&ack.id, ack.version),
                Received::Rejected(reject) if reject.code == RejectionCode::BaseTooOld => self.take_back(&reject.id),
                Received::Rejected(reject) => self.drop_draft(&reject.id),
            }
        }
        self.settle()?;
        Ok(self.flush())
    }

    /// Maps the drafts of a cell over an event.
    fn rebase(&mut self, recorded: &Recorded) -> Result<(), String> {
        match &recorded.event {
            Event::CellDeleted(event) => {
                self.drafts.remove(&event.cell_id);
            }
            Event::CellSourceEdited(event) => {
                let Some(draft) = self.drafts.get_mut(&event.cell_id) else { return Ok(()) };
                let own = draft.sent.take_if(|sent| sent.id == recorded.envelope.command_id);
                if let Some(sent) = own {
                    if sent.change != event.change {
                        return Err(format!("{}: the server transformed otherwise than the client", sent.id));
                    }
                } else {
                    draft.rebase(&event.change).map_err(|error| format!("rebase: {error}"))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn forget_gone(&mut self) {
        let cells = &self.replica.notebook.cells;
        self.drafts.retain(|cell_id, _| cells.contains_key(cell_id));
    }

    fn acked(&mut self, id: &CommandId, version: Version) {
        for sent in self.drafts.values_mut().filter_map(|draft| draft.sent.as_mut()) {
            if sent.id == *id {
                sent.acked_at = Some(version);
            }
        }
    }

    /// Puts a refused change back before the buffer: it is sent again, mapped, after another `subscribe`.
    fn take_back(&mut self, id: &CommandId) {
        for draft in self.drafts.values_mut() {
            let Some(sent) = draft.sent.take_if(|sent| sent.id == *id) else { continue };
            draft.buffer = match draft.buffer.take() {
                Some(buffer) => sent.change.compose(&buffer).ok(),
                None => Some(sent.change),
            };
            self.must_subscribe = !self.is_asking;
        }
    }

    fn drop_draft(&mut self, id: &CommandId) {
        self.drafts.retain(|_, draft| draft.sent.as_ref().is_none_or(|sent| sent.id != *id));
    }

    /// Settles changes with an ack and no event, which had no effect. All drafts must fit the confirmed text.
    fn settle(&mut self) -> Result<(), String> {
        let notebook = &self.replica.notebook;
        for (cell_id, draft) in &mut self.drafts {
            if let Some(sent) = &draft.sent
                && sent.acked_at.is_some_and(|at| at <= notebook.version)
            {
                if !sent.change.is_identity() {
                    return Err(format!("{} is acked and not in the text", sent.id));
                }
                draft.sent = None;
            }
            let Some(cell) = notebook.cells.get(cell_id) else { continue };
            draft.text(&cell.content.source).map_err(|error| format!("draft of {cell_id}: {error}"))?;
        }
        Ok(())
    }

    /// Sends the buffers of cells without a change in flight.
    fn flush(&mut self) -> Vec<CommandMessage> {
        if !self.replica.is_subscribed || self.must_subscribe {
            return Vec::new();
        }
        let base = self.replica.notebook.version;
        let mut commands = Vec::new();
        for (cell_id, draft) in self.drafts.iter_mut().filter(|(_, draft)| draft.sent.is_none()) {
            let Some(change) = draft.buffer.take() else { continue };
            let (cell_id, copy) = (cell_id.clone(), change.clone());
            let edit = Command::EditSource(EditSource { cell_id, base, change: copy, undoes: None, redoes: None });
            let message = self.replica.command(&edit, None);
            draft.sent = Some(Sent { id: message.id.clone(), change, acked_at: None });
            commands.push(message);
        }
        commands
    }

    // --- manual actions ---

    pub(crate) fn act(&mut self, chance: &mut Chance, now: Millis) -> Vec<CommandMessage> {
        if !self.replica.notebook.exists() {
            return Vec::new();
        }
        let decision = if chance.percent(60) { self.some_decision(chance) } else { None };
        if decision.is_none() && chance.percent(50) {
            self.type_something(chance);
            return self.flush();
        }
        let Some(command) = decision.or_else(|| self.some_command(chance, now)) else { return Vec::new() };
        let correlation = chance.percent(30).then(|| CorrelationId::new("burst").expect("an id"));
        vec![self.replica.command(&command, correlation)]
    }

    pub(crate) fn some_cell(&self, chance: &mut Chance) -> Option<CellId> {
        chance.pick(&self.replica.notebook.order).cloned()
    }

    fn type_something(&mut self, chance: &mut Chance) {
        let Some(cell_id) = self.some_cell(chance) else { return };
        let Some(cell) = self.replica.notebook.cells.get(&cell_id) else { return };
        self.tokens += 1;
        let draft = self.drafts.entry(cell_id).or_default();
        let Ok(text) = draft.text(&cell.content.source) else { return };
        let token = ["x", "né", "😀", "\n", "ab"][chance.index(5)];
        let change = some_change(chance, &text, token);
        draft.buffer = match draft.buffer.take() {
            Some(buffer) => buffer.compose(&change).ok(),
            None => Some(change),
        };
    }
}

/// Returns a random change: an insertion, or a deletion of up to three characters.
fn some_change(chance: &mut Chance, text: &str, token: &str) -> ChangeSet {
    let length = utf16_len(text);
    let starts: Vec<usize> = text.char_indices().map(|(index, _)| utf16_len(&text[..index])).chain([length]).collect();
    let from = chance.index(starts.len());
    let to = if chance.percent(30) { (from + 3).min(starts.len() - 1) } else { from };
    let insert = if to > from { "" } else { token };
    ChangeSet::replace(length, starts[from]..starts[to], insert).expect("a change within the text")
}

impl Draft {
    /// Returns the text on the screen.
    fn text(&self, confirmed: &str) -> Result<String, notarium_core::text::TextError> {
        let mut text = confirmed.to_owned();
        for change in self.sent.iter().map(|sent| &sent.change).chain(&self.buffer) {
            text = change.apply(&text)?.text;
        }
        Ok(text)
    }

    /// Maps the draft over an event, whose insertions are left of ours.
    fn rebase(&mut self, event: &ChangeSet) -> Result<(), notarium_core::text::TextError> {
        let mut over = event.clone();
        for ours in self.sent.iter_mut().map(|sent| &mut sent.change).chain(&mut self.buffer) {
            let next = over.map(ours, true)?;
            *ours = ours.map(&over, false)?;
            over = next;
        }
        Ok(())
    }
}
