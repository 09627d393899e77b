//! Refused effects of the run in work: the first target of each kind, then a count.

use std::collections::BTreeMap;

use notarium_core::Effect;

/// Most characters of a target.
const MAX_TARGET_CHARS: usize = 300;

/// Refused effects of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectRefusal {
    pub kind: Effect,
    /// The first target, as the code named it.
    pub target: String,
    pub count: u64,
}

#[derive(Debug, Default)]
pub struct Refusals(BTreeMap<Effect, (String, u64)>);

impl Refusals {
    /// Counts a refusal; `target` is made for the first of its kind alone.
    pub fn count(&mut self, kind: Effect, target: impl FnOnce() -> String) {
        let (_, count) = self.0.entry(kind).or_insert_with(|| (shortened(&target()), 0));
        *count = count.saturating_add(1);
    }

    /// Takes all, sorted by kind.
    pub fn take(&mut self) -> Vec<EffectRefusal> {
        let all = std::mem::take(&mut self.0);
        all.into_iter().map(|(kind, (target, count))| EffectRefusal { kind, target, count }).collect()
    }
}

fn shortened(target: &str) -> String {
    let is_plain = |character: &char| !character.is_control();
    target.chars().filter(is_plain).take(MAX_TARGET_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_costs_a_counter() {
        let mut refusals = Refusals::default();
        refusals.count(Effect::Write, || format!("/first\u{7}{}", "x".repeat(1000)));
        for number in 0..100_000 {
            refusals.count(Effect::Write, || unreachable!("the target of refusal {number}"));
        }
        refusals.count(Effect::Create, || "new.txt".to_owned());
        let taken = refusals.take();
        assert_eq!(taken[0], EffectRefusal { kind: Effect::Create, target: "new.txt".into(), count: 1 });
        assert_eq!((taken[1].count, taken[1].target.len()), (100_001, MAX_TARGET_CHARS));
        assert!(taken[1].target.starts_with("/firstx") && refusals.take().is_empty());
    }
}
