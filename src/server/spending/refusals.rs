//! Refusals by caps, as typed rejections with a sentence.

use notarium_core::{LimitName, Rejection};
use notarium_store::spending::{CapUnit, Spender};

use super::amounts::print_amount;
use super::calendar::print_time;
use super::caps::AppliedCap;

fn limit(unit: &CapUnit) -> LimitName {
    match unit {
        CapUnit::Tokens => LimitName::SpentTokens,
        CapUnit::Money(_) => LimitName::SpentMoney,
    }
}

/// `5.00 USD` or `9000 tokens`.
fn with_unit(amount: u64, unit: &CapUnit) -> String {
    format!("{} {}", print_amount(amount, unit), unit.key())
}

/// Name of the cap and those who can raise it.
fn words(applied: &AppliedCap) -> (&'static str, &'static str) {
    match applied.check.spender {
        Spender::Workspace(_) if applied.cap.key.by_owner => {
            ("the cap of this notebook's workspace", "an owner of the workspace")
        }
        Spender::Workspace(_) => ("the cap of this notebook's workspace", "an administrator"),
        Spender::Person(_) | Spender::EachPerson => ("your cap", "an administrator"),
        _ => ("the cap of this server", "an administrator"),
    }
}

/// The cap in words: whose it is, and its amount in a period.
pub fn cap_words(applied: &AppliedCap) -> String {
    let amount = with_unit(applied.check.amount, &applied.check.unit);
    format!("{} of {amount} a {}", words(applied).0, applied.cap.key.period.as_str())
}

/// Sentence for people about a cap that is reached.
pub fn sentence(applied: &AppliedCap, used: u64) -> String {
    let who = words(applied).1;
    format!(
        "{} for assistants is reached, {} used; wait until {}, or ask {who} to raise it; notarium cap ls shows it",
        cap_words(applied),
        with_unit(used, &applied.check.unit),
        print_time(applied.ends_at),
    )
}

pub fn reached(applied: &AppliedCap, used: u64) -> Rejection {
    limit(&applied.check.unit).refusal(applied.check.amount, sentence(applied, used))
}

pub fn no_price(applied: &AppliedCap, provider: &str, model: &str) -> Rejection {
    let (name, _) = words(applied);
    let currency = applied.check.unit.key();
    limit(&applied.check.unit).refusal(
        applied.check.amount,
        format!(
            "{name} is in {currency}, and {provider}/{model} has no price in {currency}; choose another model, or ask an administrator \
             for its price; notarium serve --prices FILE sets it"
        ),
    )
}

#[cfg(test)]
mod tests {
    use notarium_core::RejectionDetails;

    use super::super::caps::{applied, parse_option};
    use super::*;

    #[test]
    fn a_refusal_names_the_cap_the_use_its_end_and_what_to_do() {
        let cap = parse_option("each-person day 5 USD").unwrap();
        let applied = applied(&cap, Spender::Person("ann".parse().unwrap()), 20_786);
        let rejection = reached(&applied, 5_031_000_000);
        assert_eq!(
            rejection.message,
            "your cap of 5.00 USD a day for assistants is reached, 5.031 USD used; wait until 2026-11-30 00:00 UTC, or ask an \
             administrator to raise it; notarium cap ls shows it"
        );
        let details = rejection.details.map(|details| *details);
        assert_eq!(details, Some(LimitName::SpentMoney.details(5_000_000_000)));
        assert!(matches!(details, Some(RejectionDetails::Limit { .. })));
        let unpriced = no_price(&applied, "openai", "gpt-6").message;
        assert!(unpriced.contains("openai/gpt-6 has no price in USD") && unpriced.contains("--prices"), "{unpriced}");
    }
}
