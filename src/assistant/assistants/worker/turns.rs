//! The steps of turns: model calls, replies and results.

use super::*;

/// A turn, and the assistant that acts in it.
pub(super) struct Acting {
    pub(super) id: TurnId,
    pub(super) turn: Turn,
    pub(super) actor: Actor,
}

impl Worker {
    pub(super) fn acting(&self, turn_id: &TurnId) -> Option<Acting> {
        let turn = self.notebook.turns.get(turn_id)?.clone();
        let actor = assistant_of(&turn.requested_by, &turn.conversation_id)?;
        Some(Acting { id: turn_id.clone(), turn, actor })
    }

    pub(super) async fn step(&mut self, turn_id: &TurnId) -> Progress {
        let Some(acting) = self.acting(turn_id) else { return Progress::None };
        let Some(turn_state) = self.turns.get_mut(turn_id) else { return Progress::None };
        turn_state.live.executing = self.executing.clone();
        let step = next(turn_id, &self.notebook, &turn_state.record, &turn_state.live);
        let done = match step {
            Step::Done | Step::Wait => return Progress::None,
            Step::CallModel => self.call_model(&acting).await,
            Step::LoseModelCall => {
                self.report_model_call(&acting, Some(TurnFailure::ServerStopped.into()), Usage::default()).await
            }
            Step::Request(wanted) => self.request(&acting, wanted).await,
            Step::Start(call_id) => self.start(&call_id, &acting.actor).await,
            Step::Resume(call_id) => self.resume(&call_id).await,
            Step::Lose(call_id) => self.lose(&call_id, &acting.actor).await,
            Step::PostResults(blocks) => self.post(&acting, MessageRole::Tool, fitting(blocks)).await,
            Step::End(end) => self.end(&acting, end).await,
        };
        match done {
            Ok(()) => Progress::Made,
            Err(rejection) => {
                self.refused(turn_id, &rejection).await;
                Progress::None
            }
        }
    }

    async fn call_model(&mut self, acting: &Acting) -> Result<(), Rejection> {
        let (provider, model) = match self.runtime.config.models.choose(acting.turn.model.as_deref()) {
            Ok(chosen) => chosen,
            Err(detail) => return self.end(acting, failed(Because::new(TurnFailure::NoModel, detail))).await,
        };
        if acting.turn.model_call_claimant.is_none() {
            self.start_model_call(acting, &*provider, &model).await?;
        }
        let Some(Acting { id: turn_id, turn, .. }) = self.acting(&acting.id) else { return Ok(()) };
        let call = ModelCall {
            runtime: self.runtime.clone(),
            notebook_id: self.id.clone(),
            notebook: self.notebook.clone(),
            turn_id,
            turn,
            provider,
            model,
            reporter: self.reporter.clone(),
        };
        let Some(turn_state) = self.turns.get_mut(&acting.id) else { return Ok(()) };
        turn_state.live.is_calling_model = true;
        turn_state.live.is_model_call_lost = false;
        turn_state.model_call = Some(self.runtime.spawn(call.make()));
        Ok(())
    }

    async fn start_model_call(
        &mut self,
        acting: &Acting,
        provider: &dyn Provider,
        model: &str,
    ) -> Result<(), Rejection> {
        let (provider, model) = (provider.name().to_owned(), model.to_owned());
        self.send(&acting.actor, &Command::StartModelCall { turn_id: acting.id.clone(), provider, model }).await
    }

    async fn report_model_call(
        &mut self,
        acting: &Acting,
        why: Option<Because<TurnFailure>>,
        usage: Usage,
    ) -> Result<(), Rejection> {
        let (failure, detail) = why.map_or((None, None), |why| (Some(why.cause), why.detail));
        let turn_id = acting.id.clone();
        self.send(&acting.actor, &Command::ReportModelCall { turn_id, failure, detail, usage }).await
    }

    /// Handles the report of a model call.
    pub(super) async fn on_model_call_update(&mut self, turn_id: &TurnId, update: ModelCallUpdate) {
        let Some(acting) = self.acting(turn_id) else { return };
        let handled = match update {
            ModelCallUpdate::AttemptFailed(why) => self.another_attempt(&acting, why).await,
            ModelCallUpdate::Failed { why, usage, is_final } => self.model_failed(&acting, why, usage, is_final).await,
            ModelCallUpdate::Answered { reply, usage } => self.answered(&acting, &reply, usage).await,
        };
        if let Err(rejection) = handled {
            self.refused(turn_id, &rejection).await;
        }
    }

    async fn another_attempt(&mut self, acting: &Acting, why: Because<TurnFailure>) -> Result<(), Rejection> {
        let chosen = self.runtime.config.models.choose(acting.turn.model.as_deref());
        let Ok((provider, model)) = chosen else { return Ok(()) };
        self.report_model_call(acting, Some(why), Usage::default()).await?;
        self.start_model_call(acting, &*provider, &model).await
    }

    async fn model_failed(
        &mut self,
        acting: &Acting,
        why: Because<TurnFailure>,
        usage: Usage,
        is_final: bool,
    ) -> Result<(), Rejection> {
        if let Some(turn_state) = self.turns.get_mut(&acting.id) {
            turn_state.live.is_calling_model = false;
            turn_state.live.model_failure = is_final.then(|| why.clone());
        }
        let reported = self.report_model_call(acting, Some(why), usage).await;
        self.note_model_call(&acting.id, &reported);
        reported
    }

    fn note_model_call(&mut self, turn_id: &TurnId, reported: &Result<(), Rejection>) {
        if let Some(turn_state) = self.turns.get_mut(turn_id) {
            turn_state.live.is_model_call_lost = reported.is_err();
        }
    }

    async fn answered(&mut self, acting: &Acting, reply: &providers::Reply, usage: Usage) -> Result<(), Rejection> {
        let mut posted = self.report_model_call(acting, None, usage).await;
        self.note_model_call(&acting.id, &posted);
        if posted.is_ok() {
            let blocks = messages::recorded(reply, || ulid::Ulid::generate().into());
            posted = self.post(acting, MessageRole::Assistant, blocks).await;
        }
        let Some(turn_state) = self.turns.get_mut(&acting.id) else { return Ok(()) };
        turn_state.live.is_calling_model = false;
        turn_state.live.stop_reason = stop_reason(&reply.stop);
        match posted {
            Err(rejection) if rejection.code == RejectionCode::LimitExceeded => {
                let detail = format!("the model's answer cannot be kept: {}", rejection.message);
                turn_state.live.model_failure = Some(Because::new(TurnFailure::ReplyTooLong, detail));
                Ok(())
            }
            posted => posted,
        }
    }

    async fn post(&mut self, acting: &Acting, role: MessageRole, blocks: Vec<MessageBlock>) -> Result<(), Rejection> {
        self.send(&acting.actor, &Command::PostReply { turn_id: acting.id.clone(), role, blocks }).await
    }

    pub(super) async fn end(&mut self, acting: &Acting, end: TurnEnd) -> Result<(), Rejection> {
        self.send(&acting.actor, &Command::EndTurn { turn_id: acting.id.clone(), end }).await
    }
}
