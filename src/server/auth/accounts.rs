//! The service behind every route and socket: authenticates tokens, and changes accounts with immediate effect.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use notarium_core::{Actor, Door, Millis, NotebookId, Revoked, Scope, ShareLinkId, TokenId, UserId, WorkspaceId};
use notarium_store::accounts::{
    AccountChange, AccountError, AccountStore, AuditEntry, AuditedChanges, Coverage, MAX_ACCOUNT_PAGE, ShareLink,
    Token, TokenFilter, TokenHolder, TokenKind, TokenScopes, User,
};
use tokio::sync::broadcast;

use super::account_status::GuestNames;
use super::browser_keys::{BrowserKeys, is_page_of};
use super::follow::{Cached, FollowedToken, Revocation, TokenCache};
use super::passwords::{PasswordCost, Passwords, Throttle};
use super::sessions::{EVERYDAY, is_fresh};
use super::{AuthError, Authenticated, Placements, TokenText};
use crate::cluster::{Cluster, ClusterNotice, Peers};
use crate::limits::clock::Clock;
use crate::limits::usage::UsageCounters;

/// Revocations that a slow connection may lag behind. Beyond that it rechecks its token in any case.
const REVOCATION_QUEUE: usize = 256;
/// Granularity of `last_used_at`, so that reads cost no write.
const TOUCH_EVERY_MS: Millis = 10 * 60 * 1000;
/// Retention of the records of ended tokens.
const KEEP_ENDED_MS: Millis = 30 * 24 * 60 * 60 * 1000;

/// Accounts, tokens and what they allow. Cheap to clone.
#[derive(Clone)]
pub struct Accounts {
    pub(super) shared: Arc<AccountsParts>,
}

pub(super) struct AccountsParts {
    store: Arc<dyn AccountStore>,
    clock: Clock,
    pub(super) cache: TokenCache,
    pub(super) placements: Arc<Placements>,
    revocations: broadcast::Sender<Revocation>,
    /// Receiver of tokens and accounts that end for good, once [`Accounts::report_to`] has set it.
    cluster: OnceLock<Arc<dyn Cluster>>,
    pub(super) passwords: Passwords,
    pub(super) throttle: Throttle,
    asks_again: AtomicBool,
    /// Usage counters, once [`Accounts::count_in`] has set them.
    usage: OnceLock<Arc<UsageCounters>>,
    pub(super) browser_keys: BrowserKeys,
    pub(super) guest_names: GuestNames,
}

/// Options of authentication.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthOptions {
    pub password_cost: PasswordCost,
    /// If set, a stored token cannot confirm, share or manage: only a fresh sign-in can.
    pub asks_again: bool,
}

/// A token that is shown once and exchanged once.
#[derive(Debug, Clone)]
pub struct OneTimeToken {
    pub text: TokenText,
    pub expires_at: Option<Millis>,
}

/// A token's record, from the table of tokens or of share links.
struct LoadedToken {
    secret_hash: [u8; 32],
    created_by: Option<User>,
    revoked_at: Option<Millis>,
    authenticated: Authenticated,
}

impl Accounts {
    /// Opens the accounts. Reads the workspace of every notebook; everything else is read on demand.
    pub async fn open(store: Arc<dyn AccountStore>, clock: Clock, options: &AuthOptions) -> Result<Self, AccountError> {
        let placements = Arc::new(Placements::default());
        read_placements(&*store, &placements).await?;
        store.forget_ended_tokens(clock.now().saturating_sub(KEEP_ENDED_MS)).await?;
        let shared = AccountsParts {
            store,
            clock,
            cache: TokenCache::default(),
            placements,
            revocations: broadcast::channel(REVOCATION_QUEUE).0,
            cluster: OnceLock::new(),
            passwords: Passwords::new(options.password_cost),
            throttle: Throttle::new(),
            asks_again: AtomicBool::new(options.asks_again),
            usage: OnceLock::new(),
            browser_keys: BrowserKeys::new()?,
            guest_names: GuestNames::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Sets the usage counters that count notebooks from now on.
    pub fn count_in(&self, usage: Arc<UsageCounters>) {
        let _ = self.shared.usage.set(usage);
    }

    /// Sets the cluster whose nodes are told which tokens and accounts end for good.
    pub fn report_to(&self, cluster: Arc<dyn Cluster>) {
        let _ = self.shared.cluster.set(cluster);
    }

    pub(super) fn usage(&self) -> Option<&Arc<UsageCounters>> {
        self.shared.usage.get()
    }

    /// The workspace that a notebook is in.
    pub fn workspace_of(&self, notebook: &NotebookId) -> Option<WorkspaceId> {
        self.shared.placements.workspace_of(notebook)
    }

    /// True if confirming, sharing and managing need a fresh sign-in.
    pub fn asks_again(&self) -> bool {
        self.shared.asks_again.load(Ordering::SeqCst)
    }

    /// Call before the server accepts connections: open connections keep the rights they began with.
    pub fn set_asks_again(&self, asks_again: bool) {
        self.shared.asks_again.store(asks_again, Ordering::SeqCst);
    }

    pub fn now(&self) -> Millis {
        self.shared.clock.now()
    }

    /// The store, for reads. Changes go through [`Accounts::change`].
    pub fn store(&self) -> &dyn AccountStore {
        &*self.shared.store
    }

    /// Authenticates a token; returns its holder with the rights it has now.
    pub async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        let token = TokenText::parse(token).ok_or(AuthError::Invalid)?;
        if token.kind.is_one_time() {
            return Err(AuthError::OneTime);
        }
        let cached = match self.shared.cache.get(&token.id) {
            Some(cached) => cached,
            None => self.load_into_cache(token.kind, &token.id, Some(&token)).await?,
        };
        if !self.opens(&cached.secret_hash, &token) || cached.authenticated.kind != token.kind {
            return Err(AuthError::Invalid);
        }
        self.refuse_expired(cached.authenticated.expires_at)?;
        self.touch(&cached);
        Ok(self.as_allowed(cached.authenticated))
    }

    /// Returns the rights that an authenticated caller has now.
    pub async fn recheck(&self, earlier: &Authenticated) -> Result<Authenticated, AuthError> {
        let cached = match self.shared.cache.get(&earlier.token_id) {
            Some(cached) => cached,
            None => self.load_into_cache(earlier.kind, &earlier.token_id, None).await?,
        };
        self.refuse_expired(cached.authenticated.expires_at)?;
        Ok(Authenticated { door: earlier.door, ..self.as_allowed(cached.authenticated) })
    }

    /// Follows a token for the life of a connection. No revocation since the authentication is missed.
    pub async fn follow(&self, authenticated: &Authenticated) -> Result<FollowedToken, AuthError> {
        let revocations = self.revocations();
        let current = self.recheck(authenticated).await?;
        Ok(FollowedToken::new(self.clone(), current, revocations))
    }

    /// Subscribes to revocations from now on.
    pub fn revocations(&self) -> broadcast::Receiver<Revocation> {
        self.shared.revocations.subscribe()
    }

    /// Changes accounts, all or nothing, and notifies live connections before it returns.
    pub async fn change(&self, changes: &[AccountChange], audit: AuditEntry) -> Result<(), AccountError> {
        self.change_all(&[AuditedChanges { changes: changes.to_vec(), audit }]).await
    }

    /// The same for changes that have an audit entry each.
    pub async fn change_all(&self, all: &[AuditedChanges]) -> Result<(), AccountError> {
        let changes = || all.iter().flat_map(|audited| &audited.changes);
        let ended = self.ended_by(changes()).await?;
        self.shared.store.apply_all(all).await?;
        ended.into_iter().for_each(|revoked| self.notify_cluster(ClusterNotice::AccessEnded(revoked)));
        for change in changes() {
            if let AccountChange::PlaceNotebook { notebook, workspace } = change {
                self.shared.placements.place(notebook, workspace.as_ref());
                if let Some(usage) = self.usage() {
                    usage.placed(notebook, workspace.clone());
                }
            }
            revocations_of(change).into_iter().for_each(|revocation| self.revoke(revocation));
        }
        Ok(())
    }

    /// Drops everything that is cached of tokens.
    pub fn forget_everything(&self) {
        self.revoke(Revocation::Anybody);
    }

    /// Drops what is cached of the tokens that a change touches, and notifies live connections.
    pub(super) fn revoke(&self, revocation: Revocation) {
        if let Revocation::Token(id) = &revocation {
            self.shared.browser_keys.ended(id);
        }
        self.shared.cache.forget(&revocation);
        // No receiver: no connection is open.
        let _ = self.shared.revocations.send(revocation);
    }

    pub(super) fn notify_cluster(&self, notice: ClusterNotice) {
        if let Some(cluster) = self.shared.cluster.get() {
            cluster.notify(notice);
        }
    }

    /// Tokens and accounts that the changes will end; asked before the changes are made.
    async fn ended_by(
        &self,
        changes: impl Iterator<Item = &AccountChange> + Send,
    ) -> Result<Vec<Revoked>, AccountError> {
        let mut ended = Vec::new();
        for change in changes {
            match change {
                AccountChange::RevokeToken { token, .. } => ended.push(Revoked::Token(token.clone())),
                AccountChange::DeactivateUser { user, .. } => ended.push(Revoked::User(user.clone())),
                AccountChange::RevokeTokensOf { user, kinds, except, .. } => {
                    let go = |token: &Token| kinds.contains(&token.kind()) && Some(&token.id) != except.as_ref();
                    ended.extend(self.tokens_of(user, go).await?);
                }
                AccountChange::UnlinkIdentity { user, identity, .. } => {
                    ended.extend(self.tokens_of(user, |token| token.identity.as_ref() == Some(identity)).await?);
                }
                _ => {}
            }
        }
        Ok(ended)
    }

    async fn tokens_of(&self, user: &UserId, go: impl Fn(&Token) -> bool) -> Result<Vec<Revoked>, AccountError> {
        let tokens = self.store().tokens(&TokenFilter::OfUser(user.clone()), MAX_ACCOUNT_PAGE).await?;
        Ok(tokens.into_iter().filter(go).map(|token| Revoked::Token(token.id)).collect())
    }

    /// An audit entry with the current time.
    pub fn audit(&self, actor: &Actor, action: &str, subject: impl ToString) -> AuditEntry {
        AuditEntry { at: self.now(), actor: actor.key(), action: action.to_owned(), subject: subject.to_string() }
    }

    /// A stored token may be readable by others. With `asks_again` it keeps the everyday scopes alone.
    fn as_allowed(&self, mut who: Authenticated) -> Authenticated {
        if self.asks_again() && !who.is_fresh && who.user_id().is_some() {
            who.scopes.retain(|scope| EVERYDAY.contains(scope));
            who.asks_again = true;
        }
        who
    }

    fn refuse_expired(&self, expires_at: Option<Millis>) -> Result<(), AuthError> {
        if expires_at.is_some_and(|at| self.now() >= at) { Err(AuthError::Expired) } else { Ok(()) }
    }

    /// Compares secrets. A session bound to a browser's key has none itself: each of its open pages has one.
    fn opens(&self, kept: &[u8; 32], presented: &TokenText) -> bool {
        let hash = presented.secret_hash();
        *kept == hash
            || self.shared.browser_keys.is_open(&presented.id, &hash)
            || self.peers().is_some_and(|peers| is_page_of(peers, presented))
    }

    /// The other nodes of the cluster, if there are any.
    pub(super) fn peers(&self) -> Option<&Peers> {
        self.shared.cluster.get()?.peers()
    }

    /// Without the right secret the error is always `Invalid`.
    async fn load_into_cache(
        &self,
        kind: TokenKind,
        id: &TokenId,
        presented: Option<&TokenText>,
    ) -> Result<Cached, AuthError> {
        let generation = self.shared.cache.generation();
        let loaded = self.load(kind, id).await?;
        if presented.is_some_and(|token| !self.opens(&loaded.secret_hash, token)) {
            return Err(AuthError::Invalid);
        }
        if loaded.created_by.is_none_or(|user| user.deactivated_at.is_some()) {
            return Err(AuthError::Deactivated);
        }
        if loaded.revoked_at.is_some() {
            return Err(AuthError::Revoked);
        }
        let cached = Cached { secret_hash: loaded.secret_hash, authenticated: loaded.authenticated, touched_at: 0 };
        self.shared.cache.put(id.clone(), cached.clone(), generation);
        Ok(cached)
    }

    async fn load(&self, kind: TokenKind, id: &TokenId) -> Result<LoadedToken, AuthError> {
        if kind == TokenKind::Share {
            let id = ShareLinkId::new(id.as_str()).map_err(|_| AuthError::Invalid)?;
            let link = self.store().share_link(&id).await?.ok_or(AuthError::Invalid)?;
            return self.guest(link).await;
        }
        let token = self.store().token(id).await?.filter(|token| token.kind() == kind).ok_or(AuthError::Invalid)?;
        self.holder(token).await
    }

    async fn guest(&self, link: ShareLink) -> Result<LoadedToken, AuthError> {
        let created_by = self.store().user(&link.created_by).await?;
        let token_id = TokenId::new(link.id.as_str()).map_err(|_| AuthError::Invalid)?;
        let authenticated = Authenticated {
            actor: Actor::Guest { share_link: link.id },
            name: if link.label.is_empty() { "Guest".to_owned() } else { link.label },
            kind: TokenKind::Share,
            token_id,
            label: String::new(),
            door: Door::default(),
            scopes: TokenScopes::all_of(TokenKind::Share).scopes().clone(),
            coverage: Coverage::Notebooks([link.notebook_id].into()),
            workspaces: Default::default(),
            expires_at: link.expires_at,
            is_fresh: false,
            asks_again: false,
            is_pass: false,
            placements: self.shared.placements.clone(),
        };
        Ok(LoadedToken { secret_hash: link.secret_hash, created_by, revoked_at: link.revoked_at, authenticated })
    }

    async fn holder(&self, token: Token) -> Result<LoadedToken, AuthError> {
        let created_by = self.store().user(&token.created_by).await?;
        let mut scopes = token.scopes.scopes().clone();
        let (actor, name, workspaces) = match &token.holder {
            TokenHolder::Agent(id) => (Actor::Agent { id: id.clone() }, token.label.clone(), Default::default()),
            TokenHolder::User(id) => {
                let user = self.store().user(id).await?.ok_or(AuthError::Invalid)?;
                if !user.is_admin {
                    scopes.remove(&Scope::Admin);
                }
                let memberships = self.store().memberships(id).await?;
                let workspaces = memberships.into_iter().map(|member| (member.workspace_id, member.role)).collect();
                (Actor::User { id: id.clone() }, user.name, workspaces)
            }
        };
        let authenticated = Authenticated {
            actor,
            name,
            kind: token.kind(),
            token_id: token.id.clone(),
            label: token.label.clone(),
            door: Door::default(),
            scopes,
            coverage: token.coverage.clone(),
            workspaces,
            expires_at: token.expires_at,
            is_fresh: is_fresh(&token),
            asks_again: false,
            is_pass: false,
            placements: self.shared.placements.clone(),
        };
        Ok(LoadedToken { secret_hash: token.secret_hash, created_by, revoked_at: token.revoked_at, authenticated })
    }

    fn touch(&self, cached: &Cached) {
        let (now, id) = (self.now(), cached.authenticated.token_id.clone());
        if cached.authenticated.kind == TokenKind::Share || now.saturating_sub(cached.touched_at) < TOUCH_EVERY_MS {
            return;
        }
        self.shared.cache.touched(&id, now);
        let shared = self.shared.clone();
        tokio::spawn(async move {
            if let Err(error) = shared.store.touch_token(&id, now).await {
                tracing::warn!(%error, token = %id, "could not note that a token was used");
            }
        });
    }
}

async fn read_placements(store: &dyn AccountStore, placements: &Placements) -> Result<(), AccountError> {
    let mut after: Option<NotebookId> = None;
    loop {
        let page = store.placements(after.as_ref(), MAX_ACCOUNT_PAGE).await?;
        for (notebook, workspace) in &page {
            placements.place(notebook, Some(workspace));
        }
        match page.into_iter().next_back() {
            Some((notebook, _)) => after = Some(notebook),
            None => return Ok(()),
        }
    }
}

/// Revocations to send for a change: the connections that it may affect.
fn revocations_of(change: &AccountChange) -> Vec<Revocation> {
    match change {
        AccountChange::SetProfile { user, .. }
        | AccountChange::SetAdmin { user, .. }
        | AccountChange::SetGroupAdmin { user, .. }
        | AccountChange::ReactivateUser { user }
        | AccountChange::UnlinkIdentity { user, .. }
        | AccountChange::RevokeTokensOf { user, .. } => vec![Revocation::User(user.clone())],
        AccountChange::DeactivateUser { .. } => vec![Revocation::Anybody],
        AccountChange::SetMember { user, workspace, .. }
        | AccountChange::SetGroupMember { user, workspace, .. }
        | AccountChange::RemoveGroupMember { user, workspace } => {
            vec![Revocation::User(user.clone()), Revocation::Workspace(workspace.clone())]
        }
        AccountChange::RevokeToken { token, .. } | AccountChange::SpendToken { token, .. } => {
            vec![Revocation::Token(token.clone())]
        }
        AccountChange::PlaceNotebook { notebook, .. } => vec![Revocation::Notebook(notebook.clone())],
        AccountChange::RevokeShareLink { share_link, .. } => vec![Revocation::ShareLink(share_link.clone())],
        AccountChange::CreateUser(_)
        | AccountChange::LinkIdentity(_)
        | AccountChange::SetPassword { .. }
        | AccountChange::CreateToken(_)
        | AccountChange::CreateWorkspace(_)
        | AccountChange::RenameWorkspace { .. }
        | AccountChange::CreateShareLink(_)
        | AccountChange::SetNoticeChoices { .. }
        | AccountChange::SetLongRun { .. }
        | AccountChange::SetNewAddress { .. }
        | AccountChange::SetNoticeAddress { .. }
        | AccountChange::CreateWebhook(_)
        | AccountChange::ChangeWebhook(_)
        | AccountChange::DeleteWebhook { .. }
        | AccountChange::AddSigningKey(_)
        | AccountChange::SetCap(_)
        | AccountChange::RemoveCap(_) => Vec::new(),
    }
}
