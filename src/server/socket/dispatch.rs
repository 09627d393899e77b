//! State of one connection: the notebooks it follows, and the handling of its messages.
//!
//! Checks: a client asks for the digest at its version, which is computed outside the room.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use notarium_core::{Labels, NotebookId, Rejection, Scope, checked_labels};
use notarium_wire::{
    AskKernelMessage, CheckMessage, ClientMessage, CommandMessage, ErrorCode, ErrorMessage, KernelAnswer, OfferMessage,
    QuestionRefusal, RejectMessage, ServerMessage, SubscribeMessage,
};
use tokio::sync::Semaphore;

use super::check::{Asker, notebook_of};
use super::hello::{Named, called, let_in, parse, problem, refusal, welcome};
use super::pulse::ReportMemory;
use crate::agents::kernel_questions::{KernelAsker, answer_to};
use crate::agents::{AgentLock, Knows, MAX_OFFERED_KERNELSPECS, Offer, frame};
use crate::app::App;
use crate::auth::{Authenticated, Follow};
use crate::cluster::OwnerNode;
use crate::limits::clock::Window;
use crate::rooms::{
    ClientId, ClientInput, ClientRegistration, DecodedCommand, Identity, Outbox, OutsideFacts, ReplyTo, RoomHandle,
    Submission, decode, identity, moved_text, unknown_notebook,
};

/// Rooms that are remembered for commands without a subscription.
const MAX_REMEMBERED_ROOMS: usize = 16;

/// Rate limit of widget messages, per window.
const MAX_COMMS_PER_WINDOW: u32 = 500;
const COMMS_WINDOW: Duration = Duration::from_secs(5);

/// A notebook that this connection uses.
struct Joined {
    room: RoomHandle,
    identity: Arc<Identity>,
    is_subscribed: bool,
}

/// Server-side state of one connection. Dropping it leaves every room.
pub struct SocketConnection {
    app: App,
    client: ClientRegistration,
    connection: String,
    outbox: Outbox,
    authenticated: Authenticated,
    /// Name that a guest chose.
    chosen_name: Option<String>,
    joined: HashMap<NotebookId, Joined>,
    has_offered: bool,
    /// Features of a runtime agent.
    knows: Knows,
    /// Permit that allows one check at a time.
    checking: Arc<Semaphore>,
    /// Lock of a runtime agent; `None` for others.
    agent_lock: Option<AgentLock>,
    waiting: ReportMemory,
    /// Rate limit of comm messages. A dragged slider sends some twenty per second.
    comms: Window,
    /// True for a client of another node, or of this node's edge, which counts the unanswered commands.
    is_of_edge: bool,
    /// The client has closed the connection: the commands that it sent before are executed.
    is_closed: bool,
}

type Done = Result<(), ErrorMessage>;

impl SocketConnection {
    /// Begins with the `welcome`, which names the protocol.
    pub fn new(
        app: App,
        protocol: u32,
        Named { authenticated, chosen_name }: Named,
        agent_lock: Option<AgentLock>,
        outbox: Outbox,
        features: &[String],
    ) -> Self {
        let client = app.rooms.connect(outbox.clone());
        let connection = format!("c{}", client.id.0);
        outbox.send(frame(&welcome(&app, &authenticated, &connection, protocol)));
        let (joined, checking) = (HashMap::new(), Arc::new(Semaphore::new(1)));
        let waiting = ReportMemory::new(app.limits.max_waiting_report_bytes);
        Self {
            app,
            client,
            connection,
            outbox,
            authenticated,
            chosen_name,
            joined,
            has_offered: false,
            knows: Knows::of(features),
            checking,
            agent_lock,
            waiting,
            comms: Window::new(COMMS_WINDOW),
            is_of_edge: false,
            is_closed: false,
        }
    }

    /// Makes it the connection of an edge, if there is one; `connection`: the name of its client's connection.
    pub fn of_edge(mut self, connection: Option<String>) -> Self {
        if let Some(connection) = connection {
            (self.is_of_edge, self.connection) = (true, connection);
        }
        self
    }

    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    pub fn app(&self) -> &App {
        &self.app
    }

    /// Resolves when a newer connection of the same runtime agent takes over; for others never.
    pub async fn taken_over(&self) {
        match &self.agent_lock {
            Some(agent_lock) => agent_lock.taken_over().await,
            None => std::future::pending().await,
        }
    }

    /// True if the limit of unanswered commands is reached.
    pub fn has_too_many_unanswered(&self) -> bool {
        self.outbox.unanswered() >= self.app.limits.max_unanswered_commands
    }

    /// Resolves when the unanswered commands have dropped to half of the limit.
    pub fn caught_up(&self) -> impl Future<Output = ()> + use<> {
        let (outbox, count) = (self.outbox.clone(), self.app.limits.max_unanswered_commands / 2);
        async move { outbox.at_most_unanswered(count).await }
    }

    /// Resolves when all commands are answered.
    pub fn all_answered(&self) -> impl Future<Output = ()> + use<> {
        let outbox = self.outbox.clone();
        async move { outbox.at_most_unanswered(0).await }
    }

    /// Call when the client has closed the connection in good order. Otherwise its waiting commands are dropped at the end.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Tells the client that its commands are not read for now.
    pub fn slow_down(&self) {
        let unanswered = u32::try_from(self.outbox.unanswered()).unwrap_or(u32::MAX);
        self.send(&ServerMessage::SlowDown { unanswered });
    }

    pub fn send(&self, message: &ServerMessage) {
        self.outbox.send(frame(message));
    }

    /// Handles one text frame.
    pub async fn handle(&mut self, text: &str, follow: &mut Follow) -> Done {
        let message = parse(text)?;
        if self.is_of_edge
            && let Some(notebook) = notebook_of(&message)
            && !matches!(self.app.cluster.place(notebook).await, Ok(OwnerNode::Here))
        {
            self.outbox.send(moved_text(notebook).into());
            return Ok(());
        }
        match message {
            ClientMessage::Hello(_) => {
                return Err(problem(ErrorCode::Malformed, "hello comes once: use refresh for a new token"));
            }
            ClientMessage::Refresh { token } => self.refresh(token, follow).await?,
            ClientMessage::Subscribe(message) => self.subscribe(message)?,
            ClientMessage::Unsubscribe { notebook } => self.unsubscribe(&notebook),
            ClientMessage::Command(message) => self.command(message).await,
            ClientMessage::Check(message) => self.check(message)?,
            ClientMessage::Presence { notebook, state } => {
                self.to_room(&notebook, ClientInput::Presence(state))?;
            }
            ClientMessage::AskKernel(message) => self.ask_kernel(message),
            ClientMessage::FollowComms { notebook, kernel_session } => {
                self.to_room(&notebook, ClientInput::FollowComms { kernel_session })?;
            }
            ClientMessage::SendComm(message) => {
                count_comm(&mut self.comms)?;
                let notebook = message.notebook.clone();
                self.to_room(&notebook, ClientInput::SendComm(message))?;
            }
            ClientMessage::AnswerQuestion { id, answer } => {
                self.check_is_agent()?;
                self.app.kernel_questions.answer(self.client.id, id, answer);
            }
            ClientMessage::AnswerFile { id, answer } => {
                self.check_is_agent()?;
                self.app.transfers.answer(self.client.id, id, answer);
            }
            ClientMessage::Comms { notebook, kernel_session, asker, comms } => {
                self.of_kernel(&notebook, ClientInput::Comms { kernel_session, asker, comms })?;
            }
            ClientMessage::Comm { notebook, kernel_session, changes } => {
                self.of_kernel(&notebook, ClientInput::Comm { kernel_session, changes })?;
            }
            ClientMessage::Offer(offer) => self.offer(offer)?,
            ClientMessage::MachineLoad { load } => {
                self.check_is_agent()?;
                self.app.agents.measured(self.client.id, load);
            }
            ClientMessage::KernelStatus { notebook, kernel_session, busy } => {
                self.of_kernel(&notebook, ClientInput::KernelStatus { kernel_session, busy })?;
            }
            ClientMessage::KernelUse { notebook, kernel_session, usage } => {
                self.of_kernel(&notebook, ClientInput::KernelUse { kernel_session, usage })?;
            }
        }
        Ok(())
    }

    // --- identity ---

    async fn refresh(&mut self, token: String, follow: &mut Follow) -> Done {
        let (authenticated, followed) = let_in(&self.app, Some(token), self.authenticated.door)
            .await
            .map_err(|error| ErrorMessage { fatal: false, ..refusal(&error) })?;
        if authenticated.actor != self.authenticated.actor {
            return Err(problem(ErrorCode::Forbidden, "that token is another account's: open a connection for it"));
        }
        *follow = followed;
        self.identity_changed(authenticated);
        Ok(())
    }

    /// Passes the token's new rights to every room, and leaves rooms outside its coverage.
    pub fn identity_changed(&mut self, authenticated: Authenticated) {
        self.authenticated = called(authenticated, self.chosen_name.as_deref());
        let lost: Vec<NotebookId> =
            self.joined.keys().filter(|notebook| !self.authenticated.may_see(notebook)).cloned().collect();
        for notebook in lost {
            self.unsubscribe(&notebook);
            self.send(&ServerMessage::Access { notebook, role: None });
        }
        for (notebook, joined) in &mut self.joined {
            joined.identity = identity(&self.authenticated, notebook, &self.connection);
            joined.room.send(self.client.id, ClientInput::IdentityChanged(joined.identity.clone()));
        }
        self.app.agents.identity_changed(self.client.id, &self.authenticated);
    }

    // --- rooms ---

    /// Joins the notebook's room, if the token covers it.
    fn join(&mut self, notebook: &NotebookId) -> Result<&mut Joined, Rejection> {
        if !self.joined.contains_key(notebook) {
            let room = self.app.room(&self.authenticated, notebook)?;
            self.forget_rooms();
            let identity = identity(&self.authenticated, notebook, &self.connection);
            self.joined.insert(notebook.clone(), Joined { room, identity, is_subscribed: false });
        }
        self.joined.get_mut(notebook).ok_or_else(|| unknown_notebook(notebook))
    }

    /// Drops the rooms without a subscription once there are too many.
    fn forget_rooms(&mut self) {
        let others = self.joined.values().filter(|joined| !joined.is_subscribed).count();
        if others >= MAX_REMEMBERED_ROOMS {
            self.joined.retain(|_, joined| joined.is_subscribed);
        }
    }

    fn subscribe(&mut self, message: SubscribeMessage) -> Done {
        let limit = self.app.limits.max_subscriptions_per_socket;
        let notebook = message.notebook.clone();
        if self.joined.values().filter(|joined| joined.is_subscribed).count() >= limit {
            let words = format!("a connection follows at most {limit} notebooks: unsubscribe from some");
            return Err(about(&notebook, ErrorCode::TooManyRequests, words));
        }
        let client = self.client.id;
        let joined = self
            .join(&notebook)
            .map_err(|rejection| about(&notebook, ErrorCode::UnknownNotebook, rejection.message))?;
        joined.is_subscribed = true;
        joined.room.send(client, ClientInput::Subscribe { identity: joined.identity.clone(), message });
        Ok(())
    }

    fn unsubscribe(&mut self, notebook: &NotebookId) {
        if let Some(joined) = self.joined.remove(notebook) {
            joined.leave(self.client.id);
        }
    }

    /// Decodes, checks and queues the command, before the connection's next message is read: so its commands stay in their order, and at most one
    /// frame of a connection is in decoding. The room's answer comes through the outbox.
    async fn command(&mut self, message: CommandMessage) {
        let (id, notebook) = (message.id.clone(), message.notebook.clone());
        match self.checked(message).await {
            Ok((room, identity, decoded, facts)) => {
                let reply_to = self.reply_to(&decoded.message).await;
                room.submit(Submission { identity, decoded, reply_to, facts }).await;
            }
            Err(rejection) => {
                self.app.rooms.metrics.rooms.answered(Some(rejection.code));
                self.send(&ServerMessage::Reject(RejectMessage { id, notebook, rejection }));
            }
        }
    }

    /// Large reports of a runtime agent hold a place until they are answered; other commands are counted.
    async fn reply_to(&self, message: &CommandMessage) -> ReplyTo {
        let with_place = match self.authenticated.is_agent() {
            true => self.waiting.reply_to(message, &self.outbox).await,
            false => None,
        };
        with_place.unwrap_or_else(|| {
            if !self.is_of_edge {
                self.outbox.asked();
            }
            ReplyTo::Client(self.client.id)
        })
    }

    async fn checked(
        &mut self,
        message: CommandMessage,
    ) -> Result<(RoomHandle, Arc<Identity>, DecodedCommand, OutsideFacts), Rejection> {
        let joined = self.join(&message.notebook)?;
        let (room, identity) = (joined.room.clone(), joined.identity.clone());
        let decoded = decode(message).await.map_err(|undecoded| undecoded.rejection)?;
        let facts = self.app.check(&identity, &decoded).await?;
        Ok((room, identity, decoded, facts))
    }

    fn subscribed(&self, notebook: &NotebookId) -> Result<&Joined, ErrorMessage> {
        let joined = self.joined.get(notebook).filter(|joined| joined.is_subscribed);
        joined.ok_or_else(|| {
            about(notebook, ErrorCode::UnknownNotebook, "you do not follow this notebook: subscribe first")
        })
    }

    fn to_room(&self, notebook: &NotebookId, input: ClientInput) -> Done {
        self.subscribed(notebook)?.room.send(self.client.id, input);
        Ok(())
    }

    /// Starts a check. It is answered later, and the connection goes on meanwhile.
    fn check(&self, message: CheckMessage) -> Done {
        let joined = self.subscribed(&message.notebook)?;
        let asker = Asker { client: self.client.id, identity: joined.identity.clone(), room: joined.room.clone() };
        let Ok(permit) = self.checking.clone().try_acquire_owned() else {
            let words = "one check at a time: wait for the answer to the last one";
            return Err(about(&message.notebook, ErrorCode::TooManyRequests, words));
        };
        let (app, outbox) = (self.app.clone(), self.outbox.clone());
        tokio::spawn(async move {
            let answer = asker.check(&app, message).await;
            drop(permit);
            match answer {
                Ok(checked) => {
                    let differs = checked.differs.then(|| checked.clone());
                    outbox.send(frame(&ServerMessage::Checked(checked)));
                    differs.inspect(|checked| asker.heal(&app, checked));
                }
                Err(error) => _ = outbox.send(frame(&ServerMessage::Error(error))),
            }
        });
        Ok(())
    }

    /// Asks a kernel. It is answered later, and the connection goes on meanwhile.
    fn ask_kernel(&mut self, message: AskKernelMessage) {
        let (id, notebook) = (message.id, message.notebook.clone());
        let asker = match self.asker(&notebook) {
            Ok(asker) => asker,
            Err(refused) => return self.send(&answer_to(id, notebook, refused)),
        };
        let (app, outbox) = (self.app.clone(), self.outbox.clone());
        tokio::spawn(async move {
            let answer = asker.ask(app.kernel_ask_service(), message).await;
            outbox.send(frame(&answer_to(id, notebook, answer)));
        });
    }

    fn asker(&mut self, notebook: &NotebookId) -> Result<KernelAsker, KernelAnswer> {
        let number = self.app.kernel_questions.number(&self.authenticated.token_id)?;
        let name = self.connection.clone();
        let joined =
            self.join(notebook).map_err(|rejection| QuestionRefusal::UnknownNotebook.because(rejection.message))?;
        Ok(KernelAsker { identity: joined.identity.clone(), room: joined.room.clone(), name, number })
    }

    // --- runtime agents ---

    fn check_is_agent(&self) -> Done {
        if self.authenticated.is_agent() && self.authenticated.has(Scope::Agent) {
            return Ok(());
        }
        Err(problem(
            ErrorCode::Forbidden,
            "only runtime agents offer and report kernels: connect with an agent's token",
        ))
    }

    fn offer(&mut self, offer: OfferMessage) -> Done {
        self.check_is_agent()?;
        let OfferMessage { mut kernelspecs, mut connections, labels, machine } = offer;
        let labels = checked_labels(labels).unwrap_or_else(|rejection| {
            self.send(&ServerMessage::Error(problem(ErrorCode::Malformed, rejection.message)));
            Labels::new()
        });
        for (count, what) in [(kernelspecs.len(), "kernelspecs"), (connections.len(), "connections")] {
            if count > MAX_OFFERED_KERNELSPECS {
                let words = format!("an agent offers at most {MAX_OFFERED_KERNELSPECS} {what}: the rest is left out");
                self.send(&ServerMessage::Error(problem(ErrorCode::TooManyRequests, words)));
            }
        }
        kernelspecs.truncate(MAX_OFFERED_KERNELSPECS);
        connections.truncate(MAX_OFFERED_KERNELSPECS);
        self.has_offered = true;
        let (client, outbox) = (self.client.id, self.outbox.clone());
        let offer = Offer { kernelspecs, connections, labels, machine, knows: self.knows };
        self.app.agents.offer(client, self.authenticated.clone(), outbox, offer);
        Ok(())
    }

    fn of_kernel(&self, notebook: &NotebookId, input: ClientInput) -> Done {
        self.check_is_agent()?;
        self.to_room(notebook, input)
    }
}

impl Joined {
    fn leave(&self, client: ClientId) {
        if self.is_subscribed {
            self.room.send(client, ClientInput::Unsubscribe);
        }
    }

    fn drop_commands(&self, client: ClientId) {
        self.room.send(client, ClientInput::Gone);
    }
}

impl Drop for SocketConnection {
    fn drop(&mut self) {
        for joined in self.joined.values() {
            match self.is_closed || self.outbox.unanswered() == 0 {
                true => joined.leave(self.client.id),
                false => joined.drop_commands(self.client.id),
            }
        }
        if self.has_offered {
            self.app.agents.leave(self.client.id);
            self.app.kernel_questions.agent_left(self.client.id);
            self.app.transfers.agent_left(self.client.id);
        }
    }
}

fn count_comm(comms: &mut Window) -> Done {
    comms.take(MAX_COMMS_PER_WINDOW).map_err(|_| {
        let (most, seconds) = (MAX_COMMS_PER_WINDOW, COMMS_WINDOW.as_secs());
        let words = format!("more than {most} messages of widgets within {seconds} s: send fewer");
        problem(ErrorCode::TooManyRequests, words)
    })
}

fn about(notebook: &NotebookId, code: ErrorCode, message: impl Into<String>) -> ErrorMessage {
    ErrorMessage { notebook: Some(notebook.clone()), ..problem(code, message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_sends_so_many_messages_of_widgets_at_once() {
        let mut comms = Window::new(COMMS_WINDOW);
        assert!((0..MAX_COMMS_PER_WINDOW).all(|_| count_comm(&mut comms).is_ok()));
        assert_eq!(count_comm(&mut comms).unwrap_err().code, ErrorCode::TooManyRequests);
    }
}
