//! The caps that apply to a model call.

use notarium_core::{Millis, UserId, WorkspaceId};
use notarium_store::spending::{Cap, CapCheck, CapPeriod, CapUnit, Spender};

use super::amounts::{parse_amount, parse_unit};
use super::calendar::{end_of, first_day};

/// `set_by` of a cap from the server's options.
pub const BY_OPTIONS: &str = "options";

/// A cap, with the usage that counts for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedCap {
    pub cap: Cap,
    pub check: CapCheck,
    /// Start of the next period.
    pub ends_at: Millis,
}

/// Caps for a call of this person in this workspace on this day. A cap of a person or workspace takes the place of the
/// administrators' cap for each of them, with the same period and unit.
pub fn applicable(caps: &[Cap], person: Option<&UserId>, workspace: Option<&WorkspaceId>, day: u64) -> Vec<AppliedCap> {
    let person = person.cloned().map(Spender::Person);
    let workspace = workspace.cloned().map(Spender::Workspace);
    let has_own = |own: &Spender, cap: &Cap| {
        let is_same = |other: &&Cap| (other.key.period, &other.key.unit) == (cap.key.period, &cap.key.unit);
        caps.iter().filter(is_same).any(|other| other.key.spender == *own && !other.key.by_owner)
    };
    let counted = |cap: &Cap| match &cap.key.spender {
        Spender::Server => Some(Spender::Server),
        Spender::EachPerson => person.clone().filter(|own| !has_own(own, cap)),
        Spender::EachWorkspace => workspace.clone().filter(|own| !has_own(own, cap)),
        spender => [&person, &workspace].into_iter().flatten().find(|own| *own == spender).cloned(),
    };
    caps.iter().filter_map(|cap| Some(applied(cap, counted(cap)?, day))).collect()
}

/// The cap for one spender on this day.
pub fn applied(cap: &Cap, spender: Spender, day: u64) -> AppliedCap {
    let (period, unit) = (cap.key.period, cap.key.unit.clone());
    let check = CapCheck { spender, since_day: first_day(period, day), unit, amount: cap.amount };
    AppliedCap { cap: cap.clone(), check, ends_at: end_of(period, day) }
}

/// Reads a cap of the server's options: `SPENDER PERIOD AMOUNT UNIT`, such as `each-person day 5 USD`.
pub fn parse_option(text: &str) -> Result<Cap, String> {
    let refused = || {
        format!(
            "{text:?} must be SPENDER PERIOD AMOUNT UNIT, such as \"each-person day 5 USD\" or \"server month 90000000 tokens\"; \
             SPENDER is each-person, each-workspace or server, PERIOD day or month"
        )
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let [spender, period, amount, unit] = words[..] else { return Err(refused()) };
    let spender = match spender {
        "each-person" => Spender::EachPerson,
        "each-workspace" => Spender::EachWorkspace,
        "server" => Spender::Server,
        _ => return Err(refused()),
    };
    let period = CapPeriod::parse(period).ok_or_else(refused)?;
    let unit: CapUnit = parse_unit(unit).ok_or_else(refused)?;
    let amount = parse_amount(amount, &unit).ok_or_else(refused)?;
    let key = notarium_store::spending::CapKey { spender, period, unit, by_owner: false };
    Ok(Cap { key, amount, set_by: BY_OPTIONS.to_owned(), set_at: 0 })
}

#[cfg(test)]
mod tests {
    use notarium_store::spending::CapKey;
    use proptest::prelude::*;

    use super::*;

    const DAY: u64 = 20_786;

    fn ann() -> UserId {
        "ann".parse().unwrap()
    }

    fn team() -> WorkspaceId {
        "team".parse().unwrap()
    }

    fn cap(spender: Spender, period: CapPeriod, amount: u64, by_owner: bool) -> Cap {
        let key = CapKey { spender, period, unit: CapUnit::Tokens, by_owner };
        Cap { key, amount, set_by: String::new(), set_at: 0 }
    }

    fn amounts(caps: &[Cap], person: &str, workspace: Option<&WorkspaceId>) -> Vec<u64> {
        let person = person.parse().unwrap();
        applicable(caps, Some(&person), workspace, DAY).iter().map(|applied| applied.check.amount).collect()
    }

    #[test]
    fn a_cap_of_ones_own_replaces_the_one_for_each() {
        let caps = [
            cap(Spender::EachPerson, CapPeriod::Day, 1, false),
            cap(Spender::EachPerson, CapPeriod::Month, 2, false),
            cap(Spender::Person(ann()), CapPeriod::Day, 3, false),
            cap(Spender::Server, CapPeriod::Day, 4, false),
            cap(Spender::EachWorkspace, CapPeriod::Day, 5, false),
            cap(Spender::Workspace(team()), CapPeriod::Day, 6, true),
        ];
        assert_eq!(amounts(&caps, "ann", None), [2, 3, 4]);
        assert_eq!(amounts(&caps, "bob", None), [1, 2, 4]);
        assert_eq!(amounts(&caps, "bob", Some(&team())), [1, 2, 4, 5, 6], "an owner's cap stands beside");
        assert_eq!(amounts(&caps, "bob", Some(&"other".parse().unwrap())), [1, 2, 4, 5]);
        let all = applicable(&caps, Some(&ann()), None, DAY);
        assert_eq!(all[0].check.spender, Spender::Person(ann()));
        assert!(all[0].check.since_day < DAY && all[1].check.since_day == DAY);
    }

    #[test]
    fn options_are_read() {
        let cap = parse_option("each-person day 5.50 USD").unwrap();
        assert_eq!(
            (cap.key.spender.clone(), cap.key.period, cap.amount),
            (Spender::EachPerson, CapPeriod::Day, 5_500_000_000)
        );
        assert_eq!(parse_option(" server  month 90 tokens ").unwrap().key.unit, CapUnit::Tokens);
        for text in
            ["", "ann day 5 USD", "server year 5 USD", "server day five USD", "server day 0.5 tokens", "server day 5 $"]
        {
            assert!(parse_option(text).unwrap_err().contains("SPENDER PERIOD AMOUNT UNIT"), "{text}");
        }
    }

    proptest! {
        /// A person's caps never depend on those of others, and each applies once.
        #[test]
        fn caps_of_others_do_not_apply(amounts_of_others in prop::collection::vec(1_u64..100, 0..8)) {
            let own = [cap(Spender::EachPerson, CapPeriod::Day, 7, false), cap(Spender::Server, CapPeriod::Day, 8, false)];
            let others = amounts_of_others.iter().enumerate().map(|(index, amount)| {
                cap(Spender::Person(format!("other{index}").parse().unwrap()), CapPeriod::Day, *amount, false)
            });
            let all: Vec<Cap> = own.iter().cloned().chain(others).collect();
            prop_assert_eq!(amounts(&all, "ann", None), [7, 8]);
        }
    }
}
