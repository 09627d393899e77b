//! Routes for notices: the inbox with its stream, choices by topic and channel, mail, webhooks.

use std::convert::Infallible;

use axum::Json;
use axum::extract::FromRequestParts;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use http::StatusCode;
use http::request::Parts;
use notarium_core::{Scope, UserId};
use notarium_wire::rest::{
    IssuedWebhook, MailCode, MarkNotices, NewMailAddress, NewWebhook, NoticeNews, NoticePage, NoticeSettings,
    NoticeSettingsChange, NoticesQuery, Webhook, WebhookTest,
};

use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{Created, JsonBody, NoBody, NoContent, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::openapi::Taken;
use crate::http::problem::Problem;
use crate::notebooks::history::KEEP_ALIVE;
use crate::notices::{InboxError, SettingsError};

const STREAM: &str = "text/event-stream";

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let (read, manage) = (Guard::User(Scope::Read), Guard::User(Scope::Manage));
    route_table!(router; "notices" "/api/notices" {
        /// Your inbox, newest first: calls that wait for you, mentions, runs that ended, and the like.
        GET "", read => read_inbox;
        /// Follows your notices as server-sent events: first the number of unread ones, then each new notice and each
        /// change of the number.
        GET "/stream", read => follow, answers::<NoticeNews>("200", STREAM);
        /// Marks notices as read or unread.
        POST "/read", read => mark;
        /// Your choices: which notices reach you by which channel.
        GET "/settings", read => read_settings;
        /// Changes some of your choices; all others stay.
        PUT "/settings", manage => change_settings;
        /// Sends a code to a new address for notices by mail.
        POST "/mail", manage => set_address;
        /// Takes the new address, if the code is right.
        POST "/mail/confirm", manage => confirm_address;
        /// Ends notices by mail.
        DELETE "/mail", manage => remove_address;
    } "notices" "/api/webhooks" {
        /// Your webhooks, oldest first, without their secrets.
        GET "", read => list_webhooks;
        /// A new webhook, to which your notices are posted, signed as by Standard Webhooks. Its secret is shown once.
        POST "", manage => create_webhook;
        /// Deletes a webhook, and what was still to be sent to it.
        DELETE "/{webhook}", manage => delete_webhook;
        /// Gives a webhook a new secret. For a day messages are signed with both.
        POST "/{webhook}/rotate", manage => rotate_webhook;
        /// Sends a test message now, and tells if it was accepted.
        POST "/{webhook}/test", manage => test_webhook;
    })
}

impl From<InboxError> for Problem {
    fn from(error: InboxError) -> Self {
        match error {
            InboxError::Invalid(detail) => Self::invalid(detail),
            InboxError::Store(error) => error.into(),
        }
    }
}

impl From<SettingsError> for Problem {
    fn from(error: SettingsError) -> Self {
        let detail = error.to_string();
        match error {
            SettingsError::Invalid(_) | SettingsError::Address(_) | SettingsError::WrongCode => Self::invalid(detail),
            SettingsError::Limit(_) => Self::new(StatusCode::CONFLICT, "limit_exceeded", detail),
            SettingsError::NoMail => Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail),
            SettingsError::NotSent(_) => Self::new(StatusCode::BAD_GATEWAY, "unavailable", detail),
            SettingsError::UnknownWebhook => Self::new(StatusCode::NOT_FOUND, "not_found", detail),
            SettingsError::TooSoon => Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_attempts", detail),
            SettingsError::Accounts(error) => error.into(),
            SettingsError::Store(error) => error.into(),
        }
    }
}

/// A person who asks about notices.
struct NoticeReader {
    app: App,
    who: Authenticated,
    user: UserId,
}

impl FromRequestParts<App> for NoticeReader {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let who = Authenticated::from_request_parts(parts, app).await?;
        let user = who.user_id().cloned();
        // The guard lets people through alone.
        let user = user.ok_or_else(|| Problem::forbidden("notices are for people with an account: sign in"))?;
        Ok(Self { app: app.clone(), who, user })
    }
}

impl Taken for NoticeReader {}

// --- inbox ---

async fn read_inbox(
    NoticeReader { app, who, user }: NoticeReader,
    QueryOf(query): QueryOf<NoticesQuery>,
) -> Result<Json<NoticePage>, Problem> {
    Ok(Json(app.notices.page(&who, &user, query).await?))
}

async fn follow(NoticeReader { app, who, user }: NoticeReader) -> Result<Response, Problem> {
    let followed = app.accounts.follow(&who).await?;
    let news = app.notices.clone().stream(followed, who, user).map(|news| {
        let data = serde_json::to_string(&news).unwrap_or_default();
        Ok::<_, Infallible>(Event::default().event("notices").data(data))
    });
    Ok(Sse::new(news).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

async fn mark(
    NoticeReader { app, user, .. }: NoticeReader,
    JsonBody(marks): JsonBody<MarkNotices>,
) -> Result<NoContent, Problem> {
    app.notices.mark(&user, marks).await?;
    Ok(NoContent)
}

// --- settings ---

async fn read_settings(NoticeReader { app, user, .. }: NoticeReader) -> Result<Json<NoticeSettings>, Problem> {
    Ok(Json(app.notices.settings(&user).await?))
}

async fn change_settings(
    NoticeReader { app, who, user }: NoticeReader,
    JsonBody(change): JsonBody<NoticeSettingsChange>,
) -> Result<Json<NoticeSettings>, Problem> {
    Ok(Json(app.notices.change_settings(&who, &user, change).await?))
}

async fn set_address(
    NoticeReader { app, who, user }: NoticeReader,
    JsonBody(NewMailAddress { address }): JsonBody<NewMailAddress>,
) -> Result<NoContent, Problem> {
    app.notices.set_address(&who, &user, &address).await?;
    Ok(NoContent)
}

async fn confirm_address(
    NoticeReader { app, who, user }: NoticeReader,
    JsonBody(MailCode { code }): JsonBody<MailCode>,
) -> Result<NoContent, Problem> {
    app.notices.confirm_address(&who, &user, &code).await?;
    Ok(NoContent)
}

async fn remove_address(NoticeReader { app, who, user }: NoticeReader) -> Result<NoContent, Problem> {
    app.notices.remove_address(&who, &user).await?;
    Ok(NoContent)
}

// --- webhooks ---

async fn list_webhooks(NoticeReader { app, user, .. }: NoticeReader) -> Result<Json<Vec<Webhook>>, Problem> {
    Ok(Json(app.notices.list_webhooks(&user).await?))
}

async fn create_webhook(
    NoticeReader { app, who, user }: NoticeReader,
    JsonBody(new): JsonBody<NewWebhook>,
) -> Result<Created<Json<IssuedWebhook>>, Problem> {
    Ok(Created(Json(app.notices.create_webhook(&who, &user, new).await?)))
}

async fn delete_webhook(
    NoticeReader { app, who, user }: NoticeReader,
    Params(id): Params<String>,
) -> Result<NoContent, Problem> {
    app.notices.delete_webhook(&who, &user, &id).await?;
    Ok(NoContent)
}

async fn rotate_webhook(
    NoticeReader { app, who, user }: NoticeReader,
    Params(id): Params<String>,
    _: NoBody,
) -> Result<Json<IssuedWebhook>, Problem> {
    Ok(Json(app.notices.rotate_webhook(&who, &user, &id).await?))
}

async fn test_webhook(
    NoticeReader { app, user, .. }: NoticeReader,
    Params(id): Params<String>,
    _: NoBody,
) -> Result<Json<WebhookTest>, Problem> {
    Ok(Json(app.notices.test_webhook(&user, &id).await?))
}
