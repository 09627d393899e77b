//! Routes of spending: usage of models as JSON and CSV, caps.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;
use notarium_core::{Scope, UserId, WorkspaceId};
use notarium_store::CatalogQuery;
use notarium_store::accounts::{AccountChange, AccountError};
use notarium_store::spending::{Cap, CapKey, CapPeriod, MAX_SPENDING_ROWS, Spender, SpendingQuery};
use notarium_wire::rest::{
    CapName, CapsAnswer, CapsQuery, ModelUsageAnswer, ModelUsageQuery, NewCap, SpenderKind, SpendingPeriod, UsageColumn,
};

use super::files::attachment;
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{JsonBody, NoContent, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::notebooks::listing::{self, ListingQuery};
use crate::spending::amounts::{parse_amount, parse_unit, print_amount};
use crate::spending::calendar::{day_of, first_day, parse_day, print_day};
use crate::spending::caps::{AppliedCap, applicable, applied};
use crate::spending::report;

/// Notebooks per read of a list, for their titles.
const TITLES_PAGE: usize = 1_000;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let (read, manage) = (Guard::User(Scope::Read), Guard::User(Scope::Manage));
    route_table!(router; "spending" "/api" {
        /// Tokens and cost of model calls, summed by day, model, person, workspace or notebook.
        GET "/spending", read => usage;
        /// The same as CSV.
        GET "/spending.csv", read => usage_as_csv, answers_plain("200", "text/csv; charset=utf-8");
        /// Caps on spending with their usage.
        GET "/caps", read => list_caps;
        /// Sets a cap, in place of the one of the same spender, period and unit.
        PUT "/caps", manage => set_cap;
        /// Removes a cap.
        DELETE "/caps", manage => remove_cap;
    })
}

// --- usage ---

async fn usage(
    State(app): State<App>,
    who: Authenticated,
    QueryOf(query): QueryOf<ModelUsageQuery>,
) -> Result<Json<ModelUsageAnswer>, Problem> {
    Ok(Json(answer(&app, &who, query).await?))
}

async fn usage_as_csv(
    State(app): State<App>,
    who: Authenticated,
    QueryOf(query): QueryOf<ModelUsageQuery>,
) -> Result<Response, Problem> {
    let by = query.by;
    let answer = answer(&app, &who, query).await?;
    let name = format!("spending by {} {} to {}.csv", report::word(by), answer.since, answer.until);
    let headers = [
        (header::CONTENT_TYPE, http::HeaderValue::from_static("text/csv; charset=utf-8")),
        (header::CONTENT_DISPOSITION, attachment(&name)),
    ];
    Ok((headers, report::csv(by, &answer)).into_response())
}

async fn answer(app: &App, who: &Authenticated, query: ModelUsageQuery) -> Result<ModelUsageAnswer, Problem> {
    let today = day_of(app.clock.now());
    let day = |text: Option<String>, default: u64| match text {
        None => Ok(default),
        Some(text) => parse_day(&text)
            .ok_or_else(|| Problem::invalid(format!("{text:?} must be a day such as {}", print_day(today)))),
    };
    let since = day(query.since, first_day(CapPeriod::Month, today))?;
    let until = day(query.until, today)?;
    let (person, workspace) = scope(app, who, query.all, query.workspace)?;
    let filter = SpendingQuery { since_day: since, until_day: Some(until), person, workspace };
    let found = app.spending.store.spending(report::column(query.by), &filter).await?;
    if found.len() == MAX_SPENDING_ROWS {
        return Err(Problem::invalid(format!(
            "the answer has more than {MAX_SPENDING_ROWS} rows: choose fewer days, or another column"
        )));
    }
    let ids: Vec<&str> = found.iter().map(|row| row.value.as_str()).collect();
    let names = names(app, who, query.by, query.all, &ids).await?;
    let rows = report::rows(query.by, found, &names);
    Ok(ModelUsageAnswer { since: print_day(since), until: print_day(until), rows })
}

/// Person and workspace whose usage the caller may see.
fn scope(
    app: &App,
    who: &Authenticated,
    all: bool,
    workspace: Option<WorkspaceId>,
) -> Result<(Option<UserId>, Option<WorkspaceId>), Problem> {
    match workspace {
        _ if who.has(Scope::Admin) && (all || workspace.is_some()) => Ok((None, workspace)),
        Some(workspace) => {
            app.accounts.check_manages(who, &workspace)?;
            Ok((None, Some(workspace)))
        }
        None if all => Err(Problem::forbidden(
            "what everybody spends is for administrators: leave all=true out to see what you spend yourself",
        )),
        None => Ok((who.user_id().cloned(), None)),
    }
}

/// Names of the ids in a column.
async fn names(
    app: &App,
    who: &Authenticated,
    by: UsageColumn,
    all: bool,
    ids: &[&str],
) -> Result<BTreeMap<String, String>, Problem> {
    let store = app.accounts.store();
    let mut names = BTreeMap::new();
    match by {
        UsageColumn::Day | UsageColumn::Model => {}
        UsageColumn::Person => {
            for id in ids {
                let Ok(id) = id.parse() else { continue };
                let user = store.user(&id).await?;
                names.extend(user.map(|user| (id.to_string(), user.name)));
            }
        }
        UsageColumn::Workspace => {
            for id in ids {
                let Ok(id) = id.parse() else { continue };
                let workspace = store.workspace(&id).await?;
                names.extend(workspace.map(|workspace| (id.to_string(), workspace.name)));
            }
        }
        UsageColumn::Notebook if all => {
            let note = |entry: notarium_store::CatalogEntry| {
                names.insert(entry.notebook_id.to_string(), entry.title);
            };
            app.each_listed(CatalogQuery::default(), note).await?;
        }
        UsageColumn::Notebook => names = titles(app, who).await?,
    }
    Ok(names)
}

/// Titles of the notebooks that the caller can see.
async fn titles(app: &App, who: &Authenticated) -> Result<BTreeMap<String, String>, Problem> {
    let mut titles = BTreeMap::new();
    for archived in [false, true] {
        let wanted = ListingQuery { archived, limit: TITLES_PAGE, ..ListingQuery::default() };
        let page = listing::visible(app, who, wanted).await?;
        titles.extend(page.entries.into_iter().map(|(entry, _)| (entry.notebook_id.to_string(), entry.title)));
    }
    Ok(titles)
}

// --- caps ---

async fn list_caps(
    State(app): State<App>,
    who: Authenticated,
    QueryOf(query): QueryOf<CapsQuery>,
) -> Result<Json<CapsAnswer>, Problem> {
    let found = app.spending.caps().await?;
    let day = day_of(app.clock.now());
    let caps: Vec<Cap> = found.iter().map(|(cap, _)| cap.clone()).collect();
    let listed = if query.all { every(&who, &caps, day)? } else { own(&who, &caps, day) };
    let mut answer = Vec::with_capacity(listed.len());
    for one in listed {
        let is_fixed = found.iter().any(|(cap, is_fixed)| *is_fixed && *cap == one.cap);
        answer.push(app.spending.status(one, is_fixed).await?);
    }
    Ok(Json(CapsAnswer { caps: answer }))
}

fn every(who: &Authenticated, caps: &[Cap], day: u64) -> Result<Vec<AppliedCap>, Problem> {
    if !who.has(Scope::Admin) {
        return Err(Problem::forbidden("all caps are for administrators: leave all=true out to see yours"));
    }
    Ok(caps.iter().map(|cap| applied(cap, cap.key.spender.clone(), day)).collect())
}

/// Caps that apply to the caller, and to workspaces of the caller.
fn own(who: &Authenticated, caps: &[Cap], day: u64) -> Vec<AppliedCap> {
    let person = who.user_id();
    let mut listed = applicable(caps, person, None, day);
    for workspace in who.workspaces.keys() {
        let more = applicable(caps, None, Some(workspace), day);
        listed.extend(more.into_iter().filter(|one| one.check.spender != Spender::Server));
    }
    listed
}

async fn set_cap(
    State(app): State<App>,
    who: Authenticated,
    JsonBody(new): JsonBody<NewCap>,
) -> Result<NoContent, Problem> {
    let NewCap { spender, person, workspace, period, unit, amount } = new;
    let name = CapName { spender, person, workspace, period, unit };
    let key = key(&app, &who, name).await?;
    let amount = parse_amount(&amount, &key.unit).ok_or_else(|| {
        let example = print_amount(5_000_000_000, &key.unit);
        Problem::invalid(format!("{amount:?} must be an amount in {} such as {example}", key.unit.key()))
    })?;
    let cap = Cap { key: key.clone(), amount, set_by: who.actor.key(), set_at: app.clock.now() };
    let audit = app.accounts.audit(&who.actor, "cap.set", named(&key, Some(amount)));
    app.accounts.change(&[AccountChange::SetCap(cap)], audit).await?;
    Ok(NoContent)
}

async fn remove_cap(
    State(app): State<App>,
    who: Authenticated,
    JsonBody(name): JsonBody<CapName>,
) -> Result<NoContent, Problem> {
    let key = key(&app, &who, name).await?;
    let audit = app.accounts.audit(&who.actor, "cap.remove", named(&key, None));
    app.accounts.change(&[AccountChange::RemoveCap(key)], audit).await?;
    Ok(NoContent)
}

/// Words for the audit, such as `user:01J… day USD 5.00`.
fn named(key: &CapKey, amount: Option<u64>) -> String {
    let amount = amount.map(|amount| format!(" {}", print_amount(amount, &key.unit))).unwrap_or_default();
    format!("{} {} {}{amount}", key.spender.key(), key.period.as_str(), key.unit.key())
}

/// Identity of a cap that the caller may change. The caps of an owner are others than those of administrators.
async fn key(app: &App, who: &Authenticated, name: CapName) -> Result<CapKey, Problem> {
    let unit = parse_unit(&name.unit).ok_or_else(|| {
        Problem::invalid(format!("{:?} must be \"tokens\" or the code of a currency such as \"USD\"", name.unit))
    })?;
    let spender = spender(&name)?;
    let is_admin = who.has(Scope::Admin);
    match &spender {
        Spender::Workspace(workspace) if !is_admin => app.accounts.check_manages(who, workspace)?,
        _ if !is_admin => {
            return Err(Problem::forbidden(
                "caps are for administrators; an owner of a workspace sets that of the workspace: ask one",
            ));
        }
        _ => {}
    }
    check_exists(app, &spender).await?;
    let period = match name.period {
        SpendingPeriod::Day => CapPeriod::Day,
        SpendingPeriod::Month => CapPeriod::Month,
    };
    Ok(CapKey { spender, period, unit, by_owner: !is_admin })
}

fn spender(name: &CapName) -> Result<Spender, Problem> {
    match (name.spender, &name.person, &name.workspace) {
        (SpenderKind::Server, None, None) => Ok(Spender::Server),
        (SpenderKind::EachPerson, None, None) => Ok(Spender::EachPerson),
        (SpenderKind::EachWorkspace, None, None) => Ok(Spender::EachWorkspace),
        (SpenderKind::Person, Some(id), None) => Ok(Spender::Person(id.clone())),
        (SpenderKind::Workspace, None, Some(id)) => Ok(Spender::Workspace(id.clone())),
        _ => Err(Problem::invalid(
            "the spender \"person\" needs person, \"workspace\" needs workspace, and the others need neither",
        )),
    }
}

async fn check_exists(app: &App, spender: &Spender) -> Result<(), Problem> {
    let store = app.accounts.store();
    let unknown = match spender {
        Spender::Person(id) if store.user(id).await?.is_none() => "user",
        Spender::Workspace(id) if store.workspace(id).await?.is_none() => "workspace",
        _ => return Ok(()),
    };
    Err(AccountError::Unknown { what: unknown }.into())
}
