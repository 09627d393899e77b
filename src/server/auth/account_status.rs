//! Other people's accounts: the account status of subjects to whom a command would give rights, the current rights of a
//! person for assistants, search for people by name, names of guests.

use std::collections::BTreeSet;

use dashmap::DashMap;
use notarium_core::{
    AccountStatus, AccountStatuses, Actor, AgentId, Authority, Command, Door, LimitName, Millis, NotebookId, Rejection,
    RejectionCode, ShareLinkId, Subject, TokenId, UserId, required_account_status,
};
use notarium_store::accounts::{AccountError, Coverage, MAX_ACCOUNT_PAGE, Token, TokenFilter, TokenKind, User};

use super::{Accounts, AuthError, Authenticated};

/// Limit of subjects that one command or batch names.
const MAX_NAMED: usize = 1_000;
/// Limit of tokens of one runtime agent that are read.
const MAX_TOKENS: usize = 100;

/// Account status of the subjects that the command names.
pub async fn look_up(
    accounts: &Accounts,
    notebook: &NotebookId,
    command: &Command,
) -> Result<AccountStatuses, Rejection> {
    let named: BTreeSet<Subject> = required_account_status(command).into_iter().collect();
    if named.len() > MAX_NAMED {
        let message = format!("one command names at most {MAX_NAMED} people, links and agents: send several");
        return Err(LimitName::NamedSubjects.refusal(MAX_NAMED as u64, message));
    }
    let mut found = Vec::new();
    for subject in named {
        let status = account_status(accounts, notebook, &subject).await.map_err(|error| unread(&error))?;
        found.push((subject, status));
    }
    Ok(AccountStatuses::new(found))
}

async fn account_status(
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

/// Placeholder of a token's id: no token has it.
const NO_TOKEN: &str = "none";

impl Accounts {
    /// Name of an agent, from its last token. `None`: there is no such agent, or its name cannot be read now.
    pub async fn agent_name(&self, id: &AgentId) -> Option<String> {
        let tokens = self.store().tokens(&TokenFilter::OfAgent(id.clone()), 1).await.ok()?;
        Some(tokens.first()?.label.clone())
    }

    /// The token; `None`: it was revoked, has expired, or has no record any more.
    pub async fn living_token(&self, token: &TokenId) -> Result<Option<Token>, AccountError> {
        let lives = |token: &Token| token.revoked_at.is_none() && token.expires_at.is_none_or(|at| self.now() < at);
        Ok(self.store().token(token).await?.filter(lives))
    }

    /// Rights that an interactive session of the person would have in a notebook, besides the notebook's access list.
    /// `None`: no such account, or it is deactivated. Read from the accounts each time, so never stale.
    pub async fn rights_of(&self, user: &UserId, notebook: &NotebookId) -> Result<Option<Authority>, AccountError> {
        let person = self.as_session(user).await?;
        Ok(person.map(|person| Authority { token: None, ..person.authority_for(notebook) }))
    }

    /// The person as an interactive session would be authenticated now; `None`: no such account, or it is deactivated.
    pub async fn as_session(&self, user: &UserId) -> Result<Option<Authenticated>, AccountError> {
        let account = self.store().user(user).await?.filter(|account| account.deactivated_at.is_none());
        let Some(account) = account else { return Ok(None) };
        let Ok(token_id) = TokenId::new(NO_TOKEN) else { return Ok(None) };
        let memberships = self.store().memberships(user).await?;
        Ok(Some(Authenticated {
            actor: Actor::User { id: user.clone() },
            name: account.name,
            kind: TokenKind::Session,
            token_id,
            label: String::new(),
            door: Door::default(),
            scopes: Authority::session().scopes,
            coverage: Coverage::All,
            workspaces: memberships.into_iter().map(|member| (member.workspace_id, member.role)).collect(),
            expires_at: None,
            is_fresh: true,
            asks_again: false,
            is_pass: false,
            placements: self.shared.placements.clone(),
        }))
    }
}

/// Most people that a search returns.
const MAX_FOUND: usize = 10;
const MAX_TEXT_CHARS: usize = 100;
/// Links with a remembered guest name. At this number all are cleared.
const MAX_GUESTS: usize = 10_000;

/// Last name that a guest chose, by link. In memory only.
#[derive(Default)]
pub(super) struct GuestNames(DashMap<ShareLinkId, String>);

impl Accounts {
    /// People whose name or login begins with each word: members of the caller's workspaces, for an administrator
    /// everybody.
    pub async fn people_matching(&self, who: &Authenticated, text: &str) -> Result<Vec<User>, AuthError> {
        let words: Vec<String> = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
        if words.is_empty() || text.chars().count() > MAX_TEXT_CHARS {
            return Err(AuthError::invalid(format!("text has 1 to {MAX_TEXT_CHARS} characters")));
        }
        let asking = self.user_of(who).await?;
        let mut found = match asking.is_admin {
            true => self.everybody(&words).await?,
            false => self.fellows(who, &words).await?,
        };
        found.sort_by_cached_key(|user| (user.name.to_lowercase(), user.id.clone()));
        found.truncate(MAX_FOUND);
        Ok(found)
    }

    async fn everybody(&self, words: &[String]) -> Result<Vec<User>, AccountError> {
        let (mut found, mut after) = (Vec::new(), None::<UserId>);
        loop {
            let page = self.store().users(after.as_ref(), MAX_ACCOUNT_PAGE).await?;
            let Some(last) = page.last() else { return Ok(found) };
            after = Some(last.id.clone());
            found.extend(page.into_iter().filter(|user| fits(user, words)));
        }
    }

    async fn fellows(&self, who: &Authenticated, words: &[String]) -> Result<Vec<User>, AccountError> {
        let mut ids = BTreeSet::new();
        for workspace in who.workspaces.keys() {
            ids.extend(self.store().members(workspace).await?.into_iter().map(|member| member.user_id));
        }
        let mut found = Vec::new();
        for id in ids {
            found.extend(self.store().user(&id).await?.filter(|user| fits(user, words)));
        }
        Ok(found)
    }

    /// A guest's name: the link's label, else the last name that a guest chose. `None`: there is no such link.
    pub async fn guest_name(&self, link: &ShareLinkId) -> Result<Option<String>, AccountError> {
        let Some(found) = self.store().share_link(link).await? else { return Ok(None) };
        if !found.label.is_empty() {
            return Ok(Some(found.label));
        }
        let said = self.shared.guest_names.0.get(link).map(|name| name.clone());
        Ok(Some(said.unwrap_or_else(|| "Guest".to_owned())))
    }

    /// Remembers the name that a guest chose.
    pub fn guest_says(&self, link: &ShareLinkId, name: &str) {
        let names = &self.shared.guest_names.0;
        if names.len() >= MAX_GUESTS && !names.contains_key(link) {
            names.clear();
        }
        names.insert(link.clone(), name.to_owned());
    }
}

fn fits(user: &User, words: &[String]) -> bool {
    let name = user.name.to_lowercase();
    let parts: Vec<&str> = name.split(|character: char| !character.is_alphanumeric()).collect();
    let login = user.login.as_deref().unwrap_or_default();
    let begins = |word: &String| login.starts_with(word) || parts.iter().any(|part| part.starts_with(word.as_str()));
    user.deactivated_at.is_none() && words.iter().all(begins)
}
