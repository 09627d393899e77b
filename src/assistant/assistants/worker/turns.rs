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
            Step::LoseModelCall => {
                let why = TurnFailure::ServerStopped.into();
                self.report_model_call(turn_id, &actor, Some(why), Usage::default()).await
            }
            Step::Request(wanted) => self.request(turn_id, &actor, wanted).await,
            Step::Start(call_id) => self.start(&call_id, &actor).await,
            Step::Resume(call_id) => self.resume(&call_id).await,
            Step::Lose(call_id) => self.lose(&call_id, &actor).await,
            Step::PostResults(blocks) => self.post(turn_id, &actor, MessageRole::Tool, fitting(blocks)).await,
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
            Err(detail) => {
                return self.end(turn_id, actor, failed(Because::new(TurnFailure::NoModel, detail))).await;
            }
        };
        if turn.model_call_claimant.is_none() {
            self.start_model_call(turn_id, actor, &*provider, &model).await?;
        }
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
        turn_state.live.is_model_call_lost = false;
        turn_state.model_call = Some(self.runtime.spawn(call.make()));
        Ok(())
    }

    async fn start_model_call(
        &mut self,
        turn_id: &TurnId,
        actor: &Actor,
        provider: &dyn Provider,
        model: &str,
    ) -> Result<(), Rejection> {
        let (provider, model) = (provider.name().to_owned(), model.to_owned());
        self.send(actor, &Command::StartModelCall { turn_id: turn_id.clone(), provider, model }).await.map(|_| ())
    }

    async fn report_model_call(
        &mut self,
        turn_id: &TurnId,
        actor: &Actor,
        why: Option<Because<TurnFailure>>,
        usage: Usage,
    ) -> Result<(), Rejection> {
        let (failure, detail) = why.map_or((None, None), |why| (Some(why.cause), why.detail));
        let turn_id = turn_id.clone();
        self.send(actor, &Command::ReportModelCall { turn_id, failure, detail, usage }).await.map(|_| ())
    }

    /// A model call reports.
    pub(super) async fn on_model_call_update(&mut self, turn_id: TurnId, update: ModelCallUpdate) {
        let Some((turn, actor)) = self.turn(&turn_id) else { return };
        let handled = match update {
            ModelCallUpdate::AttemptFailed(why) => self.another_attempt(&turn_id, &turn, &actor, why).await,
            ModelCallUpdate::Failed { why, usage, is_final } => {
                self.model_failed(&turn_id, &actor, why, usage, is_final).await
            }
            ModelCallUpdate::Answered { reply, usage } => self.answered(&turn_id, &actor, &reply, usage).await,
        };
        if let Err(rejection) = handled {
            self.refused(&turn_id, &rejection).await;
        }
    }

    async fn another_attempt(
        &mut self,
        turn_id: &TurnId,
        turn: &Turn,
        actor: &Actor,
        why: Because<TurnFailure>,
    ) -> Result<(), Rejection> {
        let Ok((provider, model)) = self.runtime.config.models.choose(turn.model.as_deref()) else { return Ok(()) };
        self.report_model_call(turn_id, actor, Some(why), Usage::default()).await?;
        self.start_model_call(turn_id, actor, &*provider, &model).await
    }

    pub(super) async fn model_failed(
        &mut self,
        turn_id: &TurnId,
        actor: &Actor,
        why: Because<TurnFailure>,
        usage: Usage,
        is_final: bool,
    ) -> Result<(), Rejection> {
        if let Some(turn_state) = self.turns.get_mut(turn_id) {
            turn_state.live.is_calling_model = false;
            turn_state.live.model_failure = is_final.then(|| why.clone());
        }
        let reported = self.report_model_call(turn_id, actor, Some(why), usage).await;
        self.note_model_call(turn_id, &reported);
        reported
    }

    fn note_model_call(&mut self, turn_id: &TurnId, reported: &Result<(), Rejection>) {
        if let Some(turn_state) = self.turns.get_mut(turn_id) {
            turn_state.live.is_model_call_lost = reported.is_err();
        }
    }

    pub(super) async fn answered(
        &mut self,
        turn_id: &TurnId,
        actor: &Actor,
        reply: &providers::Reply,
        usage: Usage,
    ) -> Result<(), Rejection> {
        let mut posted = self.report_model_call(turn_id, actor, None, usage).await;
        self.note_model_call(turn_id, &posted);
        if posted.is_ok() {
            let blocks = messages::recorded(reply, || ulid::Ulid::generate().into());
            posted = self.post(turn_id, actor, MessageRole::Assistant, blocks).await;
        }
        let Some(turn_state) = self.turns.get_mut(turn_id) else { return Ok(()) };
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

    pub(super) async fn post(
        &mut self,
        turn_id: &TurnId,
        actor: &Actor,
        role: MessageRole,
        blocks: Vec<MessageBlock>,
    ) -> Result<(), Rejection> {
        self.send(actor, &Command::PostReply { turn_id: turn_id.clone(), role, blocks }).await.map(|_| ())
    }

    pub(super) async fn end(&mut self, turn_id: &TurnId, actor: &Actor, end: TurnEnd) -> Result<(), Rejection> {
        self.send(actor, &Command::EndTurn { turn_id: turn_id.clone(), end }).await.map(|_| ())
    }
}
