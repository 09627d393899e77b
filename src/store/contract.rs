//! The suite that every backend passes. A backend's tests call [`contract_suite`] with a function that opens an empty store.

use std::sync::Arc;

use notarium_core::{
    Actor, Append, Authority, CellId, CommandId, CommandRecord, Context, Decided, Envelope, Epoch, Event, EventId,
    Hash, Head, History, HistoryQuery, IdSource, InstanceId, Limits, NewEvent, NotebookId, RawJson, Salt, Selection,
    Stored, UserId, Version, seal, verify_chain,
};

use crate::{
    AppendError, BlobRecord, CatalogEntry, CatalogQuery, EventStore, LISTED_TYPES, MAX_HISTORY_EVENTS, Snapshot,
    StoreError,
};

/// A store to test.
pub(crate) type Store = Arc<dyn EventStore>;

/// One test for each case. `$open` is `async fn() -> (Store, impl Sized)`; the second keeps what the store needs alive.
macro_rules! contract_suite {
    ($open:path: $($case:ident),* $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            let (store, _guard) = $open().await;
            $crate::contract::$case(store).await;
        }
    )*};
    ($open:path) => {
        $crate::contract::contract_suite!($open:
            what_was_appended_is_read_in_order, pages_end_where_asked, reading_backwards_gives_the_latest_first,
            a_stale_head_is_refused_and_nothing_written, another_hash_at_the_same_version_is_refused,
            a_gap_is_refused, a_strangers_event_is_refused, a_notebook_begins_once, an_unknown_notebook_is_empty,
            a_lease_is_taken_from_the_one_before, an_append_under_an_older_epoch_is_refused,
            a_command_is_found_again, a_repeated_command_is_refused_and_nothing_written,
            a_command_twice_in_one_append_is_refused, the_same_command_id_of_another_actor_or_notebook_is_another,
            a_command_that_changed_nothing_is_recorded, payloads_come_back_byte_for_byte,
            every_field_of_an_envelope_comes_back, every_kind_of_actor_comes_back, events_of_unknown_types_come_back,
            a_redacted_event_comes_back, one_append_of_many_events, history_of_cells, history_of_cells_and_the_notebook,
            history_names_the_executions_of_deletions, history_of_a_deleted_cell, history_of_an_execution,
            history_of_a_conversation, history_is_what_the_core_says_that_it_is, edits_are_no_events_of_a_subject,
            events_of_a_type_are_listed, history_has_a_limit, the_latest_snapshot_at_most, a_snapshot_needs_its_notebook, snapshots_are_disposable,
            snapshots_are_thinned_out,
            notebooks_are_listed_in_order, of_concurrent_appenders_one_wins, many_notebooks_at_once,
            a_pipelined_append_follows_the_one_before, the_guilty_alone_fails, the_catalog_lists_the_latest_first,
            the_catalog_pages, the_catalog_filters, the_catalog_finds_words, the_catalog_never_goes_back,
            the_catalog_says_what_lags, blobs_are_recorded_once, blobs_are_listed_and_forgotten,
        );
    };
}
pub(crate) use contract_suite;

/// Writes one notebook's log as the server would: sealed, chained, one command per append.
pub(crate) struct Author {
    pub(crate) notebook_id: NotebookId,
    pub(crate) head: Head,
    pub(crate) epoch: Epoch,
    context: Context,
    commands: u64,
}

pub(crate) fn notebook(name: &str) -> NotebookId {
    NotebookId::new(name).unwrap()
}

impl Author {
    pub(crate) fn new(name: &str) -> Self {
        let mut seed = [7; 32];
        seed[..name.len()].copy_from_slice(name.as_bytes());
        let context = Context {
            now: 1_700_000_000_000,
            actor: Actor::User { id: UserId::new("ann").unwrap() },
            authority: Authority::session(),
            command_id: CommandId::new("c0").unwrap(),
            correlation_id: "c0".parse().unwrap(),
            causation_id: None,
            expected_version: None,
            ids: IdSource::new(1_700_000_000_000, seed),
            history: History::default(),
            limits: Limits::default(),
        };
        Self { notebook_id: notebook(name), head: Head::START, epoch: 0, context, commands: 0 }
    }

    /// Goes on where an earlier process ended.
    pub(crate) fn resume(&mut self, head: Head) {
        self.head = head;
        self.commands = head.version;
    }

    fn command(&mut self) -> CommandRecord {
        CommandRecord {
            actor: self.context.actor.key(),
            command_id: self.context.command_id.clone(),
            digest: [u8::try_from(self.commands % 251).unwrap(); 32],
            version: self.head.version,
            outcome: RawJson::parse(r#"{"cells":["é"]}"#).unwrap(),
        }
    }

    /// An append of events given by type and payload, under the next command id.
    pub(crate) fn append(&mut self, events: &[(&str, &str)]) -> Append {
        self.commands += 1;
        self.context.command_id = CommandId::new(format!("c{}", self.commands)).unwrap();
        let decode = |(event_type, payload): &(&str, &str)| Event::decode(event_type, 1, payload).unwrap();
        let decided: Vec<Decided> = events.iter().map(decode).map(Decided::from).collect();
        let expected = self.head;
        let sealed = seal(&mut self.head, &self.notebook_id, &mut self.context, &decided).unwrap();
        let events = sealed.into_iter().zip(&decided).map(|(stored, it)| NewEvent::new(stored, &it.event)).collect();
        Append {
            notebook_id: self.notebook_id.clone(),
            epoch: self.epoch,
            expected,
            events,
            commands: vec![self.command()],
        }
    }

    /// An append of one event about the notebook.
    pub(crate) fn rename(&mut self, title: &str) -> Append {
        let payload = serde_json::json!({ "title": title, "previous": "before" }).to_string();
        self.append(&[("NotebookRenamed", &payload)])
    }

    fn edit(&mut self, cell: &str) -> Append {
        let payload = format!(r#"{{"cell_id":"{cell}","change":[[0,"x"]]}}"#);
        self.append(&[("CellSourceEdited", &payload)])
    }

    fn delete(&mut self, cell: &str, execution: Option<&str>) -> Append {
        let execution = execution.map_or(String::new(), |id| format!(r#","latest_execution":"{id}""#));
        let content = r#"{"cell_type":"code","source":"1","order_key":"80"}"#;
        self.append(&[("CellDeleted", &format!(r#"{{"cell_id":"{cell}","cell":{content}{execution}}}"#))])
    }

    fn execute(&mut self, execution: &str) -> Append {
        let started = format!(r#"{{"execution_id":"{execution}","output_seq":1}}"#);
        let ended = format!(r#"{{"execution_id":"{execution}","output_seq":2,"ok":true}}"#);
        self.append(&[("ExecutionStarted", &started), ("ExecutionCompleted", &ended)])
    }
}

async fn written(store: &Store, append: Append) -> Vec<Stored> {
    store.append(append.clone()).await.unwrap();
    append.events.into_iter().map(|event| event.stored).collect()
}

fn versions(events: &[Stored]) -> Vec<Version> {
    events.iter().map(|stored| stored.envelope.version).collect()
}

async fn all(store: &Store, id: &NotebookId) -> Vec<Stored> {
    store.read(id, 0, usize::MAX).await.unwrap()
}

async fn history(store: &Store, author: &Author, query: HistoryQuery) -> Vec<Version> {
    versions(&store.history(&author.notebook_id, &query).await.unwrap())
}

// --- append and read ---

pub(crate) async fn what_was_appended_is_read_in_order(store: Store) {
    let mut author = Author::new("nb");
    let mut expected = written(&store, author.rename("one")).await;
    expected.extend(written(&store, author.execute("e")).await);
    assert_eq!(all(&store, &author.notebook_id).await, expected);
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
    assert_eq!(verify_chain(Head::START, &expected), Ok(author.head));
}

async fn five(store: &Store) -> Author {
    let mut author = Author::new("nb");
    for title in ["1", "2", "3", "4", "5"] {
        store.append(author.rename(title)).await.unwrap();
    }
    author
}

pub(crate) async fn pages_end_where_asked(store: Store) {
    let author = five(&store).await;
    for (after, limit, expected) in
        [(0, 2, vec![1, 2]), (2, 2, vec![3, 4]), (4, 9, vec![5]), (5, 9, vec![]), (9, 9, vec![]), (0, 0, vec![])]
    {
        let found = store.read(&author.notebook_id, after, limit).await.unwrap();
        assert_eq!(versions(&found), expected, "{limit} after {after}");
    }
}

pub(crate) async fn reading_backwards_gives_the_latest_first(store: Store) {
    let author = five(&store).await;
    for (before, limit, expected) in [
        (None, 2, vec![5, 4]),
        (Some(4), 2, vec![3, 2]),
        (Some(2), 9, vec![1]),
        (Some(1), 9, vec![]),
        (Some(0), 9, vec![]),
        (Some(99), 1, vec![5]),
    ] {
        let found = store.read_backwards(&author.notebook_id, before, limit).await.unwrap();
        assert_eq!(versions(&found), expected, "{limit} before {before:?}");
    }
}

pub(crate) async fn a_stale_head_is_refused_and_nothing_written(store: Store) {
    let mut author = Author::new("nb");
    store.append(author.rename("first")).await.unwrap();
    let stale = author.head;
    store.append(author.rename("second")).await.unwrap();
    let late = Append { expected: stale, ..author.rename("late") };
    let late = renumbered(late, stale.version);
    assert_eq!(
        store.append(late.clone()).await,
        Err(AppendError::VersionConflict { actual: store.head(&author.notebook_id).await.unwrap() })
    );
    assert_eq!(versions(&all(&store, &author.notebook_id).await), [1, 2]);
    let refused = store.command(&author.notebook_id, &late.commands[0].actor, &late.commands[0].command_id).await;
    assert_eq!(refused.unwrap(), None);
}

fn renumbered(mut append: Append, after: Version) -> Append {
    for (event, version) in append.events.iter_mut().zip(after + 1..) {
        event.stored.envelope.version = version;
    }
    append
}

pub(crate) async fn another_hash_at_the_same_version_is_refused(store: Store) {
    let mut author = Author::new("nb");
    store.append(author.rename("first")).await.unwrap();
    let mut append = author.rename("second");
    append.expected.hash = Hash([9; 32]);
    assert!(matches!(store.append(append).await, Err(AppendError::VersionConflict { actual: Some(_) })));
}

pub(crate) async fn a_gap_is_refused(store: Store) {
    let mut author = Author::new("nb");
    let mut append = author.append(&[("NotebookArchived", "{}"), ("NotebookUnarchived", "{}")]);
    append.events[1].stored.envelope.version = 3;
    assert!(matches!(store.append(append).await, Err(AppendError::Store(StoreError::Invalid { .. }))));
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), None);
}

pub(crate) async fn a_strangers_event_is_refused(store: Store) {
    let append = Append { notebook_id: notebook("other"), ..Author::new("nb").rename("x") };
    assert!(matches!(store.append(append).await, Err(AppendError::Store(StoreError::Invalid { .. }))));
}

pub(crate) async fn a_notebook_begins_once(store: Store) {
    store.append(Author::new("nb").rename("mine")).await.unwrap();
    let mut other = Author::new("nb");
    let mut append = other.rename("yours");
    append.commands[0].command_id = CommandId::new("other").unwrap();
    assert!(matches!(store.append(append).await, Err(AppendError::VersionConflict { actual: Some(_) })));
    let mut nowhere = Author::new("nowhere");
    nowhere.rename("unsent");
    let conflict = store.append(nowhere.rename("second")).await;
    assert_eq!(conflict, Err(AppendError::VersionConflict { actual: None }));
}

pub(crate) async fn an_unknown_notebook_is_empty(store: Store) {
    let id = notebook("nobody");
    assert_eq!(store.head(&id).await.unwrap(), None);
    assert_eq!(all(&store, &id).await, []);
    assert_eq!(store.read_backwards(&id, None, 9).await.unwrap(), []);
    assert_eq!(store.snapshot(&id, None).await.unwrap(), None);
    assert_eq!(store.command(&id, "system", &CommandId::new("c").unwrap()).await.unwrap(), None);
    assert_eq!(store.blob_record(&id, &Hash::ZERO).await.unwrap(), None);
    let query = HistoryQuery::Cells { cells: vec![CellId::new("a").unwrap()], since: 0, with_notebook: true };
    assert_eq!(store.history(&id, &query).await.unwrap(), []);
    store.delete_snapshots(&id).await.unwrap();
}

// --- leases ---

fn instance(name: &str) -> InstanceId {
    name.parse().unwrap()
}

pub(crate) async fn a_lease_is_taken_from_the_one_before(store: Store) {
    let mut author = Author::new("nb");
    let id = author.notebook_id.clone();
    assert_eq!(store.take_lease(&id, &instance("one")).await, Ok(0), "there is nothing to lease yet");
    store.append(author.rename("first")).await.unwrap();
    for (name, epoch) in [("one", 1), ("one", 1), ("two", 2), ("two", 2), ("one", 3)] {
        assert_eq!(store.take_lease(&id, &instance(name)).await, Ok(epoch), "{name}");
    }
    assert_eq!(store.take_lease(&notebook("other"), &instance("one")).await, Ok(0));
}

pub(crate) async fn an_append_under_an_older_epoch_is_refused(store: Store) {
    let mut author = Author::new("nb");
    let id = author.notebook_id.clone();
    store.append(author.rename("before any lease")).await.unwrap();
    author.epoch = store.take_lease(&id, &instance("one")).await.unwrap();
    store.append(author.rename("one's")).await.unwrap();
    let epoch = store.take_lease(&id, &instance("two")).await.unwrap();
    let head = author.head;
    for older in [0, author.epoch] {
        let late = Append { epoch: older, ..author.rename("late") };
        assert_eq!(store.append(late.clone()).await, Err(AppendError::LeaseLost { epoch }));
        let record = &late.commands[0];
        assert_eq!(store.command(&id, &record.actor, &record.command_id).await.unwrap(), None);
        author.head = head;
    }
    assert_eq!(store.head(&id).await.unwrap(), Some(head));
    author.epoch = epoch;
    store.append(author.rename("two's")).await.unwrap();
    assert_eq!(versions(&all(&store, &id).await), [1, 2, 3]);
}

// --- commands ---

pub(crate) async fn a_command_is_found_again(store: Store) {
    let mut author = Author::new("nb");
    let append = author.rename("x");
    let record = append.commands[0].clone();
    store.append(append).await.unwrap();
    let found = store.command(&author.notebook_id, &record.actor, &record.command_id).await.unwrap();
    assert_eq!(found, Some(record.clone()));
    assert_eq!(store.command(&author.notebook_id, "user:bob", &record.command_id).await.unwrap(), None);
}

fn duplicate(append: &Append) -> Result<(), AppendError> {
    let CommandRecord { actor, command_id, .. } = append.commands[0].clone();
    Err(AppendError::DuplicateCommand { actor, command_id })
}

pub(crate) async fn a_repeated_command_is_refused_and_nothing_written(store: Store) {
    let mut author = Author::new("nb");
    let first = author.rename("first");
    store.append(first.clone()).await.unwrap();
    let mut again = author.rename("again");
    again.commands = first.commands.clone();
    assert_eq!(store.append(again).await, duplicate(&first));
    assert_eq!(versions(&all(&store, &author.notebook_id).await), [1]);
}

pub(crate) async fn a_command_twice_in_one_append_is_refused(store: Store) {
    let mut author = Author::new("nb");
    let mut append = author.rename("x");
    append.commands.push(append.commands[0].clone());
    assert_eq!(store.append(append.clone()).await, duplicate(&append));
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), None);
}

pub(crate) async fn the_same_command_id_of_another_actor_or_notebook_is_another(store: Store) {
    let mut author = Author::new("nb");
    let first = author.rename("first");
    store.append(first.clone()).await.unwrap();
    let mut second = author.rename("second");
    second.commands = vec![CommandRecord { actor: "user:bob".to_owned(), ..first.commands[0].clone() }];
    store.append(second).await.unwrap();
    store.append(Author::new("other").rename("first")).await.unwrap();
}

pub(crate) async fn a_command_that_changed_nothing_is_recorded(store: Store) {
    let mut author = Author::new("nb");
    store.append(author.rename("first")).await.unwrap();
    let nothing = author.append(&[]);
    store.append(nothing.clone()).await.unwrap();
    let record = &nothing.commands[0];
    let found = store.command(&author.notebook_id, &record.actor, &record.command_id).await.unwrap();
    assert_eq!(found.as_ref(), Some(record));
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
    assert_eq!(store.append(nothing.clone()).await, duplicate(&nothing));
    store.append(author.rename("second")).await.unwrap();
}

// --- exactness ---

/// An event that this build has no type for.
fn foreign(author: &Author, payload: &str) -> Stored {
    let envelope = Envelope {
        id: EventId::new("event").unwrap(),
        notebook_id: author.notebook_id.clone(),
        version: author.head.version + 1,
        event_type: "FromTheFuture".to_owned(),
        schema: u16::MAX,
        actor: Actor::System,
        command_id: CommandId::new("command").unwrap(),
        correlation_id: "correlation".parse().unwrap(),
        causation_id: Some("cause".parse().unwrap()),
        undoes: Some("undone".parse().unwrap()),
        recorded_at: (1 << 53) - 1,
    };
    let payload = RawJson::parse(payload).unwrap();
    Stored { envelope, payload, salt: Some(Salt([255; 16])), payload_digest: Hash([1; 32]), hash: Hash([2; 32]) }
}

fn append_of(author: &Author, stored: Stored) -> Append {
    let events = vec![NewEvent { stored, subject: Some("subject".to_owned()) }];
    Append { notebook_id: author.notebook_id.clone(), epoch: 0, expected: author.head, events, commands: Vec::new() }
}

async fn comes_back(store: &Store, name: &str, change: impl FnOnce(&mut Stored)) {
    let author = Author::new(name);
    let mut stored = foreign(&author, "{}");
    change(&mut stored);
    let expected = written(store, append_of(&author, stored)).await;
    let found = all(store, &author.notebook_id).await;
    assert_eq!(found, expected);
    assert_eq!(found[0].payload.get(), expected[0].payload.get());
}

pub(crate) async fn payloads_come_back_byte_for_byte(store: Store) {
    let payloads = [
        r#"{"z":1,"a":2,"z":3}"#,
        r#"{ "big" : 123456789012345678901234567890 , "e":1.0E+2}"#,
        r#""\u00e9 é 👩‍🔬 \ud800 \u0000 \/""#,
        "null",
        "[\n\t{} ]",
    ];
    for (index, payload) in payloads.into_iter().enumerate() {
        comes_back(&store, &format!("nb{index}"), |stored| stored.payload = RawJson::parse(payload).unwrap()).await;
    }
    let large = format!("\"{}\"", "x\\n".repeat(1 << 20));
    comes_back(&store, "large", |stored| stored.payload = RawJson::parse(&large).unwrap()).await;
}

pub(crate) async fn every_field_of_an_envelope_comes_back(store: Store) {
    comes_back(&store, "all", |_| {}).await;
    comes_back(&store, "none", |stored| {
        stored.envelope.causation_id = None;
        stored.envelope.undoes = None;
        stored.envelope.recorded_at = 0;
    })
    .await;
    comes_back(&store, "same", |stored| stored.envelope.correlation_id = "command".parse().unwrap()).await;
}

pub(crate) async fn every_kind_of_actor_comes_back(store: Store) {
    for (index, key) in ["user:u", "guest:link", "assistant:u:talk", "agent:a", "system"].into_iter().enumerate() {
        let actor = Actor::from_key(key).unwrap();
        comes_back(&store, &format!("nb{index}"), |stored| stored.envelope.actor = actor).await;
    }
}

pub(crate) async fn events_of_unknown_types_come_back(store: Store) {
    comes_back(&store, "future", |stored| stored.envelope.event_type = "Ünknown \" ' type".to_owned()).await;
}

pub(crate) async fn a_redacted_event_comes_back(store: Store) {
    comes_back(&store, "redacted", |stored| stored.salt = None).await;
}

pub(crate) async fn one_append_of_many_events(store: Store) {
    let mut author = Author::new("nb");
    let expected = written(&store, author.append(&vec![("NotebookArchived", "{}"); 1_700])).await;
    assert_eq!(all(&store, &author.notebook_id).await, expected);
}

// --- history ---

fn cells(cells: &[&str], since: Version, with_notebook: bool) -> HistoryQuery {
    HistoryQuery::Cells { cells: cells.iter().map(|id| CellId::new(id).unwrap()).collect(), since, with_notebook }
}

/// 1 a · 2 b · 3 notebook · 4 a · 5 and 6 execution e · 7 and 8 execution f · 9 b is deleted with e · 10 a
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

pub(crate) async fn history_of_cells(store: Store) {
    let author = ten(&store).await;
    assert_eq!(history(&store, &author, cells(&["a"], 0, false)).await, [1, 4, 10]);
    assert_eq!(history(&store, &author, cells(&["a"], 4, false)).await, [10]);
    assert_eq!(history(&store, &author, cells(&["a", "a"], 0, false)).await, [1, 4, 10]);
    assert_eq!(history(&store, &author, cells(&["a"], 10, false)).await, [0; 0]);
    assert_eq!(history(&store, &author, cells(&["c"], 0, false)).await, [0; 0]);
    assert_eq!(history(&store, &author, cells(&[], 0, false)).await, [0; 0]);
}

pub(crate) async fn history_of_cells_and_the_notebook(store: Store) {
    let author = ten(&store).await;
    assert_eq!(history(&store, &author, cells(&["a"], 0, true)).await, [1, 3, 4, 10]);
    assert_eq!(history(&store, &author, cells(&["a"], 3, true)).await, [4, 10]);
    assert_eq!(history(&store, &author, cells(&[], 0, true)).await, [3]);
}

pub(crate) async fn history_names_the_executions_of_deletions(store: Store) {
    let author = ten(&store).await;
    assert_eq!(history(&store, &author, cells(&["b"], 8, false)).await, [5, 6, 9]);
    assert_eq!(history(&store, &author, cells(&["a", "b"], 0, true)).await, [1, 2, 3, 4, 5, 6, 9, 10]);
}

pub(crate) async fn history_of_a_deleted_cell(store: Store) {
    let mut author = ten(&store).await;
    let deleted = |id: &str| HistoryQuery::DeletedCell { cell_id: CellId::new(id).unwrap() };
    assert_eq!(history(&store, &author, deleted("b")).await, [5, 6, 9]);
    assert_eq!(history(&store, &author, deleted("a")).await, [0; 0]);
    store.append(author.delete("b", None)).await.unwrap();
    assert_eq!(history(&store, &author, deleted("b")).await, [11]);
}

pub(crate) async fn history_of_an_execution(store: Store) {
    let author = ten(&store).await;
    let execution = |id: &str| HistoryQuery::Execution { execution_id: id.parse().unwrap() };
    assert_eq!(history(&store, &author, execution("f")).await, [7, 8]);
    assert_eq!(history(&store, &author, execution("g")).await, [0; 0]);
}

const TURN: &str = r#"{"turn_id":"t","conversation_id":"talk","message_id":"m","scopes":["read"],"is_bound":false}"#;

/// 11 to 13: a conversation, its message and its turn; 14 the turn's end; 15 a tool call.
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

/// The beginnings of its turns are the turns' own.
pub(crate) async fn history_of_a_conversation(store: Store) {
    let author = fifteen(&store).await;
    let talk = HistoryQuery::Conversation { conversation_id: "talk".parse().unwrap() };
    assert_eq!(history(&store, &author, talk).await, [11, 12]);
    let of_turn = store.events_of_subject(&author.notebook_id, &["t".to_owned()]).await.unwrap();
    assert_eq!(versions(&of_turn), [13, 14]);
}

/// The definition is the one by which the doubles of the core's and the room's tests answer.
pub(crate) async fn history_is_what_the_core_says_that_it_is(store: Store) {
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

pub(crate) async fn edits_are_no_events_of_a_subject(store: Store) {
    let author = ten(&store).await;
    let of = |subjects: &[&str]| subjects.iter().map(ToString::to_string).collect::<Vec<_>>();
    for (subjects, expected) in [(&["a"][..], vec![]), (&["b"], vec![9]), (&["b", "f", "b"], vec![7, 8, 9])] {
        let found = store.events_of_subject(&author.notebook_id, &of(subjects)).await.unwrap();
        assert_eq!(versions(&found), expected, "{subjects:?}");
    }
    let selection = Selection { subjects: of(&["b"]), since: 1, with_notebook: true };
    let scanned = store.scan_by_subject(&author.notebook_id, &selection).await.unwrap();
    assert_eq!(versions(&scanned), [2, 3, 9]);
}

pub(crate) async fn events_of_a_type_are_listed(store: Store) {
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

pub(crate) async fn history_has_a_limit(store: Store) {
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

// --- snapshots ---

fn snapshot(version: Version) -> Snapshot {
    let head = Head { version, hash: Hash([3; 32]), recorded_at: 5 };
    Snapshot::compress(1, head, format!("state at {version}").as_bytes()).unwrap()
}

pub(crate) async fn the_latest_snapshot_at_most(store: Store) {
    let author = five(&store).await;
    for version in [2, 4, 1] {
        store.put_snapshot(&author.notebook_id, snapshot(version)).await.unwrap();
    }
    for (at_most, expected) in [(None, Some(4)), (Some(3), Some(2)), (Some(4), Some(4)), (Some(0), None)] {
        let found = store.snapshot(&author.notebook_id, at_most).await.unwrap();
        assert_eq!(found, expected.map(snapshot), "{at_most:?}");
    }
    let found = store.snapshot(&author.notebook_id, None).await.unwrap().unwrap();
    assert_eq!(found.decompress(100).unwrap(), b"state at 4");
    assert!(matches!(found.decompress(3), Err(StoreError::Invalid { .. })));
}

pub(crate) async fn a_snapshot_needs_its_notebook(store: Store) {
    let refused = store.put_snapshot(&notebook("nobody"), snapshot(1)).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })));
}

pub(crate) async fn snapshots_are_disposable(store: Store) {
    let author = five(&store).await;
    store.put_snapshot(&author.notebook_id, snapshot(2)).await.unwrap();
    let replaced = Snapshot { format: 9, ..snapshot(2) };
    store.put_snapshot(&author.notebook_id, replaced.clone()).await.unwrap();
    assert_eq!(store.snapshot(&author.notebook_id, None).await.unwrap(), Some(replaced));
    store.delete_snapshots(&author.notebook_id).await.unwrap();
    assert_eq!(store.snapshot(&author.notebook_id, None).await.unwrap(), None);
    assert_eq!(versions(&all(&store, &author.notebook_id).await), [1, 2, 3, 4, 5]);
}

pub(crate) async fn snapshots_are_thinned_out(store: Store) {
    let author = five(&store).await;
    for version in 1..=40 {
        store.put_snapshot(&author.notebook_id, snapshot(version)).await.unwrap();
    }
    let (mut kept, mut at_most) = (Vec::new(), None);
    while let Some(found) = store.snapshot(&author.notebook_id, at_most).await.unwrap() {
        kept.push(found.version);
        at_most = Some(found.version - 1);
    }
    assert_eq!(kept[0], 40);
    assert!((4..=10).contains(&kept.len()), "{kept:?}");
}

// --- many ---

pub(crate) async fn notebooks_are_listed_in_order(store: Store) {
    let mut heads = Vec::new();
    for name in ["b", "c", "a"] {
        let mut author = Author::new(name);
        store.append(author.rename("x")).await.unwrap();
        heads.push((author.notebook_id, author.head));
    }
    heads.sort_by(|left, right| left.0.cmp(&right.0));
    assert_eq!(store.notebooks(None, 0).await.unwrap(), heads);
    assert_eq!(store.notebooks(Some(&notebook("a")), 1).await.unwrap(), heads[1..2]);
    assert_eq!(store.notebooks(Some(&notebook("c")), 1).await.unwrap(), []);
}

pub(crate) async fn of_concurrent_appenders_one_wins(store: Store) {
    let mut author = Author::new("nb");
    store.append(author.rename("before")).await.unwrap();
    for _ in 0..10 {
        let before = author.head;
        let mut racers = Vec::new();
        for racer in 0..8 {
            let mut append = Author { head: before, context: author.context.clone(), ..Author::new("nb") }.rename("x");
            append.commands[0].command_id = CommandId::new(format!("{}-{racer}", before.version)).unwrap();
            let (store, head) = (store.clone(), append.head());
            racers.push(tokio::spawn(async move { (head, store.append(append).await) }));
        }
        let mut winners = Vec::new();
        for racer in racers {
            match racer.await.unwrap() {
                (head, Ok(())) => winners.push(head),
                (_, Err(error)) => assert!(matches!(error, AppendError::VersionConflict { actual: Some(_) })),
            }
        }
        assert_eq!(winners.len(), 1);
        author.head = winners[0];
        assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
    }
    let expected: Vec<Version> = (1..=11).collect();
    assert_eq!(versions(&all(&store, &author.notebook_id).await), expected);
}

pub(crate) async fn many_notebooks_at_once(store: Store) {
    let mut writers = Vec::new();
    for writer in 0..40 {
        let store = store.clone();
        writers.push(tokio::spawn(async move {
            let mut author = Author::new(&format!("nb{writer}"));
            let mut expected = Vec::new();
            for _ in 0..25 {
                expected.extend(written(&store, author.edit("a")).await);
            }
            (author, expected)
        }));
    }
    for writer in writers {
        let (author, expected) = writer.await.unwrap();
        assert_eq!(all(&store, &author.notebook_id).await, expected);
        assert_eq!(verify_chain(Head::START, &expected), Ok(author.head));
    }
}

pub(crate) async fn a_pipelined_append_follows_the_one_before(store: Store) {
    let mut author = Author::new("nb");
    let appends: Vec<Append> = (0..50).map(|_| author.edit("a")).collect();
    // Polled in this order, so that they are queued in it, before the first is answered.
    let results = futures_util::future::join_all(appends.into_iter().map(|append| store.append(append))).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
}

pub(crate) async fn the_guilty_alone_fails(store: Store) {
    let mut authors: Vec<Author> = (0..20).map(|index| Author::new(&format!("nb{index}"))).collect();
    for author in &mut authors {
        store.append(author.rename("before")).await.unwrap();
    }
    let mut appends: Vec<Append> = authors.iter_mut().map(|author| author.rename("after")).collect();
    appends[3].commands[0].command_id = CommandId::new("c1").unwrap();
    appends[7].expected.hash = Hash::ZERO;
    let follower = authors[3].rename("follows the duplicate");
    appends.push(follower);
    let results = futures_util::future::join_all(appends.into_iter().map(|append| store.append(append))).await;
    for (index, result) in results.into_iter().enumerate() {
        match index {
            3 => assert!(matches!(result, Err(AppendError::DuplicateCommand { .. })), "{result:?}"),
            7 | 20 => assert!(matches!(result, Err(AppendError::VersionConflict { .. })), "{index} {result:?}"),
            _ => assert_eq!(result, Ok(()), "{index}"),
        }
    }
    for (index, author) in authors.iter().enumerate() {
        let expected: &[Version] = if [3, 7].contains(&index) { &[1] } else { &[1, 2] };
        assert_eq!(versions(&all(&store, &author.notebook_id).await), expected, "{index}");
    }
}

// --- catalog ---

fn entry(name: &str, version: Version, updated_at: u64) -> CatalogEntry {
    CatalogEntry {
        notebook_id: notebook(name),
        version,
        title: format!("Title of {name}"),
        archived: false,
        created_at: 1,
        updated_at,
        access: vec![("user:ann".to_owned(), "owner".to_owned())],
        cells: 3,
        has_work: false,
        search_text: String::new(),
    }
}

async fn listed(store: &Store, entries: Vec<CatalogEntry>) {
    for entry in entries {
        store.append(Author::new(entry.notebook_id.as_str()).rename("x")).await.unwrap();
        store.put_catalog(entry).await.unwrap();
    }
}

async fn names(store: &Store, query: CatalogQuery) -> Vec<String> {
    let page = store.catalog(query).await.unwrap();
    page.entries.iter().map(|entry| entry.notebook_id.to_string()).collect()
}

pub(crate) async fn the_catalog_lists_the_latest_first(store: Store) {
    listed(&store, vec![entry("a", 1, 10), entry("b", 1, 30), entry("c", 1, 20), entry("d", 1, 20)]).await;
    assert_eq!(names(&store, CatalogQuery::default()).await, ["b", "c", "d", "a"]);
    let page = store.catalog(CatalogQuery { limit: 1, ..CatalogQuery::default() }).await.unwrap();
    assert_eq!(page.entries, [entry("b", 1, 30)]);
    let refused = store.put_catalog(entry("nobody", 1, 1)).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })));
}

pub(crate) async fn the_catalog_pages(store: Store) {
    listed(&store, ["e", "d", "c", "b", "a"].map(|name| entry(name, 1, 20)).to_vec()).await;
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = store.catalog(CatalogQuery { after, limit: 2, ..CatalogQuery::default() }).await.unwrap();
        found.push(page.entries.iter().map(|entry| entry.notebook_id.to_string()).collect::<String>());
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, ["ab", "cd", "e"]);
}

pub(crate) async fn the_catalog_filters(store: Store) {
    let shared = vec![("user:ann".to_owned(), "owner".to_owned()), ("user:bob".to_owned(), "viewer".to_owned())];
    listed(
        &store,
        vec![
            entry("a", 1, 3),
            CatalogEntry { archived: true, has_work: true, ..entry("b", 1, 2) },
            CatalogEntry { access: shared, ..entry("c", 1, 1) },
        ],
    )
    .await;
    let all = CatalogQuery::default();
    let of = |subjects: &[&str]| Some(subjects.iter().map(|subject| (*subject).to_owned()).collect());
    assert_eq!(names(&store, CatalogQuery { archived: Some(true), ..all.clone() }).await, ["b"]);
    assert_eq!(names(&store, CatalogQuery { archived: Some(false), ..all.clone() }).await, ["a", "c"]);
    assert_eq!(names(&store, CatalogQuery { has_work: Some(true), ..all.clone() }).await, ["b"]);
    assert_eq!(names(&store, CatalogQuery { has_work: Some(false), ..all.clone() }).await, ["a", "c"]);
    assert!(store.catalog(CatalogQuery { archived: Some(true), ..all.clone() }).await.unwrap().entries[0].has_work);
    assert_eq!(names(&store, CatalogQuery { subjects: of(&["user:bob"]), ..all.clone() }).await, ["c"]);
    let both = of(&["user:bob", "user:ann"]);
    assert_eq!(names(&store, CatalogQuery { subjects: both, ..all.clone() }).await, ["a", "b", "c"]);
    assert_eq!(names(&store, CatalogQuery { subjects: of(&[]), ..all.clone() }).await, [""; 0]);
    // Access that was taken away no longer lists.
    store.put_catalog(entry("c", 2, 1)).await.unwrap();
    assert_eq!(names(&store, CatalogQuery { subjects: of(&["user:bob"]), ..all }).await, [""; 0]);
}

pub(crate) async fn the_catalog_finds_words(store: Store) {
    let with = |name: &str, text: &str| CatalogEntry { search_text: text.to_owned(), ..entry(name, 1, 1) };
    listed(&store, vec![with("a", "import pandas as pd"), with("b", "Élan vital; plot_2d(x)")]).await;
    let find = async |text: &str| {
        names(&store, CatalogQuery { text: Some(text.to_owned()), ..CatalogQuery::default() }).await.concat()
    };
    assert_eq!(find("PANDAS").await, "a");
    assert_eq!(find("pan imp").await, "a");
    assert_eq!(find("élan").await, "b");
    assert_eq!(find("plot").await, "b");
    assert_eq!(find("andas").await, "");
    assert_eq!(find("pandas plot").await, "");
    assert_eq!(find("\" OR * NEAR( -- '").await, "");
    assert_eq!(find(" -*\"' ").await, "ab");
    store.put_catalog(CatalogEntry { version: 2, ..with("a", "polars") }).await.unwrap();
    assert_eq!(find("pandas").await, "");
    assert_eq!(find("polars").await, "a");
}

pub(crate) async fn the_catalog_never_goes_back(store: Store) {
    listed(&store, vec![entry("a", 5, 50)]).await;
    store.put_catalog(CatalogEntry { title: "old".to_owned(), ..entry("a", 4, 99) }).await.unwrap();
    assert_eq!(store.catalog(CatalogQuery::default()).await.unwrap().entries, [entry("a", 5, 50)]);
    store.put_catalog(CatalogEntry { title: "same".to_owned(), ..entry("a", 5, 50) }).await.unwrap();
    assert_eq!(store.catalog(CatalogQuery::default()).await.unwrap().entries[0].title, "same");
}

pub(crate) async fn the_catalog_says_what_lags(store: Store) {
    let mut author = Author::new("a");
    store.append(author.rename("x")).await.unwrap();
    store.append(Author::new("b").rename("x")).await.unwrap();
    store.put_catalog(entry("a", 1, 1)).await.unwrap();
    assert_eq!(store.catalog_lag(0).await.unwrap(), [notebook("b")]);
    store.append(author.rename("y")).await.unwrap();
    assert_eq!(store.catalog_lag(0).await.unwrap(), [notebook("a"), notebook("b")]);
    assert_eq!(store.catalog_lag(1).await.unwrap(), [notebook("a")]);
}

// --- blobs ---

fn blob(name: &str, hash: u8) -> BlobRecord {
    BlobRecord {
        notebook_id: notebook(name),
        sha256: Hash([hash; 32]),
        size_bytes: 9,
        media_type: Some("image/png".to_owned()),
        uploaded_by: "agent:a".to_owned(),
        created_at: 7,
    }
}

pub(crate) async fn blobs_are_recorded_once(store: Store) {
    store.append(Author::new("a").rename("x")).await.unwrap();
    store.put_blob_record(blob("a", 1)).await.unwrap();
    store.put_blob_record(BlobRecord { uploaded_by: "user:bob".to_owned(), ..blob("a", 1) }).await.unwrap();
    assert_eq!(store.blob_record(&notebook("a"), &Hash([1; 32])).await.unwrap(), Some(blob("a", 1)));
    assert_eq!(store.blob_record(&notebook("b"), &Hash([1; 32])).await.unwrap(), None);
    assert!(matches!(store.put_blob_record(blob("b", 1)).await, Err(StoreError::Invalid { .. })));
}

pub(crate) async fn blobs_are_listed_and_forgotten(store: Store) {
    store.append(Author::new("a").rename("x")).await.unwrap();
    for hash in [2, 0, 255] {
        store.put_blob_record(blob("a", hash)).await.unwrap();
    }
    let id = notebook("a");
    assert_eq!(store.blob_records(&id, None, 0).await.unwrap(), [blob("a", 0), blob("a", 2), blob("a", 255)]);
    assert_eq!(store.blob_records(&id, Some(&Hash([0; 32])), 1).await.unwrap(), [blob("a", 2)]);
    store.delete_blob_record(&id, &Hash([2; 32])).await.unwrap();
    assert_eq!(store.blob_records(&id, None, 0).await.unwrap(), [blob("a", 0), blob("a", 255)]);
}
