//! Looks up the account status of subjects to whom a command would give rights.

use std::collections::BTreeSet;

use notarium_core::{
    AccountStatus, AccountStatuses, AgentId, Command, Millis, NotebookId, RawJson, Rejection, RejectionCode,
    ShareLinkId, Subject, UserId, required_account_status,
};
use notarium_store::accounts::{AccountError, TokenFilter};
use notarium_wire::CommandMessage;

use crate::auth::Accounts;

/// Names in a body of commands that name subjects.
const NAMING: [&str; 4] = ["GrantAccess", "TakeOverNotebook", "AddComment", "EditComment"];
/// Limit of subjects that one command or batch names.
const MAX_NAMED: usize = 1_000;
/// Limit of tokens of one runtime agent that are read.
const MAX_TOKENS: usize = 100;

/// Account status of the subjects that the command names.
pub async fn look_up(accounts: &Accounts, message: &CommandMessage) -> Result<AccountStatuses, Rejection> {
    let named = named_by(&message.body);
    if named.len() > MAX_NAMED {
        let message = format!("one command names at most {MAX_NAMED} people, links and agents: send several");
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    let mut found = Vec::new();
    for subject in named {
        let standing = standing(accounts, &message.notebook, &subject).await.map_err(|error| unread(&error))?;
        found.push((subject, standing));
    }
    Ok(AccountStatuses::new(found))
}

/// Subjects that a command names. The text search avoids parsing most commands. An unreadable command is refused by the
/// room, with the reason.
fn named_by(body: &RawJson) -> BTreeSet<Subject> {
    if !NAMING.iter().any(|name| body.get().contains(name)) {
        return BTreeSet::new();
    }
    let named = Command::decode(body.get()).map(|command| required_account_status(&command)).unwrap_or_default();
    named.into_iter().collect()
}

async fn standing(
    accounts: &Accounts,
    notebook: &NotebookId,
    subject: &Subject,
) -> Result<AccountStatus, AccountError> {
    match subject {
        Subject::User { id } => of_user(accounts, id).await,
        Subject::ShareLink { id } => of_share_link(accounts, notebook, id).await,
        Subject::Workspace { id } => {
            Ok(accounts.store().workspace(id).await?.map_or(AccountStatus::Unknown, |_| AccountStatus::Active))
        }
        Subject::Agent { id } => of_agent(accounts, id).await,
    }
}

async fn of_user(accounts: &Accounts, id: &UserId) -> Result<AccountStatus, AccountError> {
    Ok(match accounts.store().user(id).await? {
        Some(user) if user.deactivated_at.is_some() => AccountStatus::Ended { name: user.name },
        Some(_) => AccountStatus::Active,
        None => AccountStatus::Unknown,
    })
}

/// Status of a link. A link of another notebook is unknown.
async fn of_share_link(
    accounts: &Accounts,
    notebook: &NotebookId,
    id: &ShareLinkId,
) -> Result<AccountStatus, AccountError> {
    let link = accounts.store().share_link(id).await?.filter(|link| link.notebook_id == *notebook);
    Ok(match link {
        Some(link) if link.revoked_at.is_some() || is_over(link.expires_at, accounts.now()) => {
            AccountStatus::Ended { name: link.label }
        }
        Some(_) => AccountStatus::Active,
        None => AccountStatus::Unknown,
    })
}

async fn of_agent(accounts: &Accounts, id: &AgentId) -> Result<AccountStatus, AccountError> {
    let tokens = accounts.store().tokens(&TokenFilter::OfAgent(id.clone()), MAX_TOKENS).await?;
    Ok(match tokens.first() {
        Some(last) if tokens.iter().all(|token| is_over(token.expires_at, accounts.now())) => {
            AccountStatus::Ended { name: last.label.clone() }
        }
        Some(_) => AccountStatus::Active,
        None => AccountStatus::Unknown,
    })
}

fn is_over(expires_at: Option<Millis>, now: Millis) -> bool {
    expires_at.is_some_and(|at| at <= now)
}

fn unread(error: &AccountError) -> Rejection {
    tracing::error!(%error, "subjects not looked up");
    Rejection::new(RejectionCode::Unavailable, "the server could not read the accounts: try again later")
}
