//! Requests executions and follows them to their end, over the socket.

use std::collections::BTreeSet;

use notarium_agent::connection::{CommandSender, ConnectOptions, Connection, ConnectionEvent};
use notarium_core::{
    Command, Event, Execution, ExecutionId, ExecutionStatus, KernelSessionId, Notebook, NotebookId, Outcome, Output,
    Recorded,
};

use super::Failure;

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
        let sender = connection.sender();
        let mut follower = Self { connection, sender, notebook, open: BTreeSet::new() };
        while follower.state().is_none() {
            match follower.connection.next().await {
                ConnectionEvent::Failed(cause) | ConnectionEvent::Disconnected { cause, .. } => {
                    return Err(cause.into());
                }
                ConnectionEvent::Message(notarium_wire::ServerMessage::Error(error)) => {
                    return Err(Failure::failed(error.message));
                }
                _ => {}
            }
        }
        Ok(follower)
    }

    pub fn state(&self) -> Option<&Notebook> {
        self.connection.replica(&self.notebook)
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
            Event::ExecutionCompleted(event) => {
                let status = if event.ok { ExecutionStatus::Ok } else { ExecutionStatus::Error };
                self.ended(&id, End { status, notice: event.notice.clone() }, tell);
            }
            Event::ExecutionCancelled(event) => {
                let end = End { status: ExecutionStatus::Cancelled, notice: Some(event.cause.clone()) };
                self.ended(&id, end, tell);
            }
            Event::ExecutionLost(event) => {
                let end = End { status: ExecutionStatus::Lost, notice: Some(event.cause.clone()) };
                self.ended(&id, end, tell);
            }
            _ => {}
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
                Some(execution) => End { status: execution.status, notice: execution.notice.clone() },
                None => End {
                    status: ExecutionStatus::Lost,
                    notice: Some("it ended while the connection was gone".to_owned()),
                },
            };
            self.ended(&id, end, tell);
        }
    }
}
