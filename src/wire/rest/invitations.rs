//! Lists of people to invite, as CSV: the answer, and the lines that are wrong.

use notarium_core::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::User;

/// Accounts that were created from a list, and the lines that changed nothing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct InvitedPeople {
    /// New accounts, in the order of the list.
    pub invited: Vec<InvitedPerson>,
    /// Lines whose login has an account already. Nothing of it was changed.
    pub existing: Vec<ExistingPerson>,
}

/// A new account with the invitation for its person. Only this answer has the token.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct InvitedPerson {
    /// Line of the list, from 1; the names of the columns are on line 1.
    pub line: u64,
    /// The account; it has no password until the token is used.
    pub user: User,
    /// Address from the list, to send the token to. The server does not keep it.
    pub email: Option<String>,
    /// Token for the person, who sends it once to `POST /api/session` with a password.
    pub token: String,
    /// Address of the page that takes the token, for the person to open.
    pub url: Option<String>,
    /// Milliseconds since 1970; absent: the token is valid until used.
    pub expires_at: Option<Millis>,
}

/// A line whose login has an account already.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ExistingPerson {
    /// Line of the list, from 1.
    pub line: u64,
    /// Login of the account.
    pub login: String,
}

/// A line of a list that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrongLine {
    /// Line of the list, from 1.
    pub line: u64,
    /// One sentence for people that says what to do.
    pub message: String,
}
