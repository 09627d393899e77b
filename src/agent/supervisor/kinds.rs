//! Sets of effect kinds.

use notarium_core::Effect;
use notarium_seccomp::CallGroup;

/// A set of kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kinds(u8);

impl Kinds {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(u8::MAX);

    pub fn of(effects: impl IntoIterator<Item = Effect>) -> Self {
        effects.into_iter().fold(Self::NONE, |set, effect| set.with(effect))
    }

    #[must_use]
    pub fn with(self, effect: Effect) -> Self {
        Self(self.0 | bit(effect))
    }

    #[must_use]
    pub fn without(self, effect: Effect) -> Self {
        Self(self.0 & !bit(effect))
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub fn has(self, effect: Effect) -> bool {
        self.0 & bit(effect) != 0
    }

    /// The kinds that work in the background keeps: it never removes or signals.
    #[must_use]
    pub fn of_background(self) -> Self {
        self.without(Effect::Remove).without(Effect::Signal)
    }
}

fn bit(effect: Effect) -> u8 {
    match effect {
        Effect::Create => 1,
        Effect::Write => 2,
        Effect::Remove => 4,
        Effect::Network => 8,
        Effect::Signal => 16,
        Effect::Database => 32,
        Effect::Open => 64,
    }
}

/// The kind that a told call needs; `None`: births and other programs are no effects.
pub fn kind_of(group: CallGroup) -> Option<Effect> {
    match group {
        CallGroup::Write => Some(Effect::Write),
        CallGroup::Remove => Some(Effect::Remove),
        CallGroup::Network => Some(Effect::Network),
        CallGroup::Signal => Some(Effect::Signal),
        CallGroup::Birth | CallGroup::Exec => None,
    }
}
