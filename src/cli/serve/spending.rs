//! Prices of models, and caps on spending.

use std::path::PathBuf;

use clap::Args;
use notarium_server::spending::SpendingSettings;
use notarium_server::spending::caps::parse_option;
use notarium_server::spending::prices::PriceList;
use notarium_store::spending::Cap;

use crate::cli::Failure;

/// Prices and caps of assistants.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Spending")]
pub struct SpendingArgs {
    /// A JSON file with prices of models, in one currency per million tokens (see docs/assistants.md, "Spending"). A model without a price
    /// counts in tokens alone.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_PRICES")]
    prices: Option<PathBuf>,
    /// A cap on what assistants spend: each-person, each-workspace or server; day or month; an amount; tokens or the currency, as in
    /// "each-person day 5 USD". May be repeated, in the variable with commas; `notarium cap` sets more while the server runs.
    #[arg(long = "cap", value_name = "CAP", env = "NOTARIUM_CAP", value_delimiter = ',', value_parser = parse_option)]
    caps: Vec<Cap>,
}

impl SpendingArgs {
    pub fn settings(&self) -> Result<SpendingSettings, Failure> {
        let prices = match &self.prices {
            None => PriceList::default(),
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(|error| Failure::unreadable(file, &error))?;
                PriceList::parse(&text).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?
            }
        };
        Ok(SpendingSettings { prices, caps: self.caps.clone() })
    }
}
