//! Kinds of tokens, and the scopes that a token of each kind may hold.

use notarium_record::{Scope, Scopes};
use serde::{Deserialize, Serialize};

/// Kind of a token; its text shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// Printed once at the first start; exchanged once for a session.
    Owner,
    /// An interactive session of a person.
    Session,
    /// A program that acts for a person.
    Api,
    /// A runtime agent.
    Agent,
    /// A guest with a share link. Its record is the [`ShareLink`].
    Share,
    /// Sets a new password, once.
    Reset,
    /// Opens a session in a browser, once. Only the running server has it; it is not stored.
    Link,
}

impl TokenKind {
    pub const ALL: [TokenKind; 7] = [
        TokenKind::Owner,
        TokenKind::Session,
        TokenKind::Api,
        TokenKind::Agent,
        TokenKind::Share,
        TokenKind::Reset,
        TokenKind::Link,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            TokenKind::Owner => "owner",
            TokenKind::Session => "session",
            TokenKind::Api => "api",
            TokenKind::Agent => "agent",
            TokenKind::Share => "share",
            TokenKind::Reset => "reset",
            TokenKind::Link => "link",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Returns true if it is exchanged for something else instead of being sent with requests.
    pub fn is_one_time(self) -> bool {
        matches!(self, TokenKind::Owner | TokenKind::Reset | TokenKind::Link)
    }

    /// **Invariant.** Only people hold `confirm`; an agent reports what its kernels do and nothing else.
    pub fn may_hold(self, scope: Scope) -> bool {
        match self {
            TokenKind::Session | TokenKind::Api => scope != Scope::Agent,
            TokenKind::Agent => matches!(scope, Scope::Read | Scope::Agent),
            TokenKind::Share => matches!(scope, Scope::Read | Scope::Edit | Scope::Run),
            TokenKind::Owner | TokenKind::Reset | TokenKind::Link => false,
        }
    }
}

/// Error: a scope that this kind of token may not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a token of kind {} cannot hold the scope {scope:?}: leave it out", kind.as_str())]
pub struct ForbiddenScope {
    pub kind: TokenKind,
    pub scope: Scope,
}

/// Scopes that a kind of token may hold; the constructors allow no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenScopes {
    kind: TokenKind,
    scopes: Scopes,
}

impl TokenScopes {
    /// Checks the scopes; the error names the first that the kind may not hold.
    pub fn new(kind: TokenKind, scopes: Scopes) -> Result<Self, ForbiddenScope> {
        match scopes.iter().find(|scope| !kind.may_hold(**scope)) {
            Some(&scope) => Err(ForbiddenScope { kind, scope }),
            None => Ok(Self { kind, scopes }),
        }
    }

    /// Returns all scopes that the kind may hold.
    pub fn all_of(kind: TokenKind) -> Self {
        Self::allowed_of(kind, EVERY_SCOPE.into())
    }

    /// Drops scopes that the kind may not hold: for records written by older versions or other programs.
    pub fn allowed_of(kind: TokenKind, scopes: Scopes) -> Self {
        Self { kind, scopes: scopes.into_iter().filter(|scope| kind.may_hold(*scope)).collect() }
    }

    pub fn kind(&self) -> TokenKind {
        self.kind
    }

    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }
}

const EVERY_SCOPE: [Scope; 7] =
    [Scope::Read, Scope::Edit, Scope::Run, Scope::Confirm, Scope::Manage, Scope::Admin, Scope::Agent];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_agent_guest_or_one_time_token_can_hold_confirm() {
        for kind in TokenKind::ALL {
            let asked = TokenScopes::new(kind, [Scope::Read, Scope::Confirm].into());
            let is_person = matches!(kind, TokenKind::Session | TokenKind::Api);
            assert_eq!(asked.is_ok(), is_person, "{kind:?}");
            assert_eq!(TokenScopes::all_of(kind).scopes().contains(&Scope::Confirm), is_person, "{kind:?}");
        }
        assert_eq!(TokenScopes::all_of(TokenKind::Agent).scopes(), &[Scope::Read, Scope::Agent].into());
    }
}
