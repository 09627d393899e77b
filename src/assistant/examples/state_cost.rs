//! Measures the cost of a large notebook's state: `cargo run --release -p notarium-assistant --example state_cost`.
//!
//! Prints milliseconds (best and median of the rounds) for a notebook of 10,000 cells: `get_notebook_state` as the tool answers it (no
//! cache between calls: the first costs the same), the session facts of every model call, the verification of
//! all cells, and the whole state, which is larger than a result may be.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use notarium_assistant::assistants::MAX_RESULT_BYTES;
use notarium_assistant::context::facts;
use notarium_assistant::preview::no_blobs;
use notarium_assistant::state::{NamesCache, TextQuery, state_text, verify};
use notarium_core::Document;
use serde_json::{Value, json};

const CELLS: usize = 10_000;
const ROUNDS: usize = 21;
const SOURCE: &str = "import pandas as pd\nframe = pd.read_csv(path)\nmeans = frame.groupby('species').mean()\nprint(means.head(), len(frame))\n";

/// Equal shares of each kind of output: text, a frame, a figure, an error.
fn output(number: usize) -> Value {
    let html = "<table class=\"dataframe\"><thead><tr><th></th><th>a</th><th>b</th></tr></thead><tbody><tr><th>0</th><td>1</td></tr></tbody></table>";
    match number % 4 {
        0 => json!({"output_type": "stream", "name": "stdout", "text": "epoch 1: loss 0.1234\n".repeat(10)}),
        1 => {
            json!({"output_type": "execute_result", "metadata": {}, "data": {"text/html": html, "text/plain": "   a  b\n0  1  2"}})
        }
        2 => {
            json!({"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzkAAAA", "text/plain": "<Figure>"}})
        }
        _ => {
            json!({"output_type": "error", "ename": "NameError", "evalue": "name 'x' is not defined", "traceback": ["\u{1b}[31mNameError\u{1b}[0m: x"]})
        }
    }
}

fn notebook() -> Document {
    let mut notebook = json!({"notebook_id": "nb", "version": 90_000, "title": "large", "metadata": {}, "access": [], "cells": {}, "order": [],
        "latest": {}, "executions": {}, "default_kernel": "k1",
        "kernels": {"k1": {"kernelspec": "python3", "phase": "started", "requested_version": 2, "fence": 5}}});
    for number in 0..CELLS {
        let (cell, run) = (format!("c{number:05}"), format!("r{number:05}"));
        notebook["cells"][&cell] = json!({"cell_type": "code", "source": SOURCE, "order_key": format!("a{number:05}"), "cell_version": 3, "source_version": 3});
        notebook["order"].as_array_mut().expect("a list").push(json!(cell));
        notebook["latest"][&cell] = json!(run);
        notebook["executions"][&run] = json!({"subject": {"kind": "cell", "cell_id": cell, "cell_version": 3, "source": SOURCE},
            "status": if number % 4 == 3 { "error" } else { "ok" }, "cause": "requested", "requested_by": {"kind": "user", "id": "ann"}, "requested_at": 1,
            "requested_version": number, "kernel_session": "k1", "fence": 5, "correlation_id": "c", "execution_count": number, "outputs": [{"content": output(number)}]});
    }
    serde_json::from_value(notebook).expect("a notebook")
}

fn measure(name: &str, work: impl Fn() -> usize) {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            black_box(work());
            begin.elapsed()
        })
        .collect();
    times.sort();
    let [best, median] = [times[0], times[ROUNDS / 2]].map(|time| time.as_secs_f64() * 1e3);
    println!("{name}: best {best:.1} ms, median {median:.1} ms, {} bytes", work());
}

fn main() {
    let notebook = notebook();
    let begin = Instant::now();
    let names = RefCell::new(NamesCache::default());
    names.borrow_mut().refresh(&notebook, true);
    println!("names of {CELLS} cells, the first time: {:.1?}", begin.elapsed());
    for include_outputs in [true, false] {
        let query = TextQuery { include_outputs, stale: None, cell_ids: None, most: MAX_RESULT_BYTES };
        measure(&format!("get_notebook_state of {CELLS} cells, outputs {include_outputs}"), || {
            state_text(&notebook, query, &no_blobs).expect("a text").len()
        });
    }
    measure("session facts of a model call, names kept", || {
        names.borrow_mut().refresh(&notebook, true);
        facts(&notebook, &names.borrow()).to_string().len()
    });
    measure("verification of all", || verify(&notebook, &notebook.order, &no_blobs).text.len());
}
