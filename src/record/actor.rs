//! Actor of an event. The server stamps it from the connection; it is never read from a payload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, ConversationId, ShareLinkId, UserId};

/// The author of an event. Ids are opaque; the accounts have the names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    /// A person with an account, or a program that holds that person's token.
    User {
        /// The user's id. `GET /api/people/{user}` returns the name.
        id: UserId,
    },
    /// A guest who uses a share link, without an account.
    Guest {
        /// The share link's id, the same for all its guests.
        share_link: ShareLinkId,
    },
    /// An assistant that acts for a person, with no more than that person's rights.
    Assistant {
        /// The person for whom the assistant acts, with at most this person's rights.
        for_user: UserId,
        /// The conversation in which the assistant acts.
        conversation: ConversationId,
    },
    /// A runtime agent.
    Agent {
        /// The id from the agent's token, the same after every start.
        id: AgentId,
    },
    /// The server itself.
    System,
}

impl Actor {
    /// A short text that is unique per actor: the key for retries and undo.
    pub fn key(&self) -> String {
        match self {
            // Called several times for each edit: `concat` allocates once.
            Actor::User { id } => ["user:", id.as_str()].concat(),
            Actor::Guest { share_link } => ["guest:", share_link.as_str()].concat(),
            Actor::Assistant { for_user, conversation } => {
                ["assistant:", for_user.as_str(), ":", conversation.as_str()].concat()
            }
            Actor::Agent { id } => ["agent:", id.as_str()].concat(),
            Actor::System => "system".to_owned(),
        }
    }

    /// The conversation in which an assistant acts; `None` for other actors.
    pub fn conversation(&self) -> Option<&ConversationId> {
        match self {
            Actor::Assistant { conversation, .. } => Some(conversation),
            _ => None,
        }
    }

    /// Parses the key of an actor; `None` if the text is no key.
    pub fn from_key(key: &str) -> Option<Self> {
        let (kind, rest) = key.split_once(':').unwrap_or((key, ""));
        match kind {
            "user" => Some(Actor::User { id: UserId::new(rest).ok()? }),
            "guest" => Some(Actor::Guest { share_link: ShareLinkId::new(rest).ok()? }),
            "assistant" => {
                let (user, conversation) = rest.split_once(':')?;
                let (for_user, conversation) = (UserId::new(user).ok()?, ConversationId::new(conversation).ok()?);
                Some(Actor::Assistant { for_user, conversation })
            }
            "agent" => Some(Actor::Agent { id: AgentId::new(rest).ok()? }),
            "system" => rest.is_empty().then_some(Actor::System),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_actor_comes_back_from_its_key() {
        let keys = ["user:u-1", "guest:link", "assistant:u-1:c_2", "agent:a", "system"];
        for key in keys {
            assert_eq!(Actor::from_key(key).map(|actor| actor.key()).as_deref(), Some(key));
        }
    }

    #[test]
    fn what_is_no_key_is_no_actor() {
        for key in ["", "user", "user:", "assistant:u-1", "assistant:u:c:d", "agent:a b", "robot:r", "system:x"] {
            assert_eq!(Actor::from_key(key), None, "{key}");
        }
    }
}
