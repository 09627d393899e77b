//! Kernels of IPython in one child process, which runs code for real.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the oracle is a Python, outside of the core")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// Result of a run: whether it succeeded, and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub is_ok: bool,
    pub text: String,
}

pub struct Kernels {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    count: u64,
}

impl Kernels {
    pub fn start() -> Self {
        let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-venv/bin/python");
        let python = std::env::var("NOTARIUM_TEST_PYTHON").map_or(default, PathBuf::from);
        assert!(python.exists(), "{} is missing: `make test` makes it, or set NOTARIUM_TEST_PYTHON", python.display());
        let mut command = Command::new(python);
        command.args(["-c", include_str!("kernel.py")]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("Python");
        let (to, from) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        Self { child, to, from: BufReader::new(from), count: 0 }
    }

    /// A number for a new kernel.
    pub fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    pub fn run(&mut self, kernel: u64, source: &str) -> Shown {
        self.send(&json!({"kernel": kernel, "source": source}));
        let mut line = String::new();
        self.from.read_line(&mut line).expect("an answer");
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?} of {source}"));
        Shown { is_ok: answer["ok"] == true, text: answer["shown"].as_str().expect("a text").to_owned() }
    }

    pub fn end(&mut self, kernel: u64) {
        self.send(&json!({"end": kernel}));
    }

    fn send(&mut self, request: &Value) {
        writeln!(self.to, "{request}").and_then(|()| self.to.flush()).expect("the kernels live");
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Notebooks that the test makes; `NOTARIUM_FRESH_NOTEBOOKS` sets another number.
pub fn notebooks(default: u32) -> u32 {
    std::env::var("NOTARIUM_FRESH_NOTEBOOKS").map_or(default, |count| count.parse().expect("a number of notebooks"))
}
