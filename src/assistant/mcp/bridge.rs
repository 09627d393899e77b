//! Bridge from a client's standard input and output to a server's `/mcp`: passes every message on, in any protocol version.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use notarium_core::NotebookId;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StdioReader, StdioWriter, StreamableHttpClientTransport, Transport, stdio_pipes};
use rmcp::{RoleClient, RoleServer};

/// Target and credentials of a bridge.
#[derive(Clone)]
pub struct BridgeOptions {
    /// `http://host:port` or `https://host`, without a trailing slash.
    pub server: String,
    /// Token with the scopes of an assistant; the server refuses others.
    pub token: String,
    /// The only notebook that the connection reaches; absent: all.
    pub notebook: Option<NotebookId>,
}

/// Errors that end a bridge.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    #[error("standard output cannot be written: {0}")]
    Output(std::io::Error),
    #[error("the connection to the server ended: look whether it runs, and start again")]
    Lost,
    #[error("no connection can be made: {0}")]
    Client(reqwest::Error),
}

type StdioTransport = AsyncRwTransport<RoleServer, StdioReader, StdioWriter>;
type HttpTransport = StreamableHttpClientTransport<reqwest::Client>;
type SentMessage = (Option<RequestId>, bool, Result<(), String>);

/// Passes messages on until standard input ends. After a restart of the server it reconnects. Requests in between are answered
/// with an error, and a forgotten session is begun anew.
pub async fn bridge(options: BridgeOptions) -> Result<(), BridgeError> {
    let (input, output) = stdio_pipes();
    let mut client = StdioTransport::new(input, output);
    let mut server = connection(options)?;
    let mut greeting = Greeting::default();
    let carried = carry(&mut client, &mut server, &mut greeting).await;
    if greeting.is_over {
        // Ends the session; if that fails, the server ends it later.
        let _ = Transport::<RoleClient>::close(&mut server).await;
    }
    // Before the greeting is over the transport waits for its next message only: dropping it ends it.
    carried
}

/// The first messages of a client: `initialize`, its answer and `initialized`, or any other request in protocol versions without
/// sessions.
#[derive(Default)]
struct Greeting {
    /// The client's first message is no `initialize`.
    is_without_session: Option<bool>,
    /// The `initialize` that has no answer yet.
    open: Option<RequestId>,
    /// The server has received the last message of the greeting.
    is_over: bool,
}

impl Greeting {
    /// Notes a message to the server; true if the greeting is over when the server has it.
    fn note(&mut self, message: &ClientJsonRpcMessage) -> bool {
        let (initialize, is_initialized) = match message {
            ClientJsonRpcMessage::Request(request) => {
                (matches!(request.request, ClientRequest::InitializeRequest(_)).then(|| request.id.clone()), false)
            }
            ClientJsonRpcMessage::Notification(it) => {
                (None, matches!(it.notification, ClientNotification::InitializedNotification(_)))
            }
            _ => (None, false),
        };
        let is_without_session = *self.is_without_session.get_or_insert(initialize.is_none());
        self.open = initialize.or(self.open.take());
        is_without_session || is_initialized
    }

    fn answered(&mut self, message: &ServerJsonRpcMessage) {
        let id = match message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if id.is_some() && id == self.open.as_ref() {
            self.open = None;
        }
    }
}

fn connection(options: BridgeOptions) -> Result<HttpTransport, BridgeError> {
    let query = options.notebook.map(|notebook| format!("?notebook={notebook}")).unwrap_or_default();
    let uri: Arc<str> = format!("{}/mcp{query}", options.server).into();
    let config = StreamableHttpClientTransportConfig::with_uri(uri).auth_header(options.token);
    // Redirects are refused, so that only this server gets the token.
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
    Ok(HttpTransport::with_client(http.map_err(BridgeError::Client)?, config))
}

async fn carry(
    client: &mut StdioTransport,
    server: &mut HttpTransport,
    greeting: &mut Greeting,
) -> Result<(), BridgeError> {
    let mut sending: FuturesUnordered<BoxFuture<'static, SentMessage>> = FuturesUnordered::new();
    let mut has_ended = false;
    // A client that closes its side after `initialize` still gets the answer.
    while !has_ended || greeting.open.is_some() {
        tokio::select! {
            message = client.receive(), if !has_ended => match message {
                Some(message) => {
                    let ends_greeting = greeting.note(&message);
                    sending.push(send(server, message, ends_greeting));
                }
                None => has_ended = true,
            },
            message = server.receive() => match message {
                Some(message) => {
                    greeting.answered(&message);
                    client.send(message).await.map_err(BridgeError::Output)?;
                }
                None => {
                    while let Some(sent) = sending.next().await {
                        answer(client, sent).await?;
                    }
                    return Err(BridgeError::Lost);
                }
            },
            Some((id, ends_greeting, sent)) = sending.next(), if !sending.is_empty() => {
                greeting.is_over |= ends_greeting && sent.is_ok();
                if sent.is_err() && id == greeting.open {
                    greeting.open = None;
                }
                answer(client, (id, ends_greeting, sent)).await?;
            }
        }
    }
    Ok(())
}

fn send(
    server: &mut HttpTransport,
    message: ClientJsonRpcMessage,
    ends_greeting: bool,
) -> BoxFuture<'static, SentMessage> {
    let id = match &message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    let sending = server.send(message);
    Box::pin(async move { (id, ends_greeting, sending.await.map_err(|error| error.to_string())) })
}

/// Answers a request that did not reach the server.
async fn answer(client: &mut StdioTransport, (id, _, sent): SentMessage) -> Result<(), BridgeError> {
    let Err(error) = sent else { return Ok(()) };
    tracing::warn!(%error, "a message did not reach the server");
    let Some(id) = id else { return Ok(()) };
    let error = ErrorData::internal_error(format!("the Notarium server cannot be reached: {error}"), None);
    client.send(ServerJsonRpcMessage::error(error, Some(id))).await.map_err(BridgeError::Output)
}
