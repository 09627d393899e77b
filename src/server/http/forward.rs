//! Forwards requests about a notebook to the node that owns it, with the bodies of request and answer as they come.
//!
//! A request is forwarded once: a node that is asked and does not own the notebook answers `not_owner`. Then, and while a node that died is
//! still on the list, the first node looks again at nodes and lease, and tries anew for a few seconds.

use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{RawPathParams, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use notarium_core::{InstanceId, NotebookId, RejectionDetails};
use notarium_store::{Node, StoreError};
use notarium_telemetry::pass_on;
use tracing::{Instrument, Span};

use crate::auth::{Authenticated, ForwardedCaller};
use crate::cluster::{Cluster, ForwardAttempt, HOPS, IDENTITY, OwnerNode, death};
use crate::http::guard::notebook_of;
use crate::http::problem::Problem;
use crate::metrics::{ForwardedThing, Metrics};

/// Time for which a request waits until its notebook has an owner that answers: a node that was killed counts as dead by then.
const PATIENCE: Duration = Duration::from_secs(6);
/// Pause before the next attempt.
const PAUSE: Duration = Duration::from_millis(100);
/// Bodies up to this size are held, so that they can be sent to a second node.
const MAX_HELD_BYTES: usize = 1 << 20;
/// Headers that belong to one connection, or that the next node must not see.
const LEFT_OUT: [HeaderName; 13] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::PROXY_AUTHORIZATION,
    header::HOST,
    header::AUTHORIZATION,
    header::ORIGIN,
    header::EXPECT,
    IDENTITY,
    HOPS,
];

/// Session of a client of MCP. In a cluster its name begins with the node whose memory has it.
const MCP_SESSION: &str = "mcp-session-id";

/// Subject of a request, by which the node that answers it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    Notebook(NotebookId),
    /// A node that the path or the session of MCP names, for what lives in its memory.
    Node(InstanceId),
}

/// A request for another node.
pub struct Forwarding {
    pub cluster: Arc<dyn Cluster>,
    pub metrics: Arc<Metrics>,
    pub who: Authenticated,
    pub destination: Destination,
    pub node: Node,
}

impl Destination {
    /// Reads the notebook of the path, or the node in the name of a transfer. `None`: any node answers.
    pub fn of(parameters: &RawPathParams) -> Result<Option<Self>, Problem> {
        let named = |wanted| parameters.iter().find(|(name, _)| *name == wanted);
        if named("notebook").is_some() {
            return notebook_of(parameters).map(|notebook| Some(Self::Notebook(notebook)));
        }
        Ok(named("transfer").and_then(|(_, transfer)| node_of(transfer)).map(Self::Node))
    }

    /// The node that has the request's session of MCP. `None`: it begins one, or names no node.
    pub fn of_mcp_session(headers: &HeaderMap) -> Option<Self> {
        node_of(headers.get(MCP_SESSION)?.to_str().ok()?).map(Self::Node)
    }

    /// Returns the node that answers, if it is not this one. A request that was forwarded is not forwarded again.
    pub async fn elsewhere(&self, cluster: &dyn Cluster, is_forwarded: bool) -> Result<Option<Node>, Problem> {
        let mut node = self.node(cluster).await.map_err(|error| unavailable(error.to_string()))?;
        if is_forwarded && node.is_some() {
            self.forget(cluster);
            node = self.node(cluster).await.map_err(|error| unavailable(error.to_string()))?;
        }
        match node {
            Some(node) if is_forwarded => Err(not_owner(&node)),
            node => Ok(node),
        }
    }

    async fn node(&self, cluster: &dyn Cluster) -> Result<Option<Node>, StoreError> {
        match self {
            Self::Notebook(notebook) => match cluster.place(notebook).await? {
                OwnerNode::Here => Ok(None),
                OwnerNode::Elsewhere(node) => Ok(Some(node)),
            },
            Self::Node(instance) => Ok(cluster.others().into_iter().find(|node| node.instance == *instance)),
        }
    }

    fn forget(&self, cluster: &dyn Cluster) {
        if let Self::Notebook(notebook) = self {
            cluster.forget(notebook);
        }
    }
}

/// The node at the beginning of a name, as in `NODE-REST`.
fn node_of(name: &str) -> Option<InstanceId> {
    name.split_once('-')?.0.parse().ok()
}

/// Puts this node before the name of a session of MCP, so that other nodes find it.
pub fn name_mcp_session(headers: &mut HeaderMap, node: &InstanceId) {
    let name = headers.get(MCP_SESSION).and_then(|name| name.to_str().ok());
    if let Some(name) = name.and_then(|name| HeaderValue::from_str(&format!("{node}-{name}")).ok()) {
        headers.insert(MCP_SESSION, name);
    }
}

/// Takes this node off the name of a session of MCP.
pub fn local_mcp_session(headers: &mut HeaderMap, node: &InstanceId) {
    let name = headers.get(MCP_SESSION).and_then(|name| name.to_str().ok()?.split_once('-'));
    let local = name.filter(|(named, _)| *named == node.as_str()).map(|(_, local)| HeaderValue::from_str(local));
    if let Some(Ok(local)) = local {
        headers.insert(MCP_SESSION, local);
    }
}

/// Takes the headers of other nodes from a request; returns its caller, if another node has authenticated it.
pub fn forwarded_caller(cluster: &dyn Cluster, request: &mut Request) -> Result<Option<ForwardedCaller>, Problem> {
    request.headers_mut().remove(HOPS);
    let header = request.headers_mut().remove(IDENTITY);
    let path = request.uri().path_and_query().map(PathAndQuery::as_str);
    let (Some(header), Some(peers), Some(path)) = (header, cluster.peers(), path) else { return Ok(None) };
    peers.verify_or_ignore(request.method(), path, &header).map_err(|error| unavailable(error.to_string()))
}

/// Answers a request by another node.
pub async fn forward(forwarding: Forwarding, request: Request) -> Response {
    let Forwarding { cluster, metrics, who, destination, mut node } = forwarding;
    let (parts, body) = request.into_parts();
    let mut body = match HeldBody::read(&parts.headers, body).await {
        Ok(body) => body,
        Err(problem) => return problem.into_response(),
    };
    let caller = ForwardedCaller::from(&who);
    // Counted from the first failure: a node that drains may hold a request for long before it refuses it.
    let mut patience = None;
    while let Some(sent) = body.take() {
        let began = Instant::now();
        let attempt = attempt(&cluster, &caller, &node, &parts, sent).instrument(span_to(&node)).await;
        metrics.forwards.ended(ForwardedThing::Request, attempt.outcome(), began.elapsed());
        match attempt {
            ForwardAttempt::Answered(response) => return response,
            ForwardAttempt::Unknown => return unknown().into_response(),
            ForwardAttempt::NotTaken => {}
        }
        if Instant::now() > *patience.get_or_insert_with(|| Instant::now() + PATIENCE) {
            break;
        }
        tracing::debug!(node = %node.instance, path = %parts.uri.path(), "a node did not take a request: its owner is looked for again");
        tokio::time::sleep(PAUSE).await;
        cluster.look_again().await;
        destination.forget(&*cluster);
        match destination.node(&*cluster).await {
            Ok(Some(next)) => node = next,
            // It is this node now: the request goes to its own address.
            Ok(None) => node = cluster.own(),
            Err(error) => tracing::info!(%error, "the owner is not known yet"),
        }
    }
    unavailable("the notebook is moving to another server: try again in a moment").into_response()
}

/// Body that is sent as often as needed if it is small, else once.
enum HeldBody {
    Small(Bytes),
    Stream(Option<Body>),
}

impl HeldBody {
    async fn read(headers: &HeaderMap, body: Body) -> Result<Self, Problem> {
        let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
        let is_chunked = headers.contains_key(header::TRANSFER_ENCODING);
        match length {
            Some(length) if length > MAX_HELD_BYTES => Ok(Self::Stream(Some(body))),
            None if is_chunked => Ok(Self::Stream(Some(body))),
            _ => {
                let read = to_bytes(body, MAX_HELD_BYTES).await;
                read.map(Self::Small).map_err(|_| Problem::invalid("the body of the request broke off: send it again"))
            }
        }
    }

    fn take(&mut self) -> Option<reqwest::Body> {
        match self {
            Self::Small(bytes) => Some(bytes.clone().into()),
            Self::Stream(body) => body.take().map(|body| reqwest::Body::wrap_stream(body.into_data_stream())),
        }
    }
}

/// Span of what is sent to another node.
pub fn span_to(node: &Node) -> Span {
    tracing::info_span!("forward", otel.kind = "client", node = %node.instance, server.address = node.url)
}

async fn attempt(
    cluster: &Arc<dyn Cluster>,
    caller: &ForwardedCaller,
    node: &Node,
    parts: &Parts,
    body: reqwest::Body,
) -> ForwardAttempt<Response> {
    let (Some(peers), Some(path)) = (cluster.peers(), parts.uri.path_and_query()) else {
        return ForwardAttempt::NotTaken;
    };
    let Some(identity) = peers.sign(&parts.method, path.as_str(), caller) else { return ForwardAttempt::NotTaken };
    let mut headers = passed_on(&parts.headers);
    pass_on(&mut headers);
    headers.insert(IDENTITY, identity);
    headers.insert(HOPS, HeaderValue::from_static("1"));
    let request = peers.http().request(parts.method.clone(), format!("{}{path}", node.url)).headers(headers);
    let sent = tokio::select! {
        sent = request.body(body).send() => sent,
        () = death(&**cluster, &node.instance) => {
            let is_safe = matches!(parts.method, Method::GET | Method::HEAD);
            return if is_safe { ForwardAttempt::NotTaken } else { ForwardAttempt::Unknown };
        }
    };
    match sent {
        Ok(response) if response.status() == StatusCode::MISDIRECTED_REQUEST => ForwardAttempt::NotTaken,
        Ok(response) => {
            let mut response =
                http::Response::from(response).map(|body| while_alive(Body::new(body), cluster, &node.instance));
            *response.headers_mut() = passed_on(response.headers());
            ForwardAttempt::Answered(response)
        }
        Err(error) => {
            tracing::info!(%error, node = %node.instance, "a request was not forwarded");
            let is_safe = error.is_connect() || matches!(parts.method, Method::GET | Method::HEAD);
            if is_safe { ForwardAttempt::NotTaken } else { ForwardAttempt::Unknown }
        }
    }
}

/// The body, which breaks off when its node does not live any more: a reader asks again, and goes on at the next owner.
pub fn while_alive(body: Body, cluster: &Arc<dyn Cluster>, instance: &InstanceId) -> Body {
    let (cluster, instance) = (cluster.clone(), instance.clone());
    let mut gone = Box::pin(async move { death(&*cluster, &instance).await }.fuse());
    let mut chunks = body.into_data_stream();
    Body::from_stream(stream::poll_fn(move |context| match chunks.poll_next_unpin(context) {
        Poll::Ready(chunk) => Poll::Ready(chunk),
        Poll::Pending => gone.poll_unpin(context).map(|()| Some(Err(axum::Error::new(broken_off())))),
    }))
}

fn broken_off() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::ConnectionReset, "the server that has the notebook is gone")
}

fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let mut passed = headers.clone();
    for name in LEFT_OUT {
        passed.remove(name);
    }
    passed
}

/// Answer to a node that takes this one for the owner.
pub fn not_owner(owner: &Node) -> Problem {
    let detail = format!("the notebook is not here: node {} has it", owner.instance);
    Problem::new(StatusCode::MISDIRECTED_REQUEST, "not_owner", detail)
}

fn unavailable(detail: impl Into<String>) -> Problem {
    Problem::unavailable(detail).with(Some(Box::new(RejectionDetails::RetryAfter { seconds: 1 })))
}

fn unknown() -> Problem {
    unavailable(
        "the server that has the notebook gave no answer: it is not known whether this was done; ask again with the same id",
    )
}
