//! Access to a notebook: subjects, roles, grants, scopes. `core/authority.rs` says what a role may do.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, InvalidId, Millis, NotebookId, ShareLinkId, UserId, Version, WorkspaceId};

/// Whom a notebook's access list names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", try_from = "FlatSubject")]
#[schemars(!try_from)]
pub enum Subject {
    /// A person with an account.
    User {
        /// As in the actor of the person's events.
        id: UserId,
    },
    /// All who come by a link, without an account.
    ShareLink {
        /// As in the actor of their events.
        id: ShareLinkId,
    },
    /// Each member of a workspace.
    Workspace {
        /// As in `GET /api/workspaces`.
        id: WorkspaceId,
    },
    /// A runtime agent.
    Agent {
        /// As in the actor of its events.
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

/// What somebody is in one notebook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads, exports and forks; is seen by others.
    Viewer,
    /// As a viewer, and comments and talks to assistants, which then can do as little.
    Commenter,
    /// Runs, interrupts, answers stdin; edits nothing.
    Runner,
    /// Edits and confirms edits; runs nothing.
    Author,
    /// Edits, runs, confirms, undoes.
    Editor,
    /// Everything, and policy, sharing, redaction, erasure.
    Owner,
    /// A runtime agent: reports what its kernels do.
    Agent,
}

impl Role {
    /// All roles, from the least to the most rights; the agent's last.
    pub const ALL: [Role; 7] =
        [Role::Viewer, Role::Commenter, Role::Runner, Role::Author, Role::Editor, Role::Owner, Role::Agent];
}

/// The version of another notebook that a new one was copied from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForkOrigin {
    /// The notebook that was copied.
    pub notebook: NotebookId,
    /// The version of it that was copied.
    pub version: Version,
}

/// Right of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// What the subject may do.
    pub role: Role,
    /// Milliseconds since 1970; absent: until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// One line of the access list. A list, because JSON keys cannot be subjects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessEntry {
    /// Each stands in the list once.
    pub subject: Subject,
    /// Role and expiry. In JSON these fields are beside `subject`.
    #[serde(flatten)]
    pub grant: Grant,
}

/// What a token is for. An interactive session holds all but `Agent`.
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
