//! Usage and quotas of people and workspaces: notebooks, bytes of their records, bytes of their blobs.
//!
//! Invariants:
//! - A notebook in a workspace counts for the workspace, any other for each of its owners.
//! - Usage is counted as it grows; earlier usage is read once after a start, in the background. While no quota is
//!   reached, the check of a command only reads a flag.
//! - Over a quota, commands that only grow the record are refused. Cancelling, undoing, deleting, clearing, denying and
//!   reports of runtime agents pass.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use notarium_core::{Actor, Command, LimitName, NotebookId, Rejection, UserId, WorkspaceId};
use notarium_store::NotebookSize;
use parking_lot::Mutex;

use crate::limits::{Quota, Quotas};

/// Account that a notebook counts for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Account {
    Person(UserId),
    Workspace(WorkspaceId),
}

/// Usage of an account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    pub notebooks: u64,
    pub log_bytes: u64,
    pub blob_bytes: u64,
}

#[derive(Debug, Default)]
struct NotebookUsage {
    owners: Vec<UserId>,
    workspace: Option<WorkspaceId>,
    log_bytes: u64,
    blob_bytes: u64,
    /// Bytes of the state as JSON, when it was last measured.
    state_bytes: u64,
    /// Bytes recorded since then.
    unmeasured_bytes: u64,
}

#[derive(Debug, Default)]
struct UsageState {
    notebooks: HashMap<NotebookId, NotebookUsage>,
    accounts: HashMap<Account, Used>,
    /// Keys of accounts and notebooks that have reached a quota.
    full: BTreeSet<String>,
}

/// Usage counters of a server, and its quotas.
#[derive(Debug, Default)]
pub struct UsageCounters {
    quotas: Quotas,
    state: Mutex<UsageState>,
    is_anybody_full: AtomicBool,
}

impl Account {
    fn key(&self) -> String {
        match self {
            Self::Person(id) => format!("person {id}"),
            Self::Workspace(id) => format!("workspace {id}"),
        }
    }

    fn quota<'a>(&self, quotas: &'a Quotas) -> &'a Quota {
        match self {
            Self::Person(_) => &quotas.person,
            Self::Workspace(_) => &quotas.workspace,
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Person(_) => "person",
            Self::Workspace(_) => "workspace",
        })
    }
}

impl NotebookUsage {
    fn accounts(&self) -> Vec<Account> {
        match &self.workspace {
            Some(workspace) => vec![Account::Workspace(workspace.clone())],
            None => self.owners.iter().cloned().map(Account::Person).collect(),
        }
    }

    fn used(&self) -> Used {
        Used { notebooks: 1, log_bytes: self.log_bytes, blob_bytes: self.blob_bytes }
    }
}

impl UsageCounters {
    pub fn new(quotas: Quotas) -> Self {
        Self { quotas, ..Self::default() }
    }

    pub fn quotas(&self) -> &Quotas {
        &self.quotas
    }

    // --- counting ---

    /// Changes the counters of a notebook, and those of its accounts.
    fn change(&self, id: &NotebookId, change: impl FnOnce(&mut NotebookUsage)) {
        let mut state = self.state.lock();
        let UsageState { notebooks, accounts, full } = &mut *state;
        if !notebooks.contains_key(id) {
            notebooks.insert(id.clone(), NotebookUsage::default());
        }
        let Some(notebook) = notebooks.get_mut(id) else { return };
        let (before, used) = (notebook.accounts(), notebook.used());
        for account in &before {
            accounts.entry(account.clone()).or_default().subtract(used);
        }
        change(notebook);
        let (after, used) = (notebook.accounts(), notebook.used());
        for account in &after {
            accounts.entry(account.clone()).or_default().add(used);
        }
        for account in before.iter().chain(&after) {
            let used = accounts.get(account).copied().unwrap_or_default();
            note(full, account.key(), used.fills(account.quota(&self.quotas)));
        }
        note(full, format!("notebook {id}"), notebook.state_bytes >= self.quotas.state_bytes);
        self.is_anybody_full.store(!full.is_empty(), Ordering::Relaxed);
    }

    /// Forgets the bytes counted so far: call before the store is asked for its sizes, which contain them.
    pub fn begin_count(&self) {
        let ids: Vec<NotebookId> = self.state.lock().notebooks.keys().cloned().collect();
        for id in ids {
            self.change(&id, |notebook| (notebook.log_bytes, notebook.blob_bytes) = (0, 0));
        }
    }

    /// Adds usage from before [`Self::begin_count`]. How much of it the state shows is unknown until it is measured.
    pub fn found(&self, NotebookSize { notebook_id, log_bytes, blob_bytes }: NotebookSize) {
        self.change(&notebook_id, |notebook| {
            notebook.log_bytes += log_bytes;
            if notebook.state_bytes == 0 {
                notebook.unmeasured_bytes += log_bytes;
            }
            notebook.blob_bytes += blob_bytes;
        });
    }

    /// Adds an append. `owner`: the owner, if the append created the notebook.
    pub fn recorded(&self, id: &NotebookId, bytes: u64, owner: Option<UserId>) {
        self.change(id, |notebook| {
            notebook.log_bytes += bytes;
            notebook.unmeasured_bytes += bytes;
            if let Some(owner) = owner {
                notebook.owners = vec![owner];
            }
        });
    }

    pub fn stored(&self, id: &NotebookId, blob_bytes: u64) {
        self.change(id, |notebook| notebook.blob_bytes += blob_bytes);
    }

    pub fn removed(&self, id: &NotebookId, blob_bytes: u64) {
        self.change(id, |notebook| notebook.blob_bytes = notebook.blob_bytes.saturating_sub(blob_bytes));
    }

    pub fn owned(&self, id: &NotebookId, owners: Vec<UserId>) {
        self.change(id, |notebook| notebook.owners = owners);
    }

    /// Forgets a notebook that was erased.
    pub fn erased(&self, id: &NotebookId) {
        self.change(id, |notebook| {
            *notebook = NotebookUsage::default();
        });
        self.state.lock().notebooks.remove(id);
    }

    pub fn placed(&self, id: &NotebookId, workspace: Option<WorkspaceId>) {
        self.change(id, |notebook| notebook.workspace = workspace);
    }

    /// True if enough was recorded since the last measurement. A state over its limit is measured after any append: it
    /// may have shrunk.
    pub fn is_to_be_measured(&self, id: &NotebookId) -> bool {
        let state = self.state.lock();
        let Some(notebook) = state.notebooks.get(id) else { return false };
        let is_full = notebook.state_bytes >= self.quotas.state_bytes;
        notebook.unmeasured_bytes >= self.quotas.state_bytes / 16 || (is_full && notebook.unmeasured_bytes > 0)
    }

    /// True if the state was not measured since the start. What it holds from before may not be counted yet.
    pub fn is_unmeasured(&self, id: &NotebookId) -> bool {
        self.state.lock().notebooks.get(id).is_none_or(|notebook| notebook.state_bytes == 0)
    }

    /// Records the size of a state; returns true if it exceeds three quarters of its quota.
    pub fn measured(&self, id: &NotebookId, state_bytes: u64) -> bool {
        self.change(id, |notebook| {
            notebook.state_bytes = state_bytes;
            notebook.unmeasured_bytes = 0;
        });
        state_bytes > self.quotas.state_bytes / 4 * 3
    }

    /// Bytes that should leave a state of this size.
    pub fn excess(&self, state_bytes: u64) -> u64 {
        state_bytes.saturating_sub(self.quotas.state_bytes / 2)
    }

    // --- looking ---

    pub fn of(&self, account: &Account) -> Used {
        self.state.lock().accounts.get(account).copied().unwrap_or_default()
    }

    /// Usage of all accounts that use anything.
    /// Usage of all notebooks together.
    pub fn total(&self) -> Used {
        let mut total = Used::default();
        self.state.lock().notebooks.values().for_each(|notebook| total.add(notebook.used()));
        total
    }

    pub fn all(&self) -> Vec<(Account, Used)> {
        let state = self.state.lock();
        let used = state.accounts.iter().filter(|(_, used)| **used != Used::default());
        used.map(|(account, used)| (account.clone(), *used)).collect()
    }

    // --- refusing ---

    /// Refuses a command that grows something over its quota.
    pub fn check(&self, actor: &Actor, notebook: &NotebookId, command: &Command) -> Result<(), Rejection> {
        if !self.is_anybody_full.load(Ordering::Relaxed) {
            return Ok(());
        }
        let person = match actor {
            Actor::User { id } | Actor::Assistant { for_user: id, .. } => Some(id),
            Actor::Guest { .. } => None,
            Actor::Agent { .. } | Actor::System => return Ok(()),
        };
        match person {
            Some(person) if creates(command) => self.check_new(&Account::Person(person.clone())),
            _ if grows(command) => self.check_growth(notebook),
            _ => Ok(()),
        }
    }

    /// Refuses one more notebook of an account over its quota.
    pub fn check_new(&self, account: &Account) -> Result<(), Rejection> {
        let (used, quota) = (self.of(account), account.quota(&self.quotas));
        if used.notebooks >= quota.notebooks {
            return Err(LimitName::AccountNotebooks.refusal(quota.notebooks, format!(
                "{} notebooks is the limit of a {account} on this server: move some to a workspace, hand them to another owner, or ask \
                 its operator (--max-notebooks-per-{account})",
                quota.notebooks
            )));
        }
        check_log(account, used, quota)
    }

    fn check_growth(&self, id: &NotebookId) -> Result<(), Rejection> {
        let state = self.state.lock();
        let Some(notebook) = state.notebooks.get(id) else { return Ok(()) };
        if notebook.state_bytes >= self.quotas.state_bytes {
            return Err(LimitName::NotebookState.refusal(self.quotas.state_bytes, format!(
                "this notebook shows {} MiB, and {} MiB is the limit: what runs that have ended printed leaves the state by itself and \
                 stays visible, so try again in some seconds; where that is not enough clear the outputs of cells that show much \
                 (notarium cell clear), or delete cells; runs stay in the record",
                notebook.state_bytes >> 20,
                self.quotas.state_bytes >> 20
            )));
        }
        for account in notebook.accounts() {
            let used = state.accounts.get(&account).copied().unwrap_or_default();
            check_log(&account, used, account.quota(&self.quotas))?;
        }
        Ok(())
    }

    /// Refuses `bytes` more in blobs, if that exceeds the quota of any account of the notebook.
    pub fn check_blob(&self, id: &NotebookId, bytes: u64) -> Result<(), Rejection> {
        let state = self.state.lock();
        let Some(notebook) = state.notebooks.get(id) else { return Ok(()) };
        let accounts = notebook.accounts();
        drop(state);
        accounts.iter().try_for_each(|account| self.check_blobs_of(account, bytes))
    }

    /// Refuses `bytes` more in blobs, if that exceeds the account's quota.
    pub fn check_blobs_of(&self, account: &Account, bytes: u64) -> Result<(), Rejection> {
        let (used, quota) = (self.of(account), account.quota(&self.quotas));
        if used.blob_bytes.saturating_add(bytes) <= quota.blob_bytes {
            return Ok(());
        }
        Err(LimitName::AccountBlobs.refusal(quota.blob_bytes, format!(
            "large outputs of this {account} have {} MiB, and {} MiB is the limit on this server: show less, or ask its operator \
             (--max-blobs-per-{account})",
            used.blob_bytes >> 20,
            quota.blob_bytes >> 20
        )))
    }

    /// Refuses a notebook of another account, if the workspace is over its quota.
    pub fn check_place(&self, id: &NotebookId, workspace: &WorkspaceId) -> Result<(), Rejection> {
        let account = Account::Workspace(workspace.clone());
        let is_there = self.state.lock().notebooks.get(id).is_some_and(|one| one.workspace.as_ref() == Some(workspace));
        if is_there { Ok(()) } else { self.check_new(&account) }
    }
}

fn note(full: &mut BTreeSet<String>, key: String, is_full: bool) {
    match is_full {
        true => _ = full.insert(key),
        false => _ = full.remove(&key),
    }
}

fn check_log(account: &Account, used: Used, quota: &Quota) -> Result<(), Rejection> {
    if used.log_bytes < quota.log_bytes {
        return Ok(());
    }
    Err(LimitName::AccountLog.refusal(quota.log_bytes, format!(
        "the records of this {account}'s notebooks have {} MiB, and {} MiB is the limit on this server: what is there can be read, \
         exported, undone, deleted and cancelled; for more ask its operator (--max-log-per-{account})",
        used.log_bytes >> 20,
        quota.log_bytes >> 20
    )))
}

impl Used {
    fn add(&mut self, other: Self) {
        self.notebooks += other.notebooks;
        self.log_bytes += other.log_bytes;
        self.blob_bytes += other.blob_bytes;
    }

    fn subtract(&mut self, other: Self) {
        self.notebooks = self.notebooks.saturating_sub(other.notebooks);
        self.log_bytes = self.log_bytes.saturating_sub(other.log_bytes);
        self.blob_bytes = self.blob_bytes.saturating_sub(other.blob_bytes);
    }

    /// True at a quota. Blobs are checked separately, with the size of the next one.
    fn fills(self, quota: &Quota) -> bool {
        self.notebooks >= quota.notebooks || self.log_bytes >= quota.log_bytes
    }
}

fn creates(command: &Command) -> bool {
    match command {
        Command::CreateNotebook { .. } => true,
        Command::Batch { commands } => commands.first().is_some_and(creates),
        _ => false,
    }
}

/// True for commands that add to the record and are not needed to get below a quota.
fn grows(command: &Command) -> bool {
    use Command as C;
    match command {
        C::Batch { commands } => commands.iter().any(grows),
        C::InsertCell(_) | C::EditSource(_) | C::ReplaceSource { .. } | C::RestoreCell { .. } => true,
        C::SetNotebookMetadata { .. } | C::SetCellMetadata { .. } | C::SetCellAttachments { .. } => true,
        C::RecordExecution { .. } | C::RequestExecution(_) | C::LaunchKernel { .. } => true,
        C::StartTurn(_) | C::RequestToolCall(_) => true,
        C::AddComment(_) | C::EditComment(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_from_before_the_count_of_the_store_count_once() {
        let usage = UsageCounters::new(Quotas::default());
        let (id, ann) = ("n".parse::<NotebookId>().unwrap(), "ann".parse::<UserId>().unwrap());
        usage.recorded(&id, 100, Some(ann.clone()));
        usage.stored(&id, 7);
        usage.begin_count();
        usage.recorded(&id, 20, None);
        usage.found(NotebookSize { notebook_id: id, log_bytes: 1_100, blob_bytes: 57 });
        assert_eq!(usage.of(&Account::Person(ann)), Used { notebooks: 1, log_bytes: 1_120, blob_bytes: 57 });
    }
}
