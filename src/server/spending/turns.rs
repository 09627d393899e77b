//! The end of a reserved model call, from the record of its turn. Pure.

use notarium_core::{Event, Millis, Open, Recorded, TurnFailure, TurnModelCallFinished, Usage};
use notarium_store::spending::{ReservedCall, SettledCall, TokenCounts};

use super::calendar::day_of;

/// State of a reserved call in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelCallEnd {
    /// It is under way, or is about to be.
    Open,
    /// It has ended; `None`: without any usage.
    Ended(Option<SettledCall>),
}

#[derive(Default)]
struct CallFold {
    tokens: TokenCounts,
    is_estimated: bool,
    /// Attempts that were sent, and of whose usage nothing is recorded.
    lost_attempts: u64,
    is_claimed: bool,
    is_over: bool,
    at: Millis,
}

/// The end of a call by the events of its turn, in order. Without any the notebook was erased, and the call counts with its estimate.
pub fn call_end(call: &ReservedCall, events: &[Recorded]) -> ModelCallEnd {
    let mut fold = CallFold { at: call.reserved_at, ..CallFold::default() };
    for recorded in turn_of(call, events) {
        if fold.is_over {
            break;
        }
        fold.see(call, recorded);
    }
    if events.is_empty() {
        (fold.lost_attempts, fold.is_over) = (1, true);
    }
    if !fold.is_over {
        return ModelCallEnd::Open;
    }
    let lost_tokens = fold.lost_attempts.saturating_mul(call.estimated_input_tokens);
    let tokens = TokenCounts { input: fold.tokens.input.saturating_add(lost_tokens), ..fold.tokens };
    let is_estimated = fold.is_estimated || fold.lost_attempts > 0;
    let settled = SettledCall { day: day_of(fold.at), tokens, is_estimated };
    ModelCallEnd::Ended((tokens.total() > 0).then_some(settled))
}

/// Events of the turn to which the call belongs: an id may be used again by a later turn.
fn turn_of<'a>(call: &ReservedCall, events: &'a [Recorded]) -> &'a [Recorded] {
    let begins = |recorded: &Recorded| matches!(recorded.event, Event::TurnStarted(_));
    let is_before = |recorded: &Recorded| recorded.envelope.recorded_at <= call.reserved_at;
    let start = events.iter().rposition(|recorded| begins(recorded) && is_before(recorded)).unwrap_or(0);
    let rest = events.get(start + 1..).unwrap_or_default();
    let end = rest.iter().position(begins).map_or(events.len(), |index| start + 1 + index);
    &events[start..end]
}

/// True if the provider refused the attempt before it wrote anything: its recorded tokens are the estimate of the request, and cost nothing.
fn is_refused(event: &TurnModelCallFinished) -> bool {
    use TurnFailure as F;
    let why = event.failure.as_ref().and_then(Open::known);
    let is_refusal = |why: &F| {
        matches!(
            why,
            F::WrongKey | F::QuotaExhausted | F::UnknownModel | F::RateLimited | F::Unavailable | F::ContextTooLong
        ) || matches!(why, F::BadRequest | F::Unreachable | F::NotAsked | F::NoModel | F::CapReached)
    };
    event.usage.estimated && event.usage.output_tokens == 0 && why.is_some_and(is_refusal)
}

impl CallFold {
    fn see(&mut self, call: &ReservedCall, recorded: &Recorded) {
        match &recorded.event {
            Event::TurnModelCallStarted(event) if event.number == call.key.number => self.is_claimed = true,
            Event::TurnModelCallStarted(event) => self.is_over = event.number > call.key.number,
            Event::TurnModelCallFinished(event) if event.number == call.key.number => {
                self.is_claimed = false;
                self.at = recorded.envelope.recorded_at;
                if !is_refused(event) {
                    self.add(&event.usage);
                }
                let is_lost = event.failure.as_ref().is_some_and(|it| *it == TurnFailure::ServerStopped);
                self.lost_attempts += u64::from(is_lost && event.usage == Usage::default());
                self.is_over = event.failure.is_none();
            }
            Event::TurnFinished(_) | Event::TurnCancelled(_) | Event::TurnFailed(_) => {
                self.at = recorded.envelope.recorded_at;
                self.lost_attempts += u64::from(self.is_claimed);
                self.is_over = true;
            }
            _ => {}
        }
    }

    fn add(&mut self, usage: &Usage) {
        self.tokens.input = self.tokens.input.saturating_add(usage.input_tokens);
        self.tokens.cached = self.tokens.cached.saturating_add(usage.cached_tokens);
        self.tokens.output = self.tokens.output.saturating_add(usage.output_tokens);
        self.is_estimated |= usage.estimated;
    }
}

#[cfg(test)]
mod tests {
    use notarium_core::{
        Actor, Envelope, StopReason, TurnCancelled, TurnFailed, TurnFinished, TurnModelCallStarted, TurnStarted,
    };
    use notarium_store::spending::ModelCallKey;
    use proptest::prelude::*;

    use super::*;

    const DAY_MS: Millis = 86_400_000;

    fn call(number: u32) -> ReservedCall {
        ReservedCall {
            key: ModelCallKey { notebook_id: "n".parse().unwrap(), turn_id: "t".parse().unwrap(), number },
            person: "ann".parse().unwrap(),
            workspace: None,
            provider: "scripted".into(),
            model: "one".into(),
            price: None,
            estimated_input_tokens: 400,
            reserved_tokens: 1_000,
            reserved_nanos: 0,
            reserved_at: DAY_MS + 3,
        }
    }

    fn started() -> Event {
        let (turn_id, conversation_id) = ("t".parse().unwrap(), "talk".parse().unwrap());
        let (message_id, scopes) = ("m".parse().unwrap(), Default::default());
        TurnStarted {
            turn_id,
            conversation_id,
            message_id,
            cell_id: None,
            model: None,
            scopes,
            is_bound: false,
            token: None,
        }
        .into()
    }

    fn claimed(number: u32, attempt: u32) -> Event {
        let (turn_id, claimant) = ("t".parse().unwrap(), "instance".parse().unwrap());
        let (provider, model) = ("scripted".into(), "one".into());
        TurnModelCallStarted { turn_id, claimant, number, attempt, provider, model }.into()
    }

    fn finished(number: u32, failure: Option<TurnFailure>, input: u64, output: u64) -> Event {
        let usage = Usage { input_tokens: input, output_tokens: output, cached_tokens: input / 2, estimated: false };
        let failure = failure.map(Open::Known);
        TurnModelCallFinished { turn_id: "t".parse().unwrap(), number, attempt: 1, failure, detail: None, usage }.into()
    }

    fn cancelled() -> Event {
        TurnCancelled { turn_id: "t".parse().unwrap() }.into()
    }

    /// The end of a call by events at the second day and later.
    fn end(number: u32, events: impl IntoIterator<Item = Event>) -> ModelCallEnd {
        let recorded = events.into_iter().zip(1..).map(|(event, version)| {
            let envelope = Envelope {
                id: format!("e{version}").parse().unwrap(),
                notebook_id: "n".parse().unwrap(),
                version,
                event_type: String::new(),
                schema: 1,
                actor: Actor::System,
                command_id: "c".parse().unwrap(),
                correlation_id: "c".parse().unwrap(),
                causation_id: None,
                undoes: None,
                recorded_at: DAY_MS + version,
            };
            Recorded { envelope, event }
        });
        call_end(&call(number), &recorded.collect::<Vec<_>>())
    }

    fn counted(input: u64, cached: u64, output: u64, is_estimated: bool) -> ModelCallEnd {
        ModelCallEnd::Ended(Some(SettledCall { day: 1, tokens: TokenCounts { input, cached, output }, is_estimated }))
    }

    #[test]
    fn an_answered_call_counts_with_its_usage() {
        assert_eq!(end(1, [started(), claimed(1, 1)]), ModelCallEnd::Open);
        let answered = [started(), claimed(1, 1), finished(1, None, 100, 7), claimed(2, 1)];
        assert_eq!(end(1, answered.clone()), counted(100, 50, 7, false));
        assert_eq!(end(2, answered), ModelCallEnd::Open);
    }

    #[test]
    fn usage_of_failed_attempts_is_added() {
        let refused = |event: Event| vec![started(), claimed(1, 1), event, claimed(1, 2)];
        assert_eq!(end(1, refused(finished(1, Some(TurnFailure::RateLimited), 0, 0))), ModelCallEnd::Open);
        let mut cut = refused(finished(1, Some(TurnFailure::CutStream), 100, 2));
        cut.push(finished(1, None, 100, 7));
        assert_eq!(end(1, cut), counted(200, 100, 9, false));
        let failed = TurnFailed { turn_id: "t".parse().unwrap(), cause: TurnFailure::WrongKey.into(), detail: None };
        let events = [started(), claimed(1, 1), finished(1, Some(TurnFailure::WrongKey), 0, 0), failed.into()];
        assert_eq!(end(1, events), ModelCallEnd::Ended(None), "nothing was used");
        let estimated = |why| {
            let usage = Usage { input_tokens: 400, estimated: true, ..Usage::default() };
            let (turn_id, failure) = ("t".parse().unwrap(), Some(Open::Known(why)));
            TurnModelCallFinished { turn_id, number: 1, attempt: 1, failure, detail: None, usage }
        };
        let end_with = |why| end(1, [started(), claimed(1, 1), estimated(why).into(), cancelled()]);
        assert_eq!(end_with(TurnFailure::Unreachable), ModelCallEnd::Ended(None), "the estimate of a refused request");
        assert_eq!(end_with(TurnFailure::TimedOut), counted(400, 0, 0, true));
    }

    #[test]
    fn a_call_without_a_recorded_end_counts_with_its_estimate() {
        assert_eq!(end(1, [started(), claimed(1, 1), cancelled()]), counted(400, 0, 0, true));
        let lost = finished(1, Some(TurnFailure::ServerStopped), 0, 0);
        assert_eq!(end(1, [started(), claimed(1, 1), lost.clone()]), ModelCallEnd::Open, "it is tried again");
        let again = [started(), claimed(1, 1), lost, claimed(1, 2), finished(1, None, 100, 7)];
        assert_eq!(end(1, again), counted(500, 50, 7, true));
        assert_eq!(end(1, []), counted(400, 0, 0, true), "of an erased notebook");
        let finished = TurnFinished { turn_id: "t".parse().unwrap(), stop_reason: StopReason::EndTurn.into() };
        assert_eq!(end(2, [started(), finished.into()]), ModelCallEnd::Ended(None), "it was not claimed");
    }

    #[test]
    fn a_later_turn_of_the_same_id_is_another() {
        let later = [started(), claimed(1, 1), cancelled(), started(), claimed(1, 1)];
        assert_eq!(end(1, later), counted(400, 0, 0, true), "the call was reserved before the second turn");
    }

    proptest! {
        /// Whatever a turn does, the sum over its calls is what its events report, and its end leaves no call open.
        #[test]
        fn every_reported_token_counts_once(usages in prop::collection::vec((1_u64..1_000, 0_u64..1_000, 0_usize..3), 1..10)) {
            let mut events = vec![started()];
            for ((input, output, failures), number) in usages.iter().zip(1..) {
                for _ in 0..*failures {
                    events.extend([claimed(number, 1), finished(number, Some(TurnFailure::CutStream), 10, 1)]);
                }
                events.extend([claimed(number, 1), finished(number, None, *input, *output)]);
            }
            let mut sum = 0;
            for (_, number) in usages.iter().zip(1..) {
                // All calls were reserved at the start of the turn here.
                match end(number, events.clone()) {
                    ModelCallEnd::Ended(Some(settled)) => sum += settled.tokens.total(),
                    other => prop_assert!(false, "{other:?}"),
                }
            }
            let reported: u64 = usages.iter().map(|(input, output, failures)| input + output + 11 * *failures as u64).sum();
            prop_assert_eq!(sum, reported);
        }
    }
}
