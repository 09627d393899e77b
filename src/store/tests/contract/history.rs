//! Contract tests of history queries, which use the indexes.

use super::*;

impl Author {
    pub(crate) fn edit(&mut self, cell: &str) -> Append {
        let payload = format!(r#"{{"cell_id":"{cell}","change":[[0,"x"]]}}"#);
        self.append(&[("CellSourceEdited", &payload)])
    }

    pub(crate) fn delete(&mut self, cell: &str, execution: Option<&str>) -> Append {
        let execution = execution.map_or(String::new(), |id| format!(r#","latest_execution":"{id}""#));
        let content = r#"{"cell_type":"code","source":"1","order_key":"80"}"#;
        self.append(&[("CellDeleted", &format!(r#"{{"cell_id":"{cell}","cell":{content}{execution}}}"#))])
    }

    pub(crate) fn execute(&mut self, execution: &str) -> Append {
        let subject = r#"{"kind":"scratch","source":"1","purpose":"test"}"#;
        let requested = format!(r#"{{"execution_id":"{execution}","subject":{subject},"cause":"requested"}}"#);
        let started = format!(r#"{{"execution_id":"{execution}","output_seq":1}}"#);
        self.append(&[("ExecutionRequested", &requested), ("ExecutionStarted", &started)])
    }
}

/// Returns the executions' ids and the versions of their requests.
fn executions(past: &Past<Stored>) -> Vec<(&str, Version)> {
    past.executions.iter().map(|(id, it)| (id.as_str(), it.execution.requested_version)).collect()
}

fn cells(cells: &[&str], since: Version, with_notebook: bool) -> HistoryQuery {
    HistoryQuery::Cells { cells: cells.iter().map(|id| CellId::new(id).unwrap()).collect(), since, with_notebook }
}

/// Log: 1 a · 2 b · 3 notebook · 4 a · 5 and 6 execution e · 7 and 8 execution f · 9 b is deleted with e · 10 a
async fn ten(store: &Store) -> Author {
    let mut author = Author::new("nb");
    store.append(author.edit("a")).await.unwrap();
    store.append(author.edit("b")).await.unwrap();
    store.append(author.rename("notebook")).await.unwrap();
    store.append(author.edit("a")).await.unwrap();
    store.append(author.execute("e")).await.unwrap();
    store.append(author.execute("f")).await.unwrap();
    store.append(author.delete("b", Some("e"))).await.unwrap();
    store.append(author.edit("a")).await.unwrap();
    let mut other = Author::new("other");
    store.append(other.edit("a")).await.unwrap();
    author
}

pub async fn history_of_cells(store: Store) {
    let author = ten(&store).await;
    assert_eq!(history(&store, &author, cells(&["a"], 0, false)).await, [1, 4, 10]);
    assert_eq!(history(&store, &author, cells(&["a"], 4, false)).await, [10]);
    assert_eq!(history(&store, &author, cells(&["a", "a"], 0, false)).await, [1, 4, 10]);
    assert_eq!(history(&store, &author, cells(&["a"], 10, false)).await, [0; 0]);
    assert_eq!(history(&store, &author, cells(&["c"], 0, false)).await, [0; 0]);
    assert_eq!(history(&store, &author, cells(&[], 0, false)).await, [0; 0]);
}

pub async fn history_of_cells_and_the_notebook(store: Store) {
    let author = ten(&store).await;
    assert_eq!(history(&store, &author, cells(&["a"], 0, true)).await, [1, 3, 4, 10]);
    assert_eq!(history(&store, &author, cells(&["a"], 3, true)).await, [4, 10]);
    assert_eq!(history(&store, &author, cells(&[], 0, true)).await, [3]);
}

pub async fn history_names_the_executions_of_deletions(store: Store) {
    let author = ten(&store).await;
    let of_b = store.history(&author.notebook_id, &cells(&["b"], 8, false)).await.unwrap();
    assert_eq!((versions(&of_b.events), executions(&of_b)), (vec![9], vec![("e", 5)]));
    let of_both = store.history(&author.notebook_id, &cells(&["a", "b"], 0, true)).await.unwrap();
    assert_eq!((versions(&of_both.events), executions(&of_both)), (vec![1, 2, 3, 4, 9, 10], vec![("e", 5)]));
}

pub async fn history_of_a_deleted_cell(store: Store) {
    let mut author = ten(&store).await;
    let deleted = |id: &str| HistoryQuery::DeletedCell { cell_id: CellId::new(id).unwrap() };
    let found = store.history(&author.notebook_id, &deleted("b")).await.unwrap();
    assert_eq!((versions(&found.events), executions(&found)), (vec![9], vec![("e", 5)]));
    assert_eq!(history(&store, &author, deleted("a")).await, [0; 0]);
    store.append(author.delete("b", None)).await.unwrap();
    let found = store.history(&author.notebook_id, &deleted("b")).await.unwrap();
    assert_eq!((versions(&found.events), executions(&found)), (vec![11], vec![]));
}

pub async fn history_of_an_execution(store: Store) {
    let author = ten(&store).await;
    let execution = |id: &str| HistoryQuery::Execution { execution_id: id.parse().unwrap() };
    let found = store.history(&author.notebook_id, &execution("f")).await.unwrap();
    assert_eq!((versions(&found.events), executions(&found)), (vec![], vec![("f", 7)]));
    assert_eq!(found.executions.values().next().unwrap().execution.status, ExecutionStatus::Running);
    let none = store.history(&author.notebook_id, &execution("g")).await.unwrap();
    assert_eq!((versions(&none.events), executions(&none)), (vec![], vec![]));
}

/// A run with more events than one answer may have, as a progress bar over a day.
pub async fn a_run_of_very_many_events_is_told_whole(store: Store) {
    let mut author = Author::new("nb");
    store.append(author.execute("e")).await.unwrap();
    let written = |seq: usize| {
        let output = r#"{"content":{"output_type":"stream","name":"stdout","text":"."}}"#;
        format!(r#"{{"execution_id":"e","output_seq":{seq},"outputs":[{output}]}}"#)
    };
    let ended = format!(r#"{{"execution_id":"e","output_seq":{},"outcome":"ok"}}"#, MAX_HISTORY_EVENTS + 2);
    let payloads: Vec<String> = (2..MAX_HISTORY_EVENTS + 2).map(written).collect();
    let events: Vec<_> = payloads.iter().map(|payload| ("ExecutionOutputAppended", payload.as_str())).collect();
    store.append(author.append(&events)).await.unwrap();
    store.append(author.append(&[("ExecutionCompleted", &ended)])).await.unwrap();
    store.append(author.delete("b", Some("e"))).await.unwrap();
    let id = "e".parse().unwrap();
    let run = store.execution(&author.notebook_id, &id).await.unwrap().unwrap();
    assert_eq!((run.execution.status, run.execution.output_seq), (ExecutionStatus::Ok, MAX_HISTORY_EVENTS as u64 + 2));
    let deleted = HistoryQuery::DeletedCell { cell_id: CellId::new("b").unwrap() };
    let found = store.history(&author.notebook_id, &deleted).await.unwrap();
    assert_eq!((versions(&found.events), found.executions.get(&id)), (vec![author.head.version], Some(&run)));
}

const TURN: &str = r#"{"turn_id":"t","conversation_id":"talk","message_id":"m","scopes":["read"],"is_bound":false}"#;

/// Log: 11 to 13 a conversation, its message and its turn; 14 the turn's end; 15 a tool call.
async fn fifteen(store: &Store) -> Author {
    let mut author = ten(store).await;
    let conversation = author.append(&[
        ("ConversationStarted", r#"{"conversation_id":"talk","title":"T"}"#),
        ("MessagePosted", r#"{"conversation_id":"talk","message_id":"m","role":"user","blocks":[]}"#),
        ("TurnStarted", TURN),
        ("TurnCancelled", r#"{"turn_id":"t"}"#),
        ("ToolCallExpired", r#"{"call_id":"call"}"#),
    ]);
    store.append(conversation).await.unwrap();
    author
}

/// The starts of its turns belong to the turns, not to the conversation.
pub async fn history_of_a_conversation(store: Store) {
    let author = fifteen(&store).await;
    let talk = HistoryQuery::Conversation { conversation_id: "talk".parse().unwrap() };
    assert_eq!(history(&store, &author, talk).await, [11, 12]);
    let of_turn = store.events_of_subject(&author.notebook_id, &["t".to_owned()]).await.unwrap();
    assert_eq!(versions(&of_turn), [13, 14]);
}

/// The core defines history; the doubles in the tests of core and room use the same definition.
pub async fn history_is_what_the_core_says_that_it_is(store: Store) {
    let author = fifteen(&store).await;
    let log = all(&store, &author.notebook_id).await;
    let select = |wanted: &Selection| -> Result<Vec<Stored>, StoreError> {
        let holds = |stored: &&Stored| {
            let event = stored.typed().unwrap().event;
            wanted.holds(stored.envelope.version, event.subject())
        };
        Ok(log.iter().filter(holds).cloned().collect())
    };
    let mut queries = vec![
        HistoryQuery::Conversation { conversation_id: "talk".parse().unwrap() },
        HistoryQuery::ToolCall { call_id: "call".parse().unwrap() },
        HistoryQuery::Execution { execution_id: "e".parse().unwrap() },
        HistoryQuery::DeletedCell { cell_id: "b".parse().unwrap() },
    ];
    for (names, since) in [(&["a"][..], 0), (&["b"], 0), (&["a", "b"], 3), (&[], 0), (&["b"], 9)] {
        queries.extend([true, false].map(|with_notebook| cells(names, since, with_notebook)));
    }
    for query in queries {
        let found = store.history(&author.notebook_id, &query).await;
        assert_eq!(found, query.answer(select), "{query:?}");
    }
}

pub async fn edits_are_no_events_of_a_subject(store: Store) {
    let author = ten(&store).await;
    let of = |subjects: &[&str]| subjects.iter().map(ToString::to_string).collect::<Vec<_>>();
    for (subjects, expected) in [(&["a"][..], vec![]), (&["b"], vec![9]), (&["b", "f", "b"], vec![7, 8, 9])] {
        let found = store.events_of_subject(&author.notebook_id, &of(subjects)).await.unwrap();
        assert_eq!(versions(&found), expected, "{subjects:?}");
    }
    let selection = Selection { subjects: of(&["b"]), since: 1, with_notebook: true, with_all: false };
    let scanned = store.scan_by_subject(&author.notebook_id, &selection).await.unwrap();
    assert_eq!(versions(&scanned), [2, 3, 9]);
}

pub async fn events_of_a_type_are_listed(store: Store) {
    let mut author = fifteen(&store).await;
    store
        .append(author.append(&[("TurnStarted", TURN), ("NotebookArchived", "{}"), ("TurnStarted", TURN)]))
        .await
        .unwrap();
    for (before, limit, expected) in
        [(None, 9, vec![18, 16, 13]), (Some(18), 1, vec![16]), (Some(16), 9, vec![13]), (Some(13), 9, vec![])]
    {
        let found = store.events_of_type(&author.notebook_id, "TurnStarted", before, limit).await.unwrap();
        assert_eq!(versions(&found), expected, "{limit} before {before:?}");
    }
    for event_type in LISTED_TYPES {
        let found = store.events_of_type(&author.notebook_id, event_type, None, 9).await.unwrap();
        assert!(found.iter().all(|stored| stored.envelope.event_type == event_type));
    }
    let unlisted = store.events_of_type(&author.notebook_id, "CellSourceEdited", None, 9).await;
    assert!(matches!(unlisted, Err(StoreError::Invalid { .. })), "{unlisted:?}");
}

pub async fn history_has_a_limit(store: Store) {
    let mut author = Author::new("nb");
    let event = ("NotebookArchived", "{}");
    let mut append = author.append(&[event]);
    append.events = vec![append.events[0].clone(); MAX_HISTORY_EVENTS];
    append = renumbered(append, 0);
    author.head = append.head();
    store.append(append).await.unwrap();
    let of_notebook = Selection { with_notebook: true, ..Selection::default() };
    let everything = store.scan_by_subject(&author.notebook_id, &of_notebook).await.unwrap();
    assert_eq!(everything.len(), MAX_HISTORY_EVENTS);
    store.append(author.append(&[event])).await.unwrap();
    let refused = store.history(&author.notebook_id, &cells(&[], 0, true)).await;
    assert_eq!(refused, Err(StoreError::HistoryTooLong { limit: MAX_HISTORY_EVENTS }));
}
