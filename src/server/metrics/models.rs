//! Metrics of model calls, by provider and model.

use std::borrow::Cow;

use hashlink::LruCache;
use notarium_core::{TurnFailure, TurnId, TurnModelCallFinished, TurnModelCallStarted, wire_word};
use parking_lot::{Mutex, RwLock};

use super::work::{MAX_REMEMBERED, known_word};
use super::{Counters, MetricList, OTHER};

/// Provider and model, as labels.
type ModelName = (Cow<'static, str>, Cow<'static, str>);

/// Metrics of model calls.
#[derive(Debug)]
pub struct ModelMetrics {
    calls: Counters<2>,
    errors: Counters<3>,
    tokens: Counters<3>,
    /// Providers and models that labels may name.
    known: RwLock<Vec<(String, String)>>,
    /// Provider and model of the last model call of a turn.
    called: Mutex<LruCache<TurnId, ModelName>>,
}

impl ModelMetrics {
    pub(super) fn new(list: &mut MetricList) -> Self {
        Self {
            calls: list.add_family(
                "notarium_model_calls_total",
                "Model calls by provider and model",
                &["provider", "model"],
                Counters::default(),
            ),
            errors: list.add_family(
                "notarium_model_errors_total",
                "Model calls without an answer, by provider, model and cause",
                &["provider", "model", "cause"],
                Counters::default(),
            ),
            tokens: list.add_family(
                "notarium_model_tokens_total",
                "Tokens by provider, model and direction: input or output",
                &["provider", "model", "direction"],
                Counters::default(),
            ),
            known: RwLock::default(),
            called: Mutex::new(LruCache::new(MAX_REMEMBERED)),
        }
    }

    /// Sets the models that labels may name, because people can ask for any other. Their counters begin at zero.
    pub fn know(&self, models: impl IntoIterator<Item = (String, String)>) {
        let known: Vec<(String, String)> = models.into_iter().collect();
        for (provider, model) in &known {
            let name = [("provider", Cow::Owned(provider.clone())), ("model", Cow::Owned(model.clone()))];
            drop(self.calls.get_or_create(&name));
            let [provider, model] = name;
            for cause in TurnFailure::ALL {
                drop(self.errors.get_or_create(&[provider.clone(), model.clone(), ("cause", wire_word(cause).into())]));
            }
            for direction in ["input", "output"] {
                drop(self.tokens.get_or_create(&[provider.clone(), model.clone(), ("direction", direction.into())]));
            }
        }
        *self.known.write() = known;
    }

    pub(super) fn started(&self, event: TurnModelCallStarted) {
        let model = self.named(event.provider, event.model);
        self.calls.get_or_create(&[("provider", model.0.clone()), ("model", model.1.clone())]).inc();
        self.called.lock().insert(event.turn_id, model);
    }

    pub(super) fn finished(&self, event: &TurnModelCallFinished) {
        let unknown = || (Cow::Borrowed(OTHER), Cow::Borrowed(OTHER));
        let (provider, model) = self.called.lock().get(&event.turn_id).cloned().unwrap_or_else(unknown);
        let labels = |key, value| [("provider", provider.clone()), ("model", model.clone()), (key, value)];
        for (direction, tokens) in [("input", event.usage.input_tokens), ("output", event.usage.output_tokens)] {
            self.tokens.get_or_create(&labels("direction", direction.into())).inc_by(tokens);
        }
        if let Some(failure) = &event.failure {
            self.errors.get_or_create(&labels("cause", known_word(failure))).inc();
        }
    }

    pub(super) fn turn_ended(&self, turn: &TurnId) {
        self.called.lock().remove(turn);
    }

    /// Provider and model as labels: `other` if the server's settings do not name them.
    fn named(&self, provider: String, model: String) -> ModelName {
        let known = self.known.read();
        let is_provider = known.iter().any(|(name, _)| *name == provider);
        let is_model = known.iter().any(|(name, known)| *name == provider && *known == model);
        let word = |is_known: bool, word: String| if is_known { Cow::Owned(word) } else { Cow::Borrowed(OTHER) };
        (word(is_provider, provider), word(is_model, model))
    }
}
