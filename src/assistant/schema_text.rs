//! Databases in a short text for models: names and types.

use std::fmt::Write;

use notarium_wire::{ConnectionSchema, OfferedConnection, Table};

/// Most bytes of the tables of one answer: a model asks for further ones by name.
const MAX_TABLES_BYTES: usize = 16_000;

/// Lists the databases.
pub fn connections(named: &[OfferedConnection]) -> String {
    let mut text = String::from("duckdb (DuckDB in the kernel's memory, where SQL cells run that name none)\n");
    for OfferedConnection { name, kind, writes } in named {
        let writes = if *writes { "reads; writes where a cell says so" } else { "reads" };
        let _ = writeln!(text, "{name} ({kind}, {writes})");
    }
    text.push_str("Files of the working folder are connections, too: a path that ends in .duckdb, .sqlite or .db.");
    text
}

/// The database's tables, one per line: `schema.table(column type, …)`.
pub fn tables(connection: &str, schema: &ConnectionSchema) -> String {
    let mut text = format!("{connection} ({})", schema.kind);
    if schema.tables.is_empty() {
        text.push_str(": no tables");
        return text;
    }
    let mut told = 0;
    for table in &schema.tables {
        let line = line(table);
        if told > 0 && text.len() + line.len() > MAX_TABLES_BYTES {
            break;
        }
        text.push('\n');
        text.push_str(&line);
        told += 1;
    }
    let left_out = schema.tables_left_out + (schema.tables.len() - told) as u64;
    if left_out > 0 {
        let _ = write!(text, "\n… and {left_out} tables more: say with matching which you mean");
    }
    text
}

/// A table as one line, whatever characters its names contain.
fn line(table: &Table) -> String {
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|column| {
            if column.column_type.is_empty() {
                column.name.clone()
            } else {
                format!("{} {}", column.name, column.column_type)
            }
        })
        .collect();
    let left_out = match table.columns_left_out {
        0 => String::new(),
        count => format!(", … {count} columns more"),
    };
    let kind = if table.kind == "table" { String::new() } else { format!(" [{}]", table.kind.replace('_', " ")) };
    let line = format!("{}({}{left_out}){kind}", table.short_name(), columns.join(", "));
    line.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use notarium_wire::Column;

    use super::*;

    fn table(name: &str, kind: &str, columns: &[(&str, &str)]) -> Table {
        let column = |(name, kind): &(&str, &str)| Column {
            name: (*name).to_owned(),
            column_type: (*kind).to_owned(),
            nullable: true,
        };
        Table {
            schema: "public".to_owned(),
            name: name.to_owned(),
            kind: kind.to_owned(),
            is_visible: true,
            columns: columns.iter().map(column).collect(),
            ..Table::default()
        }
    }

    #[test]
    fn tables_are_a_line_each_with_names_and_types_alone() {
        let hidden =
            Table { is_visible: false, columns_left_out: 3, ..table("days", "materialized_view", &[("d", "")]) };
        let tables_of = vec![table("orders", "table", &[("id", "bigint"), ("city", "text")]), hidden];
        let schema = ConnectionSchema { kind: "postgresql".to_owned(), tables: tables_of, tables_left_out: 2 };
        assert_eq!(
            tables("warehouse", &schema),
            "warehouse (postgresql)\norders(id bigint, city text)\npublic.days(d, … 3 columns more) [materialized view]\n\
             … and 2 tables more: say with matching which you mean"
        );
        assert_eq!(tables("x.db", &ConnectionSchema::default()), "x.db (): no tables");
        let odd = ConnectionSchema { tables: vec![table("a\nb", "view", &[])], ..schema };
        assert!(tables("w", &odd).contains("\na b() [view]\n"));
    }

    #[test]
    fn what_is_too_much_for_a_model_is_counted() {
        let many = vec![table(&"t".repeat(100), "table", &[("a", "int")]); 1_000];
        let text = tables("w", &ConnectionSchema { tables: many, tables_left_out: 5, ..ConnectionSchema::default() });
        assert!(text.len() < MAX_TABLES_BYTES + 100, "{}", text.len());
        let told = text.lines().count() - 2;
        assert!(
            text.ends_with(&format!("… and {} tables more: say with matching which you mean", 1_005 - told)),
            "{text}"
        );
    }

    #[test]
    fn connections_are_told_with_what_they_let_do() {
        let named = [OfferedConnection { name: "warehouse".into(), kind: "postgresql".into(), writes: false }];
        let text = connections(&named);
        assert!(text.contains("\nwarehouse (postgresql, reads)\n") && text.starts_with("duckdb "), "{text}");
    }
}
