//! Effects of code outside its kernel's memory: their kinds, the kinds that a run may have, refused effects, and the
//! ability of a kernel's agent to hold them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::{UnheldCause, sentence};
use crate::json::{Open, RawObject};

/// Kind of an effect outside the kernel's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Makes new files below the working folder, and never replaces one.
    Create,
    /// Writes files: what was in them may be lost.
    Write,
    /// Removes files or folders.
    Remove,
    /// Uses the network.
    Network,
    /// Signals or limits other processes.
    Signal,
    /// Changes a database.
    Database,
    /// Changes what the kernel holds open already: files, mappings and connections.
    Open,
}

impl Effect {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Effect; 7] = [
        Effect::Create,
        Effect::Write,
        Effect::Remove,
        Effect::Network,
        Effect::Signal,
        Effect::Database,
        Effect::Open,
    ];

    /// Returns true if the effect may destroy something. A grant never covers such a kind.
    pub fn is_destructive(self) -> bool {
        !matches!(self, Effect::Create | Effect::Network | Effect::Open)
    }

    /// The kind's name, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Effect::Create => "create",
            Effect::Write => "write",
            Effect::Remove => "remove",
            Effect::Network => "network",
            Effect::Signal => "signal",
            Effect::Database => "database",
            Effect::Open => "open",
        }
    }

    /// Phrase that follows "the code may" or "it wants to", without a full stop.
    pub fn phrase(self) -> &'static str {
        match self {
            Effect::Create => "make new files in the working folder",
            Effect::Write => "write files, also over others",
            Effect::Remove => "remove files",
            Effect::Network => "use the network",
            Effect::Signal => "signal other processes",
            Effect::Database => "change databases",
            Effect::Open => "change what the kernel holds open",
        }
    }
}

/// Effects that a run may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effects {
    /// All effects that the kernel's sandbox leaves to it: a person requested the run.
    Free,
    /// An assistant requested the run: all kinds are refused but those that are allowed.
    Held {
        /// The allowed kinds, each once, in the order of their definition. Empty: none.
        allowed: Vec<Effect>,
    },
    /// A person requested the run, in a kernel that ran an assistant's code or has such a run in its queue. Kinds that
    /// the run's own text does not lead to are refused and shown: code in the kernel's memory may have caused them.
    Expected {
        /// The kinds that the text can lead to, each once, in the order of their definition.
        kinds: Vec<Effect>,
    },
}

impl Effects {
    /// Held, with these kinds allowed, each once and in order.
    pub fn held(allowed: impl IntoIterator<Item = Effect>) -> Self {
        Effects::Held { allowed: sorted(allowed) }
    }

    /// Expected kinds, each once and in order. `Open` is always among them: what the kernel holds open is looked at
    /// before held runs alone.
    pub fn expected(kinds: impl IntoIterator<Item = Effect>) -> Self {
        Effects::Expected { kinds: sorted(kinds.into_iter().chain([Effect::Open])) }
    }

    /// Returns true if the run may have effects of this kind.
    pub fn allow(&self, effect: Effect) -> bool {
        match self {
            Effects::Free => true,
            Effects::Held { allowed } => allowed.contains(&effect),
            Effects::Expected { kinds } => kinds.contains(&effect),
        }
    }

    /// Returns true if an assistant requested the run, so that its kernel must hold effects.
    pub fn are_held(&self) -> bool {
        matches!(self, Effects::Held { .. })
    }
}

fn sorted(kinds: impl IntoIterator<Item = Effect>) -> Vec<Effect> {
    let mut kinds: Vec<Effect> = kinds.into_iter().collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

impl Open<Effects> {
    /// Effects that count: unknown ones count as held, with nothing allowed.
    pub fn judged(&self) -> Effects {
        self.known().cloned().unwrap_or(Effects::Held { allowed: Vec::new() })
    }
}

/// Refused effects of one kind in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedEffect {
    /// The kind of the refused effects.
    pub kind: Open<Effect>,
    /// The target of the first of them, such as a path or an address, as the code named it.
    pub target: String,
    /// Number of refused effects of this kind.
    pub count: u64,
}

/// Ability of a kernel's agent to hold the effects of the kernel's runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KernelEffects {
    /// The system refuses all effects of held runs that are not allowed.
    Held,
    /// Nothing is refused: every run of code by an assistant asks a person.
    NotHeld {
        /// The cause, as a word. Show an unknown word as it is.
        cause: Open<UnheldCause>,
    },
}

/// Setting of a kernel's agent: effects of a person's run that its text does not lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KernelSurprises {
    /// They are refused and shown, in kernels that ran an assistant's code.
    Ask,
    /// They happen.
    Off,
}

impl KernelSurprises {
    /// Reads the field `surprises` of a kernel's `sandbox`. `None`: an older agent reported it, which refuses nothing to
    /// people.
    pub fn of_sandbox(sandbox: &RawObject) -> Option<Self> {
        #[derive(Deserialize)]
        struct Sandbox {
            surprises: Option<KernelSurprises>,
        }
        serde_json::from_str::<Sandbox>(sandbox.get()).ok()?.surprises
    }
}

impl KernelEffects {
    /// Reads the field `effects` of a kernel's `sandbox`. `None`: an older agent reported it, which holds nothing.
    pub fn of_sandbox(sandbox: &RawObject) -> Option<Self> {
        #[derive(Deserialize)]
        struct Sandbox {
            effects: Option<KernelEffects>,
        }
        serde_json::from_str::<Sandbox>(sandbox.get()).ok()?.effects
    }

    /// Phrase for people, without a full stop.
    pub fn phrase(&self) -> String {
        match self {
            KernelEffects::Held => "effects of assistants' code are held".to_owned(),
            KernelEffects::NotHeld { cause } => {
                format!("effects of assistants' code are not held, because {}", sentence(cause, None))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_json_are_these() {
        let text = |effects: &Effects| serde_json::to_string(effects).expect("JSON");
        assert_eq!(text(&Effects::Free), r#""free""#);
        let held = Effects::held([Effect::Network, Effect::Create, Effect::Network]);
        assert_eq!(text(&held), r#"{"held":{"allowed":["create","network"]}}"#);
        let expected = Effects::expected([Effect::Write, Effect::Create, Effect::Write]);
        assert_eq!(text(&expected), r#"{"expected":{"kinds":["create","write","open"]}}"#);
        for effect in Effect::ALL {
            assert_eq!(serde_json::to_string(&effect).expect("JSON"), format!("\"{}\"", effect.word()));
        }
    }

    #[test]
    fn effects_of_a_later_version_are_held() {
        for text in [r#"{"held":{"allowed":["create","moon"]}}"#, r#""bound""#, r#"{"bound":{"to":["create"]}}"#] {
            let effects: Open<Effects> = serde_json::from_str(text).expect("an open value");
            assert_eq!(effects.judged(), Effects::held([]), "{text}");
            assert_eq!(serde_json::to_string(&effects).expect("JSON"), text);
        }
        assert!(serde_json::from_str::<Open<Effects>>(r#"{"held":{}}"#).is_err());
    }

    #[test]
    fn expected_effects_are_a_person_s() {
        let expected = Effects::expected([Effect::Write]);
        assert!(!expected.are_held());
        assert!(expected.allow(Effect::Write) && expected.allow(Effect::Open) && !expected.allow(Effect::Remove));
    }

    #[test]
    fn a_sandbox_says_if_surprises_ask() {
        let of = |text: &str| KernelSurprises::of_sandbox(&RawObject::parse(text).expect("an object"));
        assert_eq!(of(r#"{"effects":"held"}"#), None);
        assert_eq!(of(r#"{"effects":"held","surprises":"ask"}"#), Some(KernelSurprises::Ask));
        assert_eq!(of(r#"{"surprises":"off"}"#), Some(KernelSurprises::Off));
        assert_eq!(of(r#"{"surprises":"moon"}"#), None);
    }

    #[test]
    fn a_sandbox_without_the_field_holds_nothing() {
        let of = |text: &str| KernelEffects::of_sandbox(&RawObject::parse(text).expect("an object"));
        assert_eq!(of("{}"), None);
        assert_eq!(of(r#"{"file_system":true,"by":["landlock 7"]}"#), None);
        assert_eq!(of(r#"{"file_system":true,"effects":"held"}"#), Some(KernelEffects::Held));
        let not = of(r#"{"effects":{"not_held":{"cause":"switched_off"}}}"#).expect("a known form");
        assert_eq!(
            not.phrase(),
            "effects of assistants' code are not held, because the agent was started with --kernel-effects off"
        );
        assert_eq!(of(r#"{"effects":"moon"}"#), None);
    }
}
