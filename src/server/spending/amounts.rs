//! Amounts as decimal texts and as integers. Nothing here is a binary fraction.

use notarium_store::spending::{CapUnit, MAX_AMOUNT};

/// Decimal places of money in the store: billionths.
const MONEY_PLACES: usize = 9;

/// Decimal places of a price: millionths of the currency per million tokens.
pub const PRICE_PLACES: usize = 6;

/// Longest code of a currency, in characters.
const MAX_CURRENCY_CHARACTERS: usize = 8;

/// Reads a decimal text such as `0.075` as an integer of `places` decimal places. `None`: it is no such number, has more places, or is too large.
pub fn parse_decimal(text: &str, places: usize) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = !whole.is_empty() && is_digits(whole) && is_digits(fraction);
    if !is_number || text.ends_with('.') || fraction.len() > places {
        return None;
    }
    let number: u64 = format!("{whole}{fraction:0<places$}").parse().ok()?;
    (number <= MAX_AMOUNT).then_some(number)
}

/// Prints an integer of `places` decimal places without trailing zeros, but with at least two places.
pub fn print_decimal(number: u64, places: usize) -> String {
    let digits = format!("{number:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    format!("{whole}.{:0<2}", fraction.trim_end_matches('0'))
}

/// Reads an amount of this unit.
pub fn parse_amount(text: &str, unit: &CapUnit) -> Option<u64> {
    match unit {
        CapUnit::Tokens => parse_decimal(text, 0),
        CapUnit::Money(_) => parse_decimal(text, MONEY_PLACES),
    }
}

/// Prints an amount of this unit, without the unit.
pub fn print_amount(amount: u64, unit: &CapUnit) -> String {
    match unit {
        CapUnit::Tokens => amount.to_string(),
        CapUnit::Money(_) => print_money(amount),
    }
}

/// Prints billionths of a currency.
pub fn print_money(nanos: u64) -> String {
    print_decimal(nanos, MONEY_PLACES)
}

/// Reads `tokens` or the code of a currency, such as `USD`.
pub fn parse_unit(text: &str) -> Option<CapUnit> {
    let is_currency =
        || (3..=MAX_CURRENCY_CHARACTERS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_uppercase());
    match text {
        "tokens" => Some(CapUnit::Tokens),
        _ if is_currency() => Some(CapUnit::Money(text.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_read_exactly_or_not_at_all() {
        for (text, places, expected) in [
            ("3", 6, Some(3_000_000)),
            ("0.075", 6, Some(75_000)),
            ("0.000001", 6, Some(1)),
            ("007.5", 1, Some(75)),
            ("0.0000001", 6, None),
            ("1.", 6, None),
            (".5", 6, None),
            ("", 6, None),
            ("-1", 6, None),
            ("1e3", 6, None),
            ("1,5", 6, None),
            ("9007199254740993", 0, None),
            ("99999999999999999999999", 0, None),
        ] {
            assert_eq!(parse_decimal(text, places), expected, "{text}");
        }
        assert_eq!(print_money(5_030_000_000), "5.03");
        assert_eq!(print_money(1), "0.000000001");
        assert_eq!(print_money(0), "0.00");
        assert_eq!(
            (parse_unit("USD"), parse_unit("usd"), parse_unit("$")),
            (Some(CapUnit::Money("USD".into())), None, None)
        );
    }

    proptest! {
        #[test]
        fn a_printed_amount_is_read_back(number in 0..=MAX_AMOUNT) {
            prop_assert_eq!(parse_decimal(&print_money(number), MONEY_PLACES), Some(number));
            let tokens = CapUnit::Tokens;
            prop_assert_eq!(parse_amount(&print_amount(number, &tokens), &tokens), Some(number));
        }
    }
}
