//! Access to a notebook: subjects, roles, grants, scopes. `core/authority.rs` says what a role may do.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, InvalidId, Millis, NotebookId, ShareLinkId, UserId, Version, WorkspaceId};

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
