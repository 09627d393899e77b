//! Who did it. Stamped by the server from the connection, never read from a payload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, ConversationId, ShareLinkId, UserId};

/// The author of an event. Ids are opaque; names live in the accounts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    /// A person with an account, or a program that holds that person's token.
    User { id: UserId },
    /// Somebody who came by a share link.
    Guest { share_link: ShareLinkId },
    /// An assistant that acts for a person, with no more than that person's rights.
    Assistant { for_user: UserId, conversation: ConversationId },
    /// A runtime agent.
    Agent { id: AgentId },
    /// The server itself.
    System,
}

impl Actor {
    /// A short text that is unique per actor: the key for retries and undo.
    pub fn key(&self) -> String {
        match self {
            Actor::User { id } => format!("user:{id}"),
            Actor::Guest { share_link } => format!("guest:{share_link}"),
            Actor::Assistant { for_user, conversation } => format!("assistant:{for_user}:{conversation}"),
            Actor::Agent { id } => format!("agent:{id}"),
            Actor::System => "system".to_owned(),
        }
    }
}
