//! Routes for health, metrics, the page, and the usage of people and workspaces.

use std::cmp::Reverse;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, header};
use notarium_core::{NotebookId, Scope};
use notarium_wire::rest::{AccountUsage, Alive, Amounts, SigningKeyLine, SigningKeys, UsageAnswer, UsageQuery};
use notarium_wire::signed_note::VerifierKey;
use sha2::{Digest, Sha256};

use super::{health, metrics};
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::page::Coding;
use crate::http::problem::Problem;
use crate::http::{openapi, page};
use crate::limits::Quota;
use crate::limits::usage::{Account, Used};

const STYLE: &str = include_str!("../http/page/style.css");
const PAGE: &str = include_str!("../http/page/index.html");
const GUEST_PAGE: &str = include_str!("../http/page/guest.html");

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    route_table!(router; "accounts" "/api/usage" {
        /// Usage and quotas of you and your workspaces; with `all=true` of everybody, for administrators.
        GET "", Guard::User(Scope::Read) => usage;
    } "server" "" {
        /// The process answers.
        GET "/healthz", Guard::Public => alive;
        /// The server takes requests: not while it starts or stops. What is wrong though it does, for instance that
        /// nothing can be written because the disk is full, is in `problems`, and by part in `checks`.
        GET "/readyz", Guard::Public => ready;
        /// The public keys by which signed heads are verified, oldest first. The last one signs now.
        GET "/.well-known/notarium-keys", Guard::Public => signing_keys;
    } "" "" {
        /// Metrics for Prometheus, for administrators. With `--metrics-listen` an address of their own serves them without
        /// a token.
        GET "/metrics", Guard::Admin => metrics::metrics;
        /// The page.
        GET "/", Guard::Public => page;
        /// The page at a notebook: the target of share links, whose token is in the fragment, which browsers do not
        /// send.
        GET "/notebooks/{notebook}", Guard::Public => shared_page;
        /// The page, to which OpenID Connect providers send browsers back.
        GET "/oidc/callback", Guard::Public => page;
        /// A file of the page.
        GET "/assets/{file}", Guard::Public => page::asset;
        /// The frame in which outputs with scripts run.
        GET "/frame.html", Guard::Public => page::frame;
    })
}

async fn alive() -> Json<Alive> {
    Json(Alive {
        status: "ok".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        problems: Vec::new(),
        checks: Vec::new(),
    })
}

/// Answers without an error id: this is asked each second, and the log has no line for it.
async fn ready(State(app): State<App>) -> Result<Json<Alive>, Problem> {
    readiness(app).await.map_err(Problem::without_error_id)
}

async fn readiness(app: App) -> Result<Json<Alive>, Problem> {
    if app.stopping.is_cancelled() || app.cluster.is_draining() || !app.is_ready.load(Ordering::SeqCst) {
        return Err(Problem::unavailable("the server is starting or stopping: ask again in a moment"));
    }
    if app.cluster.is_cut_off() {
        return Err(Problem::unavailable("the server cannot reach its store: others may take its notebooks over"));
    }
    app.store.notebooks(None, 1).await?;
    let checks = health::checks(&app).await;
    let problems: Vec<String> = checks.iter().flat_map(|check| check.problems.clone()).collect();
    let status = if problems.is_empty() { "ok" } else { "degraded" };
    Ok(Json(Alive { status: status.to_owned(), problems, checks, ..alive().await.0 }))
}

async fn signing_keys(State(app): State<App>) -> Result<Json<SigningKeys>, Problem> {
    let keys = app.accounts.store().signing_keys().await?;
    let keys = keys.into_iter().map(|key| SigningKeyLine {
        key: VerifierKey::of(key.public_key).to_string(),
        log_key: VerifierKey::of_log(key.public_key).to_string(),
        since: key.since,
    });
    Ok(Json(SigningKeys { keys: keys.collect() }))
}

/// The page. If it was not built: the server's status, and ways to connect.
async fn page(State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    page::index(&headers).unwrap_or_else(|| Ok(status_page(&app)))
}

/// The page. If it was not built: help for a guest with a share link.
async fn shared_page(Params(notebook): Params<NotebookId>, headers: HeaderMap) -> Result<Response, Problem> {
    page::index(&headers).unwrap_or_else(|| Ok(guest_page(&notebook)))
}

fn guest_page(notebook: &NotebookId) -> Response {
    plain_page(GUEST_PAGE.replace("{notebook}", notebook.as_str()))
}

fn status_page(app: &App) -> Response {
    let page = PAGE.replace("{version}", env!("CARGO_PKG_VERSION"));
    let page = page.replace("{agents}", &app.agents.count().to_string());
    plain_page(page.replace("{open}", &app.rooms.open_count().to_string()))
}

/// A page without scripts.
fn plain_page(page: String) -> Response {
    let page = page.replace("{style}", STYLE);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        STANDARD.encode(Sha256::digest(STYLE))
    );
    let policy = HeaderValue::from_str(&policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"));
    ([(header::CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
}

/// The OpenAPI document.
pub async fn document(headers: HeaderMap) -> Result<Response, Problem> {
    page::send_packed(openapi::PACKED.into(), Coding::Gzip, "application/json", &headers)
}

const MAX_SHOWN: usize = 1_000;

// --- usage ---

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

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    #[tokio::test]
    async fn who_opens_a_link_where_there_is_no_page_is_told_what_to_do() {
        let answer = guest_page(&NotebookId::new("n-1").unwrap());
        assert!(answer.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().contains("style-src 'sha256-"));
        let body = to_bytes(answer.into_body(), 100_000).await.unwrap();
        let text = String::from_utf8(body.to_vec()).unwrap();
        for said in ["notarium show n-1", "#token=", "make web", "no account"] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(!text.contains("{notebook}") && !text.contains("{style}"), "{text}");
    }
}
