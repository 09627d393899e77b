use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use notarium_core::{Actor, Millis, Scope, Scopes, TokenId, UserId};
use notarium_store::Sqlite;
use notarium_store::accounts::{AccountChange, AccountStore, Coverage, TokenFilter, TokenKind};

use notarium_wire::rest::Profile;
use proptest::prelude::*;

use super::follow::Cached;
use super::follow::TokenCache;
use super::*;
use crate::limits::clock::Clock;

const START: Millis = 1_700_000_000_000;
const MINUTE: Millis = 60_000;

async fn accounts(clock: &Arc<AtomicU64>) -> Accounts {
    let options = AuthOptions { password_cost: PasswordCost { memory_kib: 8, passes: 1 }, ..AuthOptions::default() };
    let store = crate::server::scratch::accounts().await;
    Accounts::open(store, Clock::manual(clock.clone()), &options).await.unwrap()
}

async fn owner(accounts: &Accounts) -> SignedIn {
    let printed = accounts.first_start().await.unwrap().unwrap().text.reveal();
    accounts.exchange_locally(&printed, ClientInfo::default()).await.unwrap()
}

// --- the text of a token ---

#[test]
fn a_token_says_what_it_is_and_debug_hides_the_secret() {
    let text = TokenText::generate(TokenKind::Agent, TokenId::new("01ABC").unwrap()).unwrap();
    let revealed = text.reveal();
    let secret = revealed.strip_prefix("nt_agent_01ABC_").unwrap();
    assert_eq!(secret.len(), 64);
    assert_eq!(TokenText::parse(&revealed), Some(text.clone()));
    assert_eq!(format!("{text:?}"), "nt_agent_01ABC_…");
    let other = TokenText::generate(TokenKind::Agent, TokenId::new("01ABC").unwrap()).unwrap();
    assert_ne!(other.reveal(), revealed);
}

#[test]
fn what_is_no_token_is_not_read() {
    let secret = "a".repeat(64);
    assert!(TokenText::parse(&format!("nt_api_id_{secret}")).is_some());
    let bad = [
        String::new(),
        "nt_".to_owned(),
        format!("xx_api_id_{secret}"),
        format!("nt_root_id_{secret}"),
        format!("nt_api_{secret}"),
        format!("nt_api__{secret}"),
        format!("nt_api_id_{secret}a"),
        format!("nt_api_id_{}", &secret[1..]),
        format!("nt_api_id_{}g", &secret[1..]),
        format!("nt_api_i d_{secret}"),
        format!("nt_api_{}_{secret}", "i".repeat(200)),
        format!(" nt_api_id_{secret}"),
    ];
    for text in bad {
        assert_eq!(TokenText::parse(&text), None, "{text}");
    }
}

proptest! {
    /// Files, notebooks and searches may have any name: no name is taken for a token.
    #[test]
    fn a_name_is_no_token(words in prop::collection::vec("[a-zA-Z0-9]{0,12}", 0..5), kind in 0usize..7, digits in "[0-9a-f]{0,63}") {
        let kind = TokenKind::ALL[kind].as_str();
        let name = words.join("nt_");
        for text in [name.clone(), format!("{name}nt_{kind}_{digits}"), format!("nt_{kind}_{name}_{digits}"), format!("nt_{name}.ipynb")] {
            prop_assert!(!TokenText::stands_in(&text), "{}", text);
        }
    }

    #[test]
    fn a_whole_token_is_found_in_any_text(id in "[0-9A-Z]{1,26}", kind in 0usize..7, secret in "[0-9a-fA-F]{64}", around in "[ ./=:\"']{1,4}") {
        let token = format!("nt_{}_{id}_{secret}", TokenKind::ALL[kind].as_str());
        for text in [token.clone(), format!(" {token}"), format!("Bearer{around}{token}{around}event_log")] {
            prop_assert!(TokenText::stands_in(&text), "{}", text);
        }
    }
}

#[test]
fn the_bearer_header_is_read_and_no_other() {
    let read = |value: &str| {
        let mut headers = http::HeaderMap::new();
        headers.insert(http::header::AUTHORIZATION, value.parse().unwrap());
        bearer(&headers).map(str::to_owned)
    };
    assert_eq!(read("Bearer abc").as_deref(), Some("abc"));
    assert_eq!(read("bearer  abc").as_deref(), Some("abc"));
    assert_eq!(read("Basic abc"), None);
    assert_eq!(read("Bearerabc"), None);
    assert_eq!(bearer(&http::HeaderMap::new()), None);
}

// --- authentication ---

#[tokio::test]
async fn the_secret_counts_even_when_the_token_is_cached() {
    let clock = Arc::new(AtomicU64::new(START));
    let accounts = accounts(&clock).await;
    let session = owner(&accounts).await;
    let good = session.text.reveal();
    let forged = format!("nt_session_{}_{}", session.text.id, "0".repeat(64));
    assert_eq!(accounts.authenticate(&forged).await.unwrap_err(), AuthError::Invalid, "not cached");
    accounts.authenticate(&good).await.unwrap();
    assert_eq!(accounts.authenticate(&forged).await.unwrap_err(), AuthError::Invalid, "cached");
    let other_kind = good.replace("nt_session_", "nt_api_");
    assert_eq!(accounts.authenticate(&other_kind).await.unwrap_err(), AuthError::Invalid);
    let as_link = good.replace("nt_session_", "nt_share_");
    assert_eq!(accounts.authenticate(&as_link).await.unwrap_err(), AuthError::Invalid);
}

#[tokio::test]
async fn a_stranger_does_not_learn_that_a_token_was_revoked() {
    let clock = Arc::new(AtomicU64::new(START));
    let accounts = accounts(&clock).await;
    let session = owner(&accounts).await;
    let who = accounts.authenticate(&session.text.reveal()).await.unwrap();
    accounts.sign_out(&who).await.unwrap();
    let forged = format!("nt_session_{}_{}", session.text.id, "0".repeat(64));
    assert_eq!(accounts.authenticate(&forged).await.unwrap_err(), AuthError::Invalid);
    assert_eq!(accounts.authenticate(&session.text.reveal()).await.unwrap_err(), AuthError::Revoked);
}

#[tokio::test]
async fn what_was_read_before_a_revocation_is_not_cached_after_it() {
    let clock = Arc::new(AtomicU64::new(START));
    let accounts = accounts(&clock).await;
    let session = owner(&accounts).await;
    let authenticated = accounts.authenticate(&session.text.reveal()).await.unwrap();
    let (cache, id) = (TokenCache::default(), session.text.id.clone());
    let cached = Cached { secret_hash: session.text.secret_hash(), authenticated, touched_at: 0 };
    let generation = cache.generation();
    cache.forget(&Revocation::Token(id.clone()));
    cache.put(id.clone(), cached.clone(), generation);
    assert!(cache.get(&id).is_none());
    cache.put(id.clone(), cached, cache.generation());
    cache.forget(&Revocation::User(UserId::new("somebody-else").unwrap()));
    assert!(cache.get(&id).is_some());
    cache.forget(&Revocation::Token(id.clone()));
    assert!(cache.get(&id).is_none());
}

#[tokio::test]
async fn following_begins_with_what_is_true_now() {
    let clock = Arc::new(AtomicU64::new(START));
    let accounts = accounts(&clock).await;
    let session = owner(&accounts).await;
    let who = accounts.authenticate(&session.text.reveal()).await.unwrap();
    accounts.sign_out(&who).await.unwrap();
    assert_eq!(accounts.follow(&who).await.err(), Some(AuthError::Revoked));
}

#[tokio::test]
async fn a_connection_that_missed_revocations_asks_again() {
    let clock = Arc::new(AtomicU64::new(START));
    let accounts = accounts(&clock).await;
    let session = owner(&accounts).await;
    let who = accounts.authenticate(&session.text.reveal()).await.unwrap();
    let mut followed = accounts.follow(&who).await.unwrap();
    accounts.sign_out(&who).await.unwrap();
    for number in 0..1_000 {
        let token = TokenId::new(format!("t{number}")).unwrap();
        // Only the overflow of the queue with unrelated revocations matters here.
        let place = AccountChange::PlaceNotebook {
            notebook: notarium_core::NotebookId::new(token.as_str()).unwrap(),
            workspace: None,
        };
        accounts.change(&[place], accounts.audit(&Actor::System, "test", token)).await.unwrap();
    }
    assert_eq!(followed.changed().await.unwrap_err(), AuthError::Revoked);
}

#[tokio::test]
async fn use_is_noted_coarsely() {
    let clock = Arc::new(AtomicU64::new(START));
    let accounts = accounts(&clock).await;
    let session = owner(&accounts).await;
    let text = session.text.reveal();
    let last_used = async || accounts.store().token(&session.text.id).await.unwrap().unwrap().last_used_at;
    // The use is recorded in the background.
    let noted = async |at: Millis| {
        let lands = async {
            while last_used().await != Some(at) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), lands).await.expect("it lands within a minute");
    };
    accounts.authenticate(&text).await.unwrap();
    noted(START).await;
    clock.store(START + 9 * MINUTE, Ordering::SeqCst);
    accounts.authenticate(&text).await.unwrap();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
        assert_eq!(last_used().await, Some(START));
    }
    clock.store(START + 10 * MINUTE, Ordering::SeqCst);
    accounts.authenticate(&text).await.unwrap();
    noted(START + 10 * MINUTE).await;
}

#[tokio::test]
async fn an_agent_is_no_person() {
    let clock = Arc::new(AtomicU64::new(START));
    let accounts = accounts(&clock).await;
    let session = owner(&accounts).await;
    let who = accounts.authenticate(&session.text.reveal()).await.unwrap();
    let new = NewAgent { name: "GPU".to_owned(), coverage: Coverage::All, expires_at: None };
    let agent = accounts.create_agent(&who, new).await.unwrap();
    let agent = accounts.authenticate(&agent.text.reveal()).await.unwrap();
    assert_eq!(agent.scopes, [Scope::Read, Scope::Agent].into());
    assert!(agent.user_id().is_none());
    let new = NewAgent { name: "\n".to_owned(), coverage: Coverage::All, expires_at: None };
    assert!(matches!(accounts.create_agent(&who, new).await, Err(AuthError::InvalidValue { .. })));
    let new = NewAgent { name: "GPU".to_owned(), coverage: Coverage::All, expires_at: None };
    assert!(matches!(accounts.create_agent(&agent, new).await, Err(AuthError::Forbidden { .. })));
}

// --- a data folder ---

#[tokio::test]
async fn a_lost_owner_token_is_issued_again_on_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let unknown = issue_owner_token_in(folder.path(), START).await.unwrap_err();
    assert!(unknown.to_string().contains("administrator"), "{unknown}");
    let clock = Clock::manual(Arc::new(AtomicU64::new(START)));
    {
        let database = Arc::new(Sqlite::open(folder.path()).await.unwrap());
        let accounts = Accounts::open(database.clone(), clock.clone(), &AuthOptions::default()).await.unwrap();
        owner(&accounts).await;
        let in_use = issue_owner_token_in(folder.path(), START).await.unwrap_err();
        assert!(in_use.to_string().contains("another server uses"), "{in_use}");
        drop(accounts);
        Arc::into_inner(database).unwrap().close().await;
    }
    let issued = issue_owner_token_in(folder.path(), START).await.unwrap();
    let database = Arc::new(Sqlite::open(folder.path()).await.unwrap());
    let accounts = Accounts::open(database.clone(), clock, &AuthOptions::default()).await.unwrap();
    let session = accounts
        .exchange_locally(&issued.text.reveal(), ClientInfo { label: "laptop", ..ClientInfo::default() })
        .await
        .unwrap();
    let sessions = database.tokens(&TokenFilter::OfUser(session.user.id), 10).await.unwrap();
    assert_eq!(sessions.len(), 2, "the session from before the restart is alive");
}

// --- asking again before confirming ---

#[tokio::test]
async fn where_confirming_asks_again_nothing_that_is_kept_confirms_and_a_fresh_sign_in_does() {
    let clock = Arc::new(AtomicU64::new(START));
    let accounts = accounts(&clock).await;
    let printed = accounts.first_start().await.unwrap().unwrap().text.reveal();
    let profile = Profile { name: "Ann".to_owned(), login: "ann".to_owned() };
    let password = || "correct horse".to_owned();
    let before = accounts.exchange(&printed, Some(profile), Some(password()), ClientInfo::default()).await.unwrap();
    let who = accounts.authenticate(&before.text.reveal()).await.unwrap();
    let all: Scopes = [Scope::Read, Scope::Edit, Scope::Run, Scope::Confirm].into();
    let program = NewApiToken { label: String::new(), scopes: all, coverage: Coverage::All, expires_at: None };
    let program = accounts.create_api_token(&who, program).await.unwrap();

    accounts.set_asks_again(true);
    let kept = accounts.sign_in("ann", password(), ClientInfo::default()).await.unwrap();
    for text in [&before.text, &kept.text, &program.text] {
        let who = accounts.authenticate(&text.reveal()).await.unwrap();
        assert_eq!(who.scopes, [Scope::Read, Scope::Edit, Scope::Run].into(), "{text:?}");
        assert!(who.asks_again && accounts.recheck(&who).await.unwrap().scopes == who.scopes);
        let asked =
            NewApiToken { label: String::new(), scopes: who.scopes.clone(), coverage: Coverage::All, expires_at: None };
        let more = NewApiToken { scopes: [Scope::Read, Scope::Confirm].into(), ..asked };
        assert!(accounts.create_api_token(&who, more).await.is_err(), "it makes none that confirms");
    }
    assert!(accounts.sign_in_afresh("ann", "wrong".to_owned(), ClientInfo::default()).await.is_err());
    let fresh = accounts.sign_in_afresh("ann", password(), ClientInfo::default()).await.unwrap().text.reveal();
    let who = accounts.authenticate(&fresh).await.unwrap();
    assert!(who.has(Scope::Confirm) && who.has(Scope::Admin) && !who.asks_again);
    clock.fetch_add(15 * MINUTE, Ordering::SeqCst);
    assert_eq!(accounts.authenticate(&fresh).await.unwrap_err(), AuthError::Expired);

    // Sessions stored meanwhile stay without the right.
    accounts.set_asks_again(false);
    assert!(!accounts.authenticate(&kept.text.reveal()).await.unwrap().has(Scope::Confirm));
    assert!(accounts.authenticate(&before.text.reveal()).await.unwrap().has(Scope::Confirm));
}
