//! The steps of turns: model calls, replies and results.

use super::*;

impl Worker {
    pub(super) fn turn(&self, turn_id: &TurnId) -> Option<(Turn, Actor)> {
        let turn = self.notebook.turns.get(turn_id)?.clone();
        let actor = assistant_of(&turn.requested_by, &turn.conversation_id)?;
        Some((turn, actor))
    }

    pub(super) async fn step(&mut self, turn_id: &TurnId) -> Progress {
        let Some((turn, actor)) = self.turn(turn_id) else { return Progress::None };
        let Some(turn_state) = self.turns.get_mut(turn_id) else { return Progress::None };
        turn_state.live.executing = self.executing.clone();
        let step = next(turn_id, &self.notebook, &turn_state.record, &turn_state.live);
        let done = match step {
            Step::Done | Step::Wait => return Progress::None,
            Step::CallModel => self.call_model(turn_id, &turn, &actor).await,
            Step::LoseModelCall => self.lose_model_call(turn_id, &actor).await,
            Step::Request(wanted) => self.request(turn_id, &actor, wanted).await,
            Step::Start(call_id) => self.start(&call_id, &actor).await,
            Step::Resume(call_id) => self.resume(&call_id).await,
            Step::Lose(call_id) => self.lose(&call_id, &actor).await,
            Step::PostResults(blocks) => {
                self.post(turn_id, &actor, MessageRole::Tool, fitting(blocks)).await.map(|_| ())
            }
            Step::End(end) => self.end(turn_id, &actor, end).await,
        };
        match done {
            Ok(()) => Progress::Made,
            Err(rejection) => {
                self.refused(turn_id, &rejection).await;
                Progress::None
            }
        }
    }

    pub(super) async fn call_model(&mut self, turn_id: &TurnId, turn: &Turn, actor: &Actor) -> Result<(), Rejection> {
        let (provider, model) = match self.runtime.config.models.choose(turn.model.as_deref()) {
            Ok(chosen) => chosen,
            Err(cause) => return self.end(turn_id, actor, TurnEnd::Failed(cause)).await,
        };
        let start = Command::StartModelCall {
            turn_id: turn_id.clone(),
            provider: provider.name().to_owned(),
            model: model.clone(),
        };
        self.send(actor, &start).await?;
        let Some((turn, _)) = self.turn(turn_id) else { return Ok(()) };
        let call = ModelCall {
            runtime: self.runtime.clone(),
            notebook_id: self.id.clone(),
            notebook: self.notebook.clone(),
            turn_id: turn_id.clone(),
            turn,
            provider,
            model,
            updates: self.model_updates.sender.clone(),
        };
        let Some(turn_state) = self.turns.get_mut(turn_id) else { return Ok(()) };
        turn_state.live.is_calling_model = true;
        turn_state.model_call = Some(
            self.runtime
                .tasks
                .spawn(self.runtime.stopping.clone().run_until_cancelled_owned(call.make()))
                .abort_handle(),
        );
        Ok(())
    }

    pub(super) async fn lose_model_call(&mut self, turn_id: &TurnId, actor: &Actor) -> Result<(), Rejection> {
        let failure = Some("the server stopped while the model answered".to_owned());
        let report = Command::ReportModelCall { turn_id: turn_id.clone(), failure, usage: Usage::default() };
        self.send(actor, &report).await.map(|_| ())
    }

    /// A model call reports.
    pub(super) async fn on_model_call_update(&mut self, turn_id: TurnId, update: ModelCallUpdate) {
        let Some((turn, actor)) = self.turn(&turn_id) else { return };
        let handled = match update {
            ModelCallUpdate::AttemptFailed { cause, usage } => {
                self.another_attempt(&turn_id, &turn, &actor, cause, usage).await
            }
            ModelCallUpdate::NotAsked(cause) => {
                self.model_failed(&turn_id, &actor, cause, Usage::default(), true).await
            }
            ModelCallUpdate::Failed { failure, usage } => {
                // Nothing of it was executed: what was cut off half-way may be asked once more.
                let is_final = !(failure.handed_out && failure.error.is_transient());
                self.model_failed(&turn_id, &actor, failure.to_string(), usage, is_final).await
            }
            ModelCallUpdate::Answered { reply, usage } => self.answered(&turn_id, &actor, &reply, usage).await,
        };
        if let Err(rejection) = handled {
            self.refused(&turn_id, &rejection).await;
        }
    }

    pub(super) async fn another_attempt(
        &mut self,
        turn_id: &TurnId,
        turn: &Turn,
        actor: &Actor,
        cause: String,
        usage: Usage,
    ) -> Result<(), Rejection> {
        let (provider, model) = match self.runtime.config.models.choose(turn.model.as_deref()) {
            Ok((provider, model)) => (provider.name().to_owned(), model),
            Err(_) => return Ok(()),
        };
        let report = Command::ReportModelCall { turn_id: turn_id.clone(), failure: Some(cause), usage };
        self.send(actor, &report).await?;
        let start = Command::StartModelCall { turn_id: turn_id.clone(), provider, model };
        self.send(actor, &start).await.map(|_| ())
    }

    pub(super) async fn model_failed(
        &mut self,
        turn_id: &TurnId,
        actor: &Actor,
        cause: String,
        usage: Usage,
        is_final: bool,
    ) -> Result<(), Rejection> {
        if let Some(turn_state) = self.turns.get_mut(turn_id) {
            turn_state.live.is_calling_model = false;
            turn_state.live.model_failure = is_final.then(|| cause.clone());
        }
        let report = Command::ReportModelCall { turn_id: turn_id.clone(), failure: Some(cause), usage };
        self.send(actor, &report).await.map(|_| ())
    }

    pub(super) async fn answered(
        &mut self,
        turn_id: &TurnId,
        actor: &Actor,
        reply: &providers::Reply,
        usage: Usage,
    ) -> Result<(), Rejection> {
        let report = Command::ReportModelCall { turn_id: turn_id.clone(), failure: None, usage };
        let reported = self.send(actor, &report).await;
        let blocks = messages::recorded(reply, || ulid::Ulid::generate().into());
        let posted = match reported {
            Ok(_) => self.post(turn_id, actor, MessageRole::Assistant, blocks).await.map(|_| ()),
            Err(rejection) => Err(rejection),
        };
        let Some(turn_state) = self.turns.get_mut(turn_id) else { return Ok(()) };
        turn_state.live.is_calling_model = false;
        turn_state.live.stop_reason = stop_reason(&reply.stop);
        match posted {
            Err(rejection) if rejection.code == RejectionCode::LimitExceeded => {
                turn_state.live.model_failure =
                    Some(format!("the model's answer cannot be kept: {}", rejection.message));
                Ok(())
            }
            posted => posted,
        }
    }

    pub(super) async fn post(
        &mut self,
        turn_id: &TurnId,
        actor: &Actor,
        role: MessageRole,
        blocks: Vec<MessageBlock>,
    ) -> Result<AckMessage, Rejection> {
        self.send(actor, &Command::PostReply { turn_id: turn_id.clone(), role, blocks }).await
    }

    pub(super) async fn end(&mut self, turn_id: &TurnId, actor: &Actor, end: TurnEnd) -> Result<(), Rejection> {
        self.send(actor, &Command::EndTurn { turn_id: turn_id.clone(), end }).await.map(|_| ())
    }
}
