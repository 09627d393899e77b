//! The sessions that this agent holds, claims and continues, as a pure state machine. No I/O.
//!
//! **Invariants.** A kernel is launched only for a claim of this very process: the claim's event must carry the id of
//! our command, because two agents may share one identity. After a reconnect exactly the held sessions are named as alive.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use notarium_core::{
    AgentId, CommandId, Document, Event, ExecutionId, KernelPhase, KernelSession, KernelSessionId, NotebookId,
    Recorded, RejectionDetails, Version,
};
use notarium_wire::ErrorMessage;

use crate::session::{SessionInput, SessionView};

/// An action for the agent.
#[derive(Debug)]
pub enum RosterAction {
    Subscribe(NotebookId),
    Unsubscribe(NotebookId),
    /// Send `ClaimKernelLaunch` under this id.
    Claim {
        command_id: CommandId,
        notebook: NotebookId,
        kernel_session: KernelSessionId,
    },
    /// Run this claimed session.
    Start {
        notebook: NotebookId,
        kernel_session: KernelSessionId,
        kernelspec: String,
    },
    Notify {
        kernel_session: KernelSessionId,
        input: SessionInput,
    },
    /// Send `ReconcileKernels`.
    Reconcile {
        notebook: NotebookId,
        alive: Vec<KernelSessionId>,
    },
}

#[derive(Debug)]
struct LaunchClaim {
    command_id: CommandId,
    notebook: NotebookId,
    kernelspec: String,
    /// The notebook's version after the claim, once it was acked.
    acked_at: Option<Version>,
    /// True after a reconnect or a gap: a snapshot may have replaced the claim's event.
    may_have_missed: bool,
}

/// See the module's documentation.
#[derive(Debug, Default)]
pub struct Roster {
    agent: Option<AgentId>,
    /// Sessions that run here, or have unsent reports.
    held: BTreeMap<KernelSessionId, NotebookId>,
    claims: BTreeMap<KernelSessionId, LaunchClaim>,
    /// Restarted sessions, each with its successor.
    successors: BTreeMap<KernelSessionId, KernelSessionId>,
    subscribed: BTreeSet<NotebookId>,
    /// Notebooks for which the live kernels were not reported to the server since the last connect or `resync`.
    unreconciled: BTreeSet<NotebookId>,
    /// Paths of this machine that tools refuse.
    hidden: Arc<[PathBuf]>,
}

impl Roster {
    /// A roster for a machine on which these paths are hidden from kernels and tools.
    pub fn new(hidden: Arc<[PathBuf]>) -> Self {
        Self { hidden, ..Self::default() }
    }

    /// Notes that we are connected as this agent. Live kernels of a notebook are reported when its state has come: a kernel that was
    /// requested during the disconnection must be known by then.
    pub fn connected(&mut self, agent: AgentId) {
        self.agent = Some(agent);
        self.claims.values_mut().for_each(|claim| claim.may_have_missed = true);
        self.unreconciled.clone_from(&self.subscribed);
    }

    /// Takes the first state of a notebook after a subscription.
    pub fn followed(&mut self, state: &Document) -> Vec<RosterAction> {
        let mut acts = self.updated(state, &[]);
        if self.unreconciled.remove(&state.notebook_id) {
            acts.push(self.reconcile(&state.notebook_id));
        }
        acts
    }

    /// Notes that events of this notebook were skipped; its state follows. Another node may have taken the notebook over: it has bound what
    /// was requested meanwhile to no kernel, until the live ones are reported to it.
    pub fn resync(&mut self, notebook: &NotebookId) {
        if self.subscribed.contains(notebook) {
            self.unreconciled.insert(notebook.clone());
        }
        let here = self.claims.values_mut().filter(|claim| claim.notebook == *notebook);
        here.for_each(|claim| claim.may_have_missed = true);
    }

    /// Claims a kernel that a notebook waits for and that we offer.
    pub fn work(
        &mut self,
        notebook: NotebookId,
        kernel_session: KernelSessionId,
        kernelspec: String,
        command_id: CommandId,
    ) -> Vec<RosterAction> {
        if self.held.contains_key(&kernel_session) || self.claims.contains_key(&kernel_session) {
            return Vec::new();
        }
        let mut acts = Vec::new();
        if self.subscribed.insert(notebook.clone()) {
            self.unreconciled.insert(notebook.clone());
            acts.push(RosterAction::Subscribe(notebook.clone()));
        }
        let claim = LaunchClaim {
            command_id: command_id.clone(),
            notebook: notebook.clone(),
            kernelspec,
            acked_at: None,
            may_have_missed: false,
        };
        self.claims.insert(kernel_session.clone(), claim);
        acts.push(RosterAction::Claim { command_id, notebook, kernel_session });
        acts
    }

    /// Takes new state of a notebook, with its new events or from a snapshot.
    pub fn updated(&mut self, state: &Document, events: &[Recorded]) -> Vec<RosterAction> {
        let mut acts: Vec<RosterAction> = events.iter().filter_map(|recorded| self.event(recorded, state)).collect();
        acts.extend(self.settle_claims(state));
        self.adopt_successors(state);
        let here = self.held.iter().filter(|(_, notebook)| **notebook == state.notebook_id);
        acts.extend(here.map(|(id, _)| self.view(state, id)));
        acts
    }

    fn event(&mut self, recorded: &Recorded, state: &Document) -> Option<RosterAction> {
        match &recorded.event {
            Event::KernelLaunchClaimed(event) => {
                let is_ours = |claim: &LaunchClaim| claim.command_id == recorded.envelope.command_id;
                if self.claims.get(&event.kernel_session).is_some_and(is_ours) {
                    return self.won(&event.kernel_session);
                }
                self.claims.remove(&event.kernel_session);
                None
            }
            Event::KernelRestartRequested(event) if self.held.contains_key(&event.kernel_session) => {
                self.successors.insert(event.kernel_session.clone(), event.next.clone());
                None
            }
            Event::KernelInterruptRequested(event) if self.held.contains_key(&event.kernel_session) => {
                Some(notify(&event.kernel_session, SessionInput::Interrupt { execution_id: None }))
            }
            Event::ExecutionCancelRequested(event) => {
                let session = self.session_of(&event.execution_id, Some(state))?;
                Some(notify(&session, SessionInput::Interrupt { execution_id: Some(event.execution_id.clone()) }))
            }
            _ => None,
        }
    }

    fn view(&self, state: &Document, kernel_session: &KernelSessionId) -> RosterAction {
        notify(kernel_session, SessionInput::View(SessionView::of(state, kernel_session, &self.hidden)))
    }

    fn is_claimed_by_us(&self, kernel: &KernelSession) -> bool {
        kernel.phase == KernelPhase::Claimed && kernel.agent == self.agent
    }

    /// Finds the successor of a session that was restarted during the disconnection: a claimed session of ours that does not run.
    fn adopt_successors(&mut self, state: &Document) {
        let is_ending = |id: &&KernelSessionId| {
            state.kernels.get(*id).is_some_and(|kernel| kernel.phase == KernelPhase::Ending)
                && !self.successors.contains_key(*id)
        };
        let Some(old) = self.held.keys().find(is_ending).cloned() else { return };
        let next = state.kernels.iter().find(|(id, kernel)| {
            self.is_claimed_by_us(kernel)
                && !self.held.contains_key(*id)
                && !self.claims.contains_key(*id)
                && !self.successors.values().any(|next| next == *id)
        });
        if let Some((next, _)) = next {
            self.successors.insert(old, next.clone());
        }
    }

    /// Takes the ack of a claim. Usually its event came before; after a snapshot it did not.
    pub fn claim_acked(
        &mut self,
        kernel_session: &KernelSessionId,
        version: Version,
        state: Option<&Document>,
    ) -> Vec<RosterAction> {
        if let Some(claim) = self.claims.get_mut(kernel_session) {
            claim.acked_at = Some(version);
        }
        let Some(state) = state else { return Vec::new() };
        let mut acts = self.settle_claims(state);
        if self.held.contains_key(kernel_session) {
            acts.push(self.view(state, kernel_session));
        }
        acts
    }

    /// Settles claims with an ack but without an event: another agent of our identity was first, unless the event fell
    /// into a gap. Then the state decides.
    fn settle_claims(&mut self, state: &Document) -> Vec<RosterAction> {
        let is_known = |claim: &LaunchClaim| claim.acked_at.is_some_and(|version| version <= state.version);
        let is_here = |claim: &LaunchClaim| claim.notebook == state.notebook_id && is_known(claim);
        let is_ours = |id| state.kernels.get(id).is_some_and(|kernel| self.is_claimed_by_us(kernel));
        let here = self.claims.iter().filter(|(_, claim)| is_here(claim));
        let settled: Vec<(KernelSessionId, bool)> =
            here.map(|(id, claim)| (id.clone(), claim.may_have_missed && is_ours(id))).collect();
        let settle = |(id, is_won)| if is_won { self.won(&id) } else { self.claim_refused(&id) };
        settled.into_iter().filter_map(settle).collect()
    }

    pub fn claim_refused(&mut self, kernel_session: &KernelSessionId) -> Option<RosterAction> {
        let claim = self.claims.remove(kernel_session)?;
        self.leave(&claim.notebook)
    }

    fn won(&mut self, kernel_session: &KernelSessionId) -> Option<RosterAction> {
        let LaunchClaim { notebook, kernelspec, .. } = self.claims.remove(kernel_session)?;
        self.held.insert(kernel_session.clone(), notebook.clone());
        Some(RosterAction::Start { notebook, kernel_session: kernel_session.clone(), kernelspec })
    }

    /// Ends a session that has sent all reports. Its successor starts now, because the old kernel has ended.
    pub fn over(&mut self, kernel_session: &KernelSessionId, state: Option<&Document>) -> Vec<RosterAction> {
        let Some(notebook) = self.held.remove(kernel_session) else { return Vec::new() };
        let next = self.successors.remove(kernel_session);
        let next = next.and_then(|next| Some((state?.kernels.get(&next)?.kernelspec.clone(), next)));
        let Some((kernelspec, next)) = next else { return self.leave(&notebook).into_iter().collect() };
        self.held.insert(next.clone(), notebook.clone());
        let mut acts = vec![RosterAction::Start { notebook, kernel_session: next.clone(), kernelspec }];
        acts.extend(state.map(|state| self.view(state, &next)));
        acts
    }

    /// The session that runs an execution.
    pub fn session_of(&self, execution_id: &ExecutionId, state: Option<&Document>) -> Option<KernelSessionId> {
        let session = state?.executions.get(execution_id)?.kernel_session.clone()?;
        self.held.contains_key(&session).then_some(session)
    }

    /// The notebook of a session that is held.
    pub fn notebook_of(&self, kernel_session: &KernelSessionId) -> Option<NotebookId> {
        self.held.get(kernel_session).cloned()
    }

    /// Holds a session as after a won claim.
    #[cfg(test)]
    pub fn hold(&mut self, kernel_session: KernelSessionId, notebook: NotebookId) {
        self.held.insert(kernel_session, notebook);
    }

    /// Forgets a notebook to which we have lost access.
    pub fn lost_access(&mut self, notebook: &NotebookId) {
        self.subscribed.remove(notebook);
        self.unreconciled.remove(notebook);
    }

    /// Takes a refusal: a notebook that was erased while this agent was away has no kernels any more.
    pub fn refused(&mut self, error: &ErrorMessage) -> Vec<RosterAction> {
        let (Some(notebook), Some(RejectionDetails::Erased { .. })) = (&error.notebook, error.details.as_deref())
        else {
            return Vec::new();
        };
        let acts = self.updated(&Document::new(notebook.clone()), &[]);
        self.lost_access(notebook);
        acts
    }

    fn reconcile(&self, notebook: &NotebookId) -> RosterAction {
        let held = self.held.iter().filter(|(_, at)| *at == notebook).map(|(id, _)| id);
        let claimed = self.claims.iter().filter(|(_, claim)| claim.notebook == *notebook).map(|(id, _)| id);
        let next = self.successors.iter().filter(|(old, _)| self.held.get(*old) == Some(notebook)).map(|(_, id)| id);
        let alive = held.chain(claimed).chain(next).cloned().collect();
        RosterAction::Reconcile { notebook: notebook.clone(), alive }
    }

    fn leave(&mut self, notebook: &NotebookId) -> Option<RosterAction> {
        let is_used = self.held.values().any(|at| at == notebook)
            || self.claims.values().any(|claim| claim.notebook == *notebook);
        (!is_used && self.subscribed.remove(notebook)).then(|| RosterAction::Unsubscribe(notebook.clone()))
    }
}

fn notify(kernel_session: &KernelSessionId, input: SessionInput) -> RosterAction {
    RosterAction::Notify { kernel_session: kernel_session.clone(), input }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notarium_core::{
        Actor, Envelope, KernelLaunchClaimed, KernelLaunchRequested, KernelRestartRequested, KernelSessionStarted,
        Labels, RawObject,
    };

    fn recorded(version: Version, command: &str, event: impl Into<Event>) -> Recorded {
        let event = event.into();
        let envelope = Envelope {
            id: format!("e{version}").parse().unwrap(),
            notebook_id: "n".parse().unwrap(),
            version,
            event_type: event.event_type().into(),
            schema: 1,
            actor: Actor::System,
            command_id: command.parse().unwrap(),
            correlation_id: command.parse().unwrap(),
            causation_id: None,
            undoes: None,
            recorded_at: version,
        };
        Recorded { envelope, event }
    }

    fn requested() -> Recorded {
        let event = KernelLaunchRequested {
            kernel_session: "k".parse().unwrap(),
            kernelspec: "python3".into(),
            replaces: None,
            agent: None,
            labels: Labels::new(),
        };
        recorded(1, "c0", event)
    }

    fn claimed(command: &str) -> Recorded {
        let event = KernelLaunchClaimed { kernel_session: "k".parse().unwrap(), agent: "a".parse().unwrap() };
        recorded(2, command, event)
    }

    fn state(events: &[Recorded]) -> Document {
        let mut state = Document::new("n".parse().unwrap());
        events.iter().for_each(|recorded| state.apply(recorded));
        state
    }

    fn claiming() -> Roster {
        let mut roster = Roster::default();
        roster.connected("a".parse().unwrap());
        let acts = roster.work("n".parse().unwrap(), "k".parse().unwrap(), "python3".into(), "c1".parse().unwrap());
        assert!(matches!(acts.as_slice(), [RosterAction::Subscribe(_), RosterAction::Claim { .. }]));
        assert!(
            roster.work("n".parse().unwrap(), "k".parse().unwrap(), "python3".into(), "c2".parse().unwrap()).is_empty()
        );
        roster
    }

    fn starts(acts: &[RosterAction]) -> bool {
        acts.iter().any(|act| matches!(act, RosterAction::Start { .. }))
    }

    #[test]
    fn our_claim_starts_the_kernel_once() {
        let (mut roster, events) = (claiming(), [requested(), claimed("c1")]);
        assert!(starts(&roster.updated(&state(&events), &events[1..])));
        assert!(!starts(&roster.claim_acked(&"k".parse().unwrap(), 2, Some(&state(&events)))));
    }

    #[test]
    fn a_claim_of_another_process_with_our_identity_starts_nothing() {
        let (mut roster, events) = (claiming(), [requested(), claimed("c9")]);
        assert!(!starts(&roster.updated(&state(&events), &events[1..])));
        assert!(!starts(&roster.claim_acked(&"k".parse().unwrap(), 2, Some(&state(&events)))));
    }

    #[test]
    fn a_claim_that_was_there_when_we_came_is_not_ours() {
        let (mut roster, events) = (claiming(), [requested(), claimed("c9")]);
        assert!(!starts(&roster.updated(&state(&events), &[])));
        assert!(!starts(&roster.claim_acked(&"k".parse().unwrap(), 2, Some(&state(&events)))));
    }

    #[test]
    fn an_ack_that_overtakes_its_event_waits_for_it() {
        let (mut roster, events) = (claiming(), [requested(), claimed("c1")]);
        assert!(roster.claim_acked(&"k".parse().unwrap(), 2, None).is_empty());
        assert!(roster.updated(&state(&events[..1]), &events[..1]).is_empty());
        assert!(starts(&roster.updated(&state(&events), &events[1..])));
    }

    #[test]
    fn a_snapshot_that_holds_the_claim_is_as_good_as_its_event() {
        let (mut roster, events) = (claiming(), [requested(), claimed("c1")]);
        roster.resync(&"n".parse().unwrap());
        assert!(!starts(&roster.updated(&state(&events), &[])));
        assert!(starts(&roster.claim_acked(&"k".parse().unwrap(), 2, Some(&state(&events)))));
    }

    #[test]
    fn a_refused_claim_leaves_the_notebook() {
        let acts = claiming().claim_refused(&"k".parse().unwrap());
        assert!(matches!(acts.as_slice(), [RosterAction::Unsubscribe(_)]));
    }

    #[test]
    fn the_node_that_takes_a_notebook_over_is_told_what_is_alive() {
        let mut roster = claiming();
        let reconciles = |acts: &[RosterAction]| {
            acts.iter().any(|act| matches!(act, RosterAction::Reconcile { alive, .. } if alive.len() == 1))
        };
        assert!(reconciles(&roster.followed(&state(&[requested()]))), "after the first subscription");
        assert!(!reconciles(&roster.followed(&state(&[requested()]))));
        roster.resync(&"other".parse().unwrap());
        assert!(!reconciles(&roster.followed(&state(&[requested()]))));
        roster.resync(&"n".parse().unwrap());
        assert!(reconciles(&roster.followed(&state(&[requested()]))), "after a resync");
    }

    #[test]
    fn after_a_reconnect_what_is_held_or_claimed_is_alive() {
        let mut roster = claiming();
        let said = |acts: Vec<RosterAction>| -> Vec<usize> {
            let alive = |act: &RosterAction| match act {
                RosterAction::Reconcile { alive, .. } => Some(alive.len()),
                _ => None,
            };
            acts.iter().filter_map(alive).collect()
        };
        assert_eq!(
            said(roster.followed(&state(&[requested()]))),
            [1],
            "who comes for a kernel says what else is alive"
        );
        roster.connected("a".parse().unwrap());
        assert_eq!(said(roster.followed(&state(&[requested()]))), [1]);
        assert!(said(roster.followed(&state(&[requested()]))).is_empty(), "once");
    }

    #[test]
    fn a_restart_that_was_asked_for_while_we_were_away_is_alive() {
        let started = KernelSessionStarted {
            missing_functions: Vec::new(),
            kernel_session: "k".parse().unwrap(),
            agent: "a".parse().unwrap(),
            kernelspec: "python3".into(),
            language_info: RawObject::default(),
            sandbox: RawObject::default(),
            environment: None,
        };
        let restart = KernelRestartRequested { kernel_session: "k".parse().unwrap(), next: "k2".parse().unwrap() };
        let events = [requested(), claimed("c1"), recorded(3, "c2", started), recorded(4, "c3", restart)];
        let mut roster = claiming();
        roster.updated(&state(&events[..2]), &events[1..2]);
        roster.connected("a".parse().unwrap());
        let acts = roster.followed(&state(&events));
        let both: Vec<KernelSessionId> = vec!["k".parse().unwrap(), "k2".parse().unwrap()];
        assert!(
            acts.iter().any(|act| matches!(act, RosterAction::Reconcile { alive, .. } if *alive == both)),
            "{acts:?}"
        );
    }
}
