//! Open questions to kernels: cancellation, limits, and matching of answers. In memory alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notarium_core::{KernelSessionId, TokenId};
use notarium_wire::{KernelAnswer, QuestionRefusal};
use tokio::sync::oneshot;

use crate::limits::window::Window;
use crate::rooms::ClientId;

/// Open questions per runtime agent.
const MAX_PER_AGENT: usize = 64;
/// Questions of one token per window.
const MAX_PER_WINDOW: u32 = 100;
const WINDOW: Duration = Duration::from_secs(10);
/// Number of remembered tokens above which those with an expired window are removed.
const MAX_REMEMBERED_TOKENS: usize = 1_024;

/// Open questions to kernels.
#[derive(Default)]
pub struct KernelQuestions {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Number of the last question. Numbers follow the order in which questions arrived.
    last: u64,
    waiting: BTreeMap<u64, Waiting>,
    asked: HashMap<TokenId, Window>,
}

/// A question that waits for its answer.
pub struct Waiting {
    /// Connection of the asker: its next question to the kernel cancels this one.
    pub asker: String,
    pub kernel_session: KernelSessionId,
    /// Connection of the kernel's runtime agent.
    pub agent: ClientId,
    pub answer: oneshot::Sender<KernelAnswer>,
}

impl KernelQuestions {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a question a number. Refuses it if the token is over its rate limit.
    pub fn number(&self, token: &TokenId) -> Result<u64, KernelAnswer> {
        let mut state = self.state();
        if state.asked.len() >= MAX_REMEMBERED_TOKENS {
            state.asked.retain(|_, window| window.left().is_some());
        }
        let window = state.asked.entry(token.clone()).or_insert_with(|| Window::new(WINDOW));
        window.take(MAX_PER_WINDOW).map_err(|left| {
            let (within, left) = (WINDOW.as_secs(), left.as_secs() + 1);
            let message = format!("more than {MAX_PER_WINDOW} questions within {within} s: wait {left} s");
            QuestionRefusal::RateLimited.because(message)
        })?;
        state.last += 1;
        Ok(state.last)
    }

    /// Gives a number to a question with another rate limit.
    pub fn next_number(&self) -> u64 {
        let mut state = self.state();
        state.last += 1;
        state.last
    }

    /// Passes on an answer, if it comes from the agent's connection that was asked.
    pub fn answer(&self, agent: ClientId, number: u64, answer: KernelAnswer) {
        let mut state = self.state();
        if state.waiting.get(&number).is_some_and(|waiting| waiting.agent == agent) {
            state.settle(number, answer);
        }
    }

    /// Answers all questions to an agent whose connection has ended.
    pub fn agent_left(&self, agent: ClientId) {
        let mut state = self.state();
        let lost: Vec<u64> =
            state.waiting.iter().filter(|(_, waiting)| waiting.agent == agent).map(|(number, _)| *number).collect();
        for number in lost {
            state.settle(number, unreachable());
        }
    }

    /// Registers a question under its number. It cancels an earlier one of the same asker to the same kernel, and is
    /// cancelled by a later one. The returned place keeps it registered until it is dropped.
    pub fn wait(&self, number: u64, waiting: Waiting) -> Result<Place<'_>, KernelAnswer> {
        let mut state = self.state();
        let is_same = |it: &Waiting| it.asker == waiting.asker && it.kernel_session == waiting.kernel_session;
        let other = state.waiting.iter().find(|(_, it)| is_same(it)).map(|(number, _)| *number);
        match other {
            Some(later) if later > number => return Err(cancelled()),
            Some(earlier) => state.settle(earlier, cancelled()),
            None => {}
        }
        if state.waiting.values().filter(|it| it.agent == waiting.agent).count() >= MAX_PER_AGENT {
            return Err(too_many());
        }
        state.waiting.insert(number, waiting);
        Ok(Place { questions: self, number })
    }
}

impl State {
    /// The asker may have left, so a failed send is ignored.
    fn settle(&mut self, number: u64, answer: KernelAnswer) {
        if let Some(waiting) = self.waiting.remove(&number) {
            let _ = waiting.answer.send(answer);
        }
    }
}

/// Removes its question when dropped, however the question ends.
pub struct Place<'a> {
    questions: &'a KernelQuestions,
    number: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.questions.state().waiting.remove(&self.number);
    }
}

pub fn unreachable() -> KernelAnswer {
    QuestionRefusal::AgentUnreachable.because("the kernel's runtime agent cannot be reached: wait until it is back")
}

pub fn cancelled() -> KernelAnswer {
    QuestionRefusal::Cancelled.because("a later question took its place")
}

pub fn too_many() -> KernelAnswer {
    QuestionRefusal::KernelBusy.because("the kernel's runtime agent has too many questions: ask again in a moment")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(asker: &str) -> (Waiting, oneshot::Receiver<KernelAnswer>) {
        let (answer, answered) = oneshot::channel();
        let (asker, kernel_session) = (asker.to_owned(), "k".parse().unwrap());
        (Waiting { asker, kernel_session, agent: ClientId(1), answer }, answered)
    }

    #[test]
    fn of_two_questions_of_one_connection_the_later_counts_in_whichever_order_they_get_through() {
        let questions = KernelQuestions::default();
        let (earlier, mut answered) = waiting("a");
        let _places = [
            questions.wait(1, earlier).unwrap(),
            questions.wait(2, waiting("b").0).unwrap(),
            questions.wait(4, waiting("a").0).unwrap(),
        ];
        assert_eq!(answered.try_recv().unwrap(), cancelled());
        assert_eq!(questions.wait(3, waiting("a").0).err(), Some(cancelled()));
        assert_eq!(questions.state().waiting.keys().copied().collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn only_the_connection_that_was_asked_answers_and_its_end_is_an_answer() {
        let questions = KernelQuestions::default();
        let (one, mut answered) = waiting("a");
        let _place = questions.wait(1, one).unwrap();
        questions.answer(ClientId(2), 1, cancelled());
        assert!(answered.try_recv().is_err());
        questions.agent_left(ClientId(1));
        assert_eq!(answered.try_recv().unwrap(), unreachable());
    }

    #[test]
    fn one_token_asks_so_often_and_an_agent_has_so_many() {
        let questions = KernelQuestions::default();
        let token = "t".parse().unwrap();
        for _ in 0..MAX_PER_WINDOW {
            questions.number(&token).unwrap();
        }
        let refused = questions.number(&token).unwrap_err();
        assert!(matches!(refused, KernelAnswer::Refused { code: QuestionRefusal::RateLimited, .. }), "{refused:?}");
        assert!(questions.number(&"other".parse().unwrap()).is_ok());
        let mut kept = Vec::new();
        for number in 0..=MAX_PER_AGENT as u64 {
            let (one, answered) = waiting(&number.to_string());
            kept.push((questions.wait(number, one), answered));
        }
        assert_eq!(kept.pop().unwrap().0.err(), Some(too_many()));
        assert!(kept.iter().all(|(waits, _)| waits.is_ok()));
    }
}
