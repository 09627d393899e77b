//! Actors (authors of events), subjects (entries of the access list), roles and scopes.
//! The server stamps the actor from the connection; it is never read from a payload.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, ConversationId, InvalidId, Millis, NotebookId, ShareLinkId, UserId, Version, WorkspaceId};

/// Holder of a role in a notebook's access list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", try_from = "FlatSubject")]
#[schemars(!try_from)]
pub enum Subject {
    /// A person with an account.
    User {
        /// The user's id, as in the actor of the user's events.
        id: UserId,
    },
    /// All guests who use one share link, without an account.
    ShareLink {
        /// The share link's id, as in the actor of the guests' events.
        id: ShareLinkId,
    },
    /// All members of a workspace.
    Workspace {
        /// The workspace's id, as in `GET /api/workspaces`.
        id: WorkspaceId,
    },
    /// A runtime agent.
    Agent {
        /// The agent's id, as in the actor of its events.
        id: AgentId,
    },
}

/// Form in which a [`Subject`] is read. Serde buffers a tagged enum, so that readers who refuse unknown fields would
/// not see those inside.
#[derive(Deserialize)]
struct FlatSubject {
    kind: SubjectKind,
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SubjectKind {
    User,
    ShareLink,
    Workspace,
    Agent,
}

impl TryFrom<FlatSubject> for Subject {
    type Error = InvalidId;

    fn try_from(FlatSubject { kind, id }: FlatSubject) -> Result<Self, InvalidId> {
        Ok(match kind {
            SubjectKind::User => Subject::User { id: UserId::new(id)? },
            SubjectKind::ShareLink => Subject::ShareLink { id: ShareLinkId::new(id)? },
            SubjectKind::Workspace => Subject::Workspace { id: WorkspaceId::new(id)? },
            SubjectKind::Agent => Subject::Agent { id: AgentId::new(id)? },
        })
    }
}

/// Role of a subject in one notebook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads, exports and forks, and is shown to others as present.
    Viewer,
    /// Has a viewer's rights, comments, and talks to assistants, which get no further rights.
    Commenter,
    /// Has a commenter's rights, runs, interrupts and answers input requests. Edits nothing.
    Runner,
    /// Has a commenter's rights, edits, and confirms edits. Runs nothing.
    Author,
    /// Has the rights of author and runner, confirms all tool calls, and organises the notebook.
    Editor,
    /// Has all rights of people: also policy, sharing, moderation, redaction and erasure.
    Owner,
    /// A runtime agent: reports what its kernels do.
    Agent,
}

impl Role {
    /// All roles, from the least to the most rights; the agent's last.
    pub const ALL: [Role; 7] =
        [Role::Viewer, Role::Commenter, Role::Runner, Role::Author, Role::Editor, Role::Owner, Role::Agent];
}

/// The notebook and version from which a new notebook was copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForkOrigin {
    /// The notebook that was copied.
    pub notebook: NotebookId,
    /// The copied version.
    pub version: Version,
}

/// A role and its expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// The role of the subject.
    pub role: Role,
    /// Time at which the role ends, in milliseconds since 1970. Absent: until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// One entry of the access list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessEntry {
    /// The holder of the role. Each subject has at most one entry.
    pub subject: Subject,
    /// Role and expiry. In JSON these fields are beside `subject`.
    #[serde(flatten)]
    pub grant: Grant,
}

/// Scope of a token: the operations that it allows at most. An interactive session has all scopes but `agent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read notebooks, as far as the role allows; every token has it.
    Read,
    /// Edit, comment, and talk to assistants.
    Edit,
    /// Run code and control kernels.
    Run,
    /// Decide on tool calls. No assistant, agent or MCP token can hold it.
    Confirm,
    /// Sharing, policy, redaction, erasure.
    Manage,
    /// Accounts, tokens and workspaces of the whole server.
    Admin,
    /// Act as a runtime agent.
    Agent,
}

/// The scopes of a connection.
pub type Scopes = BTreeSet<Scope>;

/// Scopes that an assistant can have: those of its person without `confirm`, `manage` and `admin`.
pub const ASSISTANT_SCOPES: [Scope; 3] = [Scope::Read, Scope::Edit, Scope::Run];

/// [`ASSISTANT_SCOPES`] as a set.
pub fn assistant_scopes() -> Scopes {
    ASSISTANT_SCOPES.into()
}

// --- actors ---

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

impl Subject {
    /// Key of the subject in lists: `user:ID`, `share_link:ID`, `workspace:ID`, `agent:ID`.
    pub fn key(&self) -> String {
        match self {
            Subject::User { id } => format!("user:{id}"),
            Subject::ShareLink { id } => format!("share_link:{id}"),
            Subject::Workspace { id } => format!("workspace:{id}"),
            Subject::Agent { id } => format!("agent:{id}"),
        }
    }
}

impl Actor {
    /// Entry of access lists that gives the actor a role of its own; an assistant has that of its person.
    pub fn subject(&self) -> Option<Subject> {
        match self {
            Actor::User { id } | Actor::Assistant { for_user: id, .. } => Some(Subject::User { id: id.clone() }),
            Actor::Guest { share_link } => Some(Subject::ShareLink { id: share_link.clone() }),
            Actor::Agent { id } => Some(Subject::Agent { id: id.clone() }),
            Actor::System => None,
        }
    }

    /// The person with an account who acts, or for whom an assistant acts; `None` for other actors.
    pub fn account(&self) -> Option<&UserId> {
        match self {
            Actor::User { id } | Actor::Assistant { for_user: id, .. } => Some(id),
            _ => None,
        }
    }

    /// The assistant that acts for the same person in a conversation; `None`: the actor has no account.
    #[must_use]
    pub fn assistant_in(&self, conversation: &ConversationId) -> Option<Actor> {
        let for_user = self.account()?.clone();
        Some(Actor::Assistant { for_user, conversation: conversation.clone() })
    }

    /// A short text that is unique per actor: the key for retries and undo.
    pub fn key(&self) -> String {
        self.key_parts().concat()
    }

    /// The key in pieces, for where it is not kept: an edit asks for it several times.
    pub(crate) fn key_parts(&self) -> [&str; 4] {
        match self {
            Actor::User { id } => ["user:", id.as_str(), "", ""],
            Actor::Guest { share_link } => ["guest:", share_link.as_str(), "", ""],
            Actor::Assistant { for_user, conversation } => {
                ["assistant:", for_user.as_str(), ":", conversation.as_str()]
            }
            Actor::Agent { id } => ["agent:", id.as_str(), "", ""],
            Actor::System => ["system", "", "", ""],
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
