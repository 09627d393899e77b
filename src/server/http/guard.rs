//! Guards of routes: [`GuardedRouter`] is the only way to add a route, and it lists every route with its guard.

use std::sync::Arc;

use async_trait::async_trait;
use axum::extract::{DefaultBodyLimit, FromRequestParts, RawPathParams, Request, State};
use axum::handler::Handler;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use http::request::Parts;
use http::{HeaderMap, Method, header};
use notarium_core::{ASSISTANT_SCOPES, Door, Millis, NotebookId, Operation, Rejection, Role, Scope, Subject};
use notarium_store::accounts::TokenKind;
use schemars::JsonSchema;
use serde_json::Value;

use crate::auth::{Accounts, AuthError, Authenticated, bearer};
use crate::http::openapi::{self, Describe, Documented, Endpoint};
use crate::http::problem::Problem;

/// Prefix with which the command line names itself, in `User-Agent` and in `hello`.
pub(crate) const COMMAND_LINE: &str = "notarium ";

/// Requirement that a caller of a route meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// No token is needed: the route gives only public information.
    Public,
    /// Any token.
    Authenticated,
    /// A token with this scope.
    Scope(Scope),
    /// A person, or a program that acts for one, with this scope: no agent, no guest.
    User(Scope),
    /// A token that an outside assistant may hold: a person's, for a program, with the scopes read, edit and run alone.
    Assistant,
    /// An administrator's token with the scope `admin`.
    Admin,
    /// A caller who may do this in the notebook that the path names as `{notebook}`.
    Notebook(Operation),
    /// Upgrades to a socket, whose first frame (or subprotocol) carries the token.
    Socket,
}

/// A route and its guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteGuard {
    pub method: Method,
    pub path: String,
    pub guard: Guard,
}

/// Rights in notebooks and changes to them. Implemented by the owner of the rooms.
#[async_trait]
pub trait NotebookRights: Send + Sync + 'static {
    /// `UnknownNotebook` if the caller may not read the notebook, `Forbidden` if the caller may read but not do this.
    async fn require(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        operation: Operation,
    ) -> Result<(), Rejection>;

    /// Runs the command `GrantAccess` as the caller.
    async fn grant(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        subject: Subject,
        role: Role,
        expires_at: Option<Millis>,
    ) -> Result<(), Rejection>;

    /// Runs the command `RevokeAccess` as the caller.
    async fn revoke(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        subject: Subject,
    ) -> Result<(), Rejection>;
}

/// Services that guards use. Cheap to clone.
#[derive(Clone)]
pub struct GuardServices {
    pub accounts: Accounts,
    pub rights: Arc<dyn NotebookRights>,
}

/// Routes, each with its guard.
pub struct GuardedRouter<S = ()> {
    gate: GuardServices,
    router: axum::Router<S>,
    guards: Vec<RouteGuard>,
    documented: Vec<Documented>,
    /// Group of the routes to come: their tag in the OpenAPI document, and the prefix of their paths.
    group: (&'static str, &'static str),
    /// Summary and description of the next route.
    says: &'static str,
    body_limit: Option<DefaultBodyLimit>,
}

/// Parts of a finished [`GuardedRouter`].
pub struct GuardedParts<S> {
    pub router: axum::Router<S>,
    pub openapi: Value,
    pub guards: Vec<RouteGuard>,
}

impl<S: Clone + Send + Sync + 'static> GuardedRouter<S> {
    pub fn new(gate: GuardServices) -> Self {
        let (router, guards, documented) = (axum::Router::new(), Vec::new(), Vec::new());
        Self { gate, router, guards, documented, group: ("", ""), says: "", body_limit: None }
    }

    pub fn gate(&self) -> &GuardServices {
        &self.gate
    }

    /// Sets the tag in the OpenAPI document, and the prefix of the paths, of the routes that follow.
    pub fn group(mut self, tag: &'static str, base: &'static str) -> Self {
        self.group = (tag, base);
        self
    }

    /// Describes the next route: a summary, and after an empty line a description.
    pub fn says(mut self, says: &'static str) -> Self {
        self.says = says;
        self
    }

    /// Overrides the limit of the next route's body.
    pub fn body_limit(mut self, limit: DefaultBodyLimit) -> Self {
        self.body_limit = Some(limit);
        self
    }

    /// Adds a route, which the OpenAPI document describes by the types of its handler.
    pub fn on<H, T, A>(mut self, guard: Guard, method: Method, path: &str, handler: H) -> Self
    where
        H: Handler<T, S> + Endpoint<A>,
        T: 'static,
        A: 'static,
    {
        let (tag, base) = self.group;
        let path = format!("{base}{path}");
        let says = std::mem::take(&mut self.says);
        let needs_token = guard != Guard::Public;
        let parts: Vec<Describe> = vec![Box::new(H::describe)];
        self.documented.push(Documented { method: method.clone(), path: path.clone(), tag, says, needs_token, parts });
        self.route(
            guard,
            method.clone(),
            &path,
            on(MethodFilter::try_from(method).expect("a method that routes have"), handler),
        )
    }

    /// Documents a response of the last route that its types do not name.
    pub fn answers<T: JsonSchema>(self, status: &'static str, media_type: &'static str) -> Self {
        self.describes(Box::new(move |described| described.answer::<T>(status, media_type)))
    }

    /// Declares an answer like [`Self::answers`], for a body that is not JSON: a file, lines of text.
    pub fn answers_plain(self, status: &'static str, media_type: &'static str) -> Self {
        self.describes(Box::new(move |described| described.plain_answer(status, media_type)))
    }

    /// Declares an answer like [`Self::answers`], without a body.
    pub fn answers_empty(self, status: &'static str) -> Self {
        self.describes(Box::new(move |described| described.empty_answer(status)))
    }

    /// Documents that the body of the last route is bytes, which its types do not name.
    pub fn takes_bytes(self, media_type: &'static str) -> Self {
        self.describes(Box::new(move |described| described.bytes(media_type)))
    }

    fn describes(mut self, part: Describe) -> Self {
        self.documented.last_mut().expect("a route comes first").parts.push(part);
        self
    }

    /// Adds a route that the OpenAPI document leaves out: pages, assets, the socket. `methods` serves `method` alone.
    pub fn route(mut self, guard: Guard, method: Method, path: &str, methods: MethodRouter<S>) -> Self {
        self.note(guard, method, path);
        let methods = match self.body_limit.take() {
            Some(limit) => methods.layer(limit),
            None => methods,
        };
        let methods = methods.route_layer(axum::middleware::from_fn_with_state((self.gate.clone(), guard), check));
        self.router = self.router.route(path, methods);
        self
    }

    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.guards.extend(other.guards);
        self.documented.extend(other.documented);
        self
    }

    /// Gives the handlers their shared state.
    pub fn with_state<S2: Clone + Send + Sync + 'static>(self, state: S) -> GuardedRouter<S2> {
        let empty = GuardedRouter::new(self.gate);
        GuardedRouter {
            router: self.router.with_state(state),
            guards: self.guards,
            documented: self.documented,
            ..empty
        }
    }

    pub fn into_parts(self) -> GuardedParts<S> {
        GuardedParts { router: self.router, openapi: openapi::document(&self.documented), guards: self.guards }
    }

    /// Panics on a guard without its notebook in the path: a programming error, which shows when the server starts.
    fn note(&mut self, guard: Guard, method: Method, path: &str) {
        let needs_notebook = matches!(guard, Guard::Notebook(_));
        assert!(!needs_notebook || path.contains("{notebook}"), "{path} is guarded by its {{notebook}} but names none");
        self.guards.push(RouteGuard { method, path: path.to_owned(), guard });
    }
}

async fn check(
    State((gate, guard)): State<(GuardServices, Guard)>,
    parameters: RawPathParams,
    mut request: Request,
    next: Next,
) -> Response {
    match gate.admit(guard, &parameters, &mut request).await {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

impl GuardServices {
    async fn admit(&self, guard: Guard, parameters: &RawPathParams, request: &mut Request) -> Result<(), Problem> {
        if matches!(guard, Guard::Public | Guard::Socket) {
            return Ok(());
        }
        let token = bearer(request.headers()).ok_or(AuthError::Missing)?;
        let mut authenticated = self.accounts.authenticate(token).await?;
        authenticated.door = door_of(request.headers());
        self.require(guard, &authenticated, parameters).await?;
        request.extensions_mut().insert(authenticated);
        Ok(())
    }

    async fn require(
        &self,
        guard: Guard,
        authenticated: &Authenticated,
        parameters: &RawPathParams,
    ) -> Result<(), Problem> {
        match guard {
            Guard::Public | Guard::Socket | Guard::Authenticated => Ok(()),
            Guard::Scope(scope) => require_scope(authenticated, scope),
            Guard::User(scope) => require_user(authenticated).and_then(|()| require_scope(authenticated, scope)),
            Guard::Assistant => require_assistant(authenticated),
            Guard::Admin => require_user(authenticated).and_then(|()| require_scope(authenticated, Scope::Admin)),
            Guard::Notebook(operation) => {
                let notebook = notebook_of(parameters)?;
                Ok(self.rights.require(authenticated, &notebook, operation).await?)
            }
        }
    }
}

fn require_scope(authenticated: &Authenticated, scope: Scope) -> Result<(), Problem> {
    if authenticated.has(scope) {
        return Ok(());
    }
    Err(authenticated.lacks(scope).into())
}

fn require_user(authenticated: &Authenticated) -> Result<(), Problem> {
    match authenticated.user_id() {
        Some(_) => Ok(()),
        None => Err(Problem::forbidden("this is for people with an account: sign in")),
    }
}

/// Refuses tokens that could confirm, share or manage.
pub(crate) fn require_assistant(authenticated: &Authenticated) -> Result<(), Problem> {
    let is_program = authenticated.kind == TokenKind::Api && authenticated.user_id().is_some();
    if is_program && authenticated.scopes.iter().all(|scope| ASSISTANT_SCOPES.contains(scope)) {
        return Ok(());
    }
    Err(Problem::forbidden(
        "an outside assistant needs a token of its own that holds the scopes read, edit and run alone, so that it can confirm \
         nothing: make one with `notarium token new --label NAME --scope read --scope edit --scope run`, or with POST /api/tokens",
    ))
}

pub(crate) fn notebook_of(parameters: &RawPathParams) -> Result<NotebookId, Problem> {
    let id = parameters.iter().find(|(name, _)| *name == "notebook").map_or("", |(_, value)| value);
    NotebookId::new(id).map_err(|error| Problem::invalid(error.to_string()))
}

/// A browser sends the page's origin, which has been compared with the allowed ones; our command line names itself.
fn door_of(headers: &HeaderMap) -> Door {
    let program = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match headers.contains_key(header::ORIGIN) {
        true => Door::Page,
        false if program.starts_with(COMMAND_LINE) => Door::Terminal,
        false => Door::Rest,
    }
}

/// Caller that the guard authenticated. A public route has none.
impl<S: Send + Sync> FromRequestParts<S> for Authenticated {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Authenticated>().cloned().ok_or_else(|| AuthError::Missing.into())
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;

    use super::*;
    use crate::limits::clock::Clock;

    struct Nobody;

    #[async_trait]
    impl NotebookRights for Nobody {
        async fn require(&self, _: &Authenticated, _: &NotebookId, _: Operation) -> Result<(), Rejection> {
            Err(Rejection::new(notarium_core::RejectionCode::UnknownNotebook, "unknown"))
        }

        async fn grant(
            &self,
            _: &Authenticated,
            _: &NotebookId,
            _: Subject,
            _: Role,
            _: Option<Millis>,
        ) -> Result<(), Rejection> {
            Ok(())
        }

        async fn revoke(&self, _: &Authenticated, _: &NotebookId, _: Subject) -> Result<(), Rejection> {
            Ok(())
        }
    }

    async fn router() -> GuardedRouter {
        let accounts = Accounts::open(crate::server::scratch::accounts().await, Clock::system()).await.unwrap();
        GuardedRouter::new(GuardServices { accounts, rights: Arc::new(Nobody) })
    }

    #[tokio::test]
    async fn routes_outside_the_document_are_listed_too() {
        let router = router().await.route(Guard::Socket, Method::GET, "/api/socket", get(|| async { "here" }));
        let expected = RouteGuard { method: Method::GET, path: "/api/socket".to_owned(), guard: Guard::Socket };
        assert_eq!(router.into_parts().guards, [expected]);
    }

    #[tokio::test]
    #[should_panic(expected = "guarded by its {notebook}")]
    async fn a_notebook_s_guard_needs_the_notebook_in_the_path() {
        router().await.route(Guard::Notebook(Operation::Read), Method::GET, "/api/x", get(|| async { "here" }));
    }
}
