//! Random actions of people besides typing: cells, runs, sharing, imports, and decisions about assistants' calls.

use notarium_core::{
    Actor, CellFlagChanges, CellReply, CellType, Command, ExecutionTarget, Hash, InsertCell, KernelReplacement, Millis,
    Output, Place, Policy, RawJson, RawObject, Reactivity, ReplyStatus, RequestExecution, RestartKernel, Role,
    SetKernelSettings, ShareLinkId, StartTurn, Subject, ToolCallPhase, UserId,
};

use super::assistant::conversation_of;
use super::chance::Chance;
use super::editor::Editor;

const ROLES: [Role; 5] = [Role::Viewer, Role::Commenter, Role::Runner, Role::Author, Role::Editor];

/// Sources of cells. The first reads and defines nothing; the others depend on each other, also in a cycle.
const SOURCES: [&str; 6] = ["print('😀')", "x = 1", "y = x", "z = x y", "x = z", "= y z"];

pub(crate) const EDITORS: usize = 4;

/// People who edit: the owner, two more, and the guest of the share link.
pub(crate) fn people() -> impl Iterator<Item = Actor> {
    let user = |number| Actor::User { id: UserId::new(format!("user{number}")).expect("an id") };
    (0..EDITORS - 1).map(user).chain([guest()])
}

pub(crate) fn guest() -> Actor {
    Actor::Guest { share_link: ShareLinkId::new("link").expect("an id") }
}

/// Creates the notebook, shared with everybody.
pub(crate) fn creation() -> Command {
    let create =
        Command::CreateNotebook { title: "story".to_owned(), metadata: RawObject::default(), forked_from: None };
    Command::Batch { commands: [create].into_iter().chain(grants()).collect() }
}

/// Grants everybody the role editor, without an expiry.
pub(crate) fn welcome_all() -> Command {
    Command::Batch { commands: grants().collect() }
}

fn grants() -> impl Iterator<Item = Command> {
    let others = people().skip(1).map(|actor| subject(&actor));
    others.map(|subject| Command::GrantAccess { subject, role: Role::Editor, expires_at: None })
}

fn subject(actor: &Actor) -> Subject {
    match actor {
        Actor::Guest { share_link } => Subject::ShareLink { id: share_link.clone() },
        Actor::User { id } => Subject::User { id: id.clone() },
        other => unreachable!("{other:?} is nobody to share with"),
    }
}

impl Editor {
    pub(crate) fn some_command(&mut self, chance: &mut Chance, now: Millis) -> Option<Command> {
        let cell_id = self.some_cell(chance);
        let is_owner = people().next().is_some_and(|owner| owner == self.replica.identity.actor);
        if is_owner && chance.percent(25) {
            return some_sharing(chance, now);
        }
        Some(match chance.below(22) {
            0 | 1 => insertion(chance),
            2 => Command::DeleteCell { cell_id: cell_id?, cell_version: None },
            3 => Command::MoveCell { cell_id: cell_id?, place: Place::Start, cell_version: None },
            4 => Command::Undo { steps: 1, correlation_id: None, turn_id: None, cell_id: None },
            5 => Command::Redo { steps: 1, cell_id: None },
            6 => Command::RenameNotebook { title: format!("title {}", chance.below(9)) },
            7 => Command::SetCellFlags {
                cell_id: cell_id?,
                flags: CellFlagChanges { pinned: Some(chance.percent(50)), ..CellFlagChanges::default() },
            },
            8 => Command::Batch { commands: vec![insertion(chance), insertion(chance)] },
            9 => Command::StopAll {},
            10 => {
                let running = self.replica.notebook.executions.iter().find(|(_, run)| !run.status.is_finished());
                Command::CancelExecution { execution_id: running?.0.clone() }
            }
            11 if chance.percent(30) => {
                let kernel_session = self.replica.notebook.kernels.keys().next()?.clone();
                Command::RestartKernel(RestartKernel::on_its_agent(kernel_session))
            }
            12 => some_sharing(chance, now)?,
            13 => Command::SetReactivity {
                reactivity: [Reactivity::Off, Reactivity::Lazy, Reactivity::Eager, Reactivity::Eager][chance.index(4)],
            },
            11 if chance.percent(30) => Command::SetKernelSettings(SetKernelSettings {
                replacement: Some([KernelReplacement::Ask, KernelReplacement::Replace][chance.index(2)]),
                labels: None,
            }),
            14 => Command::SetPolicy {
                policy: [Policy::Guarded, Policy::AskForEveryEdit, Policy::Trusted][chance.index(3)],
            },
            15 if chance.percent(40) => import(chance),
            16..19 => self.a_turn()?,
            _ => {
                let target = ExecutionTarget::Cell { cell_id: cell_id?, cell_version: None };
                let stop_on_error = chance.percent(50);
                Command::RequestExecution(RequestExecution { stop_on_error, ..RequestExecution::new(target) })
            }
        })
    }

    fn a_turn(&self) -> Option<Command> {
        let Actor::User { id } = &self.replica.identity.actor else { return None };
        let text = Some("Tidy up".to_owned());
        let conversation_id = conversation_of(id);
        Some(Command::StartTurn(StartTurn {
            conversation_id,
            turn_id: None,
            text,
            cell_id: None,
            model: None,
            attachments: Vec::new(),
        }))
    }

    /// Returns a random decision about a waiting call.
    pub(crate) fn some_decision(&self, chance: &mut Chance) -> Option<Command> {
        let calls = &self.replica.notebook.tool_calls;
        let waiting: Vec<_> = calls.iter().filter(|(_, call)| call.phase == ToolCallPhase::Waiting).collect();
        let (call_id, call) = chance.pick(&waiting)?;
        let call_id = (*call_id).clone();
        Some(match chance.below(10) {
            0..6 => Command::ConfirmToolCall { call_id, arguments_hash: call.arguments_hash },
            // Confirms other arguments.
            6 => Command::ConfirmToolCall { call_id, arguments_hash: Hash::ZERO },
            7 => Command::DenyToolCall { call_id, detail: None },
            8 => Command::WithdrawToolCall { call_id, detail: None },
            _ => Command::CancelTurn { turn_id: call.turn_id.clone()? },
        })
    }
}

/// Changes or revokes a role, or grants a share link that expires soon.
fn some_sharing(chance: &mut Chance, now: Millis) -> Option<Command> {
    let others: Vec<Actor> = people().skip(1).collect();
    let (subject, is_guest) = (subject(chance.pick(&others)?), chance.percent(40));
    if is_guest {
        let (subject, expires_at) = (self::subject(&guest()), Some(now + 300 + chance.below(2_000)));
        return Some(Command::GrantAccess { subject, role: Role::Editor, expires_at });
    }
    if chance.percent(30) {
        return Some(Command::RevokeAccess { subject });
    }
    Some(Command::GrantAccess { subject, role: *chance.pick(&ROLES)?, expires_at: None })
}

fn insertion(chance: &mut Chance) -> Command {
    let place = if chance.percent(50) { Place::End } else { Place::Start };
    let source = SOURCES[chance.index(SOURCES.len())];
    Command::InsertCell(cell(CellType::Code, source, place))
}

fn cell(cell_type: CellType, source: &str, place: Place) -> InsertCell {
    InsertCell::new(cell_type, source.to_owned(), place)
}

/// Imports a file with many cells: code with outputs, and a prompt with its reply.
fn import(chance: &mut Chance) -> Command {
    let (mut commands, number) = (Vec::new(), chance.next());
    for index in 0..3 + chance.below(8) {
        let cell_id = notarium_core::CellId::new(format!("file-{number}-{index}")).expect("an id");
        let code = cell(CellType::Code, "1", Place::End);
        commands.push(Command::InsertCell(InsertCell { cell_id: Some(cell_id.clone()), ..code }));
        commands.push(Command::RecordExecution { cell_id, outputs: vec![output("1")], execution_count: Some(index) });
    }
    let reply = Some(Box::new(CellReply {
        turn_id: None,
        status: ReplyStatus::Finished.into(),
        stop_reason: None,
        cause: None,
        detail: None,
        prompt: "Why?".into(),
        text: "Because".to_owned(),
        is_cut: false,
    }));
    commands.push(Command::InsertCell(InsertCell { reply, ..cell(CellType::Prompt, "Why?", Place::End) }));
    Command::Batch { commands }
}

/// Builds an output of a kernel.
pub(crate) fn output(text: &str) -> Output {
    let content = format!(r#"{{"output_type":"stream","name":"stdout","text":"{text}"}}"#);
    Output { content: RawJson::parse(&content).expect("JSON"), blobs: Vec::new(), display_id: None }
}
