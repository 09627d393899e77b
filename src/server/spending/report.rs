//! Usage as rows of an answer, and as CSV.

use std::collections::BTreeMap;

use notarium_store::spending::{SpendingColumn, SpendingRow};
use notarium_wire::rest::{ModelUsage, ModelUsageAnswer, Money, UsageColumn};

use super::amounts::print_money;
use super::calendar::print_day;

pub fn column(by: UsageColumn) -> SpendingColumn {
    match by {
        UsageColumn::Day => SpendingColumn::Day,
        UsageColumn::Model => SpendingColumn::Model,
        UsageColumn::Person => SpendingColumn::Person,
        UsageColumn::Workspace => SpendingColumn::Workspace,
        UsageColumn::Notebook => SpendingColumn::Notebook,
    }
}

/// Word of a column, as in the query.
pub fn word(by: UsageColumn) -> &'static str {
    match by {
        UsageColumn::Day => "day",
        UsageColumn::Model => "model",
        UsageColumn::Person => "person",
        UsageColumn::Workspace => "workspace",
        UsageColumn::Notebook => "notebook",
    }
}

/// Joins the currencies of each value. `names`: names of ids.
pub fn rows(by: UsageColumn, found: Vec<SpendingRow>, names: &BTreeMap<String, String>) -> Vec<ModelUsage> {
    let mut rows: Vec<ModelUsage> = Vec::new();
    for row in found {
        let value = match by {
            UsageColumn::Day => row.value.parse().map_or_else(|_| row.value.clone(), print_day),
            _ => row.value.clone(),
        };
        match rows.last_mut() {
            Some(last) if last.value == value => add(last, &row),
            _ => {
                let mut first = ModelUsage { name: names.get(&value).cloned(), ..empty(value) };
                add(&mut first, &row);
                rows.push(first);
            }
        }
    }
    rows
}

fn empty(value: String) -> ModelUsage {
    ModelUsage {
        value,
        name: None,
        calls: 0,
        estimated_calls: 0,
        input_tokens: 0,
        cached_tokens: 0,
        output_tokens: 0,
        cost: Vec::new(),
        unpriced_calls: 0,
    }
}

fn add(usage: &mut ModelUsage, row: &SpendingRow) {
    usage.calls += row.calls;
    usage.estimated_calls += row.estimated_calls;
    usage.input_tokens += row.tokens.input;
    usage.cached_tokens += row.tokens.cached;
    usage.output_tokens += row.tokens.output;
    match row.currency.as_str() {
        "" => usage.unpriced_calls += row.calls,
        currency => {
            usage.cost.push(Money { amount: print_money(row.cost_nanos), currency: currency.to_owned() });
        }
    }
}

/// Rows as CSV (RFC 4180), one for each value and currency. The first has the tokens; a cost that is not known is empty.
pub fn csv(by: UsageColumn, answer: &ModelUsageAnswer) -> String {
    let head = "name,calls,estimated_calls,unpriced_calls,input_tokens,cached_tokens,output_tokens,cost,currency";
    let mut text = format!("{},{head}\r\n", word(by));
    for row in &answer.rows {
        let names = format!("{},{}", cell(&row.value), cell(row.name.as_deref().unwrap_or_default()));
        let counts = [
            row.calls,
            row.estimated_calls,
            row.unpriced_calls,
            row.input_tokens,
            row.cached_tokens,
            row.output_tokens,
        ];
        let counts = counts.map(|count| count.to_string()).join(",");
        let nothing = [Money { amount: String::new(), currency: String::new() }];
        let cost = if row.cost.is_empty() { &nothing[..] } else { &row.cost };
        for (index, Money { amount, currency }) in cost.iter().enumerate() {
            let counts = if index == 0 { counts.clone() } else { ["0"; 6].join(",") };
            text.push_str(&format!("{names},{counts},{amount},{}\r\n", cell(currency)));
        }
    }
    text
}

/// A text as a cell. A spreadsheet takes one that begins like a formula as text, because of the apostrophe.
fn cell(text: &str) -> String {
    let begins_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = if begins_formula { format!("'{text}") } else { text.to_owned() };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use notarium_store::spending::TokenCounts;

    use super::*;

    fn row(value: &str, currency: &str, calls: u64) -> SpendingRow {
        SpendingRow {
            value: value.into(),
            currency: currency.into(),
            calls,
            estimated_calls: 0,
            tokens: TokenCounts { input: 10 * calls, cached: 1, output: 2 },
            cost_nanos: if currency.is_empty() { 0 } else { 1_500_000_000 },
        }
    }

    #[test]
    fn currencies_of_a_value_are_one_row_and_unknown_costs_are_told() {
        let found = vec![row("20786", "", 2), row("20786", "EUR", 1), row("20786", "USD", 4), row("20787", "", 1)];
        let rows = rows(UsageColumn::Day, found, &BTreeMap::new());
        assert_eq!(rows.len(), 2);
        let money = |currency: &str| Money { amount: "1.50".into(), currency: currency.into() };
        assert_eq!((rows[0].value.as_str(), rows[0].calls, rows[0].input_tokens), ("2026-11-29", 7, 70));
        assert_eq!((&rows[0].cost[..], rows[0].unpriced_calls), (&[money("EUR"), money("USD")][..], 2));
        assert_eq!((&rows[1].cost[..], rows[1].unpriced_calls), (&[][..], 1));
    }

    #[test]
    fn no_cell_of_the_csv_is_a_formula_or_breaks_its_line() {
        let names =
            [("n1", "=HYPERLINK(\"http://x\")"), ("n2", "a, \"b\"\nc"), ("n3", "@sum"), ("n4", "-1"), ("n5", "\tx")];
        let names: BTreeMap<String, String> = names.map(|(id, name)| (id.into(), name.into())).into();
        let found = names.keys().map(|id| row(id, "USD", 1)).chain([row("n6", "", 1)]).collect();
        let rows = rows(UsageColumn::Notebook, found, &names);
        let text = csv(UsageColumn::Notebook, &ModelUsageAnswer { since: String::new(), until: String::new(), rows });
        assert!(text.starts_with("notebook,name,calls,"), "{text}");
        assert!(text.contains("n1,\"'=HYPERLINK(\"\"http://x\"\")\",1,0,0,10,1,2,1.50,USD\r\n"), "{text}");
        assert!(text.contains("n2,\"a, \"\"b\"\"\nc\","), "{text}");
        assert!(text.contains("n3,'@sum,") && text.contains("n4,'-1,") && text.contains("n5,'\tx,"), "{text}");
        assert!(text.contains("n6,,1,0,1,10,1,2,,\r\n"), "{text}");
    }
}
