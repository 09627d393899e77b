//! Matches messages to executions, and decides when an execution is over. Pure: time comes in.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hashlink::LruCache;

use super::comms::KernelComm;
use super::messages::{ExecuteReply, InputRequest, IopubContent, KernelMessage, MessageHeader};
use super::payloads;
use super::{ExecutionId, FinishStatus, KernelEvent, LossReason};

/// Most finished executions that are remembered for the outputs of their threads.
const MAX_REMEMBERED: usize = 1000;
/// Delay after `busy` until a kernel is sure to run the code and to notice an interrupt.
const EARLY_INTERRUPT_DELAY: Duration = Duration::from_millis(50);

/// The executions of one kernel session.
#[derive(Debug)]
pub(super) struct Executions {
    idle_timeout: Duration,
    /// Sorted by the order of their requests: most messages belong to the first.
    unfinished: VecDeque<UnfinishedExecution>,
    /// Finished executions by their `msg_id`.
    remembered: LruCache<String, ExecutionId>,
    input_request: Option<MessageHeader>,
    heard_at: Option<Instant>,
    interrupt: Option<EarlyInterrupt>,
}

/// An interrupt that came before the kernel had begun the execution. Kernels ignore it then.
#[derive(Debug)]
struct EarlyInterrupt {
    msg_id: String,
    /// Time to repeat it, set when the execution has started.
    due: Option<Instant>,
}

#[derive(Debug)]
struct UnfinishedExecution {
    /// The request's `msg_id`.
    msg_id: String,
    execution_id: ExecutionId,
    started: bool,
    idle_at: Option<Instant>,
    reply: Option<(Instant, ExecuteReply)>,
}

impl Executions {
    pub fn new(idle_timeout: Duration) -> Self {
        Self {
            idle_timeout,
            unfinished: VecDeque::new(),
            remembered: LruCache::new(MAX_REMEMBERED),
            input_request: None,
            heard_at: None,
            interrupt: None,
        }
    }

    /// Notes that an execution was sent to the kernel as `msg_id`.
    pub fn requested(&mut self, msg_id: String, execution_id: ExecutionId) {
        let unfinished = UnfinishedExecution { msg_id, execution_id, started: false, idle_at: None, reply: None };
        self.unfinished.push_back(unfinished);
    }

    /// Forgets an execution that was not sent.
    pub fn forget(&mut self, execution_id: &ExecutionId) {
        self.unfinished.retain(|unfinished| unfinished.execution_id != *execution_id);
    }

    pub fn unfinished_count(&self) -> usize {
        self.unfinished.len()
    }

    /// Notes an interrupt. If no execution runs, the next one is interrupted when it begins.
    pub fn interrupted(&mut self) {
        let running = self.unfinished.iter().any(|unfinished| unfinished.started && unfinished.idle_at.is_none());
        let next = self.unfinished.iter().find(|unfinished| !unfinished.started);
        if let (false, Some(next)) = (running, next) {
            self.interrupt = Some(EarlyInterrupt { msg_id: next.msg_id.clone(), due: None });
        }
    }

    /// True if the kernel must be interrupted again now; true once per interrupt.
    pub fn interrupt_is_due(&mut self, now: Instant) -> bool {
        let due = |interrupt: &mut EarlyInterrupt| interrupt.due.is_some_and(|due| due <= now);
        let interrupt = self.interrupt.take_if(due);
        interrupt.is_some_and(|interrupt| self.unfinished.iter().any(|it| it.msg_id == interrupt.msg_id))
    }

    /// Ends the session: returns the executions that will not finish, in the order of their requests.
    pub fn end(&mut self) -> Vec<ExecutionId> {
        self.unfinished.drain(..).map(|unfinished| unfinished.execution_id).collect()
    }

    /// Notes that the output channel is being read at `now`: silence counts from here.
    pub fn listening(&mut self, now: Instant) {
        self.heard_at = Some(now);
    }

    /// Handles a message on iopub.
    pub fn iopub(&mut self, now: Instant, message: &KernelMessage) -> Vec<KernelEvent> {
        self.heard_at = Some(now);
        let execution_id = || self.execution_of(message);
        if let Some(comm) = KernelComm::read(message) {
            return vec![KernelEvent::Comm(KernelComm { execution_id: execution_id(), ..comm })];
        }
        let event = match message.iopub() {
            Ok(IopubContent::Busy) => self.busy(now, message),
            Ok(IopubContent::Idle) => return self.idle(now, message),
            Ok(IopubContent::Output(output)) => Some(KernelEvent::Output { execution_id: execution_id(), output }),
            Ok(IopubContent::Functions(data)) => Some(KernelEvent::Functions { execution_id: execution_id(), data }),
            Ok(IopubContent::Other) => None,
            Err(_) => {
                let reason = LossReason::Unreadable;
                Some(KernelEvent::OutputsLost { execution_id: execution_id(), reason })
            }
        };
        event.into_iter().collect()
    }

    /// Handles a message on shell.
    pub fn shell(&mut self, now: Instant, message: &KernelMessage) -> Vec<KernelEvent> {
        let index = self.index_of(message).filter(|_| message.header.msg_type == "execute_reply");
        let Some(index) = index else { return Vec::new() };
        self.unfinished[index].reply = Some((now, message.content().unwrap_or_else(|_| unknown_reply())));
        self.finish_if_complete(index)
    }

    /// Handles a message on stdin.
    pub fn stdin(&mut self, message: KernelMessage) -> Option<KernelEvent> {
        if message.header.msg_type != "input_request" {
            return None;
        }
        let execution_id = self.execution_of(&message);
        let InputRequest { prompt, password } = message.content().unwrap_or_default();
        self.input_request = Some(message.header);
        Some(KernelEvent::InputRequest { execution_id, prompt, password })
    }

    /// Takes the header of the open input request.
    pub fn take_input_request(&mut self) -> Option<MessageHeader> {
        self.input_request.take()
    }

    /// Time of the next [`expire`](Self::expire) or [`interrupt_is_due`](Self::interrupt_is_due).
    pub fn deadline(&self) -> Option<Instant> {
        let interrupt = self.interrupt.as_ref().and_then(|interrupt| interrupt.due);
        let ends = self.unfinished.iter().filter_map(|unfinished| self.end_deadline(unfinished));
        ends.chain(interrupt).min()
    }

    /// Deadline of an execution that has only its reply or only its `idle`. Output may come before `idle`, so
    /// only silence counts; a reply should come before `idle`, so its deadline counts from `idle`.
    fn end_deadline(&self, unfinished: &UnfinishedExecution) -> Option<Instant> {
        let since = match (&unfinished.reply, unfinished.idle_at) {
            (Some((at, _)), None) => self.heard_at.map_or(*at, |heard| heard.max(*at)),
            (None, Some(at)) => at,
            _ => return None,
        };
        Some(since + self.idle_timeout)
    }

    /// Ends the executions that have waited too long for their reply or `idle`.
    pub fn expire(&mut self, now: Instant) -> Vec<KernelEvent> {
        let mut events = Vec::new();
        let is_due = |of: &Self, at: &UnfinishedExecution| of.end_deadline(at).is_some_and(|deadline| deadline <= now);
        while let Some(index) = self.unfinished.iter().position(|unfinished| is_due(self, unfinished)) {
            events.extend(self.finish_without(now, index));
        }
        events
    }

    /// Ends an execution without its reply or `idle`. An aborted execution never ran, so it has lost nothing.
    fn finish_without(&mut self, now: Instant, index: usize) -> impl Iterator<Item = KernelEvent> + use<> {
        let unfinished = &mut self.unfinished[index];
        let reason = match &unfinished.reply {
            Some((_, reply)) if finish_status(reply) == FinishStatus::Aborted => None,
            Some(_) => Some(LossReason::EndMissing),
            None => Some(LossReason::ReplyMissing),
        };
        unfinished.idle_at.get_or_insert(now);
        unfinished.reply.get_or_insert_with(|| (now, unknown_reply()));
        let execution_id = Some(unfinished.execution_id.clone());
        let lost = reason.map(|reason| KernelEvent::OutputsLost { execution_id, reason });
        lost.into_iter().chain(self.finish_if_complete(index))
    }

    fn busy(&mut self, now: Instant, message: &KernelMessage) -> Option<KernelEvent> {
        let index = self.index_of(message)?;
        let unfinished = &mut self.unfinished[index];
        if let Some(interrupt) = self.interrupt.as_mut().filter(|interrupt| interrupt.msg_id == unfinished.msg_id) {
            interrupt.due = Some(now + EARLY_INTERRUPT_DELAY);
        }
        let first = !std::mem::replace(&mut unfinished.started, true);
        first.then(|| KernelEvent::Started { execution_id: unfinished.execution_id.clone() })
    }

    fn idle(&mut self, now: Instant, message: &KernelMessage) -> Vec<KernelEvent> {
        let Some(index) = self.index_of(message) else { return Vec::new() };
        self.unfinished[index].idle_at.get_or_insert(now);
        self.finish_if_complete(index)
    }

    /// The events of an execution's end, if both its reply and its `idle` have come. Payloads of the reply come first.
    fn finish_if_complete(&mut self, index: usize) -> Vec<KernelEvent> {
        let finished = self.unfinished.get(index).filter(|it| it.idle_at.is_some() && it.reply.is_some());
        let finished = finished.is_some().then(|| self.unfinished.remove(index)).flatten();
        let Some(UnfinishedExecution { msg_id, execution_id, reply: Some((_, reply)), .. }) = finished else {
            return Vec::new();
        };
        self.remembered.insert(msg_id, execution_id.clone());
        let mut events = reply.payload.as_deref().map_or_else(Vec::new, |all| payloads::events(&execution_id, all));
        events.push(KernelEvent::Finished {
            execution_id,
            status: finish_status(&reply),
            execution_count: reply.execution_count.and_then(|count| count.as_u64()),
        });
        events
    }

    /// The index of a message's execution, while that is unfinished.
    fn index_of(&self, message: &KernelMessage) -> Option<usize> {
        let msg_id = message.parent_id.as_ref()?;
        self.unfinished.iter().position(|unfinished| unfinished.msg_id == *msg_id)
    }

    fn execution_of(&self, message: &KernelMessage) -> Option<ExecutionId> {
        if let Some(index) = self.index_of(message) {
            return Some(self.unfinished[index].execution_id.clone());
        }
        self.remembered.peek(message.parent_id.as_ref()?).cloned()
    }
}

/// Stands in for a reply that is unreadable or missing: the execution counts as failed.
fn unknown_reply() -> ExecuteReply {
    ExecuteReply { status: "error".into(), execution_count: None, payload: None }
}

fn finish_status(reply: &ExecuteReply) -> FinishStatus {
    match reply.status.as_str() {
        "ok" => FinishStatus::Ok,
        // Older kernels reply "abort".
        "aborted" | "abort" => FinishStatus::Aborted,
        _ => FinishStatus::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(5);

    fn message(msg_type: &str, parent_id: &str, content: &str) -> KernelMessage {
        let header = MessageHeader { msg_type: msg_type.into(), json: "{}".into() };
        KernelMessage { header, parent_id: Some(parent_id.into()), content: content.into(), buffers: Vec::new() }
    }

    fn status(parent_id: &str, state: &str) -> KernelMessage {
        message("status", parent_id, &format!(r#"{{"execution_state":"{state}"}}"#))
    }

    fn reply(parent_id: &str, status: &str) -> KernelMessage {
        message("execute_reply", parent_id, &format!(r#"{{"status":"{status}","execution_count":3,"payload":[]}}"#))
    }

    fn stream(parent_id: &str) -> KernelMessage {
        message("stream", parent_id, r#"{"name":"stdout","text":"x"}"#)
    }

    fn brief(events: &[KernelEvent]) -> Vec<String> {
        let id = |id: &Option<ExecutionId>| id.clone().unwrap_or("nobody".into());
        events
            .iter()
            .map(|event| match event {
                KernelEvent::Started { execution_id } => format!("{execution_id} started"),
                KernelEvent::Output { execution_id, .. } => format!("{} wrote", id(execution_id)),
                KernelEvent::Finished { execution_id, status, .. } => format!("{execution_id} {status:?}"),
                KernelEvent::OutputsLost { execution_id, reason } => format!("{} lost {reason:?}", id(execution_id)),
                KernelEvent::InputRequest { execution_id, prompt, .. } => format!("{} asks {prompt}", id(execution_id)),
                other => format!("{other:?}"),
            })
            .collect()
    }

    fn executions() -> (Executions, Instant) {
        let mut executions = Executions::new(TIMEOUT);
        executions.requested("m1".into(), "one".into());
        executions.requested("m2".into(), "two".into());
        (executions, Instant::now())
    }

    #[test]
    fn finished_means_reply_and_idle_in_either_order() {
        let (mut executions, now) = executions();
        assert_eq!(brief(&executions.iopub(now, &status("m1", "busy"))), ["one started"]);
        assert!(executions.iopub(now, &status("m1", "busy")).is_empty());
        assert!(executions.shell(now, &reply("m1", "ok")).is_empty());
        assert_eq!(brief(&executions.iopub(now, &stream("m1"))), ["one wrote"]);
        assert_eq!(brief(&executions.iopub(now, &status("m1", "idle"))), ["one Ok"]);
        assert!(executions.iopub(now, &status("m2", "idle")).is_empty());
        assert_eq!(brief(&executions.shell(now, &reply("m2", "error"))), ["two Error"]);
        assert!(executions.shell(now, &reply("m2", "error")).is_empty(), "an execution ends once");
    }

    #[test]
    fn late_outputs_belong_to_their_execution_for_a_while() {
        let (mut executions, now) = executions();
        executions.iopub(now, &status("m1", "idle"));
        executions.shell(now, &reply("m1", "ok"));
        assert_eq!(brief(&executions.iopub(now, &stream("m1"))), ["one wrote"]);
        for number in 0..MAX_REMEMBERED {
            let msg_id = format!("n{number}");
            executions.requested(msg_id.clone(), msg_id.clone());
            executions.iopub(now, &status(&msg_id, "idle"));
            executions.shell(now, &reply(&msg_id, "ok"));
        }
        assert_eq!(brief(&executions.iopub(now, &stream("m1"))), ["nobody wrote"]);
        assert_eq!(executions.remembered.len(), MAX_REMEMBERED);
    }

    #[test]
    fn a_missing_idle_is_told_after_silence() {
        let (mut executions, now) = executions();
        assert_eq!(executions.deadline(), None);
        executions.shell(now, &reply("m1", "ok"));
        let later = now + Duration::from_secs(3);
        executions.iopub(later, &stream("m1"));
        assert_eq!(executions.deadline(), Some(later + TIMEOUT));
        assert!(executions.expire(now + TIMEOUT).is_empty());
        assert_eq!(brief(&executions.expire(later + TIMEOUT)), ["one lost EndMissing", "one Ok"]);
        assert_eq!(executions.deadline(), None);
    }

    #[test]
    fn an_aborted_execution_without_idle_has_lost_nothing() {
        let (mut executions, now) = executions();
        executions.shell(now, &reply("m2", "aborted"));
        assert_eq!(brief(&executions.expire(now + TIMEOUT)), ["two Aborted"]);
    }

    #[test]
    fn a_missing_reply_is_told_whatever_else_the_kernel_says() {
        let (mut executions, now) = executions();
        executions.iopub(now, &status("m1", "busy"));
        executions.iopub(now, &status("m1", "idle"));
        executions.iopub(now + Duration::from_secs(3), &stream("m1"));
        assert_eq!(executions.deadline(), Some(now + TIMEOUT));
        assert_eq!(brief(&executions.expire(now + TIMEOUT)), ["one lost ReplyMissing", "one Error"]);
        assert_eq!(executions.deadline(), None);
        assert!(executions.shell(now + TIMEOUT, &reply("m1", "ok")).is_empty(), "an execution ends once");
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let (mut executions, now) = executions();
        assert_eq!(brief(&executions.iopub(now, &message("stream", "m1", "{}"))), ["one lost Unreadable"]);
        assert_eq!(brief(&executions.iopub(now, &message("display_data", "m9", "nan"))), ["nobody lost Unreadable"]);
        executions.iopub(now, &status("m1", "idle"));
        assert_eq!(brief(&executions.shell(now, &message("execute_reply", "m1", "{"))), ["one Error"]);
    }

    #[test]
    fn an_input_request_is_answered_once() {
        let (mut executions, _) = executions();
        let request = message("input_request", "m1", r#"{"prompt":"name?","password":false}"#);
        assert_eq!(brief(&Vec::from_iter(executions.stdin(request))), ["one asks name?"]);
        assert!(executions.take_input_request().is_some());
        assert!(executions.take_input_request().is_none());
    }

    #[test]
    fn an_early_interrupt_is_repeated_once_the_execution_runs() {
        let (mut executions, now) = executions();
        executions.interrupted();
        assert_eq!(executions.deadline(), None);
        executions.iopub(now, &status("m1", "busy"));
        assert_eq!(executions.deadline(), Some(now + EARLY_INTERRUPT_DELAY));
        assert!(!executions.interrupt_is_due(now));
        assert!(executions.interrupt_is_due(now + EARLY_INTERRUPT_DELAY));
        assert!(!executions.interrupt_is_due(now + EARLY_INTERRUPT_DELAY));
        // The running execution had its interrupt, and the queued one is not meant.
        executions.interrupted();
        executions.iopub(now, &status("m2", "busy"));
        assert_eq!(executions.deadline(), None);
    }

    #[test]
    fn an_execution_that_is_over_needs_no_interrupt() {
        let (mut executions, now) = executions();
        executions.interrupted();
        for message in [status("m1", "busy"), status("m1", "idle")] {
            executions.iopub(now, &message);
        }
        executions.shell(now, &reply("m1", "ok"));
        assert!(!executions.interrupt_is_due(now + EARLY_INTERRUPT_DELAY));
    }

    #[test]
    fn the_end_names_what_is_unfinished_in_order() {
        let (mut executions, _) = executions();
        assert_eq!(executions.end(), ["one", "two"]);
        assert!(executions.end().is_empty());
    }
}
