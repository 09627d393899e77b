//! Sign-ins that were begun and wait for their browsers to return: bounded, and each is taken once.

use std::net::IpAddr;

use dashmap::DashMap;
use notarium_core::{Millis, UserId};

use super::BEGUN_MS;
use super::provider::Secrets;
use crate::limits::connection_slots::{ConnectionSlot, ConnectionSlots};

/// Purpose of a sign-in with the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    SignIn,
    /// To authenticate again before a decision.
    Afresh,
    /// To link the provider to this account.
    Link(UserId),
}

/// State of a sign-in while the browser is at the provider.
pub struct Begun {
    /// Hash of the key of the browser that may finish it.
    pub key_hash: [u8; 32],
    pub secrets: Secrets,
    pub purpose: Purpose,
    pub at: Millis,
    /// Released when it is dropped.
    pub _place: ConnectionSlot,
}

pub struct BegunSignIns {
    places: ConnectionSlots,
    /// Sign-ins by their `state` parameter.
    begun: DashMap<String, Begun>,
}

impl BegunSignIns {
    pub fn new(places: ConnectionSlots) -> Self {
        Self { places, begun: DashMap::new() }
    }

    /// Takes a place for a sign-in, after expired ones are removed if need be. `None`: all places are taken.
    pub fn enter(&self, address: Option<IpAddr>, now: Millis) -> Option<ConnectionSlot> {
        self.places.enter(address).or_else(|| {
            self.begun.retain(|_, begun| is_good(begun, now));
            self.places.enter(address)
        })
    }

    pub fn put(&self, state: String, begun: Begun) {
        self.begun.insert(state, begun);
    }

    /// Takes the sign-in of this state, for the browser and the purpose that it was begun for. Any other request leaves
    /// it.
    pub fn take(&self, state: &str, key_hash: &[u8; 32], purpose: &Purpose, now: Millis) -> Option<Begun> {
        let is_it = |begun: &Begun| begun.key_hash == *key_hash && begun.purpose == *purpose;
        let (_, begun) = self.begun.remove_if(state, |_, begun| is_it(begun))?;
        is_good(&begun, now).then_some(begun)
    }
}

fn is_good(begun: &Begun, now: Millis) -> bool {
    now.saturating_sub(begun.at) <= BEGUN_MS
}
