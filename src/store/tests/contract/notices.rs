//! Cases about notices, their outbox, and webhooks. The store also has the log: its notebooks lag.

use std::sync::Arc;

use notarium_core::{Millis, NotebookId, UserId};
use notarium_store::accounts::*;

use crate::EventStore;
use crate::author::Author;

/// Store under test.
pub trait NoticesAndAccounts: NoticeStore + AccountStore + EventStore {}
impl<S: NoticeStore + AccountStore + EventStore> NoticesAndAccounts for S {}
pub type NoticesStore = Arc<dyn NoticesAndAccounts>;

const HOUR: Millis = 60 * 60 * 1000;

fn id(user: &str) -> UserId {
    UserId::new(user).unwrap()
}

fn notebook() -> NotebookId {
    "n".parse().unwrap()
}

async fn apply(store: &NoticesStore, change: AccountChange) -> Result<(), AccountError> {
    let audit = AuditEntry { at: 3, actor: "system".into(), action: "test".into(), subject: "it".into() };
    store.apply(&[change], &audit).await
}

async fn with_people(store: &NoticesStore) {
    for (user, is_admin) in [("ann", true), ("bo", false)] {
        let user = User {
            id: id(user),
            name: user.to_owned(),
            login: Some(user.to_owned()),
            password_hash: None,
            is_admin,
            created_at: 1,
            deactivated_at: None,
        };
        apply(store, AccountChange::CreateUser(user)).await.unwrap();
    }
}

fn new(user: &str, name: &str, at: Millis, channels: &[&str]) -> NewNotice {
    let notice = StoredNotice {
        user: id(user),
        id: name.to_owned(),
        place: Some((notebook(), at)),
        subject: format!("about {name}"),
        kind: r#"{"kind":"test"}"#.to_owned(),
        at,
        in_inbox: true,
        read_at: None,
        settled_at: None,
    };
    let channels = channels.iter().map(|channel| ((*channel).to_owned(), at)).collect();
    NewNotice { notice, created_at: at, channels }
}

fn progress(after: u64, to: u64, settled: &[&str]) -> NoticeProgress {
    let settled = settled.iter().map(|subject| ((*subject).to_owned(), 77)).collect();
    NoticeProgress { notebook: notebook(), after, to, settled }
}

async fn inbox(store: &NoticesStore, user: &str) -> Vec<String> {
    let query = NoticeQuery::default();
    store.notices(&id(user), &query).await.unwrap().into_iter().map(|notice| notice.id).collect()
}

pub async fn notices_are_written_with_their_position_once(store: NoticesStore) {
    with_people(&store).await;
    assert_eq!(store.notice_position(&notebook()).await.unwrap(), 0);
    let first = [new("ann", "a", 1, &["mail"]), new("bo", "a", 1, &[])];
    assert!(store.put_notices(&first, Some(&progress(0, 5, &[]))).await.unwrap());
    let late = [new("ann", "b", 2, &[])];
    assert!(!store.put_notices(&late, Some(&progress(0, 7, &[]))).await.unwrap(), "another node was there");
    assert_eq!((inbox(&store, "ann").await, inbox(&store, "bo").await), (vec!["a".to_owned()], vec!["a".to_owned()]));
    assert!(store.put_notices(&late, Some(&progress(5, 7, &[]))).await.unwrap());
    assert!(store.put_notices(&[new("ann", "b", 9, &["mail"])], None).await.unwrap(), "the same again");
    assert_eq!(store.notice_position(&notebook()).await.unwrap(), 7);
    assert_eq!(inbox(&store, "ann").await, ["b", "a"]);
    assert_eq!(
        store.notice(&id("ann"), "b").await.unwrap(),
        Some(new("ann", "b", 2, &[]).notice),
        "it stays as it was"
    );
}

pub async fn nobody_who_is_deactivated_gets_notices_and_what_there_was_goes(store: NoticesStore) {
    with_people(&store).await;
    store.put_notices(&[new("bo", "a", 1, &["mail"])], None).await.unwrap();
    apply(&store, AccountChange::CreateWebhook(webhook("hook", "bo"))).await.unwrap();
    let choice = NoticeChoice { topic: "mentioned".into(), channel: "mail".into(), is_on: false };
    apply(&store, AccountChange::SetNoticeChoices { user: id("bo"), choices: vec![choice] }).await.unwrap();
    apply(&store, AccountChange::DeactivateUser { user: id("bo"), at: 5 }).await.unwrap();
    store.put_notices(&[new("bo", "b", 2, &["mail"]), new("nobody", "b", 2, &[])], None).await.unwrap();
    assert_eq!(inbox(&store, "bo").await, Vec::<String>::new());
    assert_eq!(store.webhooks(&id("bo")).await.unwrap(), []);
    assert_eq!(store.notice_choices(&id("bo")).await.unwrap(), []);
    assert_eq!(store.next_delivery().await.unwrap(), None);
}

pub async fn an_inbox_is_paged_read_and_counted(store: NoticesStore) {
    with_people(&store).await;
    let all: Vec<NewNotice> = (1..=5).map(|at| new("ann", &format!("n{at}"), at, &[])).collect();
    store.put_notices(&all, None).await.unwrap();
    let page = |before: Option<(Millis, String)>| NoticeQuery { before, only_unread: false, limit: 2 };
    let ids = |found: Vec<StoredNotice>| found.into_iter().map(|notice| notice.id).collect::<Vec<_>>();
    assert_eq!(ids(store.notices(&id("ann"), &page(None)).await.unwrap()), ["n5", "n4"]);
    let next = page(Some((4, "n4".to_owned())));
    assert_eq!(ids(store.notices(&id("ann"), &next).await.unwrap()), ["n3", "n2"]);
    store.mark_notices(&id("ann"), &["n5".to_owned(), "n1".to_owned()], Some(9)).await.unwrap();
    store.mark_notices(&id("bo"), &["n4".to_owned()], Some(9)).await.unwrap();
    assert_eq!(store.unread_notices(&id("ann")).await.unwrap(), 3, "nobody marks those of others");
    let unread = NoticeQuery { only_unread: true, limit: 10, before: None };
    assert_eq!(ids(store.notices(&id("ann"), &unread).await.unwrap()), ["n4", "n3", "n2"]);
    store.mark_notices(&id("ann"), &["n5".to_owned()], None).await.unwrap();
    store.mark_all_notices(&id("ann"), 4, 10).await.unwrap();
    assert_eq!(ids(store.notices(&id("ann"), &unread).await.unwrap()), ["n5"]);
}

pub async fn old_notices_go_read_ones_first(store: NoticesStore) {
    with_people(&store).await;
    let all: Vec<NewNotice> = (1..=MAX_NOTICES as u64).map(|at| new("ann", &format!("n{at:04}"), at, &[])).collect();
    for some in all.chunks(10) {
        store.put_notices(some, None).await.unwrap();
    }
    store.mark_notices(&id("ann"), &["n0400".to_owned()], Some(9)).await.unwrap();
    store.put_notices(&[new("ann", "later", 9_000, &[]), new("ann", "last", 9_001, &[])], None).await.unwrap();
    let left = inbox(&store, "ann").await;
    assert_eq!(left.len(), MAX_NOTICES);
    assert!(!left.contains(&"n0400".to_owned()) && !left.contains(&"n0001".to_owned()));
    assert!(left.contains(&"n0002".to_owned()) && left.contains(&"last".to_owned()));
    // Notices that are still to be sent stay, and so do those that are for another channel than the full inbox.
    let mut outside = new("ann", "outside", 9_002, &[]);
    outside.notice.in_inbox = false;
    store.put_notices(&[outside, new("ann", "sent", 0, &["hook"])], None).await.unwrap();
    for kept in ["outside", "sent"] {
        assert!(store.notice(&id("ann"), kept).await.unwrap().is_some(), "{kept}");
    }
}

pub async fn what_is_decided_is_settled_for_everybody(store: NoticesStore) {
    with_people(&store).await;
    let asked = [new("ann", "call", 1, &[]), new("bo", "call", 1, &[])];
    store.put_notices(&asked, Some(&progress(0, 1, &[]))).await.unwrap();
    assert_eq!(store.open_notices_of(&notebook(), "about call").await.unwrap(), [id("ann"), id("bo")]);
    assert!(store.put_notices(&[], Some(&progress(1, 2, &["about call"]))).await.unwrap());
    assert_eq!(store.open_notices_of(&notebook(), "about call").await.unwrap(), []);
    let settled = store.notice(&id("bo"), "call").await.unwrap().unwrap();
    assert_eq!((settled.settled_at, settled.read_at), (Some(77), Some(77)));
    assert_eq!(store.unread_notices(&id("ann")).await.unwrap(), 0);
}

pub async fn a_notebook_lags_until_its_position_is_its_head(store: NoticesStore) {
    let mut author = Author::new("n");
    store.append(author.rename("T")).await.unwrap();
    assert_eq!(store.notice_lag(None, 10).await.unwrap(), [notebook()]);
    assert_eq!(store.notice_lag(Some(&notebook()), 10).await.unwrap(), []);
    let head = store.head(&notebook()).await.unwrap().unwrap();
    assert!(store.put_notices(&[], Some(&progress(0, head.version, &[]))).await.unwrap());
    assert_eq!(store.notice_lag(None, 10).await.unwrap(), []);
}

fn webhook(name: &str, user: &str) -> StoredWebhook {
    StoredWebhook {
        id: name.to_owned(),
        user: id(user),
        url: "https://example.org/hook".to_owned(),
        label: "mine".to_owned(),
        secrets: vec![WebhookSecret { secret: "whsec_AAAA".to_owned(), until: None }],
        created_at: 4,
        tried_at: None,
        problem: None,
    }
}

pub async fn webhooks_are_their_persons(store: NoticesStore) {
    with_people(&store).await;
    apply(&store, AccountChange::CreateWebhook(webhook("hook", "ann"))).await.unwrap();
    let taken = apply(&store, AccountChange::CreateWebhook(webhook("hook", "bo"))).await;
    assert_eq!(taken, Err(AccountError::Taken { what: "webhook" }));
    let secrets = vec![
        WebhookSecret { secret: "whsec_BBBB".to_owned(), until: None },
        WebhookSecret { secret: "whsec_AAAA".to_owned(), until: Some(9) },
    ];
    let rotated = StoredWebhook { secrets, label: "ours".to_owned(), ..webhook("hook", "ann") };
    apply(&store, AccountChange::ChangeWebhook(rotated.clone())).await.unwrap();
    let stolen = apply(&store, AccountChange::ChangeWebhook(webhook("hook", "bo"))).await;
    assert_eq!(stolen, Err(AccountError::Unknown { what: "webhook" }));
    store.webhook_tried("hook", 8, Some("it answered 500")).await.unwrap();
    let tried = StoredWebhook { tried_at: Some(8), problem: Some("it answered 500".to_owned()), ..rotated };
    assert_eq!(store.webhooks(&id("ann")).await.unwrap(), std::slice::from_ref(&tried));
    assert_eq!(store.webhook("hook").await.unwrap(), Some(tried));
    store.put_notices(&[new("ann", "a", 1, &["hook"])], None).await.unwrap();
    let foreign = AccountChange::DeleteWebhook { user: id("bo"), webhook: "hook".to_owned() };
    assert_eq!(apply(&store, foreign).await, Err(AccountError::Unknown { what: "webhook" }));
    apply(&store, AccountChange::DeleteWebhook { user: id("ann"), webhook: "hook".to_owned() }).await.unwrap();
    assert_eq!(store.next_delivery().await.unwrap(), None, "what was to be sent to it goes");
}

pub async fn a_delivery_is_claimed_by_one_and_ends_once(store: NoticesStore) {
    with_people(&store).await;
    store.put_notices(&[new("ann", "a", 10, &["hook"])], None).await.unwrap();
    assert_eq!(store.due_deliveries(9, &[], 10).await.unwrap(), []);
    let due = store.due_deliveries(10, &[], 10).await.unwrap();
    let [delivery] = &due[..] else { panic!("{due:?}") };
    assert!(store.claim_delivery(delivery, "one", HOUR).await.unwrap());
    assert!(!store.claim_delivery(delivery, "two", HOUR).await.unwrap());
    assert_eq!(store.due_deliveries(10, &[], 10).await.unwrap(), [], "a claimed one is not due");
    let retry = AttemptResult::Retry { due_at: 50, problem: "it answered 500".to_owned() };
    assert!(!store.end_attempt(delivery, "two", &retry).await.unwrap());
    assert!(store.end_attempt(delivery, "one", &retry).await.unwrap());
    assert_eq!(store.next_delivery().await.unwrap(), Some(50));
    let again = store.due_deliveries(50, &[], 10).await.unwrap();
    assert_eq!((again[0].attempts >= 1, again[0].due_at), (true, 50));
    ends_after_kills(&store, &again).await;
}

/// A delivery whose claims end with their processes, until one gives it up.
async fn ends_after_kills(store: &NoticesStore, again: &[NoticeDelivery]) {
    assert!(store.claim_delivery(&again[0], "killed", HOUR).await.unwrap());
    store.free_claims().await.unwrap();
    // A claim whose time is over is free: its process has died.
    assert!(store.claim_delivery(&again[0], "dead", 0).await.unwrap());
    while !store.claim_delivery(&again[0], "three", HOUR).await.unwrap() {
        tokio::task::yield_now().await;
    }
    let given_up =
        AttemptResult::Ended { outcome: DeliveryOutcome::GivenUp, at: 60, problem: Some("it answered 500".to_owned()) };
    assert!(!store.end_attempt(&again[0], "dead", &given_up).await.unwrap());
    assert!(store.end_attempt(&again[0], "three", &given_up).await.unwrap());
    assert_eq!(store.next_delivery().await.unwrap(), None);
    let failed = store.failed_deliveries(&id("ann"), 10).await.unwrap();
    assert_eq!((failed[0].notice_id.as_str(), failed[0].at), ("a", 60));
    assert_eq!(store.forget_deliveries(61).await.unwrap(), 1);
    assert_eq!(store.failed_deliveries(&id("ann"), 10).await.unwrap(), []);
}

pub async fn a_failing_webhook_is_tried_once_for_all_its_notices(store: NoticesStore) {
    with_people(&store).await;
    let all = [new("ann", "a", 10, &["hook", "other"]), new("ann", "b", 11, &["hook"])];
    store.put_notices(&all, None).await.unwrap();
    let due = store.due_deliveries(20, &[], 10).await.unwrap();
    let first = due.iter().find(|delivery| delivery.channel == "hook").unwrap();
    store.claim_delivery(first, "one", HOUR).await.unwrap();
    let retry = AttemptResult::Retry { due_at: 50, problem: "no".to_owned() };
    store.end_attempt(first, "one", &retry).await.unwrap();
    let left: Vec<String> =
        store.due_deliveries(20, &[], 10).await.unwrap().into_iter().map(|delivery| delivery.channel).collect();
    assert_eq!(left, ["other"]);
    assert_eq!(store.due_deliveries(50, &[], 10).await.unwrap().len(), 3);
    let to_others = store.due_deliveries(50, &["hook".to_owned(), "none".to_owned()], 10).await.unwrap();
    assert_eq!(to_others.iter().map(|delivery| delivery.channel.as_str()).collect::<Vec<_>>(), ["other"]);
}

async fn with_address(store: &NoticesStore) {
    let user = id("ann");
    let address = Some("ann@example.org".to_owned());
    apply(store, AccountChange::SetNoticeAddress { user, address, at: 2 }).await.unwrap();
}

pub async fn a_digest_has_all_that_waits_and_keeps_its_content(store: NoticesStore) {
    with_people(&store).await;
    with_address(&store).await;
    let pace = |now| MailPace { now, interval: 100 };
    store.put_notices(&[new("ann", "a", 1_000, &["mail"]), new("ann", "b", 1_001, &["mail"])], None).await.unwrap();
    assert_eq!(store.due_mails(pace(999), 10).await.unwrap(), []);
    assert_eq!(store.due_mails(pace(1_001), 10).await.unwrap(), [id("ann")]);
    let claimed = store.claim_mail(&id("ann"), pace(1_001), "one", HOUR).await.unwrap().unwrap();
    let names = |mail: &ClaimedMail| mail.deliveries.iter().map(|it| it.notice_id.clone()).collect::<Vec<_>>();
    assert_eq!((claimed.batch.as_str(), names(&claimed)), ("one", vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(store.claim_mail(&id("ann"), pace(1_050), "two", HOUR).await.unwrap(), None);
    for delivery in &claimed.deliveries {
        let retry = AttemptResult::Retry { due_at: 1_090, problem: "no".to_owned() };
        assert!(store.end_attempt(delivery, "one", &retry).await.unwrap());
    }
    // A later notice waits for the next digest: the same mail has the same content.
    store.put_notices(&[new("ann", "c", 1_060, &["mail"])], None).await.unwrap();
    assert_eq!(store.due_mails(pace(1_095), 10).await.unwrap(), [], "one mail in 100");
    let again = store.claim_mail(&id("ann"), pace(1_101), "three", HOUR).await.unwrap().unwrap();
    assert_eq!((again.batch.as_str(), names(&again)), ("one", vec!["a".to_owned(), "b".to_owned()]));
    for delivery in &again.deliveries {
        let done = AttemptResult::Ended { outcome: DeliveryOutcome::Done, at: 1_102, problem: None };
        assert!(store.end_attempt(delivery, "three", &done).await.unwrap());
    }
    let last = store.claim_mail(&id("ann"), pace(1_201), "four", HOUR).await.unwrap().unwrap();
    assert_eq!((last.batch.as_str(), names(&last)), ("four", vec!["c".to_owned()]));
}

pub async fn an_address_is_proved_by_a_code(store: NoticesStore) {
    with_people(&store).await;
    let new_address =
        NewAddress { address: "ann@example.org".to_owned(), code_hash: vec![1, 2], expires_at: 9, attempts: 0 };
    let user = id("ann");
    assert!(!store.count_code(&user, 3).await.unwrap());
    let change = AccountChange::SetNewAddress { user: user.clone(), new_address: Some(new_address.clone()) };
    apply(&store, change).await.unwrap();
    apply(&store, AccountChange::SetLongRun { user: user.clone(), seconds: Some(30) }).await.unwrap();
    let found = store.notice_person(&user).await.unwrap();
    assert_eq!((found.address, found.new_address, found.long_run_seconds), (None, Some(new_address), Some(30)));
    let counted = [store.count_code(&user, 2), store.count_code(&user, 2), store.count_code(&user, 2)];
    let counted = futures_util::future::join_all(counted).await;
    assert_eq!(counted.into_iter().filter(|counted| *counted.as_ref().unwrap()).count(), 2);
    with_address(&store).await;
    let found = store.notice_person(&user).await.unwrap();
    assert_eq!((found.address.as_deref(), found.new_address), (Some("ann@example.org"), None));
    store.put_notices(&[new("ann", "a", 1, &["mail"])], None).await.unwrap();
    apply(&store, AccountChange::SetNoticeAddress { user: user.clone(), address: None, at: 7 }).await.unwrap();
    assert_eq!(store.next_delivery().await.unwrap(), None, "nothing is left to be mailed");
    assert_eq!(store.notice_person(&user).await.unwrap().long_run_seconds, Some(30));
}

pub async fn choices_are_kept_by_topic_and_channel(store: NoticesStore) {
    with_people(&store).await;
    let choice = |channel: &str, is_on| NoticeChoice { topic: "mentioned".into(), channel: channel.into(), is_on };
    let set = |choices| AccountChange::SetNoticeChoices { user: id("ann"), choices };
    apply(&store, set(vec![choice("mail", false), choice("inbox", false)])).await.unwrap();
    apply(&store, set(vec![choice("mail", true)])).await.unwrap();
    assert_eq!(store.notice_choices(&id("ann")).await.unwrap(), [choice("inbox", false), choice("mail", true)]);
    assert_eq!(store.notice_choices(&id("bo")).await.unwrap(), []);
}

/// Writes something into each table of notices, for Ann.
#[cfg(feature = "postgres")]
pub async fn fill_notices(store: &Arc<notarium_store::Sqlite>) {
    let store: NoticesStore = store.clone();
    store.put_notices(&[new("ann", "a", 1, &["mail", "hook"])], Some(&progress(0, 3, &[]))).await.unwrap();
    apply(&store, AccountChange::CreateWebhook(webhook("hook", "ann"))).await.unwrap();
    with_address(&store).await;
    let choice = NoticeChoice { topic: "mentioned".into(), channel: "mail".into(), is_on: false };
    apply(&store, AccountChange::SetNoticeChoices { user: id("ann"), choices: vec![choice] }).await.unwrap();
}
