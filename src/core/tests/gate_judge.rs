//! Judge of tool calls that does not use `decide`: it reads the log beside the state, remembers each request, and has
//! its own rules and tables.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{
    Actor, CellId, CellType, Document, EXPIRY_MS, Effect, Effects, Event, GrantId, GrantIssued, Millis, Notebook, Open,
    Passed, Policy, Recorded, Risk, Role, Scope, Scopes, Subject, Target, ToolCallConfirmed, ToolCallId, ToolCallPhase,
    ToolCallRequested, ToolCallStarted, TurnId, Version, arguments_hash, granted_role,
};

/// The only member of a workspace, and that workspace. The member edits by an own grant and runs by the workspace, and
/// so confirms edits.
pub const MEMBER: &str = "author";
pub const WORKSPACE: &str = "lab";

/// Stage of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    Passed,
    Confirmed,
    Started,
    Ended,
}

/// A call as the log shows it.
#[derive(Debug)]
struct Call {
    asked: ToolCallRequested,
    requester: Actor,
    /// All code cells, if the call runs all of them.
    code: Vec<(CellId, Version)>,
    stage: Stage,
    confirmed_by: Option<Actor>,
}

/// An event, and the state before the command that led to it.
struct Moment<'a> {
    before: &'a Notebook,
    recorded: &'a Recorded,
    /// People whose authority the sender brings along.
    delegated: &'a [Actor],
}

/// Judges each event as it is recorded.
#[derive(Default)]
pub struct Judge {
    calls: BTreeMap<ToolCallId, Call>,
    /// Issuer and content of each grant.
    grants: BTreeMap<GrantId, (Actor, GrantIssued)>,
    /// Scopes of the token with which each turn was begun.
    turns: BTreeMap<TurnId, Scopes>,
    /// Counts by event: a walk that never passes the gate would prove nothing.
    pub tally: BTreeMap<String, usize>,
}

impl Judge {
    pub fn see(&mut self, before: &Notebook, recorded: &Recorded, delegated: &[Actor]) {
        let moment = Moment { before, recorded, delegated };
        match &recorded.event {
            Event::GrantIssued(event) => {
                self.grants.insert(event.grant_id.clone(), (moment.actor().clone(), event.clone()));
            }
            Event::GrantRevoked(event) => _ = self.grants.remove(&event.grant_id),
            Event::TurnStarted(event) => _ = self.turns.insert(event.turn_id.clone(), event.scopes.clone()),
            Event::ToolCallRequested(event) => self.request(&moment, event),
            Event::ToolCallConfirmed(event) => self.confirm(&moment, event),
            Event::ToolCallStarted(event) => self.start(&moment, event),
            Event::ToolCallDenied(_) => {
                let call = self.advance(&moment, &[Stage::Waiting], Stage::Ended);
                moment.check_decides(moment.actor(), &call.asked);
            }
            Event::ToolCallExpired(_) => {
                let call = self.advance(&moment, &[Stage::Waiting], Stage::Ended);
                assert!(call.asked.gate.until().is_some_and(|at| at <= moment.now()), "it expires before its time");
            }
            Event::ToolCallWithdrawn(_) | Event::ToolCallVoided(_) => {
                self.advance(&moment, &[Stage::Waiting, Stage::Passed, Stage::Confirmed], Stage::Ended);
            }
            Event::ToolCallExecuted(_) => _ = self.advance(&moment, &[Stage::Started], Stage::Ended),
            _ => self.see_other(&moment),
        }
    }

    /// Checks at the end of a world that every request has ended or is in the state as in the log.
    pub fn close(&self, notebook: &Notebook) {
        let open = self.calls.iter().filter(|(_, call)| call.stage != Stage::Ended);
        let open = open.map(|(id, call)| (id.clone(), call.stage, call.confirmed_by.clone()));
        let shown = notebook.tool_calls.iter().map(|(id, call)| match &call.phase {
            ToolCallPhase::Waiting => (id.clone(), Stage::Waiting, None),
            ToolCallPhase::Passed => (id.clone(), Stage::Passed, None),
            ToolCallPhase::Confirmed { by } => (id.clone(), Stage::Confirmed, Some(by.clone())),
            ToolCallPhase::Started { .. } => (id.clone(), Stage::Started, self.calls[id].confirmed_by.clone()),
        });
        assert_eq!(open.collect::<Vec<_>>(), shown.collect::<Vec<_>>());
    }

    pub fn count(&mut self, what: &str) {
        *self.tally.entry(what.to_owned()).or_default() += 1;
    }

    /// Moves the call to its next stage from one of these and no other. So each step happens once, and each call ends
    /// once.
    fn advance(&mut self, moment: &Moment<'_>, from: &[Stage], to: Stage) -> &mut Call {
        let what = &moment.recorded.envelope.event_type;
        self.count(what);
        let id = moment.recorded.event.tool_call_id().expect("an event of a call");
        let call = self.calls.get_mut(id).unwrap_or_else(|| panic!("{id}: {what}, and nobody asked for it"));
        assert!(from.contains(&call.stage), "{id}: {what}, yet it is {:?}", call.stage);
        call.stage = to;
        call
    }

    fn request(&mut self, moment: &Moment<'_>, event: &ToolCallRequested) {
        let id = &event.call_id;
        assert!(!self.calls.contains_key(id), "{id} is requested twice");
        assert!(!moment.before.archived, "{id} in an archived notebook");
        assert!(event.risk.judged() >= least_risk(&event.function), "{id}: {} is {:?}", event.function, event.risk);
        assert_eq!(event.arguments_hash, arguments_hash(&event.function, &event.arguments), "{id}");
        assert!(event.gate.until().is_none_or(|at| at == moment.now() + EXPIRY_MS), "{id} waits for a day");
        moment.check_may(moment.actor(), event, "asks for");
        self.check_token(event);
        moment.check_targets(event);
        moment.check_touched(event);
        if let Some(after) = &event.after {
            let after = &self.calls[after];
            let is_of_it = after.requester.conversation() == moment.actor().conversation();
            assert!(after.stage != Stage::Ended && is_of_it, "{id} waits for {after:?}");
        }
        let stage = if event.gate.waits() { Stage::Waiting } else { Stage::Passed };
        let requester = moment.actor().clone();
        assert!(matches!(requester, Actor::Assistant { .. }), "{id} is requested by {requester:?}");
        let code = moment.code_to_run(event);
        self.calls.insert(id.clone(), Call { asked: event.clone(), requester, code, stage, confirmed_by: None });
    }

    fn confirm(&mut self, moment: &Moment<'_>, event: &ToolCallConfirmed) {
        let call = self.advance(moment, &[Stage::Waiting], Stage::Confirmed);
        let id = &event.call_id;
        assert_eq!(event.arguments_hash, call.asked.arguments_hash, "{id}: other arguments are confirmed");
        assert!(call.asked.gate.until().is_some_and(|at| moment.now() < at), "{id} is confirmed after its time");
        assert!(!moment.before.archived, "{id} is confirmed in an archived notebook");
        moment.check_decides(moment.actor(), &call.asked);
        moment.check_targets(&call.asked);
        assert_eq!(moment.code_to_run(&call.asked), call.code, "{id} is confirmed, and would run other code");
        call.confirmed_by = Some(moment.actor().clone());
    }

    fn start(&mut self, moment: &Moment<'_>, event: &ToolCallStarted) {
        let Call { asked, requester, code, confirmed_by, .. } =
            self.advance(moment, &[Stage::Passed, Stage::Confirmed], Stage::Started);
        let (asked, confirmed_by) = (asked.clone(), confirmed_by.clone());
        let id = &event.call_id;
        assert_eq!(moment.actor(), requester, "{id} is started in another's name");
        assert_eq!(moment.code_to_run(&asked), *code, "{id} runs other code");
        assert!(!moment.before.archived, "{id} starts in an archived notebook");
        moment.check_may(moment.actor(), &asked, "starts");
        moment.check_targets(&asked);
        moment.check_code(&asked);
        self.check_token(&asked);
        if let Some(after) = &asked.after {
            assert_eq!(self.calls[after].stage, Stage::Ended, "{id} starts before {after} has ended");
            self.count("started after another one");
        }
        let by = match (event.passed_by.known().expect("known"), confirmed_by) {
            (Passed::Confirmation { by }, Some(confirmed_by)) => {
                assert_eq!(*by, confirmed_by, "{id} was confirmed by another");
                moment.check_stands_for(by, &asked);
                "a confirmation"
            }
            (Passed::Grant { grant_id }, None) => {
                self.check_grant(moment, grant_id, &asked);
                "a grant"
            }
            (Passed::Policy, None) => {
                let policy = moment.before.policy;
                assert!(passes(policy, asked.risk.judged()), "{id} starts unasked: {:?} under {policy:?}", asked.risk);
                "policy"
            }
            (passed_by, confirmed_by) => panic!("{id} starts by {passed_by:?}, confirmed by {confirmed_by:?}"),
        };
        self.count(&format!("{:?} by {by}", asked.risk.judged()));
    }

    /// Checks that a call stays within the scopes of its turn's token.
    fn check_token(&self, asked: &ToolCallRequested) {
        let Some(scopes) = asked.turn_id.as_ref().and_then(|turn_id| self.turns.get(turn_id)) else { return };
        let (edits, runs) = needs(asked);
        let is_allowed = (scopes.contains(&Scope::Edit) || !edits) && (scopes.contains(&Scope::Run) || !runs);
        assert!(is_allowed, "{}: {} with a token for {scopes:?}", asked.call_id, asked.function);
    }

    fn check_grant(&self, moment: &Moment<'_>, grant_id: &GrantId, asked: &ToolCallRequested) {
        let (issuer, grant) = self.grants.get(grant_id).expect("a grant that was not revoked");
        assert!(moment.now() < grant.expires_at, "grant {grant_id} has ended");
        let is_named = grant.functions.is_empty() || grant.functions.contains(&asked.function);
        assert!(is_named, "grant {grant_id} does not name {}", asked.function);
        let Actor::Assistant { conversation, for_user } = moment.actor() else {
            panic!("{grant_id} opens for no assistant")
        };
        assert_eq!(*for_user, grant.for_user, "grant {grant_id} is for another person's assistant");
        assert_eq!(*conversation, grant.conversation_id, "grant {grant_id} is of another conversation");
        assert!(asked.risk.judged() < Risk::Destructive, "grant {grant_id} opens for what destroys");
        let arguments: serde_json::Value = serde_json::from_str(asked.arguments.get()).expect("JSON");
        let named: Vec<Open<Effect>> = serde_json::from_value(arguments["effects"].clone()).unwrap_or_default();
        assert!(named.iter().all(|kind| grant.kinds.contains(kind)), "grant {grant_id} covers {:?}", grant.kinds);
        moment.check_stands_for(issuer, asked);
    }

    /// Checks that all effects of an assistant belong to a call that has started and not ended.
    fn see_other(&mut self, moment: &Moment<'_>) {
        let Moment { recorded, .. } = moment;
        let is_own = matches!(
            recorded.event,
            Event::ConversationStarted(_)
                | Event::MessagePosted(_)
                | Event::TurnModelCallStarted(_)
                | Event::TurnModelCallFinished(_)
                | Event::TurnFinished(_)
                | Event::TurnFailed(_)
        );
        if is_own || !matches!(moment.actor(), Actor::Assistant { .. }) {
            return;
        }
        let what = &recorded.envelope.event_type;
        let mut started = self.calls.iter().filter(|(_, call)| call.stage == Stage::Started);
        let is_inside = match recorded.envelope.undoes {
            Some(_) => started.any(|(_, call)| call.asked.function == "undo"),
            None => started.any(|(id, _)| id.as_str() == recorded.envelope.correlation_id.as_str()),
        };
        assert!(is_inside, "an assistant's {what} outside of its calls");
        if let Event::ExecutionRequested(event) = &recorded.event {
            self.check_effects(moment, &event.effects.judged());
        }
    }
}

impl Judge {
    /// Checks that a run of an assistant is held, with the kinds that its call names. Only in a kernel that holds nothing
    /// it is free, and code of cells has not passed there by the policy `guarded`.
    fn check_effects(&mut self, moment: &Moment<'_>, effects: &Effects) {
        let call = &self.calls[&ToolCallId::new(moment.recorded.envelope.correlation_id.as_str()).expect("a call")];
        let asked = &call.asked;
        let arguments: serde_json::Value = serde_json::from_str(asked.arguments.get()).expect("JSON");
        let named: BTreeSet<Effect> = serde_json::from_value(arguments["effects"].clone()).unwrap_or_default();
        let runs_cells = matches!(asked.function.as_str(), "execute_cell" | "run_all" | "create_cells");
        let sessions: Vec<_> = moment.before.kernels.values().filter(|session| session.is_usable()).collect();
        let what = match effects {
            Effects::Held { allowed } if asked.function == "save_data" => {
                assert_eq!(allowed.as_slice(), [Effect::Create], "{}", asked.call_id);
                "a held run of a tool"
            }
            Effects::Held { allowed } => {
                let is_named = |effect: &Effect| named.contains(effect) || asked.function == "double";
                assert!(allowed.iter().all(is_named), "{}: {allowed:?} of {named:?}", asked.call_id);
                assert!(!runs_cells || allowed.len() == named.len(), "{}: {allowed:?} of {named:?}", asked.call_id);
                let destroys = allowed.iter().any(|effect| !matches!(effect, Effect::Create | Effect::Network));
                assert!(!destroys || !runs_cells || call.confirmed_by.is_some(), "{} destroys unasked", asked.call_id);
                if allowed.is_empty() { "a held run without kinds" } else { "a held run with kinds" }
            }
            Effects::Free => {
                let holds =
                    sessions.iter().any(|session| session.fence.is_some() && !session.sandbox.get().contains("held"));
                assert!(holds, "{} is free, and no kernel holds nothing", asked.call_id);
                assert!(!runs_cells || asked.risk.judged() >= Risk::Sensitive, "{} ran free unasked", asked.call_id);
                "a run in a kernel that holds nothing"
            }
            Effects::Expected { .. } => panic!("{} has effects that are expected of a person's text", asked.call_id),
        };
        self.count(what);
    }
}

impl Moment<'_> {
    fn actor(&self) -> &Actor {
        &self.recorded.envelope.actor
    }

    fn now(&self) -> Millis {
        self.recorded.envelope.recorded_at
    }

    /// Roles of the person, by own grants and as a member of the workspace.
    fn roles(&self, actor: &Actor) -> Vec<Role> {
        let mut subjects = match actor {
            Actor::User { id } | Actor::Assistant { for_user: id, .. } => vec![Subject::User { id: id.clone() }],
            Actor::Guest { share_link } => vec![Subject::ShareLink { id: share_link.clone() }],
            other => panic!("{other:?} has no part in this"),
        };
        if matches!(actor, Actor::User { id } if id.as_str() == MEMBER) {
            subjects.push(Subject::Workspace { id: WORKSPACE.parse().expect("an id") });
        }
        subjects.iter().filter_map(|subject| granted_role(self.before, subject, self.now())).collect()
    }

    /// Checks that the actor's roles allow what the call does.
    fn check_may(&self, actor: &Actor, asked: &ToolCallRequested, what: &str) {
        let roles = self.roles(actor);
        assert!(may_do(&roles, asked), "{roles:?} {what} {}, {}", asked.call_id, asked.function);
    }

    /// Checks that a person's roles allow the decision on such a call, and what the call does.
    fn check_decides(&self, actor: &Actor, asked: &ToolCallRequested) {
        assert!(matches!(actor, Actor::User { .. } | Actor::Guest { .. }), "{actor:?} decides, and is no person");
        let roles = self.roles(actor);
        assert!(may_decide_on(&roles, asked.risk.judged()), "{roles:?} decides on {}, {:?}", asked.call_id, asked.risk);
        self.check_may(actor, asked, "decides on");
    }

    /// Checks that the person can still decide when the call starts, and that the sender brought that authority along.
    fn check_stands_for(&self, person: &Actor, asked: &ToolCallRequested) {
        assert!(
            self.delegated.contains(person),
            "{} starts, and the authority of {person:?} is missing",
            asked.call_id
        );
        self.check_decides(person, asked);
    }

    /// Checks that the targets of the call are as the request says.
    fn check_targets(&self, asked: &ToolCallRequested) {
        let Document { cells, kernels, functions, .. } = &*self.before.document;
        let changed = known(asked).find(|target| match target {
            Target::Cell { cell_id, cell_version } => {
                cells.get(cell_id).is_none_or(|cell| cell.cell_version != *cell_version)
            }
            // The code cells themselves are checked elsewhere.
            Target::Code { .. } => false,
            Target::Kernel { kernel_session } => !kernels.contains_key(kernel_session),
            Target::Function { name, registered_version } => functions
                .get(name)
                .is_none_or(|known| known.registered_version != *registered_version || known.kernel_session.is_none()),
            Target::File { .. } => false,
        });
        assert_eq!(changed, None, "{} is not what it was for {}", asked.function, asked.call_id);
    }

    /// Checks that the call has no other targets.
    fn check_touched(&self, asked: &ToolCallRequested) {
        let arguments: serde_json::Value = serde_json::from_str(asked.arguments.get()).expect("JSON");
        let kinds: Vec<&str> = known(asked).map(kind).collect();
        let cells = known(asked).filter_map(|target| match target {
            Target::Cell { cell_id, .. } => Some(cell_id),
            _ => None,
        });
        let expected: Vec<&str> = match asked.function.as_str() {
            "modify_cell" | "delete_cell" | "execute_cell" => {
                assert_eq!(
                    cells.map(ToString::to_string).collect::<Vec<_>>(),
                    [arguments["cell_id"].as_str().unwrap()]
                );
                vec!["cell"]
            }
            "run_all" => vec!["code"],
            "restart_kernel" => vec!["kernel"; usize::from(!self.before.kernels.is_empty())],
            "save_data" => vec!["file"],
            "double" => vec!["function"],
            _ => Vec::new(),
        };
        assert_eq!(kinds, expected, "{}: {}", asked.call_id, asked.function);
    }

    /// All code cells in page order, in their present versions.
    fn code_to_run(&self, asked: &ToolCallRequested) -> Vec<(CellId, Version)> {
        let code = self.code().filter(|_| asked.function == "run_all");
        code.map(|(id, _)| (id.clone(), self.before.cells[id].cell_version)).collect()
    }

    fn code(&self) -> impl Iterator<Item = (&CellId, &str)> {
        let code = self.before.ordered_cells().filter(|(_, cell)| cell.content.cell_type == CellType::Code);
        code.map(|(id, cell)| (id, cell.content.source.as_str()))
    }

    /// Checks that code which removes files runs only as destructive, whenever it was written.
    fn check_code(&self, asked: &ToolCallRequested) {
        let named: serde_json::Value = serde_json::from_str(asked.arguments.get()).expect("JSON");
        let runs = |id: &CellId| match asked.function.as_str() {
            "run_all" => true,
            "execute_cell" => named["cell_id"] == id.as_str(),
            _ => false,
        };
        // Another cell defines `tidy`.
        let is_tidy_bound = self.code().any(|(_, source)| source.contains("remove as tidy"));
        let removes = |source: &str| source.contains("os.remove") || is_tidy_bound && source.contains("tidy(");
        let removes = self.code().any(|(id, source)| runs(id) && removes(source));
        assert!(!removes || asked.risk == Risk::Destructive, "{} removes files as {:?}", asked.call_id, asked.risk);
    }
}

fn known(asked: &ToolCallRequested) -> impl Iterator<Item = &Target> {
    asked.targets.iter().map(|target| target.known().expect("a target of a known kind"))
}

fn kind(target: &Target) -> &'static str {
    match target {
        Target::Cell { .. } => "cell",
        Target::Code { .. } => "code",
        Target::Kernel { .. } => "kernel",
        Target::Function { .. } => "function",
        Target::File { .. } => "file",
    }
}

fn passes(policy: Policy, risk: Risk) -> bool {
    match (policy, risk) {
        (_, Risk::Read) => true,
        (Policy::Guarded | Policy::Trusted, Risk::Edit) => true,
        (Policy::Trusted, Risk::Sensitive) => true,
        (_, Risk::Edit | Risk::Sensitive | Risk::Destructive) => false,
    }
}

fn least_risk(function: &str) -> Risk {
    match function {
        "delete_cell" | "restart_kernel" => Risk::Destructive,
        "get_variables" => Risk::Read,
        _ => Risk::Edit,
    }
}

/// Returns whether the call edits, and whether it runs code.
fn needs(asked: &ToolCallRequested) -> (bool, bool) {
    match asked.function.as_str() {
        "create_cells" => (true, asked.arguments.get().contains(r#""run":true"#)),
        "create_cell" | "modify_cell" | "delete_cell" | "undo" => (true, false),
        "execute_cell" | "run_all" | "restart_kernel" | "get_variables" | "save_data" | "double" => (false, true),
        other => panic!("the walk knows no {other}"),
    }
}

fn may_do(roles: &[Role], asked: &ToolCallRequested) -> bool {
    let (edits, runs) = needs(asked);
    let may_edit = roles.iter().any(|role| matches!(role, Role::Author | Role::Editor | Role::Owner));
    let may_run = roles.iter().any(|role| matches!(role, Role::Runner | Role::Editor | Role::Owner));
    (may_edit || !edits) && (may_run || !runs)
}

fn may_decide_on(roles: &[Role], risk: Risk) -> bool {
    roles.iter().any(|role| match risk {
        Risk::Read | Risk::Edit => matches!(role, Role::Author | Role::Editor | Role::Owner),
        Risk::Sensitive | Risk::Destructive => matches!(role, Role::Editor | Role::Owner),
    })
}
