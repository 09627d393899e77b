//! A cap with its usage, as an answer.

use notarium_store::StoreError;
use notarium_store::spending::{CapPeriod, Spender};
use notarium_wire::rest::{CapStatus, SpenderKind, SpendingPeriod};

use super::Spending;
use super::amounts::print_amount;
use super::caps::AppliedCap;
use super::reserve::STALE_MS;

impl Spending {
    /// The cap with the usage of its spender; a cap of each person or workspace has none.
    pub async fn status(&self, applied: AppliedCap, is_fixed: bool) -> Result<CapStatus, StoreError> {
        let AppliedCap { cap, check, ends_at } = applied;
        let counts = !matches!(check.spender, Spender::EachPerson | Spender::EachWorkspace);
        let used = match counts {
            true => Some(self.store.cap_use(&check, self.clock.now().saturating_sub(STALE_MS)).await?),
            false => None,
        };
        let (person, workspace) = match check.spender {
            Spender::Person(id) => (Some(id), None),
            Spender::Workspace(id) => (None, Some(id)),
            _ => (None, None),
        };
        Ok(CapStatus {
            spender: match cap.key.spender {
                Spender::Server => SpenderKind::Server,
                Spender::EachPerson => SpenderKind::EachPerson,
                Spender::EachWorkspace => SpenderKind::EachWorkspace,
                Spender::Person(_) => SpenderKind::Person,
                Spender::Workspace(_) => SpenderKind::Workspace,
            },
            person,
            workspace,
            period: match cap.key.period {
                CapPeriod::Day => SpendingPeriod::Day,
                CapPeriod::Month => SpendingPeriod::Month,
            },
            unit: check.unit.key().to_owned(),
            amount: print_amount(check.amount, &check.unit),
            by_owner: cap.key.by_owner,
            is_fixed,
            used: used.map(|it| print_amount(it.used, &check.unit)),
            reserved: used.map(|it| print_amount(it.reserved, &check.unit)),
            is_reached: used.is_some_and(|it| it.used >= check.amount),
            ends_at,
        })
    }
}
