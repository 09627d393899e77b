//! The steps of turns and tool calls: model calls, replies and results; calls requested, started, executed and reported.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use notarium_core::MessageBlock;

use super::*;

/// A turn, and the assistant that acts in it.
pub(super) struct ActingTurn {
    pub(super) id: TurnId,
    pub(super) turn: Turn,
    pub(super) actor: Actor,
}

impl Worker {
    pub(super) fn acting(&self, turn_id: &TurnId) -> Option<ActingTurn> {
        let turn = self.notebook.turns.get(turn_id)?.clone();
        let actor = turn.requested_by.assistant_in(&turn.conversation_id)?;
        Some(ActingTurn { id: turn_id.clone(), turn, actor })
    }

    pub(super) async fn step(&mut self, turn_id: &TurnId) -> StepProgress {
        let Some(acting) = self.acting(turn_id) else { return StepProgress::None };
        let Some(turn_state) = self.turns.get_mut(turn_id) else { return StepProgress::None };
        turn_state.live.executing = self.executing.clone();
        let step = next(turn_id, &self.notebook, &turn_state.record, &turn_state.live);
        let done = match step {
            Step::Done | Step::Wait => return StepProgress::None,
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
            Ok(()) => StepProgress::Made,
            Err(rejection) => {
                self.refused(turn_id, &rejection).await;
                StepProgress::None
            }
        }
    }

    async fn call_model(&mut self, acting: &ActingTurn) -> Result<(), Rejection> {
        let (provider, model) = match self.runtime.config.models.choose(acting.turn.model.as_deref()) {
            Ok(chosen) => chosen,
            Err(detail) => return self.end(acting, failed(ExplainedCause::new(TurnFailure::NoModel, detail))).await,
        };
        if acting.turn.model_call_claimant.is_none() {
            self.start_model_call(acting, &*provider, &model).await?;
        }
        let Some(ActingTurn { id: turn_id, turn, .. }) = self.acting(&acting.id) else { return Ok(()) };
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
        turn_state.model_call = Some(AbortOnDropHandle::new(self.runtime.spawn(call.make())));
        Ok(())
    }

    async fn start_model_call(
        &mut self,
        acting: &ActingTurn,
        provider: &dyn ModelProvider,
        model: &str,
    ) -> Result<(), Rejection> {
        let (provider, model) = (provider.name().to_owned(), model.to_owned());
        self.send(&acting.actor, &Command::StartModelCall { turn_id: acting.id.clone(), provider, model }).await
    }

    async fn report_model_call(
        &mut self,
        acting: &ActingTurn,
        why: Option<ExplainedCause<TurnFailure>>,
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

    async fn another_attempt(
        &mut self,
        acting: &ActingTurn,
        why: ExplainedCause<TurnFailure>,
    ) -> Result<(), Rejection> {
        let chosen = self.runtime.config.models.choose(acting.turn.model.as_deref());
        let Ok((provider, model)) = chosen else { return Ok(()) };
        self.report_model_call(acting, Some(why), Usage::default()).await?;
        self.start_model_call(acting, &*provider, &model).await
    }

    async fn model_failed(
        &mut self,
        acting: &ActingTurn,
        why: ExplainedCause<TurnFailure>,
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

    async fn answered(
        &mut self,
        acting: &ActingTurn,
        reply: &providers::ModelReply,
        usage: Usage,
    ) -> Result<(), Rejection> {
        self.runtime.reasoning.keep(&self.id, &acting.id, reply);
        let blocks = messages::recorded(reply, || ulid::Ulid::generate().into());
        let turn_id = acting.id.clone();
        let report = Command::ReportModelCall { turn_id: turn_id.clone(), failure: None, detail: None, usage };
        let post = Command::PostReply { turn_id, role: MessageRole::Assistant, blocks };
        // One batch: nothing can come between the end of the call and its answer.
        let mut posted = self.send(&acting.actor, &Command::Batch { commands: vec![report.clone(), post] }).await;
        let too_long = posted.as_ref().err().filter(|rejection| rejection.code == RejectionCode::LimitExceeded);
        let too_long = too_long.map(|rejection| {
            let detail = format!("the model's answer cannot be kept: {}", rejection.message);
            ExplainedCause::new(TurnFailure::ReplyTooLong, detail)
        });
        if too_long.is_some() {
            posted = self.send(&acting.actor, &report).await;
        }
        self.note_model_call(&acting.id, &posted);
        if let Some(turn_state) = self.turns.get_mut(&acting.id) {
            turn_state.live.is_calling_model = false;
            turn_state.live.stop_reason = stop_reason(&reply.stop);
            turn_state.live.model_failure = too_long;
        }
        posted
    }

    async fn post(
        &mut self,
        acting: &ActingTurn,
        role: MessageRole,
        blocks: Vec<MessageBlock>,
    ) -> Result<(), Rejection> {
        self.send(&acting.actor, &Command::PostReply { turn_id: acting.id.clone(), role, blocks }).await
    }

    pub(super) async fn end(&mut self, acting: &ActingTurn, end: TurnEnd) -> Result<(), Rejection> {
        self.send(&acting.actor, &Command::EndTurn { turn_id: acting.id.clone(), end }).await
    }
}

impl Worker {
    async fn request(&mut self, acting: &ActingTurn, wanted: ToolRequest) -> Result<(), Rejection> {
        let ToolRequest { call_id, function, arguments, after } = wanted;
        let request = Command::RequestToolCall(notarium_core::RequestToolCall {
            call_id: Some(call_id.clone()),
            turn_id: Some(acting.id.clone()),
            function,
            arguments,
            after,
            conversation_title: None,
            token: None,
        });
        match self.send(&acting.actor, &request).await {
            Err(rejection) if rejection.code != RejectionCode::Unavailable => {
                // The model gets the reason as the call's result, and the turn goes on.
                if let Some(turn_state) = self.turns.get_mut(&acting.id) {
                    turn_state.live.refused.insert(call_id, refusal_text(&rejection));
                }
                Ok(())
            }
            sent => sent,
        }
    }

    /// Starts a call that has passed the gate; executes it here if the core does not.
    async fn start(&mut self, call_id: &ToolCallId, actor: &Actor) -> Result<(), Rejection> {
        let start = Command::StartToolCall { call_id: call_id.clone() };
        let ack = self.execute(actor, &start).await?;
        self.refresh().await?;
        let effects = CallEffects { cells: ack.outcome.cells, executions: ack.outcome.executions };
        if let Some(call) = self.started(call_id).filter(|_| self.is_owner) {
            self.carry_out(call_id, call, effects);
        }
        Ok(())
    }

    fn started(&self, call_id: &ToolCallId) -> Option<Arc<ToolCall>> {
        let call = self.notebook.tool_calls.get(call_id)?;
        matches!(call.phase, ToolCallPhase::Started { .. }).then(|| call.clone())
    }

    /// Resumes a started call: another process had begun it, or this process's claim was accepted without an answer to it.
    async fn resume(&mut self, call_id: &ToolCallId) -> Result<(), Rejection> {
        let Some(call) = self.started(call_id) else { return Ok(()) };
        let effects = CallEffects::recorded(&*self.runtime.host, &self.id, call_id, &call).await?;
        self.carry_out(call_id, call, effects);
        Ok(())
    }

    fn carry_out(&mut self, call_id: &ToolCallId, call: Arc<ToolCall>, effects: CallEffects) {
        self.executing.insert(call_id.clone());
        let task = ToolTask {
            runtime: self.runtime.clone(),
            notebook: self.id.clone(),
            call_id: call_id.clone(),
            call: call.clone(),
            effects,
            state: self.handle.state.subscribe(),
        };
        let (reporter, call_id) = (self.reporter.clone(), call_id.clone());
        let update = self.update(&call_id, &call);
        let task = async move {
            let done = AssertUnwindSafe(updated(execute(task), update)).catch_unwind().await;
            // Without the worker the call stays started in the log, and the next worker resumes it.
            let _ = reporter.send(TaskReport::ToolCall(call_id, done.unwrap_or_else(|_| CallOutcome::fault())));
        };
        self.runtime.spawn(task);
    }

    /// Sends the turn's followers a notice when the call takes long.
    fn update(&self, call_id: &ToolCallId, call: &ToolCall) -> Option<impl Future<Output = ()> + Send + use<>> {
        let turn_id = call.turn_id.clone()?;
        let turn = self.notebook.turns.get(&turn_id)?;
        let run_wait = self.runtime.config.run_wait.as_secs();
        let message = format!("{} is still running; it is waited for up to {run_wait} s", call.function);
        let activity = TurnActivity {
            conversation_id: turn.conversation_id.clone(),
            turn_id,
            model_call: turn.model_calls,
            attempt: turn.attempts,
            what: ActivityKind::ToolUpdate { call_id: call_id.clone(), message },
        };
        let (runtime, id) = (self.runtime.clone(), self.id.clone());
        Some(async move {
            runtime.host.sleep(runtime.config.update_after).await;
            runtime.host.publish(&id, activity);
        })
    }

    async fn lose(&mut self, call_id: &ToolCallId, actor: &Actor) -> Result<(), Rejection> {
        let report = Command::ReportToolCall {
            call_id: call_id.clone(),
            end: ToolCallEnd::OutcomeUnknown,
            result: "The server stopped while this was executed.".to_owned(),
        };
        self.send_for(actor, &report).await
    }

    /// Sends a command for the assistant, or in the server's name if its person has no rights here any more.
    async fn send_for(&mut self, actor: &Actor, command: &Command) -> Result<(), Rejection> {
        match self.send(actor, command).await {
            Err(rejection) if is_shut_out(&rejection) => self.send(&Actor::System, command).await,
            sent => sent,
        }
    }

    pub(super) async fn report(&mut self, call_id: ToolCallId, done: CallOutcome) {
        self.executing.remove(&call_id);
        let Some(call) = self.started(&call_id) else { return };
        let CallOutcome { end, result } = done;
        let report = Command::ReportToolCall { call_id: call_id.clone(), end, result: result.clone() };
        let is_over = |code| matches!(code, RejectionCode::UnknownToolCall | RejectionCode::ToolCallState);
        if let Err(rejection) = self.send_for(&call.requested_by, &report).await
            && !is_over(rejection.code)
        {
            tracing::warn!(notebook = %self.id, call = %call_id, %rejection, "a call's end is not recorded yet");
            // Retried later; until then the call counts as executing.
            self.executing.insert(call_id.clone());
            let reporter = self.reporter.clone();
            self.runtime.spawn(async move {
                tokio::time::sleep(FIRST_DELAY).await;
                let _ = reporter.send(TaskReport::ToolCall(call_id, CallOutcome { end, result }));
            });
        }
    }

    /// Continues calls that have no turn, or whose turn was stopped while they ran.
    pub(super) async fn carry_on_calls(&mut self) -> StepProgress {
        let of_no_turn =
            |call: &ToolCall| call.turn_id.as_ref().is_none_or(|turn| !self.notebook.turns.contains_key(turn));
        let open = self.notebook.tool_calls.iter().filter(|(id, call)| {
            of_no_turn(call) && !self.executing.contains(*id) && !self.backoff.has(id.as_str(), self.looked_at)
        });
        let open: Vec<(ToolCallId, Arc<ToolCall>)> = open.map(|(id, call)| (id.clone(), call.clone())).collect();
        let mut progress = StepProgress::None;
        for (call_id, call) in open {
            let done = match &call.phase {
                ToolCallPhase::Waiting => continue,
                ToolCallPhase::Passed | ToolCallPhase::Confirmed { .. } => {
                    self.start(&call_id, &call.requested_by).await
                }
                ToolCallPhase::Started { claimant, .. }
                    if is_taken_up(&call, claimant, self.runtime.host.instance()) =>
                {
                    self.resume(&call_id).await
                }
                ToolCallPhase::Started { .. } => self.lose(&call_id, &call.requested_by).await,
            };
            match done {
                Ok(()) => {
                    self.backoff.end(call_id.as_str());
                    progress = StepProgress::Made;
                }
                Err(rejection) => self.call_refused(&call_id, &rejection).await,
            }
        }
        progress
    }

    /// Handles a call without a turn that cannot start. It is withdrawn in the server's name, unless the refusal is transient.
    async fn call_refused(&mut self, call_id: &ToolCallId, rejection: &Rejection) {
        if is_shut_out(rejection) || rejection.code == RejectionCode::NotebookArchived {
            let withdraw =
                Command::WithdrawToolCall { call_id: call_id.clone(), detail: Some(rejection.message.clone()) };
            if self.send(&Actor::System, &withdraw).await.is_ok() {
                return;
            }
        }
        self.backoff.add(call_id.as_str(), Instant::now());
        let _ = self.refresh().await;
    }
}

/// Most bytes of the results of one message; the core accepts a message of 1 MiB.
const MAX_RESULTS_BYTES: usize = 800_000;

/// The results of one message, each shortened so that all fit together as JSON.
fn fitting(mut blocks: Vec<MessageBlock>) -> Vec<MessageBlock> {
    let most = MAX_RESULTS_BYTES / blocks.len().max(1);
    for block in &mut blocks {
        if let MessageBlock::ToolResult { text: Some(text), .. } = block
            && let Some(end) = end_of_what_fits(text, most)
        {
            text.truncate(end);
            text.push_str("…[truncated]");
        }
    }
    blocks
}

/// Offset at which a text must be cut to have at most `most` bytes as a JSON string; `None`: it fits.
fn end_of_what_fits(text: &str, most: usize) -> Option<usize> {
    let mut written = 0;
    text.char_indices().find_map(|(at, character)| {
        written += match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            other => other.len_utf8(),
        };
        (written > most).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_fit_together_wherever_they_are_dense() {
        let dense = "\u{1}".repeat(100_000) + &"é".repeat(200_000);
        let result = |text: &str| MessageBlock::ToolResult {
            provider_id: "p".to_owned(),
            call_id: "c".parse().unwrap(),
            text: Some(text.to_owned()),
            is_error: false,
        };
        let blocks = fitting(vec![result(&dense), result("short"), result(&dense)]);
        let bytes = serde_json::to_string(&blocks).unwrap().len();
        assert!((500_000..MAX_RESULTS_BYTES + 1_000).contains(&bytes), "{bytes}");
        assert_eq!(blocks[1], result("short"));
        for text in ["\u{0}\u{1f}\u{7f}\"\\\n\r\t\u{8}\u{c}é漢🙂", "plain"] {
            let whole = serde_json::to_string(text).unwrap().len() - 2;
            assert_eq!(end_of_what_fits(text, whole), None, "{text:?}");
            assert!(end_of_what_fits(text, whole - 1).is_some(), "{text:?}");
        }
    }
}
