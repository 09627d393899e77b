//! Passes with which code in a kernel reaches its own notebook. They live in this process's memory alone, and no kernel or agent ever
//! sees one: the server gives them to the door that answers the code's requests.
//!
//! A pass has the rights that its person has at each use; a change of the person's account ends it.

use hashlink::LruCache;
use notarium_core::{Actor, Millis, NotebookId, Scopes};
use notarium_store::accounts::{Coverage, TokenKind};
use parking_lot::Mutex;
use ulid::Ulid;

use super::follow::Cached;
use super::{Accounts, AuthError, Authenticated, TokenText};

/// Passes that are remembered. Beyond, the one that was used longest ago is forgotten.
const MAX_PASSES: usize = 256;
/// Life of a pass.
const LIFE_MS: Millis = 60 * 60 * 1_000;
const LABEL: &str = "code in a kernel";

/// The actor of a pass, its only notebook, and its scopes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelPass {
    /// A person, or an assistant that acts for one.
    pub actor: Actor,
    pub notebook: NotebookId,
    pub scopes: Scopes,
}

/// The passes of this process.
pub struct KernelPasses(Mutex<LruCache<String, TokenText>>);

impl Default for KernelPasses {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_PASSES)))
    }
}

impl KernelPasses {
    /// A pass that is valid now.
    pub async fn get(&self, accounts: &Accounts, pass: &KernelPass) -> Result<String, AuthError> {
        let key = format!("{pass:?}");
        let known = self.0.lock().get(&key).map(TokenText::reveal);
        if let Some(token) = known
            && accounts.authenticate(&token).await.is_ok()
        {
            return Ok(token);
        }
        let made = accounts.make_pass(pass).await?;
        let token = made.reveal();
        self.0.lock().insert(key, made);
        Ok(token)
    }
}

impl Accounts {
    async fn make_pass(&self, pass: &KernelPass) -> Result<TokenText, AuthError> {
        let (Actor::User { id: user } | Actor::Assistant { for_user: user, .. }) = &pass.actor else {
            return Err(AuthError::forbidden(
                "code of guests and agents has no pass: a person with an account has one",
            ));
        };
        let generation = self.shared.cache.generation();
        let person = self.as_session(user).await?.ok_or(AuthError::Deactivated)?;
        let text = TokenText::generate(TokenKind::Api, Ulid::generate().into())?;
        let authenticated = Authenticated {
            actor: pass.actor.clone(),
            kind: TokenKind::Api,
            token_id: text.id.clone(),
            label: LABEL.to_owned(),
            scopes: pass.scopes.clone(),
            coverage: Coverage::Notebooks([pass.notebook.clone()].into()),
            expires_at: Some(self.now() + LIFE_MS),
            is_fresh: false,
            is_pass: true,
            ..person
        };
        // The store has no record of it: noted as just used, so that no use is written there.
        let touched_at = Millis::MAX;
        let cached = Cached { secret_hash: text.secret_hash(), authenticated, touched_at };
        self.shared.cache.put(text.id.clone(), cached, generation);
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use notarium_core::{Operation, Scope, UserId};
    use notarium_store::accounts::AccountChange;

    use super::super::{AuthOptions, ClientInfo, PasswordCost};
    use super::*;
    use crate::limits::clock::Clock;

    async fn scene() -> (Accounts, UserId, Arc<AtomicU64>) {
        let clock = Arc::new(AtomicU64::new(1_700_000_000_000));
        let password_cost = PasswordCost { memory_kib: 8, passes: 1 };
        let options = AuthOptions { password_cost, ..AuthOptions::default() };
        let store = crate::server::scratch::accounts().await;
        let accounts = Accounts::open(store, Clock::manual(clock.clone()), &options).await.unwrap();
        let printed = accounts.first_start().await.unwrap().unwrap().text.reveal();
        let owner = accounts.exchange_locally(&printed, ClientInfo::default()).await.unwrap();
        (accounts, owner.user.id, clock)
    }

    fn pass(actor: Actor) -> KernelPass {
        KernelPass { actor, notebook: "n".parse().unwrap(), scopes: [Scope::Read, Scope::Edit].into() }
    }

    #[tokio::test]
    async fn a_pass_reaches_one_notebook_and_is_used_again() {
        let (accounts, ann, clock) = scene().await;
        let passes = KernelPasses::default();
        let assistant = Actor::Assistant { for_user: ann.clone(), conversation: "c".parse().unwrap() };
        for actor in [Actor::User { id: ann }, assistant] {
            let token = passes.get(&accounts, &pass(actor.clone())).await.unwrap();
            let who = accounts.authenticate(&token).await.unwrap();
            assert_eq!((&who.actor, &who.scopes), (&actor, &[Scope::Read, Scope::Edit].into()));
            assert!(who.may_see(&"n".parse().unwrap()) && !who.may_see(&"other".parse().unwrap()));
            assert_eq!(who.authority_for(&"n".parse().unwrap()).token, None, "the accounts know no such token");
            assert!(!who.has(Operation::Share.scope()) && !who.has(Operation::Confirm.scope()));
            assert_eq!(passes.get(&accounts, &pass(actor.clone())).await.unwrap(), token);
            clock.fetch_add(LIFE_MS, Ordering::SeqCst);
            assert_eq!(accounts.authenticate(&token).await.unwrap_err(), AuthError::Expired);
            assert_ne!(passes.get(&accounts, &pass(actor)).await.unwrap(), token);
        }
    }

    #[tokio::test]
    async fn a_pass_ends_with_a_change_of_its_person_and_guests_get_none() {
        let (accounts, ann, _) = scene().await;
        let passes = KernelPasses::default();
        let assistant = Actor::Assistant { for_user: ann.clone(), conversation: "c".parse().unwrap() };
        let token = passes.get(&accounts, &pass(assistant.clone())).await.unwrap();
        let actor = Actor::User { id: ann.clone() };
        let (name, login) = ("Ann".to_owned(), "ann".to_owned());
        let renamed = AccountChange::SetProfile { user: ann.clone(), name, login };
        accounts.change(&[renamed], accounts.audit(&actor, "test", &ann)).await.unwrap();
        assert_eq!(accounts.authenticate(&token).await.unwrap_err(), AuthError::Invalid);
        assert_ne!(passes.get(&accounts, &pass(assistant)).await.unwrap(), token);
        let guest = Actor::Guest { share_link: "link".parse().unwrap() };
        assert!(matches!(passes.get(&accounts, &pass(guest)).await, Err(AuthError::Forbidden { .. })));
    }
}
