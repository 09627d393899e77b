//! Contract tests of appends, reads, leases and commands.

use super::*;

pub async fn what_was_appended_is_read_in_order(store: Store) {
    let mut author = Author::new("nb");
    let mut expected = written(&store, author.rename("one")).await;
    expected.extend(written(&store, author.execute("e")).await);
    assert_eq!(all(&store, &author.notebook_id).await, expected);
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
    assert_eq!(verify_chain(Head::START, &expected), Ok(author.head));
}

pub async fn five(store: &Store) -> Author {
    let mut author = Author::new("nb");
    for title in ["1", "2", "3", "4", "5"] {
        store.append(author.rename(title)).await.unwrap();
    }
    author
}

pub async fn pages_end_where_asked(store: Store) {
    let author = five(&store).await;
    for (after, limit, expected) in
        [(0, 2, vec![1, 2]), (2, 2, vec![3, 4]), (4, 9, vec![5]), (5, 9, vec![]), (9, 9, vec![]), (0, 0, vec![])]
    {
        let found = store.read(&author.notebook_id, after, limit).await.unwrap();
        assert_eq!(versions(&found), expected, "{limit} after {after}");
    }
}

pub async fn a_stale_head_is_refused_and_nothing_written(store: Store) {
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

pub fn renumbered(mut append: Append, after: Version) -> Append {
    for (event, version) in append.events.iter_mut().zip(after + 1..) {
        event.stored.envelope.version = version;
    }
    append
}

pub async fn another_hash_at_the_same_version_is_refused(store: Store) {
    let mut author = Author::new("nb");
    store.append(author.rename("first")).await.unwrap();
    let mut append = author.rename("second");
    append.expected.hash = Hash([9; 32]);
    assert!(matches!(store.append(append).await, Err(AppendError::VersionConflict { actual: Some(_) })));
}

pub async fn a_gap_is_refused(store: Store) {
    let mut author = Author::new("nb");
    let mut append = author.append(&[("NotebookArchived", "{}"), ("NotebookUnarchived", "{}")]);
    append.events[1].stored.envelope.version = 3;
    assert!(matches!(store.append(append).await, Err(AppendError::Store(StoreError::Invalid { .. }))));
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), None);
}

pub async fn a_strangers_event_is_refused(store: Store) {
    let append = Append { notebook_id: notebook("other"), ..Author::new("nb").rename("x") };
    assert!(matches!(store.append(append).await, Err(AppendError::Store(StoreError::Invalid { .. }))));
}

pub async fn a_notebook_begins_once(store: Store) {
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

pub async fn an_unknown_notebook_is_empty(store: Store) {
    let id = notebook("nobody");
    assert_eq!(store.head(&id).await.unwrap(), None);
    assert_eq!(all(&store, &id).await, []);
    assert_eq!(store.snapshot(&id, None).await.unwrap(), None);
    assert_eq!(store.command(&id, "system", &CommandId::new("c").unwrap()).await.unwrap(), None);
    assert_eq!(store.blob_record(&id, &Hash::ZERO).await.unwrap(), None);
    let query = HistoryQuery::Cells { cells: vec![CellId::new("a").unwrap()], since: 0, with_notebook: true };
    assert_eq!(store.history(&id, &query).await.unwrap(), Past::default());
    store.delete_snapshot(&id, 1).await.unwrap();
}

// --- leases ---

pub fn instance(name: &str) -> InstanceId {
    name.parse().unwrap()
}

pub async fn a_lease_is_taken_from_the_one_before(store: Store) {
    let mut author = Author::new("nb");
    let id = author.notebook_id.clone();
    assert_eq!(store.take_lease(&id, &instance("one")).await, Ok(0), "there is nothing to lease yet");
    store.append(author.rename("first")).await.unwrap();
    for (name, epoch) in [("one", 1), ("one", 1), ("two", 2), ("two", 2), ("one", 3)] {
        assert_eq!(store.take_lease(&id, &instance(name)).await, Ok(epoch), "{name}");
    }
    assert_eq!(store.take_lease(&notebook("other"), &instance("one")).await, Ok(0));
}

pub async fn an_append_under_an_older_epoch_is_refused(store: Store) {
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

pub async fn a_command_is_found_again(store: Store) {
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

pub async fn a_repeated_command_is_refused_and_nothing_written(store: Store) {
    let mut author = Author::new("nb");
    let first = author.rename("first");
    store.append(first.clone()).await.unwrap();
    let mut again = author.rename("again");
    again.commands = first.commands.clone();
    assert_eq!(store.append(again).await, duplicate(&first));
    assert_eq!(versions(&all(&store, &author.notebook_id).await), [1]);
}

pub async fn a_command_twice_in_one_append_is_refused(store: Store) {
    let mut author = Author::new("nb");
    let mut append = author.rename("x");
    append.commands.push(append.commands[0].clone());
    assert_eq!(store.append(append.clone()).await, duplicate(&append));
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), None);
}

pub async fn the_same_command_id_of_another_actor_or_notebook_is_another(store: Store) {
    let mut author = Author::new("nb");
    let first = author.rename("first");
    store.append(first.clone()).await.unwrap();
    let mut second = author.rename("second");
    second.commands = vec![CommandRecord { actor: "user:bob".to_owned(), ..first.commands[0].clone() }];
    store.append(second).await.unwrap();
    store.append(Author::new("other").rename("first")).await.unwrap();
}

pub async fn a_command_that_changed_nothing_is_recorded(store: Store) {
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

pub async fn commands_are_found_together_and_counted(store: Store) {
    let author = five(&store).await;
    let mut other = Author::new("other");
    store.append(other.rename("other")).await.unwrap();
    let wanted = |ids: &[&str], actor: &str| -> Vec<(String, CommandId)> {
        ids.iter().map(|id| (actor.to_owned(), CommandId::new(*id).unwrap())).collect()
    };
    let mut found = store.commands(&author.notebook_id, &wanted(&["c4", "c1", "none"], "user:ann")).await.unwrap();
    found.sort_by_key(|record| record.version);
    for (record, id) in found.iter().zip(["c1", "c4"]) {
        let one = store.command(&author.notebook_id, "user:ann", &CommandId::new(id).unwrap()).await.unwrap();
        assert_eq!(Some(record), one.as_ref());
    }
    assert_eq!(found.iter().map(|record| record.version).collect::<Vec<_>>(), [1, 4]);
    assert_eq!(store.commands(&author.notebook_id, &wanted(&["c1"], "user:bob")).await.unwrap(), []);
    assert_eq!(store.commands(&notebook("nobody"), &wanted(&["c1"], "user:ann")).await.unwrap(), []);
    for (id, at_most, count) in [("nb", Version::MAX >> 11, 5), ("nb", 3, 3), ("other", 9, 1), ("nobody", 9, 0)] {
        assert_eq!(store.count_commands(&notebook(id), at_most).await.unwrap(), count, "{id} {at_most}");
    }
}
