//! Passes requests of code in kernels on to the server, with the agent's token and the run that has the kernel.

use std::time::Duration;

use notarium_client::{http_address, install_tls_provider};
use notarium_core::{KernelSessionId, NotebookId};
use notarium_telemetry::trace_headers;
use notarium_wire::{KERNEL_REQUEST_ORIGIN, KernelRequestOrigin};
use tracing::Instrument;

use crate::AgentError;
use crate::connections::server_requests::{ServerAnswer, ServerRequest};

/// Longest wait for an answer: the server answers before clients give up.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Largest answer.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// A client of the server for requests of code.
#[derive(Debug, Clone)]
pub(crate) struct ServerRelay {
    client: reqwest::Client,
    /// `http(s)://host…` without a trailing slash.
    base: String,
    token: String,
}

impl ServerRelay {
    /// `server` as in [`notarium_client::ConnectOptions`].
    pub fn new(server: &str, token: &str) -> Result<Self, AgentError> {
        install_tls_provider();
        let client = reqwest::Client::builder().timeout(TIMEOUT).build()?;
        Ok(Self { client, base: http_address(server)?, token: token.to_owned() })
    }

    /// Sends the request, and gives the kernel the server's answer. `origin`: absent if no run has the kernel.
    pub async fn pass_on(
        self,
        notebook: NotebookId,
        kernel: KernelSessionId,
        origin: Option<KernelRequestOrigin>,
        request: ServerRequest,
    ) {
        let answered = match origin.as_ref().and_then(|origin| serde_json::to_string(origin).ok()) {
            Some(origin) => {
                let span =
                    tracing::info_span!("request of code", otel.kind = "client", %notebook, kernel_session = %kernel);
                let answered = self.answer(&notebook, &kernel, origin, &request).instrument(span).await;
                answered.unwrap_or_else(|error| {
                    tracing::debug!(%error, "a request of code was not answered");
                    ServerAnswer::refusal("the server does not answer now: try again")
                })
            }
            None => ServerAnswer::refusal(
                "no run has this kernel: what a thread does after its run acts in nobody's name, so call this in a cell",
            ),
        };
        // The kernel's code may have given up.
        let _ = request.answer.send(answered);
    }

    async fn answer(
        &self,
        notebook: &NotebookId,
        kernel: &KernelSessionId,
        origin: String,
        request: &ServerRequest,
    ) -> Result<ServerAnswer, reqwest::Error> {
        let ServerRequest { endpoint, accept, content_type, body, .. } = request;
        let address = format!("{}/api/notebooks/{notebook}/kernels/{kernel}/dialog/{endpoint}", self.base);
        let sent = self.client.post(address).bearer_auth(&self.token).headers(trace_headers());
        let mut sent = sent.header(KERNEL_REQUEST_ORIGIN, origin);
        for (name, value) in [("accept", accept), ("content-type", content_type)] {
            if !value.is_empty() {
                sent = sent.header(name, value);
            }
        }
        let mut response = sent.body(body.clone()).send().await?;
        let status = response.status().as_u16();
        let content_type = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or("text/plain; charset=utf-8").to_owned();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await? {
            if body.len() + piece.len() > MAX_ANSWER_BYTES {
                return Ok(ServerAnswer::refusal("the server's answer is too large: ask for less"));
            }
            body.extend_from_slice(&piece);
        }
        Ok(ServerAnswer { status, content_type, body: body.into() })
    }
}
