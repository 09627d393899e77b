//! Prices of models, as data of the operator. No price is built in: it would be wrong soon.

use std::collections::BTreeMap;

use notarium_store::spending::{CapUnit, ModelPrice};
use serde::Deserialize;
use serde_json::Number;

use super::amounts::{PRICE_PLACES, parse_decimal, parse_unit};

/// Reason why a list of prices cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidPrices {
    #[error("it is no list of prices: {0}")]
    Json(#[from] serde_json::Error),
    #[error("currency must be a code of 3 to 8 capital letters such as \"USD\", not {0:?}")]
    Currency(String),
    #[error(
        "the price of {model}: {field} must be a number such as 3 or \"0.075\" with at most 6 decimal places, not {found}"
    )]
    Price { model: String, field: &'static str, found: String },
    #[error("{0:?} must be \"provider/model\", and may end with *")]
    Model(String),
}

/// The file, as the operator writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    /// One code for all prices.
    currency: String,
    /// Prices per million tokens, by `provider/model`; a name may end with `*`.
    models: BTreeMap<String, PriceEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceEntry {
    input: PriceNumber,
    /// Absent: that of the input.
    cached: Option<PriceNumber>,
    output: PriceNumber,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PriceNumber {
    Number(Number),
    Text(String),
}

impl PriceNumber {
    fn text(&self) -> String {
        match self {
            // The shortest text of a number is the one in the file, for as many digits as a price has.
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Prices of models. The entry with the longest matching name applies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PriceList {
    entries: Vec<(String, ModelPrice)>,
}

impl PriceList {
    /// Reads a list in JSON.
    pub fn parse(text: &str) -> Result<Self, InvalidPrices> {
        let PriceFile { currency, models } = serde_json::from_str(text)?;
        if !matches!(parse_unit(&currency), Some(CapUnit::Money(_))) {
            return Err(InvalidPrices::Currency(currency));
        }
        let entry = |(model, entry): (String, PriceEntry)| {
            check_name(&model)?;
            let price = entry.price(&model, &currency)?;
            Ok((model, price))
        };
        Ok(Self { entries: models.into_iter().map(entry).collect::<Result<_, InvalidPrices>>()? })
    }

    /// Price of a model; `None`: not known.
    pub fn of(&self, provider: &str, model: &str) -> Option<&ModelPrice> {
        let name = format!("{provider}/{model}");
        let matches = |pattern: &str| match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == pattern,
        };
        let found = self.entries.iter().filter(|(pattern, _)| matches(pattern));
        // A whole name is longer than each beginning of it with a star.
        found.max_by_key(|(pattern, _)| (!pattern.ends_with('*'), pattern.len())).map(|(_, price)| price)
    }
}

impl PriceEntry {
    fn price(self, model: &str, currency: &str) -> Result<ModelPrice, InvalidPrices> {
        let of = |field: &'static str, number: &PriceNumber| {
            let found = number.text();
            let refused = || InvalidPrices::Price { model: model.to_owned(), field, found: found.clone() };
            parse_decimal(&found, PRICE_PLACES).ok_or_else(refused)
        };
        let input = of("input", &self.input)?;
        let cached = self.cached.as_ref().map_or(Ok(input), |cached| of("cached", cached))?;
        Ok(ModelPrice { currency: currency.to_owned(), input, cached, output: of("output", &self.output)? })
    }
}

fn check_name(name: &str) -> Result<(), InvalidPrices> {
    let is_name = name.split_once('/').is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty());
    let has_star_within = name.strip_suffix('*').unwrap_or(name).contains('*');
    if is_name && !has_star_within { Ok(()) } else { Err(InvalidPrices::Model(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use notarium_store::spending::TokenCounts;
    use proptest::prelude::*;

    use super::*;

    const LIST: &str = r#"{"currency": "USD", "models": {
        "anthropic/*": {"input": 3, "cached": 0.3, "output": 15},
        "anthropic/claude-haiku-*": {"input": "0.80", "cached": "0.08", "output": "4"},
        "anthropic/claude-haiku-4": {"input": 1, "output": 5},
        "ollama/*": {"input": 0, "output": 0}
    }}"#;

    #[test]
    fn the_longest_name_applies() {
        let prices = PriceList::parse(LIST).unwrap();
        let input = |provider, model| prices.of(provider, model).map(|price| (price.input, price.cached));
        assert_eq!(input("anthropic", "claude-sonnet-5"), Some((3_000_000, 300_000)));
        assert_eq!(input("anthropic", "claude-haiku-5"), Some((800_000, 80_000)));
        assert_eq!(input("anthropic", "claude-haiku-4"), Some((1_000_000, 1_000_000)), "cached is input if absent");
        assert_eq!(input("ollama", "qwen3"), Some((0, 0)));
        assert_eq!(input("openai", "gpt-6"), None);
        assert_eq!(PriceList::default().of("anthropic", "claude"), None);
    }

    #[test]
    fn a_wrong_list_is_refused_with_its_place() {
        for (text, says) in [
            ("{", "no list of prices"),
            (r#"{"currency": "usd", "models": {}}"#, "capital letters"),
            (r#"{"currency": "USD", "models": {"claude": {"input": 1, "output": 1}}}"#, "provider/model"),
            (r#"{"currency": "USD", "models": {"a/*b*": {"input": 1, "output": 1}}}"#, "provider/model"),
            (r#"{"currency": "USD", "models": {"a/b": {"input": -1, "output": 1}}}"#, "a/b: input"),
            (r#"{"currency": "USD", "models": {"a/b": {"input": 1, "output": "1.2345678"}}}"#, "a/b: output"),
            (r#"{"currency": "USD", "models": {"a/b": {"input": 1, "output": 1, "thinking": 1}}}"#, "thinking"),
            (r#"{"currency": "USD", "models": {"a/b": {"input": 1}}}"#, "output"),
        ] {
            let error = PriceList::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn costs_are_exact() {
        let prices = PriceList::parse(LIST).unwrap();
        let cost = |model, input, cached, output| {
            prices.of("anthropic", model).unwrap().cost_nanos(TokenCounts { input, cached, output })
        };
        assert_eq!(cost("claude-sonnet-5", 1_000_000, 0, 0), 3_000_000_000);
        assert_eq!(cost("claude-sonnet-5", 10, 4, 2), 6 * 3_000 + 4 * 300 + 2 * 15_000);
        assert_eq!(cost("claude-sonnet-5", 3, 9, 0), 3 * 300, "no more is cached than was read");
        let fraction = ModelPrice { currency: "USD".into(), input: 1, cached: 1, output: 1 };
        assert_eq!(fraction.cost_nanos(TokenCounts { input: 1, cached: 0, output: 0 }), 1, "rounded up");
    }

    proptest! {
        /// A sum of calls costs at most one billionth per call more than the exact cost of their tokens, and never less.
        #[test]
        fn sums_of_costs_are_never_too_low(
            calls in prop::collection::vec((0_u64..300_000, 0_u64..300_000, 0_u64..64_000), 0..50),
            input in 0_u64..20_000_000, cached in 0_u64..20_000_000, output in 0_u64..99_000_000,
        ) {
            let price = ModelPrice { currency: "USD".into(), input, cached, output };
            let counts = calls.iter().map(|(input, cached, output)| TokenCounts {
                input: *input, cached: (*cached).min(*input), output: *output,
            });
            let trillionths = counts.clone().map(|tokens| {
                u128::from(tokens.input - tokens.cached) * u128::from(input)
                    + u128::from(tokens.cached) * u128::from(cached) + u128::from(tokens.output) * u128::from(output)
            }).sum::<u128>();
            let sum = counts.map(|tokens| u128::from(price.cost_nanos(tokens))).sum::<u128>();
            prop_assert!(sum * 1_000 >= trillionths);
            prop_assert!(sum * 1_000 < trillionths + 1_000 * (calls.len() as u128 + 1));
        }
    }
}
