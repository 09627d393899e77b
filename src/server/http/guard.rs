//! Guards of routes: [`GuardedRouter`] is the only way to add a route, and it lists every route with its guard.

use std::sync::Arc;

use async_trait::async_trait;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::handler::Handler;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, Method, header};
use notarium_core::{ASSISTANT_SCOPES, Command, Door, NotebookId, Operation, Rejection, Scope};
use notarium_store::accounts::TokenKind;

use crate::auth::{Accounts, AuthError, Authenticated, bearer};
use crate::cluster::Cluster;
use crate::http::forward::{Destination, Forwarding, forward, forwarded_caller};
use crate::http::openapi::{Describe, Endpoint, MAKES_DOCUMENT, OpenApiDocument};
use crate::http::problem::Problem;
use crate::metrics::Metrics;

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
    /// Another node of the cluster. The handler checks its signature.
    Node,
}

/// A route: its place, its guard and its documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    pub guard: Guard,
    /// Group in the OpenAPI document. Routes without one are left out: pages, assets, the socket.
    pub tag: &'static str,
    /// Lines of a summary, and after an empty line those of a description.
    pub documentation: &'static [&'static str],
}

impl Route {
    /// Summary, and a description that may be empty.
    pub fn texts(&self) -> (String, String) {
        let mut paragraphs =
            self.documentation.split(|line| line.is_empty()).map(|lines| lines.concat().trim().to_owned());
        let summary = paragraphs.next().unwrap_or_default();
        (summary, paragraphs.collect::<Vec<_>>().join("\n\n"))
    }
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

    /// Runs a command about the access list as the caller.
    async fn execute(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        command: Command,
    ) -> Result<(), Rejection>;
}

/// Services that guards use. Cheap to clone.
#[derive(Clone)]
pub struct GuardServices {
    pub accounts: Accounts,
    pub rights: Arc<dyn NotebookRights>,
    /// Cluster whose nodes forward requests to each other. `None`: there is one node.
    pub cluster: Option<Arc<dyn Cluster>>,
    pub metrics: Arc<Metrics>,
}

/// Handler whose types are forgotten: what axum makes of one is compiled once, not for each of two hundred.
struct Erased<S>(Arc<dyn Fn(Request, S) -> BoxFuture<'static, Response> + Send + Sync>);

impl<S> Clone for Erased<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: 'static> Handler<(), S> for Erased<S> {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, state: S) -> Self::Future {
        self.0(request, state)
    }
}

/// Routes, each with its guard.
pub struct GuardedRouter<S = ()> {
    gate: GuardServices,
    router: axum::Router<S>,
    document: OpenApiDocument,
    routes: Vec<Route>,
}

impl<S: Clone + Send + Sync + 'static> GuardedRouter<S> {
    pub fn new(gate: GuardServices) -> Self {
        Self { gate, router: axum::Router::new(), document: OpenApiDocument::default(), routes: Vec::new() }
    }

    /// Adds a row of a [`route_table`]. `parts` describes what the types of the handler do not say.
    ///
    /// Panics on a guard without its notebook in the path: a programming error, which shows when the server starts.
    pub fn add<H, T, A>(mut self, route: Route, handler: H, parts: Describe) -> Self
    where
        H: Handler<T, S> + Endpoint<A>,
        T: 'static,
    {
        if MAKES_DOCUMENT && !route.tag.is_empty() {
            self.document.add(&route, &[H::describe, parts]);
        }
        let call = move |request, state| handler.clone().call(request, state).boxed();
        self.add_erased(route, Erased(Arc::new(call)));
        self
    }

    fn add_erased(&mut self, route: Route, handler: Erased<S>) {
        let (path, needs_notebook) = (route.path, matches!(route.guard, Guard::Notebook(_)));
        assert!(!needs_notebook || path.contains("{notebook}"), "{path} is guarded by its {{notebook}} but names none");
        let method = MethodFilter::try_from(route.method.clone()).expect("a method that routes have");
        let check = axum::middleware::from_fn_with_state((self.gate.clone(), route.guard), check);
        let router = std::mem::take(&mut self.router);
        self.router = router.route(path, on(method, handler).route_layer(check));
        self.routes.push(route);
    }

    /// Gives the handlers their shared state.
    pub fn with_state<S2: Clone + Send + Sync + 'static>(self, state: S) -> GuardedRouter<S2> {
        let Self { gate, router, document, routes } = self;
        GuardedRouter { gate, router: router.with_state(state), document, routes }
    }

    pub fn into_parts(self) -> (axum::Router<S>, OpenApiDocument, Vec<Route>) {
        (self.router, self.document, self.routes)
    }
}

/// Adds routes to a [`GuardedRouter`]: groups with their tag and the prefix of their paths, one row for each route.
///
/// A row has the documentation, the method, the path, the guard and the handler. Calls of [`Described`] may follow, for what
/// the types of the handler do not say.
macro_rules! route_table {
    ($router:expr; $($tag:literal $base:literal {$(
        $(#[doc = $line:literal])+
        $method:ident $path:literal, $guard:expr => $handler:expr $(, $part:ident $(::<$type:ty>)? ($($argument:expr),*))*;
    )+})+) => {{
        let router = $router;
        $($(
            let route = $crate::http::guard::Route {
                method: ::http::Method::$method,
                path: concat!($base, $path),
                guard: $guard,
                tag: $tag,
                documentation: &[$($line),+],
            };
            let parts: $crate::http::openapi::Describe = match $crate::http::openapi::MAKES_DOCUMENT {
                true => |_described| {$(_described.$part$(::<$type>)?($($argument),*);)*},
                false => |_| {},
            };
            let router = router.add(route, $handler, parts);
        )+)+
        router
    }};
}
pub(crate) use route_table;

async fn check(
    State((gate, guard)): State<(GuardServices, Guard)>,
    parameters: RawPathParams,
    mut request: Request,
    next: Next,
) -> Response {
    match gate.admit(guard, &parameters, &mut request).await {
        Ok(None) => next.run(request).await,
        Ok(Some(forwarding)) => forward(forwarding, request).await,
        Err(problem) => problem.into_response(),
    }
}

impl GuardServices {
    /// Admits the caller here; `Some`: the request goes to another node, which checks the rights.
    async fn admit(
        &self,
        guard: Guard,
        parameters: &RawPathParams,
        request: &mut Request,
    ) -> Result<Option<Forwarding>, Problem> {
        if matches!(guard, Guard::Public | Guard::Socket | Guard::Node) {
            return Ok(None);
        }
        let forwarded = match self.cluster.as_deref() {
            Some(cluster) => forwarded_caller(cluster, request)?,
            None => None,
        };
        let (is_forwarded, authenticated) = match forwarded {
            // The token may have ended while the request waited at the first node.
            Some(caller) => (true, self.accounts.living_forwarded(caller).await?),
            None => (false, self.authenticate(request.headers()).await?),
        };
        let of_session = || Destination::of_mcp_session(request.headers()).filter(|_| guard == Guard::Assistant);
        if let Some(cluster) = &self.cluster
            && let Some(destination) = Destination::of(parameters)?.or_else(of_session)
            && let Some(node) = destination.elsewhere(&**cluster, is_forwarded).await?
        {
            let (cluster, metrics) = (cluster.clone(), self.metrics.clone());
            return Ok(Some(Forwarding { cluster, metrics, who: authenticated, destination, node }));
        }
        self.require(guard, &authenticated, parameters).await?;
        request.extensions_mut().insert(authenticated);
        Ok(None)
    }

    async fn authenticate(&self, headers: &HeaderMap) -> Result<Authenticated, AuthError> {
        let token = bearer(headers).ok_or(AuthError::Missing)?;
        let mut authenticated = self.accounts.authenticate(token).await?;
        authenticated.door = door_of(headers);
        Ok(authenticated)
    }

    async fn require(
        &self,
        guard: Guard,
        authenticated: &Authenticated,
        parameters: &RawPathParams,
    ) -> Result<(), Problem> {
        match guard {
            Guard::Public | Guard::Socket | Guard::Node | Guard::Authenticated => Ok(()),
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
    use super::*;
    use crate::auth::AuthOptions;
    use crate::limits::clock::Clock;

    struct Nobody;

    #[async_trait]
    impl NotebookRights for Nobody {
        async fn require(&self, _: &Authenticated, _: &NotebookId, _: Operation) -> Result<(), Rejection> {
            Err(Rejection::new(notarium_core::RejectionCode::UnknownNotebook, "unknown"))
        }

        async fn execute(&self, _: &Authenticated, _: &NotebookId, _: Command) -> Result<(), Rejection> {
            Ok(())
        }
    }

    async fn router() -> GuardedRouter {
        let store = crate::server::scratch::accounts().await;
        let accounts = Accounts::open(store, Clock::system(), &AuthOptions::default()).await.unwrap();
        GuardedRouter::new(GuardServices { accounts, rights: Arc::new(Nobody), cluster: None, metrics: Arc::default() })
    }

    #[tokio::test]
    async fn routes_outside_the_document_are_listed_too() {
        let router = route_table!(router().await; "" "/api" {
            /// The socket.
            GET "/socket", Guard::Socket => async || Response::default();
        });
        let (_, document, routes) = router.into_parts();
        assert_eq!(document.finish()["paths"], serde_json::json!({}));
        let listed: Vec<_> = routes.iter().map(|route| (&route.method, route.path, route.guard)).collect();
        assert_eq!(listed, [(&Method::GET, "/api/socket", Guard::Socket)]);
    }

    #[tokio::test]
    #[should_panic(expected = "guarded by its {notebook}")]
    async fn a_notebook_s_guard_needs_the_notebook_in_the_path() {
        route_table!(router().await; "" "/api" {
            /// A notebook.
            GET "/x", Guard::Notebook(Operation::Read) => async || Response::default();
        });
    }
}
