//! Cases about reserved and counted model calls, and caps.

use std::sync::Arc;

use notarium_core::{Millis, NotebookId, UserId, WorkspaceId};
use notarium_store::Sqlite;
use notarium_store::accounts::{AccountChange, AccountError, AccountStore, AuditEntry};
use notarium_store::spending::*;

/// Store under test.
pub type Spending = Arc<dyn SpendingAndAccounts>;

/// A store of both.
pub trait SpendingAndAccounts: SpendingStore + AccountStore {}

impl<S: SpendingStore + AccountStore> SpendingAndAccounts for S {}

const DAY: u64 = 20_786;
const NOW: Millis = DAY * 86_400_000 + 5;

pub fn price() -> ModelPrice {
    ModelPrice { currency: "USD".to_owned(), input: 3_000_000, cached: 300_000, output: 15_000_000 }
}

/// A call of Ann in the workspace `team`, with 1,000 tokens reserved.
pub fn reserved_call(notebook: &str, number: u32) -> ReservedCall {
    ReservedCall {
        key: ModelCallKey { notebook_id: notebook.parse().unwrap(), turn_id: "turn".parse().unwrap(), number },
        person: "ann".parse().unwrap(),
        workspace: Some("team".parse().unwrap()),
        provider: "scripted".to_owned(),
        model: "one".to_owned(),
        price: Some(price()),
        estimated_input_tokens: 400,
        reserved_tokens: 1_000,
        reserved_nanos: price().cost_nanos(TokenCounts { input: 400, cached: 0, output: 600 }),
        reserved_at: NOW,
    }
}

pub fn settled(input: u64, output: u64) -> Option<SettledCall> {
    Some(SettledCall { day: DAY, tokens: TokenCounts { input, cached: 0, output }, is_estimated: false })
}

fn tokens(spender: Spender, amount: u64) -> CapCheck {
    CapCheck { spender, since_day: DAY, unit: CapUnit::Tokens, amount }
}

fn ann() -> Spender {
    Spender::Person("ann".parse().unwrap())
}

fn team() -> Spender {
    Spender::Workspace("team".parse().unwrap())
}

async fn reserve(store: &Spending, call: &ReservedCall, caps: &[CapCheck]) -> Reservation {
    store.reserve(call, caps, NOW - 1_000).await.unwrap()
}

async fn sums(store: &Spending, by: SpendingColumn, query: &SpendingQuery) -> Vec<(String, u64, u64, u64)> {
    let rows = store.spending(by, query).await.unwrap();
    rows.into_iter().map(|row| (row.value, row.calls, row.tokens.total(), row.cost_nanos)).collect()
}

pub async fn a_reserved_call_comes_back_and_is_counted_once(store: Spending) {
    let (call, free) = (reserved_call("n", 1), ReservedCall { price: None, workspace: None, ..reserved_call("m", 1) });
    for call in [&call, &free] {
        assert_eq!(reserve(&store, call, &[]).await, Reservation::Made);
    }
    let again = ReservedCall { estimated_input_tokens: 500, ..call.clone() };
    assert_eq!(reserve(&store, &again, &[]).await, Reservation::Made);
    assert_eq!(store.reserved(None).await.unwrap(), [free.clone(), again.clone()]);
    assert_eq!(store.reserved(Some(&call.key.notebook_id)).await.unwrap(), [again]);
    assert!(store.settle(&call, settled(100, 10)).await.unwrap());
    assert!(!store.settle(&call, settled(100, 10)).await.unwrap());
    assert!(store.settle(&free, None).await.unwrap());
    assert_eq!(store.reserved(None).await.unwrap(), []);
    let expected = price().cost_nanos(TokenCounts { input: 100, cached: 0, output: 10 });
    let everything = SpendingQuery::default();
    assert_eq!(sums(&store, SpendingColumn::Notebook, &everything).await, [("n".to_owned(), 1, 110, expected)]);
}

pub async fn usage_is_summed_by_each_column_and_currency(store: Spending) {
    let euro = ModelPrice { currency: "EUR".to_owned(), ..price() };
    let bob: UserId = "bob".parse().unwrap();
    let calls = [
        (reserved_call("n", 1), DAY),
        (reserved_call("n", 2), DAY + 1),
        (ReservedCall { person: bob.clone(), price: None, ..reserved_call("n", 3) }, DAY),
        (ReservedCall { workspace: None, price: Some(euro), model: "two".into(), ..reserved_call("m", 1) }, DAY),
    ];
    for (call, day) in &calls {
        reserve(&store, call, &[]).await;
        let settled = SettledCall { day: *day, is_estimated: *day > DAY, ..settled(7, 3).unwrap() };
        assert!(store.settle(call, Some(settled)).await.unwrap());
    }
    let cost = price().cost_nanos(TokenCounts { input: 7, cached: 0, output: 3 });
    let everything = SpendingQuery::default();
    let of = async |by, query: &SpendingQuery| {
        let rows = sums(&store, by, query).await.into_iter();
        rows.map(|(value, calls, _, nanos)| (value, calls, nanos)).collect::<Vec<_>>()
    };
    let row = |value: &str, calls, nanos| (value.to_owned(), calls, nanos);
    assert_eq!(
        of(SpendingColumn::Model, &everything).await,
        [row("scripted/one", 1, 0), row("scripted/one", 2, 2 * cost), row("scripted/two", 1, cost)]
    );
    assert_eq!(
        of(SpendingColumn::Person, &everything).await,
        [row("ann", 1, cost), row("ann", 2, 2 * cost), row("bob", 1, 0)]
    );
    let day = SpendingQuery { since_day: DAY + 1, ..SpendingQuery::default() };
    assert_eq!(of(SpendingColumn::Day, &day).await, [row(&(DAY + 1).to_string(), 1, cost)]);
    let day = SpendingQuery { until_day: Some(DAY), person: Some(bob), ..SpendingQuery::default() };
    assert_eq!(of(SpendingColumn::Workspace, &day).await, [row("team", 1, 0)]);
    let team: WorkspaceId = "team".parse().unwrap();
    let in_team = SpendingQuery { workspace: Some(team), ..SpendingQuery::default() };
    assert_eq!(of(SpendingColumn::Notebook, &in_team).await, [row("n", 1, 0), row("n", 2, 2 * cost)]);
    let estimated = store.spending(SpendingColumn::Day, &SpendingQuery { since_day: DAY + 1, ..everything }).await;
    assert_eq!(estimated.unwrap()[0].estimated_calls, 1);
}

pub async fn a_cap_refuses_when_it_is_used_up(store: Spending) {
    let caps = [tokens(Spender::Server, 5_000), tokens(ann(), 1_500)];
    let first = reserved_call("n", 1);
    assert_eq!(reserve(&store, &first, &caps).await, Reservation::Made);
    store.settle(&first, settled(1_400, 99)).await.unwrap();
    let second = reserved_call("n", 2);
    assert_eq!(reserve(&store, &second, &caps).await, Reservation::Made, "one token is left");
    store.settle(&second, settled(900, 100)).await.unwrap();
    assert_eq!(reserve(&store, &reserved_call("n", 3), &caps).await, Reservation::Reached { cap: 1, used: 2_499 });
    assert_eq!(store.reserved(None).await.unwrap(), []);
    let of_bob = ReservedCall { person: "bob".parse().unwrap(), ..reserved_call("n", 3) };
    assert_eq!(reserve(&store, &of_bob, &caps[..1]).await, Reservation::Made);
    let use_of = async |cap: &CapCheck| store.cap_use(cap, NOW - 1_000).await.unwrap();
    assert_eq!(use_of(&caps[0]).await, CapUse { used: 2_499, reserved: 1_000 });
    assert_eq!(use_of(&caps[1]).await, CapUse { used: 2_499, reserved: 0 });
    let tomorrow = CapCheck { since_day: DAY + 1, ..caps[1].clone() };
    assert_eq!(use_of(&tomorrow).await.used, 0);
}

pub async fn calls_under_way_take_up_a_cap_until_they_end(store: Spending) {
    let caps = [tokens(team(), 1_001)];
    let calls = [1, 2, 3].map(|number| reserved_call("n", number));
    assert_eq!(reserve(&store, &calls[0], &caps).await, Reservation::Made);
    assert_eq!(reserve(&store, &calls[0], &caps).await, Reservation::Made, "its own reservation is replaced");
    assert_eq!(reserve(&store, &calls[1], &caps).await, Reservation::Made, "a token may be left");
    assert_eq!(reserve(&store, &calls[2], &caps).await, Reservation::Busy);
    let later = store.reserve(&calls[2], &caps, NOW + 1).await.unwrap();
    assert_eq!(later, Reservation::Made, "stale reservations do not count");
    store.settle(&calls[2], None).await.unwrap();
    store.settle(&calls[0], settled(300, 0)).await.unwrap();
    assert_eq!(reserve(&store, &calls[2], &caps).await, Reservation::Busy);
    store.settle(&calls[1], settled(300, 0)).await.unwrap();
    assert_eq!(reserve(&store, &calls[2], &caps).await, Reservation::Made);
}

pub async fn caps_in_money_count_their_currency(store: Spending) {
    let cap = |currency: &str| CapCheck { unit: CapUnit::Money(currency.to_owned()), ..tokens(ann(), 1) };
    let call = reserved_call("n", 1);
    assert_eq!(reserve(&store, &call, &[cap("USD")]).await, Reservation::Made);
    assert_eq!(reserve(&store, &reserved_call("n", 2), &[cap("USD")]).await, Reservation::Busy);
    assert_eq!(reserve(&store, &reserved_call("n", 2), &[cap("EUR")]).await, Reservation::Made);
    store.settle(&call, settled(10, 0)).await.unwrap();
    let reached = reserve(&store, &reserved_call("n", 3), &[cap("EUR"), cap("USD")]).await;
    assert_eq!(reached, Reservation::Reached { cap: 1, used: 10 * 3_000 });
}

/// Twenty tasks want a call each; the bounds of two fit.
pub async fn concurrent_reservations_never_share_the_rest_of_a_cap(store: Spending) {
    let caps = [tokens(Spender::Server, 1_500)];
    let tasks = (0..20).map(|index| {
        let (store, caps) = (store.clone(), caps.clone());
        let call = reserved_call(&format!("n{index}"), 1);
        tokio::spawn(async move { store.reserve(&call, &caps, NOW - 1).await.unwrap() })
    });
    let ended = futures_util::future::join_all(tasks).await;
    let made = ended.into_iter().filter(|ended| *ended.as_ref().unwrap() == Reservation::Made).count();
    assert_eq!(made, 2);
    assert_eq!(store.reserved(None).await.unwrap().len(), 2);
}

/// Ten tasks end the same call.
pub async fn concurrent_ends_of_a_call_count_it_once(store: Spending) {
    let call = reserved_call("n", 1);
    reserve(&store, &call, &[]).await;
    let tasks = (0..10).map(|_| {
        let (store, call) = (store.clone(), call.clone());
        tokio::spawn(async move { store.settle(&call, settled(5, 5)).await.unwrap() })
    });
    let ended = futures_util::future::join_all(tasks).await;
    assert_eq!(ended.into_iter().filter(|ended| *ended.as_ref().unwrap()).count(), 1);
    assert_eq!(sums(&store, SpendingColumn::Person, &SpendingQuery::default()).await[0].1, 1);
}

pub async fn caps_are_set_replaced_and_removed_with_an_audit(store: Spending) {
    let change = async |change: AccountChange| {
        let audit = AuditEntry { at: 3, actor: "system".into(), action: "cap.set".into(), subject: "it".into() };
        store.apply(&[change], &audit).await
    };
    let spenders = [Spender::EachPerson, Spender::EachWorkspace, Spender::Server, ann(), team()];
    for (index, spender) in spenders.iter().enumerate() {
        for amount in [1, 5 + index as u64] {
            let unit = if index == 2 { CapUnit::Tokens } else { CapUnit::Money("USD".into()) };
            let key = CapKey { spender: spender.clone(), period: CapPeriod::Month, unit, by_owner: index == 4 };
            let cap = Cap { key, amount, set_by: "user:ann".into(), set_at: 9 };
            change(AccountChange::SetCap(cap)).await.unwrap();
        }
    }
    let caps = store.caps().await.unwrap();
    let found: Vec<(Spender, u64)> = caps.iter().map(|cap| (cap.key.spender.clone(), cap.amount)).collect();
    let expected: Vec<(Spender, u64)> = spenders.iter().cloned().zip(5..).collect();
    assert_eq!(found, expected);
    assert_eq!(caps[2].key.unit, CapUnit::Tokens);
    assert!(caps[4].key.by_owner && !caps[3].key.by_owner);
    change(AccountChange::RemoveCap(caps[0].key.clone())).await.unwrap();
    let gone = change(AccountChange::RemoveCap(caps[0].key.clone())).await;
    assert_eq!(gone, Err(AccountError::Unknown { what: "cap" }));
    assert_eq!(store.caps().await.unwrap(), caps[1..]);
    assert_eq!(store.audit(None, 100).await.unwrap().len(), 11);
}

#[tokio::test]
async fn reservations_and_sums_survive_a_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let notebook: NotebookId = "n".parse().unwrap();
    let store = Sqlite::open(folder.path()).await.unwrap();
    store.reserve(&reserved_call("n", 1), &[], 0).await.unwrap();
    store.reserve(&reserved_call("n", 2), &[], 0).await.unwrap();
    store.settle(&reserved_call("n", 1), settled(1, 1)).await.unwrap();
    store.close().await;
    let store = Sqlite::open(folder.path()).await.unwrap();
    assert_eq!(store.reserved(Some(&notebook)).await.unwrap(), [reserved_call("n", 2)]);
    assert_eq!(store.spending(SpendingColumn::Day, &SpendingQuery::default()).await.unwrap().len(), 1);
    store.close().await;
}
