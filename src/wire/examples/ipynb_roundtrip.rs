//! Reads an `.ipynb` file from stdin and writes `{"ipynb", "notices", "document"}` or `{"error"}` to stdout.
//! With `--many`: each input line is one JSON string (a file's text), each output line one answer.
//! Run by `tests/interop/ipynb/check.py`, which compares with Python's nbformat.

use std::io::{BufRead, Read, Write};

use notarium_wire::ipynb::{Document, FileLimits, Imported, IpynbError, Notice, Object, read, write};
use serde::Serialize;
use serde_json::value::RawValue;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if std::env::args().any(|argument| argument == "--many") {
        for line in std::io::stdin().lock().lines() {
            let text: String = serde_json::from_str(&line?)?;
            writeln!(out, "{}", answer(text.as_bytes()))?;
        }
        return Ok(());
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    writeln!(out, "{}", answer(&bytes))
}

#[derive(Serialize)]
#[serde(untagged)]
enum Answer<'a> {
    Refused { error: String },
    Read { ipynb: String, notices: &'a [Notice], title: Option<&'a str>, stable: bool, document: View<'a> },
}

/// The document as JSON, with numbers unchanged.
#[derive(Serialize)]
struct View<'a> {
    metadata: &'a Object,
    nbformat_original: (u32, u32),
    extra: &'a Object,
    cells: Vec<CellView<'a>>,
}

#[derive(Serialize)]
struct CellView<'a> {
    id: &'a str,
    cell_type: &'a str,
    source: &'a str,
    metadata: &'a Object,
    attachments: Option<&'a Object>,
    execution_count: Option<i64>,
    outputs: &'a [Box<RawValue>],
    flags: &'a Object,
    extra: &'a Object,
}

fn answer(bytes: &[u8]) -> String {
    let imported = read_numbered(bytes);
    let answer = match &imported {
        Err(error) => Answer::Refused { error: error.to_string() },
        Ok(imported) => describe(imported),
    };
    serde_json::to_string(&answer).unwrap_or_default()
}

fn describe(imported: &Imported) -> Answer<'_> {
    let ipynb = write(&imported.document);
    Answer::Read {
        stable: is_stable(&imported.document, &ipynb),
        ipynb,
        notices: &imported.notices,
        title: imported.title.as_deref(),
        document: view(&imported.document),
    }
}

/// Returns true if a re-import of the export changes nothing and repairs nothing.
fn is_stable(document: &Document, ipynb: &str) -> bool {
    read_numbered(ipynb.as_bytes()).is_ok_and(|again| {
        let same = |one: String, other: String| one == other;
        again.notices.is_empty()
            && same(format!("{:?}", again.document.cells), format!("{:?}", document.cells))
            && same(format!("{:?}", again.document.metadata), format!("{:?}", document.metadata))
            && same(format!("{:?}", again.document.extra), format!("{:?}", document.extra))
            && same(write(&again.document), ipynb.to_owned())
    })
}

fn read_numbered(bytes: &[u8]) -> Result<Imported, IpynbError> {
    let mut next = 0;
    read(bytes, &FileLimits::default(), &mut || {
        next += 1;
        format!("new-{next}")
    })
}

fn view(document: &Document) -> View<'_> {
    let cells = document.cells.iter().map(|cell| CellView {
        id: &cell.id,
        cell_type: &cell.cell_type,
        source: &cell.source,
        metadata: &cell.metadata,
        attachments: cell.attachments.as_ref(),
        execution_count: cell.execution_count,
        outputs: &cell.outputs,
        flags: &cell.flags,
        extra: &cell.extra,
    });
    View {
        metadata: &document.metadata,
        nbformat_original: document.nbformat_original,
        extra: &document.extra,
        cells: cells.collect(),
    }
}
