//! Test driver: [`World`] does decide → seal → typed → apply, with a counted clock and ids.

mod expected;
mod fixtures;
mod small_names;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use notarium_core::*;
use serde_json::Value;

pub use expected::*;
pub use fixtures::*;
pub use serde_json::json;
pub use small_names::*;

/// A connection: actor and authority.
#[derive(Debug, Clone)]
pub struct Who {
    pub actor: Actor,
    pub authority: Authority,
}

impl Who {
    pub fn member_of(mut self, workspace: &str) -> Who {
        self.authority.workspaces.insert(workspace.parse().unwrap());
        self
    }

    pub fn with_role(mut self, role: Role) -> Who {
        self.authority.ambient_role = Some(role);
        self
    }

    pub fn with_scopes(mut self, scopes: &[Scope]) -> Who {
        self.authority.scopes = scopes.iter().copied().collect();
        self
    }

    /// Binds the token to some notebooks.
    pub fn bound(mut self) -> Who {
        self.authority.is_bound = true;
        self
    }
}

/// A session that came in at a door, as the server describes it.
pub fn at(mut who: Who, door: Door) -> Who {
    let (credential, label) = ("session".to_owned(), "notarium up".to_owned());
    who.authority.means = Some(Means { door: door.into(), credential, label });
    who
}

pub fn user(name: &str) -> Who {
    Who { actor: Actor::User { id: UserId::new(name).unwrap() }, authority: Authority::session() }
}

pub fn assistant_of(name: &str) -> Who {
    let (for_user, conversation) = (UserId::new(name).unwrap(), ConversationId::new("talk").unwrap());
    Who { actor: Actor::Assistant { for_user, conversation }, authority: Authority::session() }
}

/// The server's reactor in the name of an assistant, with the authority of the people of the fixtures.
pub fn reactor_of(name: &str) -> Who {
    let mut who = assistant_of(name);
    let people = ["ann", "editor", "author", "viewer"].map(user).into_iter().chain([guest("link")]);
    who.authority.reactor = Some(DelegatedAuthority(people.map(|who| (who.actor, who.authority)).collect()));
    who
}

pub fn guest(link: &str) -> Who {
    Who { actor: Actor::Guest { share_link: ShareLinkId::new(link).unwrap() }, authority: Authority::session() }
}

pub fn agent(name: &str) -> Who {
    Who { actor: Actor::Agent { id: AgentId::new(name).unwrap() }, authority: Authority::agent() }
}

pub fn system() -> Who {
    Who { actor: Actor::System, authority: Authority::default() }
}

/// A notebook with its whole log. Its clock advances by one millisecond with each command.
#[derive(Debug, Clone)]
pub struct World {
    pub notebook: Notebook,
    pub log: Vec<Stored>,
    pub recorded: Vec<Recorded>,
    /// Whatever is decided must pass the audit of records.
    pub audit: RecordAudit,
    pub head: Head,
    pub now: Millis,
    pub limits: Limits,
    /// Values that commands name as `$name`.
    pub names: BTreeMap<String, String>,
    /// Undo group of the next commands; absent: each is its own group.
    pub correlation: Option<&'static str>,
    /// Kernel sessions whose agent is unreachable.
    pub unreachable: BTreeSet<KernelSessionId>,
    /// Kernel sessions whose agent is away.
    pub away: BTreeSet<KernelSessionId>,
    /// Kernelspecs whose agents hold effects.
    pub holding_kernelspecs: BTreeSet<String>,
    /// Labels that agents offer; all others have none.
    pub labels: BTreeMap<Actor, Labels>,
    /// Texts that models have written and no message holds.
    pub unposted: BTreeMap<TurnId, Vec<String>>,
    /// Account status of subjects; all others are active.
    pub standings: BTreeMap<Subject, AccountStatus>,
    /// Changes of the next redaction, as the server reads them from the log.
    pub redaction: Option<Arc<RedactionPlan>>,
    /// Names are read from Python, not from the small language of most tests.
    pub reads_python: bool,
    count: u64,
}

/// Result of a command.
pub type Judged = Result<(Vec<Event>, Outcome), Rejection>;

impl World {
    pub fn new() -> World {
        World {
            notebook: Notebook::new(NotebookId::new("nb").unwrap()),
            log: Vec::new(),
            recorded: Vec::new(),
            audit: RecordAudit::new(NotebookId::new("nb").unwrap()),
            head: Head::START,
            now: 1_000_000,
            limits: Limits::default(),
            names: BTreeMap::new(),
            correlation: None,
            unreachable: BTreeSet::new(),
            away: BTreeSet::new(),
            holding_kernelspecs: ["python3".to_owned()].into(),
            labels: BTreeMap::new(),
            unposted: BTreeMap::new(),
            standings: BTreeMap::new(),
            redaction: None,
            reads_python: false,
            count: 0,
        }
    }

    pub fn version(&self) -> Version {
        self.notebook.version
    }

    /// Reads a command from JSON; `"$name"` is replaced by the named value.
    pub fn command(&self, command: &Value) -> Command {
        let text = self
            .names
            .iter()
            .fold(command.to_string(), |text, (name, value)| text.replace(&format!("\"${name}\""), value));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    pub fn context(&mut self, who: &Who, expected_version: Option<Version>) -> Context {
        self.count += 1;
        self.now += 1;
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&self.count.to_be_bytes());
        let command_id = format!("command-{}", self.count);
        let correlation = self.correlation.unwrap_or(&command_id);
        Context {
            now: self.now,
            instance: "instance".parse().unwrap(),
            actor: who.actor.clone(),
            authority: who.authority.clone(),
            correlation_id: CorrelationId::new(correlation).unwrap(),
            command_id: CommandId::new(&command_id).unwrap(),
            causation_id: None,
            expected_version,
            head_hash: self.head.hash,
            ids: IdSource::new(self.now, seed),
            history: History::default(),
            past: None,
            redaction: self.redaction.clone(),
            account_status: AccountStatuses::default(),
            away: self.away.union(&self.unreachable).cloned().collect(),
            unreachable: self.unreachable.clone(),
            holding_kernelspecs: self.holding_kernelspecs.clone(),
            agent_labels: self.labels.get(&who.actor).cloned().unwrap_or_default(),
            run_effects: None,
            unposted: self.unposted.clone(),
            limits: self.limits.clone(),
        }
    }

    /// Decides a command; if it is accepted, records and applies it. A refusal must leave the world unchanged.
    pub fn submit(&mut self, who: &Who, expected: Option<Version>, command: Command) -> Judged {
        let mut context = self.context(who, expected);
        context.past = required_past(&command).map(|version| Arc::new(self.document_at(version)));
        let queries = required_history(&self.notebook, &context, &command);
        context.history = self.answer(&queries);
        context.history.judgement = required_judgement(&self.notebook, &command).map(judgement);
        let names = if self.reads_python { names_of_python } else { names_of_all };
        context.history.names = reactive::needs_names(&self.notebook, &command).then(|| names(&self.notebook));
        context.account_status = self.look_up(&command);
        let decision = decide(&self.notebook, &mut context, command)?;
        let sealed = seal(&mut self.head, &self.notebook.notebook_id, &mut context, &decision.events).unwrap();
        for stored in sealed {
            let recorded = stored.typed().unwrap();
            self.notebook.apply(&recorded);
            let audited = self.audit.see(&recorded);
            // A guest has no role but that of the link, except where a test gives it one.
            if let Err(found) = audited.or_else(|found| who.authority.ambient_role.map(drop).ok_or(found)) {
                panic!("the audit finds a fault in what was decided: {found}");
            }
            self.log.push(stored);
            self.recorded.push(recorded);
        }
        assert_eq!(self.notebook.version, self.head.version);
        self.trace(&context, &decision);
        if !decision.removal.is_empty() {
            self.remove(decision.removal);
        }
        Ok((decision.events.into_iter().map(|decided| decided.event).collect(), decision.outcome))
    }

    /// Replaces payloads as a store does, and folds and audits the log anew.
    fn remove(&mut self, removal: ContentRemoval) {
        for StandIn { version, payload } in removal.stand_ins {
            let stored = self.log.iter_mut().find(|stored| stored.envelope.version == version).unwrap();
            (stored.payload, stored.salt) = (payload, None);
        }
        assert_eq!(verify_chain(Head::START, &self.log).unwrap(), self.head);
        self.recorded = self.log.iter().map(|stored| stored.typed().unwrap()).collect();
        self.notebook = replay(&self.log);
        self.audit = RecordAudit::new(self.notebook.notebook_id.clone());
        for (stored, recorded) in self.log.iter().zip(&self.recorded) {
            if stored.salt.is_none() {
                let digest = notarium_core::stand_in::stand_in_digest(&stored.payload);
                self.audit.note_stand_in(stored.envelope.version, digest);
            }
            self.audit.see(recorded).unwrap_or_else(|found| panic!("after a redaction: {found}"));
        }
        assert_eq!(self.audit.unredacted(), None);
    }

    /// Reads the log for a redaction, as the server does.
    pub fn plan(&mut self, target: RedactionTarget) {
        let mut search = RedactionSearch::new(target.clone());
        self.recorded.iter().for_each(|recorded| search.see(recorded));
        let mut plan = search.plan(target);
        let events = self.log.iter().zip(&self.recorded);
        events.for_each(|(stored, recorded)| plan.see(recorded, stored.payload.get()));
        self.redaction = Some(Arc::new(plan));
    }

    /// Redacts as the server does; returns the versions of the events with a stand-in.
    pub fn redact(&mut self, who: &Who, target: RedactionTarget) -> Result<Vec<Version>, Rejection> {
        self.plan(target.clone());
        let (reason, target) = ("it leaked".to_owned(), target.without_text());
        let decided = self.submit(who, None, Command::RedactContent(RedactContent { reason, target }));
        self.redaction = None;
        let events = decided?.0.into_iter();
        let named = events.flat_map(|event| match event {
            Event::ContentRedacted(event) => event.redactions,
            _ => Vec::new(),
        });
        Ok(named.map(|redacted| redacted.version).collect())
    }

    /// Checks that the events of a command agree with its answer.
    fn trace(&self, context: &Context, decision: &Decision) {
        let first = self.log.len() - decision.events.len();
        let mut tracer = CommandTracer::default();
        for (stored, recorded) in self.log.iter().zip(&self.recorded).skip(first) {
            assert_eq!(tracer.see(stored, Some(&recorded.event)), None, "a command is one");
        }
        let Some(traced) = tracer.finish() else { return };
        let kept = CommandRecord {
            actor: context.actor.key(),
            command_id: context.command_id.clone(),
            digest: [0; 32],
            version: self.head.version,
            outcome: RawJson::of(&decision.outcome).unwrap(),
        };
        assert_eq!((&traced.sender, &traced.command_id), (&kept.actor, &kept.command_id));
        let types: Vec<_> = decision.events.iter().map(|decided| decided.event.event_type()).collect();
        assert_eq!(traced.contradiction(&kept), None, "{types:?}: {:?}, {traced:?}", decision.outcome);
    }

    /// Answers `required_account_status`, as the server does from the accounts.
    fn look_up(&self, command: &Command) -> AccountStatuses {
        let standing = |subject: &Subject| self.standings.get(subject).cloned().unwrap_or(AccountStatus::Active);
        AccountStatuses::new(
            required_account_status(command).into_iter().map(|subject| (subject.clone(), standing(&subject))),
        )
    }

    pub fn try_do(&mut self, who: &Who, command: &Value) -> Judged {
        let command = self.command(command);
        self.submit(who, None, command)
    }

    /// Submits a command that must be accepted, to prepare a test.
    pub fn step(&mut self, who: &Who, command: Value) -> Outcome {
        self.try_do(who, &command).unwrap_or_else(|rejection| panic!("{command}: {rejection:?}")).1
    }

    pub fn with(mut self, who: &Who, command: Value) -> World {
        self.step(who, command);
        self
    }

    pub fn name(&mut self, name: &str, value: impl std::fmt::Display) {
        self.names.insert(name.to_owned(), value.to_string());
    }

    /// Answers `required_history`, as the server does from its store.
    pub fn answer(&self, queries: &[HistoryQuery]) -> History {
        let select = |wanted: &Selection| {
            let holds = |one: &&Recorded| wanted.holds(one.envelope.version, one.event.subject());
            Ok::<_, ()>(self.recorded.iter().filter(holds).cloned().collect())
        };
        let mut past = Past::default();
        queries.iter().for_each(|query| past.extend(query.answer(select).unwrap()));
        past.into()
    }

    /// The document at an earlier version, as the server reads it.
    pub fn document_at(&self, version: Version) -> Document {
        let mut document = Document::new(self.notebook.notebook_id.clone());
        let until = self.recorded.iter().filter(|recorded| recorded.envelope.version <= version);
        until.for_each(|recorded| document.apply(recorded));
        document
    }

    // --- access to the state ---

    pub fn cell(&self, id: &str) -> &Cell {
        self.notebook.cells.get(&cell_id(id)).unwrap_or_else(|| panic!("no cell {id}"))
    }

    pub fn source(&self, id: &str) -> &str {
        &self.cell(id).content.source
    }

    pub fn order(&self) -> Vec<&str> {
        self.notebook.order.iter().map(CellId::as_str).collect()
    }

    pub fn execution(&self, id: &str) -> Option<&Execution> {
        self.notebook.executions.get(&ExecutionId::new(id).unwrap()).map(|execution| &**execution)
    }

    pub fn status(&self, id: &str) -> ExecutionStatus {
        self.execution(id).unwrap_or_else(|| panic!("no execution {id}")).status
    }

    /// The outputs' texts, for outputs made by [`text_output`].
    pub fn outputs(&self, id: &str) -> Vec<String> {
        let outputs = &self.execution(id).unwrap_or_else(|| panic!("no execution {id}")).outputs;
        let text = |output: &Output| serde_json::from_str::<Value>(output.content.get()).unwrap()["text"].clone();
        outputs.iter().map(|output| text(output).as_str().unwrap_or("?").to_owned()).collect()
    }

    pub fn json(&self) -> String {
        serde_json::to_string(&self.notebook.document).unwrap()
    }
}

/// Folds a log from the beginning.
pub fn replay(log: &[Stored]) -> Notebook {
    let mut notebook = Notebook::new(NotebookId::new("nb").unwrap());
    log.iter().for_each(|stored| notebook.apply(&stored.typed().unwrap()));
    notebook
}

pub fn types(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::event_type).collect()
}

pub fn cell_id(id: &str) -> CellId {
    CellId::new(id).unwrap()
}

pub fn text_output(text: &str) -> Value {
    json!({"content": {"output_type": "stream", "name": "stdout", "text": text}})
}
