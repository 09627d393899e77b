//! Cases about accounts.

use std::sync::Arc;

use notarium_core::{AgentId, Millis, NotebookId, Role, Scope, ShareLinkId, TokenId, UserId, WorkspaceId};
use notarium_store::Sqlite;
use notarium_store::accounts::*;

/// Store under test.
pub type Accounts = Arc<dyn AccountStore>;

pub fn user(id: &str, login: Option<&str>, is_admin: bool) -> User {
    User {
        id: UserId::new(id).unwrap(),
        name: format!("Name of {id}"),
        login: login.map(str::to_owned),
        password_hash: None,
        is_admin,
        created_at: 1,
        deactivated_at: None,
    }
}

fn token(id: &str, kind: TokenKind, holder: &str, created_at: Millis) -> Token {
    let agent = kind == TokenKind::Agent;
    let holder_id = UserId::new(holder).unwrap();
    Token {
        id: TokenId::new(id).unwrap(),
        holder: if agent {
            TokenHolder::Agent(AgentId::new(id).unwrap())
        } else {
            TokenHolder::User(holder_id.clone())
        },
        created_by: holder_id,
        secret_hash: [7; 32],
        scopes: TokenScopes::all_of(kind),
        coverage: Coverage::All,
        label: "a label".to_owned(),
        created_at,
        expires_at: Some(5_000),
        last_used_at: None,
        revoked_at: None,
        identity: None,
    }
}

fn link(id: &str, notebook: &str, created_at: Millis) -> ShareLink {
    ShareLink {
        id: ShareLinkId::new(id).unwrap(),
        notebook_id: NotebookId::new(notebook).unwrap(),
        role: Role::Commenter,
        secret_hash: [9; 32],
        label: "for the class".to_owned(),
        created_by: UserId::new("ann").unwrap(),
        created_at,
        expires_at: Some(9_000),
        revoked_at: None,
    }
}

fn audit(action: &str) -> AuditEntry {
    AuditEntry { at: 3, actor: "system".to_owned(), action: action.to_owned(), subject: "it".to_owned() }
}

pub async fn apply(store: &Accounts, changes: &[AccountChange]) -> Result<(), AccountError> {
    store.apply(changes, &audit("test")).await
}

/// Creates a person without a login.
#[cfg(feature = "postgres")]
pub async fn create_user(store: &impl AccountStore, id: &str) -> Result<(), AccountError> {
    change_accounts(store, AccountChange::CreateUser(user(id, None, false))).await
}

#[cfg(feature = "postgres")]
pub async fn change_accounts(store: &impl AccountStore, change: AccountChange) -> Result<(), AccountError> {
    store.apply(&[change], &audit("test")).await
}

pub async fn with_ann(store: &Accounts) -> UserId {
    apply(store, &[AccountChange::CreateUser(user("ann", Some("ann"), true))]).await.unwrap();
    UserId::new("ann").unwrap()
}

pub async fn users_are_found_by_id_and_login(store: Accounts) {
    let ann = with_ann(&store).await;
    let bob = AccountChange::CreateUser(user("bob", None, false));
    let set = AccountChange::SetPassword { user: ann.clone(), hash: "$argon2id$…".to_owned() };
    apply(&store, &[bob, set]).await.unwrap();
    let expected = User { password_hash: Some("$argon2id$…".to_owned()), ..user("ann", Some("ann"), true) };
    assert_eq!(store.user(&ann).await.unwrap(), Some(expected.clone()));
    assert_eq!(store.user_by_login("ANN").await.unwrap(), Some(expected));
    assert_eq!(store.user_by_login("bob").await.unwrap(), None);
    let ids: Vec<String> = store.users(None, 10).await.unwrap().iter().map(|user| user.id.to_string()).collect();
    assert_eq!(ids, ["ann", "bob"]);
    assert_eq!(store.users(Some(&ann), 10).await.unwrap(), [user("bob", None, false)]);
    assert_eq!(store.users(None, 1).await.unwrap().len(), 1);
}

pub async fn a_login_is_taken_once(store: Accounts) {
    let ann = with_ann(&store).await;
    let taken = Err(AccountError::Taken { what: "login" });
    assert_eq!(apply(&store, &[AccountChange::CreateUser(user("bob", Some("ann"), false))]).await, taken);
    apply(&store, &[AccountChange::CreateUser(user("bob", Some("bob"), false))]).await.unwrap();
    let set = |login: &str| AccountChange::SetProfile {
        user: ann.clone(),
        name: "Ann B.".to_owned(),
        login: login.to_owned(),
    };
    assert_eq!(apply(&store, &[set("bob")]).await, taken);
    apply(&store, &[set("ann")]).await.unwrap();
    assert_eq!(store.user(&ann).await.unwrap().unwrap().name, "Ann B.");
    let again = apply(&store, &[AccountChange::CreateUser(user("bob", None, false))]).await;
    assert_eq!(again, Err(AccountError::Taken { what: "user" }));
}

pub async fn changes_are_made_together_or_not_at_all(store: Accounts) {
    let ann = with_ann(&store).await;
    let bob = AccountChange::CreateUser(user("bob", None, false));
    let impossible = AccountChange::CreateUser(user("ann", None, false));
    apply(&store, &[bob, impossible]).await.unwrap_err();
    assert_eq!(store.users(Some(&ann), 10).await.unwrap(), []);
    assert_eq!(store.audit(None, 10).await.unwrap().len(), 1, "a refused change is not in the audit");
}

pub async fn the_last_admin_stays(store: Accounts) {
    let ann = with_ann(&store).await;
    let bob = UserId::new("bob").unwrap();
    apply(&store, &[AccountChange::CreateUser(user("bob", None, false))]).await.unwrap();
    let deactivate = |user: &UserId| AccountChange::DeactivateUser { user: user.clone(), at: 4 };
    let demote = AccountChange::SetAdmin { user: ann.clone(), is_admin: false };
    assert_eq!(apply(&store, &[deactivate(&ann)]).await, Err(AccountError::LastAdmin));
    assert_eq!(apply(&store, std::slice::from_ref(&demote)).await, Err(AccountError::LastAdmin));
    assert_eq!(store.user(&ann).await.unwrap(), Some(user("ann", Some("ann"), true)));
    apply(&store, &[AccountChange::SetAdmin { user: bob.clone(), is_admin: true }]).await.unwrap();
    apply(&store, &[deactivate(&bob)]).await.unwrap();
    assert_eq!(apply(&store, std::slice::from_ref(&demote)).await, Err(AccountError::LastAdmin));
    apply(&store, &[AccountChange::ReactivateUser { user: bob.clone() }]).await.unwrap();
    assert_eq!(store.user(&bob).await.unwrap().unwrap().deactivated_at, None);
    apply(&store, &[demote]).await.unwrap();
}

pub async fn deactivating_revokes_what_the_person_holds_or_made(store: Accounts) {
    with_ann(&store).await;
    let bob = UserId::new("bob").unwrap();
    let changes = [
        AccountChange::CreateUser(user("bob", None, false)),
        AccountChange::CreateToken(token("held", TokenKind::Session, "bob", 1)),
        AccountChange::CreateToken(token("made", TokenKind::Agent, "bob", 1)),
        AccountChange::CreateToken(token("other", TokenKind::Api, "ann", 1)),
        AccountChange::DeactivateUser { user: bob.clone(), at: 4 },
        AccountChange::DeactivateUser { user: bob.clone(), at: 5 },
    ];
    apply(&store, &changes).await.unwrap();
    assert_eq!(store.user(&bob).await.unwrap().unwrap().deactivated_at, Some(4));
    for (id, revoked_at) in [("held", Some(4)), ("made", Some(4)), ("other", None)] {
        let found = store.token(&TokenId::new(id).unwrap()).await.unwrap().unwrap();
        assert_eq!(found.revoked_at, revoked_at, "{id}");
    }
}

fn identity(id: &str, user: &UserId, issuer: &str, subject: &str) -> Identity {
    Identity {
        id: id.to_owned(),
        user_id: user.clone(),
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
        email: Some("ann@example.org".to_owned()),
        created_at: 4,
    }
}

fn linked(identity: &Identity) -> AccountChange {
    AccountChange::LinkIdentity(identity.clone())
}

pub async fn an_identity_is_one_person_s(store: Accounts) {
    let ann = with_ann(&store).await;
    apply(&store, &[AccountChange::CreateUser(user("bob", None, false))]).await.unwrap();
    let bob = UserId::new("bob").unwrap();
    let first = identity("i1", &ann, "https://id.example", "17");
    let elsewhere = identity("i2", &ann, "https://other.example", "17");
    let of_bob = Identity { email: None, ..identity("i3", &bob, "https://id.example", "18") };
    apply(&store, &[linked(&first), linked(&elsewhere), linked(&of_bob)]).await.unwrap();
    assert_eq!(store.identity("https://id.example", "17").await.unwrap(), Some(first.clone()));
    assert_eq!(store.identity("https://id.example", "18").await.unwrap(), Some(of_bob.clone()));
    for (issuer, subject) in
        [("https://id.example", "1"), ("https://other.example", "18"), ("HTTPS://ID.EXAMPLE", "17")]
    {
        assert_eq!(store.identity(issuer, subject).await.unwrap(), None, "{issuer} {subject}");
    }
    assert_eq!(store.identities(&ann, 10).await.unwrap(), [first.clone(), elsewhere.clone()]);
    assert_eq!(store.identities(&ann, 1).await.unwrap(), std::slice::from_ref(&first));

    let taken = Err(AccountError::Taken { what: "sign-in" });
    assert_eq!(
        apply(&store, &[linked(&Identity { id: "i4".to_owned(), user_id: bob.clone(), ..first.clone() })]).await,
        taken
    );
    let nobody = UserId::new("nobody").unwrap();
    apply(&store, &[linked(&identity("i5", &nobody, "https://id.example", "19"))]).await.unwrap_err();
}

pub async fn an_identity_is_unlinked_with_the_sessions_that_came_by_it(store: Accounts) {
    let ann = with_ann(&store).await;
    apply(&store, &[AccountChange::CreateUser(user("bob", None, false))]).await.unwrap();
    let bob = UserId::new("bob").unwrap();
    let elsewhere = identity("i2", &ann, "https://other.example", "17");
    apply(&store, &[linked(&identity("i1", &ann, "https://id.example", "17")), linked(&elsewhere)]).await.unwrap();
    let unlink = |user: &UserId| AccountChange::UnlinkIdentity { user: user.clone(), identity: "i1".to_owned(), at: 6 };
    let by = |id: &str, identity: &str| Token {
        identity: Some(identity.to_owned()),
        ..token(id, TokenKind::Session, "ann", 1)
    };
    let sessions = [by("by-it", "i1"), by("by-other", "i2"), token("by-none", TokenKind::Session, "ann", 1)];
    apply(&store, &sessions.map(AccountChange::CreateToken)).await.unwrap();
    let unknown = Err(AccountError::Unknown { what: "sign-in" });
    assert_eq!(apply(&store, &[unlink(&bob)]).await, unknown, "another's");
    apply(&store, &[unlink(&ann)]).await.unwrap();
    assert_eq!(apply(&store, &[unlink(&ann)]).await, unknown);
    for (id, revoked_at) in [("by-it", Some(6)), ("by-other", None), ("by-none", None)] {
        let session = store.token(&TokenId::new(id).unwrap()).await.unwrap().unwrap();
        assert_eq!(session.revoked_at, revoked_at, "{id}");
        assert_eq!(session.identity.is_some(), id != "by-none");
    }
    assert_eq!(store.identities(&ann, 10).await.unwrap(), [elsewhere]);
}

pub async fn a_one_time_token_is_spent_once(store: Accounts) {
    with_ann(&store).await;
    let id = TokenId::new("once").unwrap();
    apply(&store, &[AccountChange::CreateToken(token("once", TokenKind::Owner, "ann", 1))]).await.unwrap();
    let spend = AccountChange::SpendToken { token: id.clone(), at: 6 };
    apply(&store, std::slice::from_ref(&spend)).await.unwrap();
    assert_eq!(apply(&store, &[spend]).await, Err(AccountError::AlreadySpent));
    let revoke = AccountChange::RevokeToken { token: id.clone(), at: 8 };
    apply(&store, &[revoke]).await.unwrap();
    assert_eq!(store.token(&id).await.unwrap().unwrap().revoked_at, Some(6), "the first end counts");
}

pub async fn tokens_come_back_as_they_were_written(store: Accounts) {
    let ann = with_ann(&store).await;
    let notebooks = ["n1", "n2"].map(|id| NotebookId::new(id).unwrap());
    let written = [
        Token { coverage: Coverage::Notebooks(notebooks.into()), ..token("a", TokenKind::Agent, "ann", 1) },
        Token {
            coverage: Coverage::Workspace(WorkspaceId::new("w").unwrap()),
            expires_at: None,
            scopes: TokenScopes::new(TokenKind::Api, [Scope::Read, Scope::Confirm].into()).unwrap(),
            ..token("b", TokenKind::Api, "ann", 2)
        },
        token("c", TokenKind::Session, "ann", 3),
    ];
    let changes: Vec<AccountChange> = written.iter().cloned().map(AccountChange::CreateToken).collect();
    apply(&store, &changes).await.unwrap();
    let [agent, api, session] = written;
    assert_eq!(store.token(&agent.id).await.unwrap(), Some(agent.clone()));
    let of_user = store.tokens(&TokenFilter::OfUser(ann.clone()), 10).await.unwrap();
    assert_eq!(of_user, [session, api], "newest first");
    let agents = vec![agent.clone()];
    assert_eq!(store.tokens(&TokenFilter::AgentsBy(ann), 10).await.unwrap(), agents);
    assert_eq!(store.tokens(&TokenFilter::AllAgents, 10).await.unwrap(), agents);
    store.touch_token(&agent.id, 77).await.unwrap();
    store.touch_token(&agent.id, 70).await.unwrap();
    assert_eq!(store.token(&agent.id).await.unwrap().unwrap().last_used_at, Some(77));
}

pub async fn tokens_of_a_person_are_revoked_by_kind(store: Accounts) {
    let ann = with_ann(&store).await;
    let kinds = [("s1", TokenKind::Session), ("s2", TokenKind::Session), ("p", TokenKind::Api)];
    let changes = kinds.map(|(id, kind)| AccountChange::CreateToken(token(id, kind, "ann", 1)));
    apply(&store, &changes).await.unwrap();
    let except = Some(TokenId::new("s1").unwrap());
    let revoke =
        |except| AccountChange::RevokeTokensOf { user: ann.clone(), kinds: vec![TokenKind::Session], except, at: 4 };
    let alive = async || {
        let tokens = store.tokens(&TokenFilter::OfUser(ann.clone()), 10).await.unwrap();
        tokens.iter().map(|token| token.id.to_string()).collect::<Vec<_>>()
    };
    apply(&store, &[revoke(except)]).await.unwrap();
    assert_eq!(alive().await, ["s1", "p"]);
    apply(&store, &[revoke(None)]).await.unwrap();
    assert_eq!(alive().await, ["p"]);
}

pub async fn ended_tokens_are_forgotten(store: Accounts) {
    with_ann(&store).await;
    let changes = [
        AccountChange::CreateToken(Token { expires_at: None, ..token("lasting", TokenKind::Api, "ann", 1) }),
        AccountChange::CreateToken(token("expired", TokenKind::Session, "ann", 1)),
        AccountChange::CreateToken(Token { revoked_at: Some(10), ..token("revoked", TokenKind::Api, "ann", 1) }),
    ];
    apply(&store, &changes).await.unwrap();
    assert_eq!(store.forget_ended_tokens(10).await.unwrap(), 0);
    assert_eq!(store.forget_ended_tokens(11).await.unwrap(), 1);
    assert_eq!(store.forget_ended_tokens(5_001).await.unwrap(), 1);
    assert!(store.token(&TokenId::new("lasting").unwrap()).await.unwrap().is_some());
}

async fn kept(store: &Accounts, key: u8) -> Option<String> {
    store.one_time(&[key; 32]).await.unwrap()
}

pub async fn a_one_time_value_is_changed_once(store: Accounts) {
    for (key, value) in [(1, "a"), (2, "b")] {
        store.keep_one_time(&[key; 32], value, 10, 0).await.unwrap();
    }
    assert_eq!((kept(&store, 1).await.as_deref(), kept(&store, 3).await), (Some("a"), None));
    let changes =
        [(1, "b", Some("c"), false), (3, "a", None, false), (1, "a", Some("c"), true), (1, "a", Some("d"), false)];
    for (key, from, to, is_changed) in changes {
        assert_eq!(store.change_one_time(&[key; 32], from, to).await.unwrap(), is_changed, "{key} {from}");
    }
    assert_eq!(kept(&store, 1).await.as_deref(), Some("c"));
    let [first, second] = [store.clone(), store.clone()]
        .map(|store| tokio::spawn(async move { store.change_one_time(&[2; 32], "b", None).await.unwrap() }));
    assert!(first.await.unwrap() != second.await.unwrap(), "one of them was first");
    assert_eq!(kept(&store, 2).await, None);
}

pub async fn one_time_values_are_replaced_and_forgotten(store: Accounts) {
    store.keep_one_time(&[1; 32], "a", 10, 0).await.unwrap();
    store.keep_one_time(&[2; 32], "b", 30, 10).await.unwrap();
    assert_eq!(kept(&store, 1).await.as_deref(), Some("a"), "it ends now");
    store.keep_one_time(&[2; 32], "c", 30, 11).await.unwrap();
    assert_eq!((kept(&store, 1).await, kept(&store, 2).await.as_deref()), (None, Some("c")));
}

pub async fn changes_with_an_entry_each_are_made_together_or_not_at_all(store: Accounts) {
    let part = |id: &str, login: &str| AuditedChanges {
        changes: vec![AccountChange::CreateUser(user(id, Some(login), false))],
        audit: audit(&format!("create {id}")),
    };
    let ann = with_ann(&store).await;
    store.apply_all(&[part("bob", "bob"), part("cy", "ann")]).await.unwrap_err();
    assert_eq!(store.users(Some(&ann), 10).await.unwrap(), []);
    store.apply_all(&[part("bob", "bob"), part("cy", "cy")]).await.unwrap();
    assert_eq!(store.users(Some(&ann), 10).await.unwrap().len(), 2);
    let records = store.audit(None, 10).await.unwrap();
    let actions: Vec<_> = records.iter().map(|record| (record.number, record.entry.action.as_str())).collect();
    assert_eq!(actions, [(3, "create cy"), (2, "create bob"), (1, "test")]);
}

pub async fn share_links_live_until_revoked(store: Accounts) {
    with_ann(&store).await;
    let links = [link("l1", "n", 1), link("l2", "n", 2), link("l3", "other", 3)];
    let changes: Vec<AccountChange> = links.iter().cloned().map(AccountChange::CreateShareLink).collect();
    apply(&store, &changes).await.unwrap();
    let [first, second, _] = links;
    let notebook = first.notebook_id.clone();
    assert_eq!(store.share_links(&notebook, 5).await.unwrap(), [second.clone(), first.clone()]);
    let revoke = AccountChange::RevokeShareLink { share_link: second.id.clone(), at: 6 };
    apply(&store, &[revoke]).await.unwrap();
    assert_eq!(store.share_links(&notebook, 5).await.unwrap(), [first]);
    let revoked = ShareLink { revoked_at: Some(6), ..second };
    assert_eq!(store.share_link(&revoked.id).await.unwrap(), Some(revoked));
}

pub async fn the_audit_tells_every_change_newest_first(store: Accounts) {
    for action in ["one", "two", "three"] {
        store.apply(&[], &audit(action)).await.unwrap();
    }
    let told = store.audit(None, 2).await.unwrap();
    let expected = [(3, "three"), (2, "two")].map(|(number, action)| AuditRecord { number, entry: audit(action) });
    assert_eq!(told, expected);
    assert_eq!(store.audit(Some(2), 5).await.unwrap().len(), 1);
}

pub async fn what_is_unknown_is_refused(store: Accounts) {
    let ann = with_ann(&store).await;
    let nobody = UserId::new("nobody").unwrap();
    let nowhere = WorkspaceId::new("nowhere").unwrap();
    let nothing = TokenId::new("nothing").unwrap();
    let changes = [
        AccountChange::SetPassword { user: nobody.clone(), hash: String::new() },
        AccountChange::SetProfile { user: nobody.clone(), name: String::new(), login: "x".to_owned() },
        AccountChange::SetAdmin { user: nobody.clone(), is_admin: true },
        AccountChange::DeactivateUser { user: nobody.clone(), at: 1 },
        AccountChange::ReactivateUser { user: nobody.clone() },
        AccountChange::CreateToken(token("t", TokenKind::Api, "nobody", 1)),
        AccountChange::RevokeToken { token: nothing.clone(), at: 1 },
        AccountChange::SpendToken { token: nothing, at: 1 },
        AccountChange::RenameWorkspace { workspace: nowhere.clone(), name: String::new() },
        AccountChange::SetMember { workspace: nowhere.clone(), user: ann, role: Some(Role::Owner) },
        AccountChange::PlaceNotebook { notebook: NotebookId::new("n").unwrap(), workspace: Some(nowhere) },
        AccountChange::RevokeShareLink { share_link: ShareLinkId::new("l").unwrap(), at: 1 },
        AccountChange::CreateShareLink(ShareLink { created_by: nobody, ..link("l", "n", 1) }),
    ];
    for change in changes {
        let result = apply(&store, std::slice::from_ref(&change)).await;
        assert!(matches!(result, Err(AccountError::Unknown { .. })), "{change:?}: {result:?}");
    }
}

#[tokio::test]
async fn a_tampered_row_makes_no_agent_a_person() {
    let folder = tempfile::tempdir().unwrap();
    let database = Arc::new(Sqlite::open(folder.path()).await.unwrap());
    let store: Accounts = database.clone();
    with_ann(&store).await;
    let agent = token("gpu", TokenKind::Agent, "ann", 1);
    apply(&store, &[AccountChange::CreateToken(agent.clone())]).await.unwrap();
    let mut transaction = database.begin().await.unwrap();
    let sql = r#"UPDATE tokens SET scopes = '["read","agent","confirm","admin"]'"#;
    sqlx::query(sql).execute(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(store.token(&agent.id).await.unwrap().unwrap().scopes.scopes(), &[Scope::Read, Scope::Agent].into());
}
