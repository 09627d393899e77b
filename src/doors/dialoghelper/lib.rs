//! The door for dialoghelper: clients of Solveit read, change and run notebooks through its HTTP endpoints.
//!
//! Purpose: [`DialoghelperDoor::router`] serves the endpoints of dialoghelper 0.0.13 to 0.2.41. A dialog is a notebook, a message is a
//! cell. `docs/dialoghelper.md` lists the endpoints.
//!
//! [`DialoghelperDoor::routers`] has a second router, for requests of code in kernels: the server gives each a pass for that code's
//! notebook.
//!
//! Invariants:
//! - Each request has a token, and acts through a client's connection with it: a caller has exactly the token's rights.
//! - What an assistant's code changes is a tool call, which the core decides (`tool_calls`).
//! - Each request is at most one command, so one undo group.
//! - Everything kept in memory is bounded, and answers come before clients give up.
//!
//! Files: `forms` (decoding), `call` (one request, the table of endpoints), `error`; `sessions` and `session` (connections by
//! token), `rest` (lists and large outputs); `messages` (cells as messages), `find` and `reading`; `changes` and `edits`,
//! `run_queue`, `clipboard`, `marks`; `tool_calls`; `dialogs`; `data_exchange`, `html` and `channels` (values, HTML and frames between code and
//! pages).
//!
//! This crate must never use the server or its store: it knows the wire and the client alone.

mod call;
mod changes;
mod channels;
mod clipboard;
mod data_exchange;
mod dialogs;
mod edits;
mod error;
mod find;
mod forms;
mod html;
mod marks;
mod messages;
mod reading;
mod rest;
mod run_queue;
mod session;
mod sessions;
mod tool_calls;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use tokio_util::sync::CancellationToken;

use channels::RelayChannels;
use data_exchange::DataExchange;
use html::HtmlStreams;
use rest::Rest;
use sessions::Sessions;

/// Port that clients call unless they are told another one.
pub const DEFAULT_PORT: u16 = 5001;

/// State that the endpoints share.
pub struct DialoghelperDoor {
    sessions: Sessions,
    rest: Rest,
    data: DataExchange,
    html: HtmlStreams,
    channels: RelayChannels,
    /// Held while a dialog is created by its name.
    creating: tokio::sync::Mutex<()>,
    max_body_bytes: usize,
    stopping: CancellationToken,
}

impl DialoghelperDoor {
    /// Routes for a server at `http://host:port`. Requests above `max_body_bytes` are refused; `stopping` closes channels.
    ///
    /// # Errors
    /// The HTTP client cannot be made.
    pub fn router(server: &str, max_body_bytes: usize, stopping: CancellationToken) -> Result<Router, reqwest::Error> {
        Self::routers(server, max_body_bytes, stopping).map(|routers| routers.clients)
    }

    /// Like [`router`](Self::router), with the router for code in kernels.
    ///
    /// # Errors
    /// The HTTP client cannot be made.
    pub fn routers(
        server: &str,
        max_body_bytes: usize,
        stopping: CancellationToken,
    ) -> Result<DoorRouters, reqwest::Error> {
        let door = Self {
            sessions: Sessions::new(server.to_owned()),
            rest: Rest::new(server.to_owned())?,
            data: DataExchange::default(),
            html: HtmlStreams::default(),
            channels: RelayChannels::default(),
            creating: tokio::sync::Mutex::default(),
            max_body_bytes,
            stopping,
        };
        let router = Router::new()
            .route("/html_stream_", get(html::stream))
            .route("/wsx", get(channels::connect))
            .route("/{endpoint}", post(call::handle))
            .layer(axum::middleware::from_fn(call::check_fetch_site));
        let kernels = Router::new()
            .route("/html_stream_", get(html::stream_for_page))
            .route("/{endpoint}", post(call::handle_of_kernel));
        let door = Arc::new(door);
        Ok(DoorRouters { clients: router.with_state(door.clone()), kernels: kernels.with_state(door) })
    }
}

/// Routers of one door: what is pushed on one side reaches the other.
pub struct DoorRouters {
    /// For clients that reach the door's address.
    pub clients: Router,
    /// For requests of code in kernels, and for pages that follow pushed HTML. It believes the headers that describe the code, so only the server may call it.
    pub kernels: Router,
}
