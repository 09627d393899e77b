//! Cases of statements that fail, and of connections that break.

use notarium_store::accounts::{AccountError, AccountStore};

use super::faulty::{Fault, Kind, Proxy, growing_distances};
use super::*;

/// Opens a store behind a proxy.
async fn proxied() -> Option<(Arc<Postgres>, Proxy)> {
    let proxy = Proxy::start(&postgres::migrated_database().await?);
    let store = Arc::new(Postgres::open(&proxy.url, None).await.unwrap());
    Some((store, proxy))
}

async fn open() -> Option<(Store, Proxy)> {
    let (store, proxy) = proxied().await?;
    proxy.follow(growing_distances());
    Some((store, proxy))
}

contract_suite!(open);

async fn open_accounts() -> Option<(Accounts, Proxy)> {
    let (store, proxy) = proxied().await?;
    proxy.follow(growing_distances());
    Some((store, proxy))
}

account_contract_suite!(open_accounts);

async fn open_notices() -> Option<(NoticesStore, Proxy)> {
    let (store, proxy) = proxied().await?;
    proxy.follow(growing_distances());
    Some((store, proxy))
}

notice_contract_suite!(open_notices);

/// One fault for the next statement of this kind.
fn once(kind: Kind, fault: Fault) -> faulty::Plan {
    let mut is_due = true;
    Box::new(move |found| (found == kind && std::mem::take(&mut is_due)).then_some(fault))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_whose_answer_is_lost_is_unknown_and_there() {
    let Some((store, proxy)) = proxied().await else { return };
    let mut author = Author::new("nb");
    store.append(author.rename("first")).await.unwrap();
    let append = author.rename("second");
    proxy.follow(once(Kind::Append, Fault::CutAnswer));
    let unknown = store.append(append.clone()).await;
    assert!(matches!(unknown, Err(AppendError::Store(StoreError::Unknown { .. }))), "{unknown:?}");
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
    let again = store.append(append).await;
    assert_eq!(again, Err(AppendError::VersionConflict { actual: Some(author.head) }));
    store.append(author.rename("third")).await.unwrap();
    assert_eq!(proxy.injected(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_whose_connection_breaks_before_it_is_unknown_and_not_there() {
    let Some((store, proxy)) = proxied().await else { return };
    let mut author = Author::new("nb");
    store.append(author.rename("first")).await.unwrap();
    let before = author.head;
    let append = author.rename("second");
    proxy.follow(once(Kind::Append, Fault::Cut));
    let unknown = store.append(append.clone()).await;
    assert!(matches!(unknown, Err(AppendError::Store(StoreError::Unknown { .. }))), "{unknown:?}");
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(before));
    store.append(append).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_accounts_whose_commit_is_lost_is_unknown() {
    let Some((store, proxy)) = proxied().await else { return };
    for (fault, name, is_there) in [(Fault::CutAnswer, "ann", true), (Fault::Cut, "bob", false)] {
        proxy.follow(once(Kind::Commit, fault));
        let unknown = create_user(&*store, name).await;
        assert!(matches!(unknown, Err(AccountError::Store(StoreError::Unknown { .. }))), "{unknown:?}");
        let found = store.user(&notarium_core::UserId::new(name).unwrap()).await.unwrap();
        assert_eq!(found.is_some(), is_there, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_derived_write_whose_commit_is_lost_is_made_again() {
    let Some((store, proxy)) = proxied().await else { return };
    let mut author = Author::new("nb");
    store.append(author.rename("first")).await.unwrap();
    for fault in [Fault::Cut, Fault::CutAnswer] {
        proxy.follow(once(Kind::Commit, fault));
        let snapshot = Snapshot::compress(1, author.head, b"{}").unwrap();
        store.put_snapshot(&author.notebook_id, snapshot.clone()).await.unwrap();
        assert_eq!(store.snapshot(&author.notebook_id, None).await.unwrap(), Some(snapshot));
    }
    assert_eq!(proxy.injected(), 2);
}

/// Writers that know nothing of faults but that an unknown append is to be asked for again, over a connection that breaks all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_while_connections_break() {
    let Some((store, proxy)) = proxied().await else { return };
    let (mut random, faults) = (7_u64, [Fault::CutAnswer, Fault::Code("40001"), Fault::Cut, Fault::Code("40P01")]);
    // Faults at fixed distances could hit the same statement of every attempt.
    proxy.follow(Box::new(move |kind| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let drawn = usize::try_from(random >> 40).unwrap_or(0);
        (kind == Kind::Append && drawn % 3 == 0).then(|| faults[drawn / 3 % 4])
    }));
    let writers = (0..8).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut author = Author::new(&format!("nb{writer}"));
            for _ in 0..40 {
                let append = author.rename("x");
                loop {
                    match store.append(append.clone()).await {
                        Ok(()) => break,
                        Err(AppendError::VersionConflict { actual }) if actual == Some(author.head) => break,
                        Err(AppendError::Store(StoreError::Unknown { .. } | StoreError::Unavailable { .. })) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
            author
        })
    });
    for author in futures_util::future::join_all(writers).await {
        let author = author.unwrap();
        let read = store.read(&author.notebook_id, 0, 100).await.unwrap();
        assert_eq!((read.len(), verify_chain(Head::START, &read)), (40, Ok(author.head)));
        assert_eq!(store.count_commands(&author.notebook_id, 100).await.unwrap(), 40);
    }
    assert!(proxy.injected() > 10, "{}", proxy.injected());
}
