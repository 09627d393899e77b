//! The names of cells, for comparison with Python's own `symtable` (`tests/interop/names/check.py`): a JSON string of source
//! a line comes in, and a JSON object goes out, or `null` where the cell does not parse. The time that it took goes to stderr.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a tool: it reads files and the clock")]

use std::io::BufRead;
use std::time::{Duration, Instant};

use notarium_judge::cell_names;

fn main() {
    let mut times: Vec<Duration> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let source: String = serde_json::from_str(&line).expect("a JSON string");
        let start = Instant::now();
        let names = cell_names(&source);
        times.push(start.elapsed());
        let told = names.map(|names| {
            serde_json::json!({"reads": names.reads, "writes": names.writes, "leaves": names.leaves, "star": names.has_star})
        });
        println!("{}", told.unwrap_or_default());
    }
    times.sort();
    let at = |percent: usize| times.get(times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default();
    eprintln!("{} cells: median {:?}, 99 % {:?}, longest {:?}", times.len(), at(50), at(99), at(100));
}
