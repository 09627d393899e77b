//! Metrics of runs, kernels, turns, tool calls and models, counted from the events of appends once these are on disk.

use std::borrow::Cow;
use std::time::Duration;

use hashlink::LruCache;
use notarium_core::{
    Append, Document, Effect, EndCause, Event, KernelCause, Millis, NewEvent, Open, Passed, Recorded, ToolCallId,
    ToolCallPhase, TurnFailure, TurnId, wire_word,
};
use notarium_telemetry::{Histogram, LONG_TIMES};
use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use serde::Serialize;

use super::{Counters, Histograms, MetricList, ModelMetrics, OTHER, begin_at_zero};

/// Tool calls that wait, and model calls under way, whose beginnings are remembered. Beyond, the oldest is forgotten.
pub(super) const MAX_REMEMBERED: usize = 10_000;
/// Types of events that are decoded. The frequent ones, edits and outputs, are not among them.
const DECODED: [&str; 18] = [
    "ExecutionCompleted",
    "ExecutionCancelled",
    "ExecutionBlocked",
    "ExecutionLost",
    "ExecutionEffectRefused",
    "KernelSessionStarted",
    "KernelLaunchFailed",
    "KernelSessionEnded",
    "TurnModelCallStarted",
    "TurnModelCallFinished",
    "TurnFinished",
    "TurnCancelled",
    "TurnFailed",
    "ToolCallRequested",
    "ToolCallConfirmed",
    "ToolCallStarted",
    "ToolCallExecuted",
    "ToolCallDenied",
];
/// The other ends of tool calls without a start.
const DECODED_ENDS: [&str; 3] = ["ToolCallWithdrawn", "ToolCallVoided", "ToolCallExpired"];
/// Type of which the name alone is counted: its payload has the code.
const REQUESTED: &str = "ExecutionRequested";

/// Metrics of runs, kernels, assistants and models.
#[derive(Debug)]
pub struct WorkMetrics {
    runs_requested: Counter,
    runs: Counters<1>,
    lost_runs: Counters<1>,
    effects_refused: Counters<1>,
    kernels_started: Counter,
    kernels_ended: Counters<1>,
    launches_failed: Counters<1>,
    turns: Counters<1>,
    turn_failures: Counters<1>,
    tool_calls: Counters<1>,
    executed_calls: Counters<1>,
    decision_times: Histograms<1>,
    pub models: ModelMetrics,
    /// Times of the requests of tool calls that wait.
    waiting: Mutex<LruCache<ToolCallId, Millis>>,
}

/// Events of an append that are counted once it is on disk.
#[derive(Debug, Default)]
pub struct CommittedWork {
    runs_requested: u64,
    events: Vec<Recorded>,
}

impl CommittedWork {
    /// Takes what will be counted of an append.
    pub fn of(append: &Append) -> Self {
        let mut work = Self::default();
        for NewEvent { stored, .. } in &append.events {
            match stored.envelope.event_type.as_str() {
                REQUESTED => work.runs_requested += 1,
                name if DECODED.contains(&name) || DECODED_ENDS.contains(&name) => {
                    work.events.extend(stored.typed().ok())
                }
                _ => {}
            }
        }
        work
    }
}

impl WorkMetrics {
    pub(super) fn new(list: &mut MetricList) -> Self {
        let counters = |list: &mut MetricList, name, help, label: &'static [&'static str]| {
            list.add_family(name, help, label, Counters::<1>::default())
        };
        let times = Histograms::new_with_constructor((|| Histogram::new(LONG_TIMES)) as fn() -> Histogram);
        let metrics = Self {
            runs_requested: list.add("notarium_runs_requested_total", "Runs that were requested", Counter::default()),
            runs: counters(list, "notarium_runs_ended_total", "Runs that ended, by outcome", &["outcome"]),
            lost_runs: counters(list, "notarium_runs_lost_total", "Runs that were lost, by cause", &["cause"]),
            effects_refused: counters(
                list,
                "notarium_effects_refused_total",
                "Effects of runs that were refused, by kind",
                &["kind"],
            ),
            kernels_started: list.add("notarium_kernels_started_total", "Kernels that started", Counter::default()),
            kernels_ended: counters(list, "notarium_kernels_ended_total", "Kernels that ended, by cause", &["cause"]),
            launches_failed: counters(
                list,
                "notarium_kernel_launches_failed_total",
                "Kernels that did not start, by cause",
                &["cause"],
            ),
            turns: counters(
                list,
                "notarium_turns_ended_total",
                "Turns of assistants that ended, by outcome",
                &["outcome"],
            ),
            turn_failures: counters(
                list,
                "notarium_turns_failed_total",
                "Turns that could not continue, by cause",
                &["cause"],
            ),
            tool_calls: counters(
                list,
                "notarium_tool_calls_total",
                "Tool calls by decision: passed by policy or grant, or by the person or event that decided",
                &["decision"],
            ),
            executed_calls: counters(
                list,
                "notarium_tool_calls_executed_total",
                "Tool calls that ended after their start, by end",
                &["end"],
            ),
            decision_times: list.add_family(
                "notarium_tool_call_decision_seconds",
                "Time for which a tool call waited for its decision, by decision",
                &["decision"],
                times,
            ),
            models: ModelMetrics::new(list),
            waiting: Mutex::new(LruCache::new(MAX_REMEMBERED)),
        };
        metrics.begin();
        metrics
    }

    /// Begins at zero, because the first of a kind is no increase, and no alert, without a zero before it.
    fn begin(&self) {
        begin_at_zero(
            &self.runs,
            "outcome",
            ["ok", "error", "interrupted", "timed_out", "cancelled", "blocked", "lost"],
        );
        begin_at_zero(&self.lost_runs, "cause", EndCause::ALL.iter().map(wire_word));
        begin_at_zero(&self.effects_refused, "kind", Effect::ALL.iter().map(wire_word));
        begin_at_zero(&self.kernels_ended, "cause", KernelCause::ALL.iter().map(wire_word));
        begin_at_zero(&self.launches_failed, "cause", KernelCause::ALL.iter().map(wire_word));
        begin_at_zero(&self.turns, "outcome", ["finished", "cancelled", "failed"]);
        begin_at_zero(&self.turn_failures, "cause", TurnFailure::ALL.iter().map(wire_word));
        begin_at_zero(&self.executed_calls, "end", ["ok", "error", "outcome_unknown"]);
        let decisions = ["confirmed", "denied", "withdrawn", "voided", "expired"];
        begin_at_zero(&self.tool_calls, "decision", ["policy", "grant"].into_iter().chain(decisions));
        begin_at_zero(&self.decision_times, "decision", decisions);
    }

    /// Remembers since when the tool calls of a loaded notebook wait.
    pub fn loaded(&self, notebook: &Document) {
        let mut waiting = self.waiting.lock();
        for (id, call) in &notebook.tool_calls {
            if matches!(call.phase, ToolCallPhase::Waiting) {
                waiting.insert(id.clone(), call.requested_at);
            }
        }
    }

    /// Counts the work of an append that is on disk.
    pub fn committed(&self, work: CommittedWork) {
        self.runs_requested.inc_by(work.runs_requested);
        for Recorded { envelope, event } in work.events {
            self.count(envelope.recorded_at, event);
        }
    }

    fn count(&self, at: Millis, event: Event) {
        match event {
            Event::ExecutionCompleted(event) => inc(&self.runs, "outcome", known_word(&event.outcome)),
            Event::ExecutionCancelled(_) => inc(&self.runs, "outcome", "cancelled"),
            Event::ExecutionBlocked(_) => inc(&self.runs, "outcome", "blocked"),
            Event::ExecutionLost(event) => {
                inc(&self.runs, "outcome", "lost");
                inc(&self.lost_runs, "cause", known_word(&event.cause));
            }
            Event::ExecutionEffectRefused(event) => {
                // The first of a kind, and once more their number.
                let count = if event.count > 1 { event.count - 1 } else { 1 };
                self.effects_refused.get_or_create(&[("kind", known_word(&event.kind))]).inc_by(count);
            }
            Event::KernelSessionStarted(_) => _ = self.kernels_started.inc(),
            Event::KernelLaunchFailed(event) => inc(&self.launches_failed, "cause", known_word(&event.cause)),
            Event::KernelSessionEnded(event) => inc(&self.kernels_ended, "cause", known_word(&event.cause)),
            event => self.count_assistants(at, event),
        }
    }

    fn count_assistants(&self, at: Millis, event: Event) {
        match event {
            Event::TurnModelCallStarted(event) => self.models.started(event),
            Event::TurnModelCallFinished(event) => self.models.finished(&event),
            Event::TurnFinished(event) => self.turn_ended(&event.turn_id, "finished"),
            Event::TurnCancelled(event) => self.turn_ended(&event.turn_id, "cancelled"),
            Event::TurnFailed(event) => {
                self.turn_ended(&event.turn_id, "failed");
                inc(&self.turn_failures, "cause", known_word(&event.cause));
            }
            Event::ToolCallRequested(event) if event.gate.waits() => {
                self.waiting.lock().insert(event.call_id, at);
            }
            Event::ToolCallConfirmed(event) => self.decided(&event.call_id, at, "confirmed"),
            Event::ToolCallDenied(event) => self.decided(&event.call_id, at, "denied"),
            Event::ToolCallWithdrawn(event) => self.decided(&event.call_id, at, "withdrawn"),
            Event::ToolCallVoided(event) => self.decided(&event.call_id, at, "voided"),
            Event::ToolCallExpired(event) => self.decided(&event.call_id, at, "expired"),
            // A confirmed call was counted at its confirmation.
            Event::ToolCallStarted(event) => match event.passed_by.known() {
                Some(Passed::Policy) => inc(&self.tool_calls, "decision", "policy"),
                Some(Passed::Grant { .. }) => inc(&self.tool_calls, "decision", "grant"),
                _ => {}
            },
            Event::ToolCallExecuted(event) => inc(&self.executed_calls, "end", known_word(&event.end)),
            _ => {}
        }
    }

    fn turn_ended(&self, turn: &TurnId, outcome: &'static str) {
        self.models.turn_ended(turn);
        inc(&self.turns, "outcome", outcome);
    }

    fn decided(&self, call: &ToolCallId, at: Millis, decision: &'static str) {
        inc(&self.tool_calls, "decision", decision);
        if let Some(requested_at) = self.waiting.lock().remove(call) {
            let time = Duration::from_millis(at.saturating_sub(requested_at));
            self.decision_times.get_or_create(&[("decision", decision.into())]).observe_time(time);
        }
    }
}

fn inc(counters: &Counters<1>, label: &'static str, value: impl Into<Cow<'static, str>>) {
    counters.get_or_create(&[(label, value.into())]).inc();
}

/// Word of a value that this build knows. Agents may send others, which must not become labels.
pub(super) fn known_word<T: Serialize>(value: &Open<T>) -> Cow<'static, str> {
    value.known().map_or(Cow::Borrowed(OTHER), |known| Cow::Owned(wire_word(known)))
}

#[cfg(test)]
mod tests {
    use notarium_core::{
        Actor, Envelope, ExecutionCompleted, ExecutionEffectRefused, ExecutionLost, Gate, RawObject, Risk,
        ToolCallConfirmed, ToolCallRequested, TurnModelCallFinished, TurnModelCallStarted, Usage,
    };

    use super::super::Metrics;
    use super::*;

    fn counted(metrics: &Metrics, at: Millis, event: impl Into<Event>) {
        let event = event.into();
        let envelope = Envelope {
            id: "e".parse().unwrap(),
            notebook_id: "n".parse().unwrap(),
            version: 1,
            event_type: event.event_type().to_owned(),
            schema: event.schema(),
            actor: Actor::System,
            command_id: "c".parse().unwrap(),
            correlation_id: "c".parse().unwrap(),
            causation_id: None,
            undoes: None,
            recorded_at: at,
        };
        metrics.work.committed(CommittedWork { runs_requested: 0, events: vec![Recorded { envelope, event }] });
    }

    fn has(metrics: &Metrics, line: &str) {
        let text = metrics.open_metrics();
        assert!(text.contains(&format!("\n{line}\n")), "{line}: {text}");
    }

    #[test]
    fn every_counted_type_exists() {
        for name in DECODED.iter().chain(&DECODED_ENDS).chain([&REQUESTED]) {
            assert!(Event::TYPES.contains(name), "{name}");
        }
    }

    #[test]
    fn ends_of_runs_are_counted_by_words_that_are_known() {
        let metrics = Metrics::default();
        let run = || "r".parse().unwrap();
        let completed = |outcome: &str| ExecutionCompleted {
            execution_id: run(),
            output_seq: 1,
            outcome: serde_json::from_str(outcome).unwrap(),
            execution_count: None,
            notice: None,
        };
        counted(&metrics, 0, completed(r#""ok""#));
        counted(&metrics, 0, completed(r#""an agent's own word""#));
        counted(&metrics, 0, ExecutionLost { execution_id: run(), cause: EndCause::AgentLost.into(), detail: None });
        for count in [1, 5] {
            let (kind, target) = (Effect::Network.into(), "example.org:443".to_owned());
            counted(&metrics, 0, ExecutionEffectRefused { execution_id: run(), kind, target, count });
        }
        has(&metrics, r#"notarium_runs_ended_total{outcome="ok"} 1"#);
        has(&metrics, r#"notarium_runs_ended_total{outcome="other"} 1"#);
        has(&metrics, r#"notarium_runs_ended_total{outcome="lost"} 1"#);
        has(&metrics, r#"notarium_runs_lost_total{cause="agent_lost"} 1"#);
        has(&metrics, r#"notarium_effects_refused_total{kind="network"} 5"#);
    }

    #[test]
    fn the_time_until_a_person_decides_is_counted() {
        let metrics = Metrics::default();
        let call_id: ToolCallId = "call".parse().unwrap();
        let requested = ToolCallRequested {
            call_id: call_id.clone(),
            turn_id: None,
            function: "delete_cell".to_owned(),
            arguments: RawObject::default(),
            arguments_hash: notarium_core::Hash::ZERO,
            risk: Risk::Destructive.into(),
            reasons: Vec::new(),
            targets: Vec::new(),
            gate: Gate::WaitsForPerson { until: 100_000 }.into(),
            after: None,
            token: None,
        };
        counted(&metrics, 1_000, requested);
        let arguments_hash = notarium_core::Hash::ZERO;
        counted(&metrics, 13_000, ToolCallConfirmed { call_id, arguments_hash, by_means: None });
        has(&metrics, r#"notarium_tool_calls_total{decision="confirmed"} 1"#);
        has(&metrics, r#"notarium_tool_call_decision_seconds_sum{decision="confirmed"} 12.0"#);
    }

    #[test]
    fn models_that_the_settings_do_not_name_are_other() {
        let metrics = Metrics::default();
        metrics.work.models.know([("openai".to_owned(), "gpt".to_owned())]);
        for model in ["gpt", "a name that somebody typed"] {
            let turn_id: TurnId = "t".parse().unwrap();
            counted(
                &metrics,
                0,
                TurnModelCallStarted {
                    turn_id: turn_id.clone(),
                    claimant: "i".parse().unwrap(),
                    number: 1,
                    attempt: 1,
                    provider: "openai".to_owned(),
                    model: model.to_owned(),
                },
            );
            let usage = Usage { input_tokens: 70, output_tokens: 5, ..Usage::default() };
            let failure = (model != "gpt").then_some(TurnFailure::RateLimited.into());
            counted(
                &metrics,
                0,
                TurnModelCallFinished { turn_id, number: 1, attempt: 1, failure, detail: None, usage },
            );
        }
        has(&metrics, r#"notarium_model_calls_total{provider="openai",model="gpt"} 1"#);
        has(&metrics, r#"notarium_model_tokens_total{provider="openai",model="gpt",direction="input"} 70"#);
        has(&metrics, r#"notarium_model_errors_total{provider="openai",model="other",cause="rate_limited"} 1"#);
    }
}
