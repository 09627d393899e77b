//! Stand-in for the provider in a program built without OpenID Connect (the feature `oidc`): its types have no values.

use notarium_core::Millis;

use super::{Asked, Failure, InvalidOidc, OidcSettings};
use crate::auth::ProvedIdentity;
use crate::limits::clock::Clock;

pub enum Secrets {}

pub enum Provider {}

impl Provider {
    pub fn new(_: OidcSettings, _: String, _: bool, _: Clock) -> Result<Self, InvalidOidc> {
        let message = "--oidc-issuer needs OpenID Connect, which this program was built without, as make run does: \
                       build it with cargo build --release";
        Err(InvalidOidc(message.to_owned()))
    }

    pub async fn look(&self) -> Result<(), String> {
        match *self {}
    }

    pub async fn ask(&self, _: bool) -> Result<Asked, String> {
        match *self {}
    }

    pub async fn exchange(&self, _: String, _: Secrets, _: Option<Millis>) -> Result<ProvedIdentity, Failure> {
        match *self {}
    }
}
