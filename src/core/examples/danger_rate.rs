//! How often harmless notebooks would ask, and how long a check takes: `cargo run --release -p notarium-core --example danger_rate -- *.ipynb`.
//!
//! Printed: each cell that would ask, with the reasons; how many of the code cells; microseconds for a cell of 200 lines.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures: it reads files and the clock")]

use std::hint::black_box;
use std::time::Instant;

use notarium_core::danger::{Danger, Language, dangers, is_destructive};

const CELL: &str = "import numpy as np\nfor i in range(10):\n    x = np.sin(i) + df['a'].rolling(3).mean()\n    plt.plot(x, label=f'{i} of {n}')\n";
const ROUNDS: u32 = 50;

fn main() {
    let (mut asking, mut all) = (0, 0);
    for path in std::env::args().skip(1) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for cell in code_cells(&text) {
            all += 1;
            let found = dangers(&cell, Language::Python);
            if is_destructive(&found) {
                asking += 1;
                println!("{path}: {:?}", found.iter().map(Danger::sentence).collect::<Vec<_>>());
            }
        }
    }
    println!("{asking} of {all} code cells would ask");
    let cell = CELL.repeat(50);
    let begin = Instant::now();
    (0..ROUNDS).for_each(|_| drop(black_box(dangers(black_box(&cell), Language::Python))));
    println!("{} lines: {} µs", cell.lines().count(), begin.elapsed().as_micros() / u128::from(ROUNDS));
}

fn code_cells(notebook: &str) -> Vec<String> {
    let Ok(notebook) = serde_json::from_str::<serde_json::Value>(notebook) else { return Vec::new() };
    let sheets = notebook["worksheets"].as_array().into_iter().flatten().chain([&notebook]);
    let cells = sheets.filter_map(|sheet| sheet["cells"].as_array()).flatten();
    cells.filter(|cell| cell["cell_type"] == "code").map(|cell| joined(&cell["source"])).collect()
}

fn joined(source: &serde_json::Value) -> String {
    match source {
        serde_json::Value::String(text) => text.clone(),
        lines => lines.as_array().into_iter().flatten().filter_map(|line| line.as_str()).collect(),
    }
}
