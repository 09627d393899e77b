//! Report of a replay as one page of HTML, which runs nothing.

use std::fmt::Write as _;

use notarium_export::escaped;
use notarium_report::{head_of, table};

use crate::cli::replay::report::ReplayReport;
use crate::cli::terminal::print;
use crate::cli::terminal::values::now;

/// Rows of a table at most.
const MAX_ROWS: usize = 5_000;

pub fn page(report: &ReplayReport) -> String {
    let mut out = head_of("Replay of a record");
    let (class, words) = if report.same { ("whole", "Nothing differs") } else { ("broken", "Some outputs differ") };
    let _ = writeln!(out, "<p class=\"{class}\">{words}. {}.</p>", escaped(&report.verdict()));
    let _ = writeln!(out, "<p>Made by notarium {} at {}.</p>", env!("CARGO_PKG_VERSION"), print::time(now()));
    for sentence in report.sentences() {
        let _ = writeln!(out, "<p>{}.</p>", escaped(&sentence));
    }
    let duration = |milliseconds: Option<u64>| milliseconds.map(print::duration).unwrap_or_default();
    let rows = report.runs.iter().map(|run| {
        let times = format!("{} / {}", duration(run.recorded_ms), duration(run.replayed_ms));
        vec![run.verdict.word().to_owned(), run.name(), run.source.clone(), times, run.remarks().join("; ")]
    });
    let headings = ["result", "cell", "source", "took: recorded / replayed", "remarks"];
    table(MAX_ROWS, &mut out, "Runs", &headings, rows, "The record has no runs.");
    let differences = report.runs.iter().flat_map(|run| {
        let row = |difference: &notarium_comparison::Difference| {
            let place = print::clean(&difference.place);
            vec![
                run.name(),
                run.source.clone(),
                place,
                print::clean(&difference.recorded),
                print::clean(&difference.replayed),
            ]
        };
        run.differences.iter().map(row)
    });
    let headings = ["cell", "source", "where", "recorded", "replayed"];
    table(MAX_ROWS, &mut out, "Differences", &headings, differences, "There are none.");
    out
}
