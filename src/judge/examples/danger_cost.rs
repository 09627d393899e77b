//! What hostile code costs the gate: `cargo run --release -p notarium-judge --example danger_cost`.
//!
//! Printed: milliseconds for each example, and the rules that answer it.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures: it reads the clock")]

use std::time::Instant;

use notarium_judge::dangers_of_each;

fn main() {
    let texts = |cell: usize| (0..7_500).map(|name| format!("a{cell}_{name}='x'\n")).collect::<String>();
    let many_texts: Vec<String> = (0..9).map(texts).collect();
    let stars: String = (0..4_000).map(|module| format!("from m{module} import *\n")).collect();
    let known_stars = ["os", "shutil", "subprocess", "socket", "sys", "io", "pathlib"]
        .map(|m| format!("from {m} import *\n"))
        .concat();
    let names = "abc\n".repeat(25_000);
    let long = format!("q='{}'\n", "y".repeat(19_000));
    let ordinary: String = "import numpy as np\nfor i in range(10):\n    x = np.sin(i) + df['a'].rolling(3).mean()\n    plt.plot(x, label=f'{i} of {n}')\n".repeat(700);
    let examples: Vec<(&str, Vec<String>, Vec<String>)> = vec![
        ("texts, then magics", many_texts.clone(), vec!["%time 1\n".repeat(2_000)]),
        (
            "run of 1,000 cells with texts",
            Vec::new(),
            (0..1_000).map(|cell| format!("b{cell}='x'\n") + &"c='y'\n".repeat(20)).collect(),
        ),
        ("stars of unknown modules", vec![stars], vec![names.clone()]),
        ("stars of known modules", vec![known_stars], vec![names.clone()]),
        ("long texts", Vec::new(), vec![format!("{}{}", long.repeat(4), "cur.execute(q)\n".repeat(1_500))]),
        (
            "code in texts",
            Vec::new(),
            vec![format!("import timeit\n{}{}", long.repeat(4), "timeit.timeit(q)\n".repeat(1_400))],
        ),
        ("1 MB of ordinary code", Vec::new(), vec![ordinary; 10]),
    ];
    for (name, earlier, codes) in examples {
        let (earlier, codes): (Vec<&str>, Vec<&str>) =
            (earlier.iter().map(String::as_str).collect(), codes.iter().map(String::as_str).collect());
        let begin = Instant::now();
        let found = dangers_of_each(&earlier, &codes);
        let mut rules: Vec<&str> = found.iter().flatten().map(|danger| danger.rule.name()).collect();
        rules.sort();
        rules.dedup();
        println!("{name}: {} ms, {rules:?}", begin.elapsed().as_millis());
    }
}
