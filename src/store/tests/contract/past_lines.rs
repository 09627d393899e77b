//! Contract tests of the lines that ever stood in cells: written down step by step, searched.

use std::collections::BTreeMap;

use notarium_store::{LineSpan, MAX_FOUND_LINES, PastLine, PastLinesWritten};

use super::*;

fn line(cell: &str, text: &str, since: Version, last: Option<Version>) -> PastLine {
    let end = text.len().try_into().unwrap();
    let spans = vec![LineSpan { since, start: 0, end: 1 }, LineSpan { since: since + 1, start: 0, end }];
    PastLine { cell_id: cell.parse().unwrap(), text: text.to_owned(), spans, last }
}

async fn put(store: &Store, id: &NotebookId, after: Version, version: Version, lines: &[(u64, PastLine)]) -> bool {
    let next = lines.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
    let lines: BTreeMap<u64, PastLine> = lines.iter().cloned().collect();
    store.put_past_lines(id, after, PastLinesWritten { version, next }, lines).await.unwrap()
}

async fn found(store: &Store, id: &NotebookId, text: &str) -> Vec<String> {
    let found = store.past_lines(id, text).await.unwrap();
    assert!(found.is_complete);
    found.lines.into_iter().map(|line| line.text).collect()
}

pub async fn past_lines_come_back_as_they_were_written(store: Store) {
    let author = five(&store).await;
    let id = &author.notebook_id;
    assert_eq!(store.past_lines_written(id).await.unwrap(), PastLinesWritten::default());
    let (ended, standing) = (line("a", "x = 'Ä😀'", 1, Some(2)), line("b", "import pandas", 2, None));
    assert!(put(&store, id, 0, 3, &[(0, ended.clone()), (1, standing.clone())]).await);
    assert_eq!(store.past_lines_written(id).await.unwrap(), PastLinesWritten { version: 3, next: 2 });
    assert_eq!(store.standing_lines(id).await.unwrap(), [(1, standing.clone())]);
    assert_eq!(store.past_lines(id, "ä😀").await.unwrap().lines, [ended]);

    // Another has written since, or the notebook is unknown.
    assert!(!put(&store, id, 0, 4, &[(1, line("b", "lost", 4, None))]).await);
    assert!(!put(&store, &notebook("nobody"), 0, 4, &[]).await);
    let longer = PastLine { last: Some(4), ..line("b", "import pandas as pd", 2, None) };
    assert!(put(&store, id, 3, 5, &[(1, longer.clone())]).await);
    assert_eq!(store.past_lines(id, "pandas").await.unwrap().lines, [longer]);
    assert_eq!(store.standing_lines(id).await.unwrap(), []);
}

pub async fn past_lines_are_found_by_any_part(store: Store) {
    let author = five(&store).await;
    let id = &author.notebook_id;
    let texts = ["print(\"one\")", "PRINT(two)", "o", "n\"e\"", "prin rint int(", "ΟΔΟΣ"];
    let lines: Vec<_> = (0..).zip(texts.map(|text| line("a", text, 1, None))).collect();
    put(&store, id, 0, 1, &lines).await;
    let mut other = Author::new("other");
    store.append(other.rename("other")).await.unwrap();
    put(&store, &other.notebook_id, 0, 1, &[(0, line("a", "print(elsewhere)", 1, None))]).await;
    assert_eq!(found(&store, id, "print(").await, ["PRINT(two)", "print(\"one\")"]);
    assert_eq!(found(&store, id, "o").await, ["o", "PRINT(two)", "print(\"one\")"]);
    assert_eq!(found(&store, id, "\"").await, ["n\"e\"", "print(\"one\")"]);
    assert_eq!(found(&store, id, "(\"one").await, ["print(\"one\")"]);
    assert_eq!(found(&store, id, "δοσ").await, ["ΟΔΟΣ"]);
    assert_eq!(found(&store, id, "NOT AND OR *").await, [""; 0]);
    assert_eq!(found(&store, &notebook("nobody"), "print").await, [""; 0]);
}

pub async fn a_search_in_the_past_says_what_it_leaves_out(store: Store) {
    let author = five(&store).await;
    let id = &author.notebook_id;
    let lines: Vec<_> =
        (0..MAX_FOUND_LINES as u64 + 5).map(|number| (number, line("a", &format!("line {number}"), 1, None))).collect();
    put(&store, id, 0, 1, &lines).await;
    let all = store.past_lines(id, "line").await.unwrap();
    assert_eq!((all.lines.len(), all.is_complete), (MAX_FOUND_LINES, false));
    assert_eq!(all.lines[0].text, "line 1004");
    assert_eq!(found(&store, id, "line 1004").await, ["line 1004"]);
}
