//! Every route says who may use it: [`GuardedRouter`] is the only way to add one, and it lists what was added.

use std::sync::Arc;

use async_trait::async_trait;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use http::Method;
use http::request::Parts;
use notarium_core::{ASSISTANT_SCOPES, Millis, NotebookId, Operation, Rejection, Role, Scope, Subject};
use notarium_store::accounts::TokenKind;
use utoipa::openapi::path::Operation as DocumentedOperation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{OpenApi, PathItem};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::auth::{Accounts, AuthError, Authenticated, bearer};
use crate::problem::Problem;

/// The name of the security scheme in the OpenAPI document.
const BEARER: &str = "bearer";

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Anybody: says nothing that is not for everybody.
    Public,
    /// Anybody with a token.
    Authenticated,
    /// A token with this scope.
    Scope(Scope),
    /// A person, or a program that acts for one, with this scope: no agent, no guest.
    User(Scope),
    /// A token that an outside assistant may hold: a person's, for a program, with the scopes read, edit and run alone.
    Assistant,
    /// An administrator's token with the scope `admin`.
    Admin,
    /// Somebody who may do this in the notebook that the path names as `{notebook}`.
    Notebook(Operation),
    /// Upgrades to a socket, whose first frame (or subprotocol) carries the token.
    Socket,
}

/// A route and who may use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteGuard {
    pub method: Method,
    pub path: String,
    pub guard: Guard,
}

/// What somebody may do in a notebook now, and changes to it. Implemented by what holds the rooms.
#[async_trait]
pub trait NotebookRights: Send + Sync + 'static {
    /// `UnknownNotebook` when it may not be read, `Forbidden` when it may be read but not this.
    async fn require(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        operation: Operation,
    ) -> Result<(), Rejection>;

    /// The command `GrantAccess`, by that person.
    async fn grant(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        subject: Subject,
        role: Role,
        expires_at: Option<Millis>,
    ) -> Result<(), Rejection>;

    /// The command `RevokeAccess`, by that person.
    async fn revoke(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        subject: Subject,
    ) -> Result<(), Rejection>;
}

/// What guards ask. Cheap to clone.
#[derive(Clone)]
pub struct Gate {
    pub accounts: Accounts,
    pub rights: Arc<dyn NotebookRights>,
}

/// Routes, each with its guard.
pub struct GuardedRouter<S = ()> {
    gate: Gate,
    router: OpenApiRouter<S>,
    guards: Vec<RouteGuard>,
}

/// What a [`GuardedRouter`] becomes.
pub struct GuardedParts<S> {
    pub router: axum::Router<S>,
    pub openapi: OpenApi,
    pub guards: Vec<RouteGuard>,
}

impl<S: Clone + Send + Sync + 'static> GuardedRouter<S> {
    pub fn new(gate: Gate) -> Self {
        Self { gate, router: OpenApiRouter::default(), guards: Vec::new() }
    }

    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Routes from `utoipa_axum::routes!`, which stand in the OpenAPI document.
    pub fn routes(mut self, guard: Guard, (schemas, mut paths, methods): UtoipaMethodRouter<S>) -> Self {
        for (path, item) in &mut paths.paths {
            for (method, operation) in operations_of(item) {
                self.note(guard, method, path);
                describe(guard, operation);
            }
        }
        let methods = self.guarded(guard, methods);
        self.router = self.router.routes((schemas, paths, methods));
        self
    }

    /// A route that the OpenAPI document leaves out: pages, assets, the socket. `methods` serves `method` alone.
    pub fn route(mut self, guard: Guard, method: Method, path: &str, methods: MethodRouter<S>) -> Self {
        self.note(guard, method, path);
        let methods = self.guarded(guard, methods);
        self.router = self.router.route(path, methods);
        self
    }

    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.guards.extend(other.guards);
        self
    }

    /// Gives the handlers what they share.
    pub fn with_state<S2: Clone + Send + Sync + 'static>(self, state: S) -> GuardedRouter<S2> {
        GuardedRouter { gate: self.gate, router: self.router.with_state(state), guards: self.guards }
    }

    pub fn into_parts(self) -> GuardedParts<S> {
        let (router, mut openapi) = self.router.split_for_parts();
        let scheme = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        openapi.components.get_or_insert_default().add_security_scheme(BEARER, scheme);
        GuardedParts { router, openapi, guards: self.guards }
    }

    /// A mistake here is a programmer's: it shows when the server starts.
    fn note(&mut self, guard: Guard, method: Method, path: &str) {
        let needs_notebook = matches!(guard, Guard::Notebook(_));
        assert!(!needs_notebook || path.contains("{notebook}"), "{path} is guarded by its {{notebook}} but names none");
        self.guards.push(RouteGuard { method, path: path.to_owned(), guard });
    }

    fn guarded(&self, guard: Guard, methods: MethodRouter<S>) -> MethodRouter<S> {
        methods.route_layer(axum::middleware::from_fn_with_state((self.gate.clone(), guard), check))
    }
}

fn operations_of(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut DocumentedOperation)> {
    let declared = [
        (Method::GET, &mut item.get),
        (Method::PUT, &mut item.put),
        (Method::POST, &mut item.post),
        (Method::DELETE, &mut item.delete),
        (Method::OPTIONS, &mut item.options),
        (Method::HEAD, &mut item.head),
        (Method::PATCH, &mut item.patch),
        (Method::TRACE, &mut item.trace),
    ];
    declared.into_iter().filter_map(|(method, operation)| operation.as_mut().map(|operation| (method, operation)))
}

/// Says in the document that a token is needed.
fn describe(guard: Guard, operation: &mut DocumentedOperation) {
    if guard != Guard::Public {
        operation.security = Some(vec![SecurityRequirement::new(BEARER, Vec::<String>::new())]);
    }
}

async fn check(
    State((gate, guard)): State<(Gate, Guard)>,
    parameters: RawPathParams,
    mut request: Request,
    next: Next,
) -> Response {
    match gate.admit(guard, &parameters, &mut request).await {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

impl Gate {
    async fn admit(&self, guard: Guard, parameters: &RawPathParams, request: &mut Request) -> Result<(), Problem> {
        if matches!(guard, Guard::Public | Guard::Socket) {
            return Ok(());
        }
        let token = bearer(request.headers()).ok_or(AuthError::Missing)?;
        let authenticated = self.accounts.authenticate(token).await?;
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
    Err(Problem::forbidden(format!("this token lacks the scope {scope:?}: use one that has it")))
}

fn require_user(authenticated: &Authenticated) -> Result<(), Problem> {
    match authenticated.user_id() {
        Some(_) => Ok(()),
        None => Err(Problem::forbidden("this is for people with an account: sign in")),
    }
}

/// No assistant holds what confirms, shares or manages.
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

fn notebook_of(parameters: &RawPathParams) -> Result<NotebookId, Problem> {
    let id = parameters.iter().find(|(name, _)| *name == "notebook").map_or("", |(_, value)| value);
    NotebookId::new(id).map_err(|error| Problem::invalid(error.to_string()))
}

/// Whom the guard let in. A route that is public has nobody.
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
    use crate::clock::Clock;
    use notarium_store::accounts::MemoryAccountStore;

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
        let accounts = Accounts::open(Arc::new(MemoryAccountStore::new()), Clock::system()).await.unwrap();
        GuardedRouter::new(Gate { accounts, rights: Arc::new(Nobody) })
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
