//! Cases of transfers between SQLite and PostgreSQL.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use notarium_core::UserId;
use notarium_store::accounts::{AccountChange, AccountStore, NoticeQuery, NoticeStore};
use notarium_store::spending::*;
use notarium_store::{BlobLocation, StorePlace, TransferError, copy_store, move_store};

use super::*;

/// Fills a folder: notebooks of many events, one erased, one with removed content, a command that changed nothing, accounts, blobs.
async fn fill(folder: &Path) {
    let store = Arc::new(Sqlite::open(folder).await.unwrap());
    let as_store: Store = store.clone();
    for index in 0..5 {
        let mut author = Author::new(&format!("nb{index}"));
        for turn in 0..(1 + index * 400) {
            let append = if turn % 3 == 0 { author.rename("é\u{1F600}") } else { author.edit("a") };
            store.append(append).await.unwrap();
        }
        store.append(author.append(&[])).await.unwrap();
        store.take_lease(&author.notebook_id, &instance("one")).await.unwrap();
    }
    erased(&as_store).await;
    let mut author = Author::new("redacted");
    store.append(author.rename("secret")).await.unwrap();
    let stand_in =
        StandIn { version: 1, payload: RawJson::parse(r#"{"title":"······","previous":"before"}"#).unwrap() };
    let removal = ContentRemoval { stand_ins: vec![stand_in], ..ContentRemoval::default() };
    store.append(Append { removal, ..author.rename("after") }).await.unwrap();
    create_user(&*store, "ann").await.unwrap();
    create_user(&*store, "bob").await.unwrap();
    fill_notices(&store).await;
    let record = BlobRecord {
        notebook_id: notebook("nb1"),
        sha256: Hash([7; 32]),
        size_bytes: 9,
        media_type: Some("image/png".to_owned()),
        uploaded_by: "user:ann".to_owned(),
        created_at: 5,
    };
    store.put_blob_record(record).await.unwrap();
    store.reserve(&reserved_call("nb1", 1), &[], 0).await.unwrap();
    store.reserve(&reserved_call("nb1", 2), &[], 0).await.unwrap();
    store.settle(&reserved_call("nb1", 1), settled(3, 4)).await.unwrap();
    let cap = Cap {
        key: CapKey {
            spender: Spender::Server,
            period: CapPeriod::Day,
            unit: CapUnit::Money("USD".to_owned()),
            by_owner: false,
        },
        amount: 7,
        set_by: "user:ann".to_owned(),
        set_at: 8,
    };
    change_accounts(&*store, AccountChange::SetCap(cap)).await.unwrap();
    drop(as_store);
    Arc::into_inner(store).unwrap().close().await;
}

/// Everything of a store that a transfer takes along.
async fn content(store: &(impl EventStore + SpendingStore + NoticeStore + AccountStore)) -> Vec<String> {
    let mut found = Vec::new();
    for (id, head) in store.notebooks(None, 0).await.unwrap() {
        let mut after = 0;
        found.push(format!("{id} {head:?}"));
        while after < head.version {
            let page = store.read(&id, after, 10_000).await.unwrap();
            after = page.last().unwrap().envelope.version;
            for stored in page {
                let (actor, command) = (stored.envelope.actor.key(), stored.envelope.command_id.clone());
                found.push(format!("{:?}", store.command(&id, &actor, &command).await.unwrap()));
                found.push(format!("{stored:?}"));
            }
        }
        found.push(format!("{:?}", store.count_commands(&id, Version::MAX >> 11).await.unwrap()));
        found.push(format!("{:?}", versions(&store.read_subject(&id, "a", 0, 9).await.unwrap())));
        found.push(format!("{:?}", store.blob_records(&id, None, 0).await.unwrap()));
    }
    found.push(format!("{:?}", store.users(None, 10).await.unwrap()));
    found.push(format!("{:?}", store.audit(None, 10).await.unwrap()));
    found.push(format!("{:?}", store.reserved(None).await.unwrap()));
    found.push(format!("{:?}", store.spending(SpendingColumn::Model, &SpendingQuery::default()).await.unwrap()));
    found.push(format!("{:?}", store.caps().await.unwrap()));
    let ann = UserId::new("ann").unwrap();
    found.push(format!("{:?}", store.notices(&ann, &NoticeQuery::default()).await.unwrap()));
    found.push(format!("{:?}", store.due_deliveries(1 << 40, &[], 10).await.unwrap()));
    found.push(format!("{:?} {:?}", store.webhooks(&ann).await.unwrap(), store.notice_person(&ann).await.unwrap()));
    found.push(format!("{:?}", store.notice_choices(&ann).await.unwrap()));
    found.push(format!("{:?}", store.notice_position(&notebook("n")).await.unwrap()));
    found
}

async fn content_of(place: &StorePlace) -> Vec<String> {
    match place {
        StorePlace::Folder(folder) => content(&Sqlite::open(folder).await.unwrap()).await,
        StorePlace::Postgres(url) => content(&Postgres::open(url, None).await.unwrap()).await,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_goes_to_postgresql_and_back() {
    let Some(url) = postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let [from, to, back] = [
        StorePlace::Folder(folder.path().join("from")),
        StorePlace::parse(&url),
        StorePlace::Folder(folder.path().join("back")),
    ];
    fill(&folder.path().join("from")).await;
    let moved = move_store(&from, &to, None, &|_| {}).await.unwrap();
    assert_eq!((moved.notebooks, moved.events), (8, 1 + 401 + 801 + 1_201 + 1_601 + 2 + 1 + 1), "{moved:?}");
    let expected = content_of(&from).await;
    assert_eq!(content_of(&to).await, expected);
    assert_eq!(move_store(&from, &to, None, &|_| {}).await.unwrap().events, moved.events, "again changes nothing");
    move_store(&to, &back, None, &|_| {}).await.unwrap();
    assert_eq!(content_of(&back).await, expected);
    let mut author = Author::new("another");
    let store = Sqlite::open(folder.path().join("back")).await.unwrap();
    store.append(author.rename("of nobody else")).await.unwrap();
    store.close().await;
    let refused = move_store(&from, &back, None, &|_| {}).await;
    assert!(
        matches!(&refused, Err(TransferError::NotEmpty { notebook }) if *notebook == author.notebook_id),
        "{refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_a_server_has_used_is_refused_before_anything_is_copied() {
    let Some(url) = postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    fill(&folder.path().join("from")).await;
    let used = Postgres::open(&url, None).await.unwrap();
    create_user(&used, "of-another-server").await.unwrap();
    used.close().await;
    let from = StorePlace::Folder(folder.path().join("from"));
    let steps = AtomicU64::new(0);
    let count = |_| {
        steps.fetch_add(1, Ordering::SeqCst);
    };
    let refused = move_store(&from, &StorePlace::parse(&url), None, &count).await;
    assert!(matches!(&refused, Err(TransferError::Used { table: "users" })), "{refused:?}");
    assert_eq!(steps.load(Ordering::SeqCst), 0);
    // Its server opens it as before.
    Postgres::open(&url, None).await.unwrap().close().await;

    let folder = folder.path().join("used");
    let used = Sqlite::open(&folder).await.unwrap();
    let busy = move_store(&from, &StorePlace::Folder(folder.clone()), None, &count).await;
    assert!(matches!(busy, Err(TransferError::Store(StoreError::Locked { .. }))), "{busy:?}");
    create_user(&used, "of-another-server").await.unwrap();
    used.close().await;
    let refused = move_store(&from, &StorePlace::Folder(folder.clone()), None, &count).await;
    assert!(matches!(&refused, Err(TransferError::Used { table: "users" })), "{refused:?}");
    Sqlite::open(&folder).await.unwrap().close().await;
}

/// Breaks a move off at its every step in turn, then lets it end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_that_broke_off_goes_on() {
    let Some(url) = postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = [StorePlace::Folder(folder.path().join("from")), StorePlace::parse(&url)];
    fill(&folder.path().join("from")).await;
    let mut begun = 0;
    for allowed in [1, 3, 6, 9, 12, 28] {
        let (steps, reached) = (AtomicU64::new(0), tokio::sync::Notify::new());
        let progress = |_| {
            if steps.fetch_add(1, Ordering::SeqCst) == allowed {
                reached.notify_one();
            }
        };
        tokio::select! {
            biased;
            () = reached.notified() => begun += 1,
            moved = move_store(&from, &to, None, &progress) => drop(moved),
        }
        if let Err(refused) = Postgres::open(&url, None).await.map(drop) {
            assert!(matches!(refused, StoreError::HalfMoved { .. }), "{refused:?}");
        }
    }
    assert!(begun >= 4, "{begun} moves were broken off");
    while let Err(error) = move_store(&from, &to, None, &|_| {}).await {
        // The folder's lock is let go of when the aborted writer has ended.
        assert!(matches!(error, TransferError::Store(StoreError::Locked { .. })), "{error:?}");
        tokio::task::yield_now().await;
    }
    assert_eq!(content_of(&to).await, content_of(&from).await);
}

/// Calls that are reserved before a copy begins, and settled while it is made.
const CALLS: u32 = 700;

/// Writes as servers do, until it is told to stop: settles calls in turns, adds a person, and makes a notebook with a blob.
async fn keep_writing(store: &Postgres, stop: &AtomicU64) -> u64 {
    let mut round = 0;
    while stop.load(Ordering::SeqCst) == 0 && round < u64::from(CALLS) - 100 {
        round += 1;
        let number = u32::try_from(round).unwrap();
        // The newest first: a page by number of rows would leave some out.
        store.settle(&reserved_call("nb1", CALLS - number), settled(3, 4)).await.unwrap();
        store.reserve(&reserved_call("nb1", CALLS + number), &[], 0).await.unwrap();
        create_user(store, &format!("person{round}")).await.unwrap();
        let mut author = Author::new(&format!("new{round}"));
        store.append(author.rename("new")).await.unwrap();
        let record = BlobRecord {
            notebook_id: author.notebook_id,
            sha256: Hash([8; 32]),
            size_bytes: 9,
            media_type: None,
            uploaded_by: "user:ann".to_owned(),
            created_at: 5,
        };
        store.put_blob_record(record).await.unwrap();
    }
    round
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_beside_servers_that_write_is_of_one_moment() {
    let Some(url) = postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let from = StorePlace::Folder(folder.path().join("from"));
    fill(&folder.path().join("from")).await;
    move_store(&from, &StorePlace::parse(&url), None, &|_| {}).await.unwrap();
    let store = Postgres::open(&url, None).await.unwrap();
    for number in 3..=CALLS {
        store.reserve(&reserved_call("nb1", number), &[], 0).await.unwrap();
    }
    let (stop, before) = (AtomicU64::new(0), 8);
    let audited = store.audit(None, 10_000).await.unwrap().len() as u64;
    let blobs = BlobLocation::Folder(folder.path().join("blobs"));
    let copies = async {
        let mut copies = Vec::new();
        for index in 0..3 {
            let copy = folder.path().join(format!("copy{index}"));
            copy_store(&url, &copy, &blobs, &|_| {}).await.unwrap();
            copies.push(copy);
        }
        stop.store(1, Ordering::SeqCst);
        copies
    };
    let (rounds, copies) = tokio::join!(keep_writing(&store, &stop), copies);
    store.close().await;
    assert!(rounds > 3, "only {rounds} rounds were written beside {} copies", copies.len());
    let mut seen = 0;
    for copy in copies {
        let store = Sqlite::open(&copy).await.unwrap();
        // Of each round: whether its call, its person, its notebook and its blob are there. Later steps are never there without earlier ones.
        let calls = store.reserved(None).await.unwrap();
        let newest = calls.iter().map(|call| call.key.number).max().unwrap();
        let reserved = u64::from(newest.saturating_sub(CALLS));
        let spent = store.spending(SpendingColumn::Model, &SpendingQuery::default()).await.unwrap();
        let settled: u64 = spent.iter().map(|spent| spent.calls).sum::<u64>() - 1;
        assert!(settled == reserved || settled == reserved + 1, "{settled} settled, {reserved} reserved anew");
        assert_eq!(calls.len() as u64 + settled, u64::from(CALLS) - 1 + reserved, "no call is left out");
        let people = store.users(None, 10_000).await.unwrap().len() as u64 - 2;
        assert!(reserved == people || reserved == people + 1, "{reserved} reserved anew, {people} people");
        assert_eq!(store.audit(None, 10_000).await.unwrap().len() as u64, people + audited, "no line is left out");
        let notebooks = store.notebooks(None, 1_000).await.unwrap();
        let made = notebooks.len() as u64 - before;
        assert!(people == made || people == made + 1, "{people} people, {made} notebooks");
        let mut with_blob = 0;
        for (notebook, _) in notebooks.iter().filter(|(notebook, _)| notebook.as_str().starts_with("new")) {
            with_blob += store.blob_records(notebook, None, 0).await.unwrap().len() as u64;
        }
        assert!(made == with_blob || made == with_blob + 1, "{made} notebooks, {with_blob} blobs");
        assert!(seen <= reserved);
        seen = reserved;
        store.close().await;
    }
    assert!(seen > 0, "no copy has anything of what was written beside it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_notebook_that_is_erased_while_it_is_copied_is_named() {
    let Some(url) = postgres::new_database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let store: Store = Arc::new(Postgres::open(&url, None).await.unwrap());
    let (author, _) = to_erase(&store).await;
    let blobs = BlobLocation::Folder(folder.path().join("blobs"));
    let copied = copy_store(&url, &folder.path().join("copy"), &blobs, &|_| {}).await;
    assert!(
        matches!(&copied, Err(TransferError::BeingErased { notebook }) if *notebook == author.notebook_id),
        "{copied:?}"
    );
    assert!(store.erase(&author.notebook_id).await.unwrap());
    let copied = copy_store(&url, &folder.path().join("after"), &blobs, &|_| {}).await.unwrap();
    assert_eq!((copied.notebooks, copied.events), (2, 2));
}
