//! How much of real notebooks runs unasked: `cargo run --release -p notarium-judge --example judge_share -- FILE…`.
//!
//! Each code cell of a notebook is judged after the other cells of the same notebook. Printed: what asks and why, most
//! frequent first, then the share. `.jsonl` files hold one piece of code a line (`code`), each judged alone; the pieces that
//! pass are printed. `--cells` prints each cell that asks.
//!
//! Cells that do what the judge is there to ask about are counted apart: a program of the shell, the network, a file that is
//! written, a module that no list knows.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a tool: it reads files and the clock")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use notarium_judge::{Danger, DangerRule, Grade, dangers_of_each};
use serde_json::Value;

#[derive(Default)]
struct Share {
    cells: usize,
    beyond: usize,
    asking: usize,
    reasons: BTreeMap<String, usize>,
    times: Vec<Duration>,
}

fn main() {
    let (mut share, mut shows_cells) = (Share::default(), false);
    for path in std::env::args().skip(1) {
        if path == "--cells" {
            shows_cells = true;
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        match path.ends_with(".jsonl") {
            true => pieces(&text),
            false => share.notebook(&code_cells(&text), shows_cells),
        }
    }
    share.print();
}

fn pieces(text: &str) {
    let (mut passed, mut all) = (0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let piece: Value = serde_json::from_str(line).expect("a line is JSON");
        let told = [
            ("{N}", "http://127.0.0.1:9/x"),
            ("{C}", "/tmp/keep.txt"),
            ("{D}", "/tmp/keep"),
            ("{P}", "/tmp/made"),
            ("{DB}", "/tmp/x.db"),
        ];
        let code =
            told.iter().fold(piece["code"].as_str().expect("a piece has code").to_owned(), |code, (name, value)| {
                code.replace(name, value)
            });
        all += 1;
        if dangers_of_each(&[], &[&code])[0].is_empty() {
            passed += 1;
            println!("PASSES {}: {code:?}", piece["id"]);
        }
    }
    println!("{passed} of {all} pieces pass");
}

fn code_cells(notebook: &str) -> Vec<String> {
    let notebook: Value = serde_json::from_str(notebook).expect("a notebook is JSON");
    let cells = notebook["cells"].as_array().or_else(|| notebook["worksheets"][0]["cells"].as_array());
    let code = cells.into_iter().flatten().filter(|cell| cell["cell_type"] == "code");
    let source = code.map(|cell| if cell["source"].is_null() { &cell["input"] } else { &cell["source"] });
    let text = source.map(|source| match source {
        Value::String(text) => text.clone(),
        lines => lines.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    });
    text.filter(|text| !text.trim().is_empty()).collect()
}

/// Whether the cell does what nobody would call reading, computing and plotting.
fn is_beyond(code: &str, found: &[Danger]) -> bool {
    use DangerRule::*;
    let starts = |signs: &[&str]| code.lines().any(|line| signs.iter().any(|sign| line.trim_start().starts_with(sign)));
    let magics = [
        "!",
        "%%bash",
        "%run",
        "%load",
        "%%file",
        "%%writefile",
        "%lprun",
        "%memit",
        "%mprun",
        "%cd",
        "%ls",
        "%pycat",
        "%hist",
        "%xdel",
        "%reset",
        "%mkdir",
        "%cat",
        "%rm",
        "%cp",
        "%mv",
        "%alias",
        "%bookmark",
        "%sql",
        "%%cython",
        "%debug",
        "%paste",
        "%cpaste",
        "%logstart",
        "%env",
        "%pip",
        "%conda",
        "%save",
        "%store",
        "%edit",
        "%system",
    ];
    let rules = [
        ShellCommand,
        OtherProgram,
        DynamicCode,
        RunsFile,
        InstallsPackage,
        DeletesFile,
        WritesFile,
        ChangesPermissions,
        EndsProcess,
        StartsProcess,
        ClearsSession,
        NetworkSend,
        NetworkRead,
        SecretRead,
        SqlDestroys,
        DoesNotParse,
        UnknownModule,
        SavesPicture,
        LoadsObjects,
        CreatesFile,
    ];
    starts(&magics)
        || code.contains("!ls")
        || found.iter().any(|danger| {
            rules.contains(&danger.rule)
                || danger.found == ".savefig"
                || danger.found.starts_with("pandas_datareader")
                || danger.found == ".DataReader"
        })
        || reaches_out(code)
}

fn reaches_out(code: &str) -> bool {
    [
        "http://",
        "https://",
        "fetch_",
        "load_dataset",
        "urlretrieve",
        ".to_csv(",
        "savefig(",
        ".save(",
        "os.makedirs",
        "os.mkdir",
        "= !",
        "pd.HDFStore",
        "np.save",
        "to_pickle",
        "'w'",
        "\"w\"",
        "ExcelWriter",
        "to_hdf",
        "to_parquet",
        "to_excel",
        "sqlite",
    ]
    .iter()
    .any(|word| code.contains(word))
}

impl Share {
    fn notebook(&mut self, cells: &[String], shows_cells: bool) {
        for (index, cell) in cells.iter().enumerate() {
            let others: Vec<&str> =
                cells.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, cell)| cell.as_str()).collect();
            let begin = Instant::now();
            let found = dangers_of_each(&others, &[cell]).remove(0);
            self.times.push(begin.elapsed());
            self.cells += 1;
            if found.is_empty() {
                continue;
            }
            if is_beyond(cell, &found) {
                self.beyond += 1;
                continue;
            }
            self.asking += 1;
            for danger in &found {
                let through = danger.through.as_ref().map(|name| format!("{name} -> ")).unwrap_or_default();
                let grade = if danger.grade() == Grade::Destructive { "!" } else { "" };
                *self
                    .reasons
                    .entry(format!("{grade}{}: {through}{}", danger.rule.name(), danger.found))
                    .or_default() += 1;
            }
            if shows_cells {
                let sentences: Vec<String> = found.iter().map(Danger::sentence).collect();
                println!("{sentences:#?}\n{cell}\n----");
            }
        }
    }

    fn print(mut self) {
        let mut reasons: Vec<_> = self.reasons.into_iter().collect();
        reasons.sort_by_key(|(reason, count)| (usize::MAX - count, reason.clone()));
        reasons.iter().take(150).for_each(|(reason, count)| println!("{count:5} {reason}"));
        self.times.sort();
        let median = self.times.get(self.times.len() / 2).copied().unwrap_or_default();
        let meant = self.cells - self.beyond;
        let passing = meant - self.asking;
        println!(
            "{} cells; {} do more than read, compute and plot; of the other {meant}, {passing} pass ({:.1} %); median {median:?} a cell with its notebook",
            self.cells,
            self.beyond,
            passing as f64 * 100.0 / meant.max(1) as f64
        );
    }
}
