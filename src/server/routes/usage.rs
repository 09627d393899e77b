//! Routes for the usage of people and workspaces, for themselves and for administrators.

use std::cmp::Reverse;

use axum::Json;
use axum::extract::State;
use http::Method;
use notarium_core::Scope;
use notarium_wire::rest::{AccountUsage, Amounts, UsageAnswer, UsageQuery};

use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::QueryOf;
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;
use crate::limits::Quota;
use crate::limits::usage::{Account, Used};

const MAX_SHOWN: usize = 1_000;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .group("accounts", "/api/usage")
        .says("What you and your workspaces use of the server, and what you may; with `all=true` everybody, for administrators.")
        .on(Guard::User(Scope::Read), Method::GET, "", usage)
}

async fn usage(
    State(app): State<App>,
    who: Authenticated,
    QueryOf(query): QueryOf<UsageQuery>,
) -> Result<Json<UsageAnswer>, Problem> {
    let mut found = if query.all { everybody(&app, &who)? } else { own(&app, &who) };
    found.truncate(MAX_SHOWN);
    let accounts = found.into_iter().map(|(account, used)| shown(&app, account, used)).collect();
    Ok(Json(UsageAnswer { accounts }))
}

fn everybody(app: &App, who: &Authenticated) -> Result<Vec<(Account, Used)>, Problem> {
    if !who.has(Scope::Admin) {
        return Err(Problem::forbidden(
            "what everybody uses is for administrators: leave all=true out to see your own",
        ));
    }
    let mut found = app.usage.all();
    found.sort_by_key(|(_, used)| Reverse(used.log_bytes + used.blob_bytes));
    Ok(found)
}

fn own(app: &App, who: &Authenticated) -> Vec<(Account, Used)> {
    let person = who.user_id().cloned().map(Account::Person);
    let accounts = person.into_iter().chain(who.workspaces.keys().cloned().map(Account::Workspace));
    accounts.map(|account| (account.clone(), app.usage.of(&account))).collect()
}

fn shown(app: &App, account: Account, used: Used) -> AccountUsage {
    let quotas = app.usage.quotas();
    let Used { notebooks, log_bytes, blob_bytes } = used;
    let used = Amounts { notebooks, log_bytes, blob_bytes };
    match account {
        Account::Person(id) => {
            AccountUsage { person: Some(id), workspace: None, used, limits: amounts(&quotas.person) }
        }
        Account::Workspace(id) => {
            AccountUsage { person: None, workspace: Some(id), used, limits: amounts(&quotas.workspace) }
        }
    }
}

fn amounts(Quota { notebooks, log_bytes, blob_bytes }: &Quota) -> Amounts {
    Amounts { notebooks: *notebooks, log_bytes: *log_bytes, blob_bytes: *blob_bytes }
}
