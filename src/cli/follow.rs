//! Requests executions and follows them to their end, over the socket.

use std::collections::BTreeSet;

use notarium_agent::connection::{CommandSender, ConnectOptions, Connection, ConnectionEvent};
use notarium_core::{
    Command, Event, Execution, ExecutionId, ExecutionStatus, KernelSessionId, Notebook, NotebookId, Outcome, Output,
    Recorded,
};

use notarium_wire::{ErrorMessage, ServerMessage};

use super::{Ended, Failure};

/// What happens to the followed executions.
#[derive(Debug)]
pub enum News<'a> {
    Outputs {
        id: &'a ExecutionId,
        outputs: &'a [Output],
    },
    Asks {
        id: &'a ExecutionId,
        prompt: &'a str,
    },
    Ended {
        id: &'a ExecutionId,
        end: &'a End,
    },
    /// Words for people: the kernel, the connection.
    Note(String),
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub status: ExecutionStatus,
    pub notice: Option<String>,
}

impl End {
    /// The end that an event is; else `None`.
    pub fn of(event: &Event) -> Option<Self> {
        let (status, notice) = match event {
            Event::ExecutionCompleted(event) if event.ok => (ExecutionStatus::Ok, event.notice.clone()),
            Event::ExecutionCompleted(event) => (ExecutionStatus::Error, event.notice.clone()),
            Event::ExecutionCancelled(event) => (ExecutionStatus::Cancelled, Some(event.cause.clone())),
            Event::ExecutionLost(event) => (ExecutionStatus::Lost, Some(event.cause.clone())),
            _ => return None,
        };
        Some(Self { status, notice })
    }

    /// Of an execution that has ended.
    pub fn as_read(execution: &Execution) -> Self {
        Self { status: execution.status, notice: execution.notice.clone() }
    }
}

/// Waits until the replica is there.
pub async fn first_state(connection: &mut Connection, notebook: &NotebookId) -> Result<Notebook, Failure> {
    loop {
        match connection.next().await {
            ConnectionEvent::Subscribed(_) => {}
            ConnectionEvent::Failed(error) => return Err(error.into()),
            ConnectionEvent::Message(message) => check_message(&message, notebook)?,
            _ => {}
        }
        if let Some(state) = connection.replica(notebook).filter(|state| state.exists()) {
            return Ok(state.clone());
        }
    }
}

/// A message that ends what this program does with the notebook.
pub fn check_message(message: &ServerMessage, notebook: &NotebookId) -> Ended {
    match message {
        ServerMessage::Access { notebook: of, role: None } if of == notebook => {
            Err(Failure::connection("your access to the notebook was taken away: ask an owner"))
        }
        ServerMessage::Error(ErrorMessage { notebook: Some(of), message, code, .. })
            if of == notebook && *code != notarium_wire::ErrorCode::VersionInFuture =>
        {
            Err(Failure::failed(message.clone()))
        }
        _ => Ok(()),
    }
}

/// One notebook, followed.
pub struct Follower {
    connection: Connection,
    sender: CommandSender,
    notebook: NotebookId,
    open: BTreeSet<ExecutionId>,
}

impl Follower {
    /// Connects and waits for the notebook's state.
    pub async fn enter(options: ConnectOptions, notebook: NotebookId) -> Result<Self, Failure> {
        let (mut connection, _) = Connection::open(options).await?;
        connection.subscribe(&notebook);
        first_state(&mut connection, &notebook).await?;
        let sender = connection.sender();
        Ok(Self { connection, sender, notebook, open: BTreeSet::new() })
    }

    pub async fn command(&self, command: &Command) -> Result<Outcome, Failure> {
        Ok(self.sender.command(&self.notebook, command).await?.outcome)
    }

    /// Asks for a kernel of this kernelspec.
    pub async fn launch(&self, kernelspec: String) -> Result<Option<KernelSessionId>, Failure> {
        let launch = Command::LaunchKernel { kernelspec: Some(kernelspec) };
        Ok(self.command(&launch).await?.kernel_session)
    }

    /// Sends requests as one batch and follows what they request, in their order.
    pub async fn request(&mut self, requests: Vec<Command>) -> Result<Vec<ExecutionId>, Failure> {
        let outcome = self.command(&Command::Batch { commands: requests }).await?;
        self.open.extend(outcome.executions.iter().cloned());
        Ok(outcome.executions)
    }

    /// Whether everything that was requested has ended.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Tells what happens next. Cancel safe.
    pub async fn next(&mut self, tell: &mut impl FnMut(News<'_>)) -> Result<(), Failure> {
        match self.connection.next().await {
            ConnectionEvent::Events { recorded, .. } => {
                for recorded in &recorded {
                    self.event(recorded, tell);
                }
            }
            ConnectionEvent::Subscribed(_) => self.catch_up(tell),
            ConnectionEvent::Disconnected { cause, .. } => tell(News::Note(format!("{cause}; trying again"))),
            ConnectionEvent::Failed(cause) => return Err(cause.into()),
            _ => {}
        }
        Ok(())
    }

    fn event(&mut self, recorded: &Recorded, tell: &mut impl FnMut(News<'_>)) {
        if let Event::KernelLaunchFailed(event) = &recorded.event {
            tell(News::Note(format!("the kernel did not start: {}", event.cause)));
        }
        let Some(id) = recorded.event.execution_id().filter(|id| self.open.contains(*id)).cloned() else { return };
        match &recorded.event {
            Event::OutputAppended(event) => tell(News::Outputs { id: &id, outputs: &event.outputs }),
            Event::InputRequested(event) => tell(News::Asks { id: &id, prompt: &event.prompt }),
            event => {
                if let Some(end) = End::of(event) {
                    self.ended(&id, end, tell);
                }
            }
        }
    }

    fn ended(&mut self, id: &ExecutionId, end: End, tell: &mut impl FnMut(News<'_>)) {
        self.open.remove(id);
        tell(News::Ended { id, end: &end });
    }

    /// After a gap the state tells what ended meanwhile.
    fn catch_up(&mut self, tell: &mut impl FnMut(News<'_>)) {
        let Some(state) = self.connection.replica(&self.notebook) else { return };
        let gone = |id: &&ExecutionId| state.executions.get(*id).is_none_or(|execution| execution.status.is_finished());
        let over: Vec<(ExecutionId, Option<std::sync::Arc<Execution>>)> =
            self.open.iter().filter(gone).map(|id| (id.clone(), state.executions.get(id).cloned())).collect();
        for (id, execution) in over {
            let end = match execution {
                Some(execution) => End::as_read(&execution),
                None => End {
                    status: ExecutionStatus::Lost,
                    notice: Some("it ended while the connection was gone".to_owned()),
                },
            };
            self.ended(&id, end, tell);
        }
    }
}
