//! Tool calls: requested, started, executed and reported.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

use super::*;

impl Worker {
    pub(super) async fn request(&mut self, acting: &Acting, wanted: Wanted) -> Result<(), Rejection> {
        let Wanted { call_id, function, arguments, after } = wanted;
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
    pub(super) async fn start(&mut self, call_id: &ToolCallId, actor: &Actor) -> Result<(), Rejection> {
        let start = Command::StartToolCall { call_id: call_id.clone() };
        let ack = self.runtime.host.execute(actor, &self.id, &start).await?;
        self.refresh().await?;
        let effects = Effects { cells: ack.outcome.cells, executions: ack.outcome.executions };
        if let Some(call) = self.started(call_id) {
            self.execute(call_id, call, effects);
        }
        Ok(())
    }

    pub(super) fn started(&self, call_id: &ToolCallId) -> Option<Arc<ToolCall>> {
        let call = self.notebook.tool_calls.get(call_id)?;
        matches!(call.phase, ToolCallPhase::Started { .. }).then(|| call.clone())
    }

    /// Resumes a started call: another process had begun it, or this process's claim was accepted without an answer to it.
    pub(super) async fn resume(&mut self, call_id: &ToolCallId) -> Result<(), Rejection> {
        let Some(call) = self.started(call_id) else { return Ok(()) };
        let effects = Effects::recorded(&*self.runtime.host, &self.id, call_id, &call).await?;
        self.execute(call_id, call, effects);
        Ok(())
    }

    pub(super) fn execute(&mut self, call_id: &ToolCallId, call: Arc<ToolCall>, effects: Effects) {
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
            let _ = reporter.send(Report::ToolCall(call_id, done.unwrap_or_else(|_| Done::fault())));
        };
        self.runtime.spawn(task);
    }

    /// Sends the turn's followers a notice when the call takes long.
    pub(super) fn update(
        &self,
        call_id: &ToolCallId,
        call: &ToolCall,
    ) -> Option<impl Future<Output = ()> + Send + use<>> {
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
            tokio::time::sleep(runtime.config.update_after).await;
            runtime.host.publish(&id, activity);
        })
    }

    pub(super) async fn lose(&mut self, call_id: &ToolCallId, actor: &Actor) -> Result<(), Rejection> {
        let report = Command::ReportToolCall {
            call_id: call_id.clone(),
            end: ToolCallEnd::OutcomeUnknown,
            result: "The server stopped while this was executed.".to_owned(),
        };
        self.send_for(actor, &report).await
    }

    /// Sends a command for the assistant, or in the server's name if its person has no rights here any more.
    pub(super) async fn send_for(&mut self, actor: &Actor, command: &Command) -> Result<(), Rejection> {
        match self.send(actor, command).await {
            Err(rejection) if is_shut_out(&rejection) => self.send(&Actor::System, command).await,
            sent => sent,
        }
    }

    pub(super) async fn report(&mut self, call_id: ToolCallId, done: Done) {
        self.executing.remove(&call_id);
        let Some(call) = self.started(&call_id) else { return };
        let Done { end, result } = done;
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
                let _ = reporter.send(Report::ToolCall(call_id, Done { end, result }));
            });
        }
    }

    /// Continues calls that have no turn, or whose turn was stopped while they ran.
    pub(super) async fn carry_on_calls(&mut self) -> Progress {
        let of_no_turn =
            |call: &ToolCall| call.turn_id.as_ref().is_none_or(|turn| !self.notebook.turns.contains_key(turn));
        let open = self.notebook.tool_calls.iter().filter(|(id, call)| {
            of_no_turn(call) && !self.executing.contains(*id) && !self.backoff.has(id.as_str(), self.looked_at)
        });
        let open: Vec<(ToolCallId, Arc<ToolCall>)> = open.map(|(id, call)| (id.clone(), call.clone())).collect();
        let mut progress = Progress::None;
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
                    progress = Progress::Made;
                }
                Err(rejection) => self.call_refused(&call_id, &rejection).await,
            }
        }
        progress
    }

    /// Handles a call without a turn that cannot start. It is withdrawn in the server's name, unless the refusal is transient.
    pub(super) async fn call_refused(&mut self, call_id: &ToolCallId, rejection: &Rejection) {
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
