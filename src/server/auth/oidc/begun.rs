//! Sign-ins that have begun and wait for their browsers to return: bounded, and each is taken once.
//!
//! The store keeps them under the hash of their `state`, so that the browser may return to another node of the cluster. The node that began one
//! counts it until it ends here or expires.

use std::net::IpAddr;
use std::sync::Arc;

use dashmap::DashMap;
use notarium_core::Millis;
use notarium_store::accounts::{AccountError, AccountStore};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::provider::Secrets;
use super::{BEGUN_MS, Purpose};
use crate::limits::connection_slots::{ConnectionSlot, ConnectionSlots};

/// A sign-in while the browser is at the provider.
#[derive(Serialize, Deserialize)]
pub struct BegunSignIn {
    /// Hash of the key of the browser that may finish it.
    pub key_hash: [u8; 32],
    pub secrets: Secrets,
    pub purpose: Purpose,
    pub at: Millis,
}

pub struct BegunSignIns {
    store: Arc<dyn AccountStore>,
    places: ConnectionSlots,
    /// Places of the sign-ins that began here, by the key in the store, with the time.
    held: DashMap<[u8; 32], (Millis, ConnectionSlot)>,
}

impl BegunSignIns {
    pub fn new(store: Arc<dyn AccountStore>, places: ConnectionSlots) -> Self {
        Self { store, places, held: DashMap::new() }
    }

    /// Takes a place for a sign-in, after expired ones are removed if need be. `None`: all places are taken.
    pub fn enter(&self, address: Option<IpAddr>, now: Millis) -> Option<ConnectionSlot> {
        self.places.enter(address).or_else(|| {
            self.held.retain(|_, (at, _)| is_good(*at, now));
            self.places.enter(address)
        })
    }

    pub async fn put(&self, state: &str, begun: &BegunSignIn, place: ConnectionSlot) -> Result<(), AccountError> {
        let (key, at) = (key_of(state), begun.at);
        let text = serde_json::to_string(begun).expect("texts and numbers");
        self.store.keep_one_time(&key, &text, at + BEGUN_MS, at).await?;
        self.held.insert(key, (at, place));
        Ok(())
    }

    /// Takes the sign-in of this state, for the browser and the purpose that it was begun for. Any other request leaves
    /// it.
    pub async fn take(
        &self,
        state: &str,
        (key_hash, purpose): (&[u8; 32], &Purpose),
        now: Millis,
    ) -> Result<Option<BegunSignIn>, AccountError> {
        let key = key_of(state);
        let Some(text) = self.store.one_time(&key).await? else { return Ok(None) };
        let Ok(begun) = serde_json::from_str::<BegunSignIn>(&text) else { return Ok(None) };
        if begun.key_hash != *key_hash
            || begun.purpose != *purpose
            || !self.store.change_one_time(&key, &text, None).await?
        {
            return Ok(None);
        }
        self.held.remove(&key);
        Ok(is_good(begun.at, now).then_some(begun))
    }
}

fn key_of(state: &str) -> [u8; 32] {
    Sha256::digest(format!("begun sign-in\n{state}")).into()
}

fn is_good(at: Millis, now: Millis) -> bool {
    now.saturating_sub(at) <= BEGUN_MS
}
