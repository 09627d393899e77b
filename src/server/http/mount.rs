//! Handlers of doors, which the program that starts the server mounts in this process.

use axum::Router;
use axum::extract::Request;
use hyper::upgrade::OnUpgrade;
use parking_lot::RwLock;

/// A handler that is set after the server has started. Empty: the routes answer 404.
#[derive(Default)]
pub struct DoorMount(RwLock<Option<Router>>);

impl DoorMount {
    pub(crate) fn set(&self, router: Option<Router>) {
        *self.0.write() = router;
    }

    pub(crate) fn get(&self) -> Option<Router> {
        self.0.read().clone()
    }
}

/// The request without the prefix of its path, and without the extensions of the outer router, whose path parameters the inner one
/// would take for its own.
pub(crate) fn below(prefix: &str, request: Request) -> Option<Request> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query()?.as_str().strip_prefix(prefix)?.to_owned();
    let mut inner = Request::builder().method(parts.method).uri(path).body(body).ok()?;
    *inner.headers_mut() = std::mem::take(&mut parts.headers);
    if let Some(upgrade) = parts.extensions.remove::<OnUpgrade>() {
        inner.extensions_mut().insert(upgrade);
    }
    Some(inner)
}
