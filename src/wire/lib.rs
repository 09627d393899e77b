//! The wire: messages between clients and server as JSON, and the files that come in and go out.
//!
//! Purpose: every message that crosses a socket is a type of this crate; `protocol/README.md` describes them, the JSON
//! Schemas in `protocol/schema/` are generated from here, and the golden files in `protocol/golden/` keep all languages honest.
//!
//! Invariants:
//! - Pure: no I/O, clock or environment.
//! - What cannot be typed is passed on as the text that came in (`RawJson`), never re-serialised.
//! - A message with an unknown type or field is refused with a sentence that says what was expected.
//!
//! This crate must never decide anything about a notebook: that is the core's.

pub mod frame;
pub mod ipynb;
pub mod kernel_tools;
pub mod live;
pub mod message;
pub mod rest;
pub mod schema;

pub use live::{ActivityKind, PendingActivity, TurnActivity};
pub use message::{
    AckMessage, CheckMessage, CheckedMessage, ClientMessage, CommandMessage, ErrorCode, ErrorMessage, EventMessage,
    EventsMessage, HelloMessage, KernelStatus, LastEvent, NoCommonProtocol, OfferedKernelspec, PeerState,
    PresenceState, ProtocolRange, RejectMessage, ServerMessage, SubscribeMessage, SubscribedMessage, UnconfirmedText,
    WelcomeMessage,
};

/// The protocols that this build speaks.
pub const PROTOCOLS: ProtocolRange = ProtocolRange { min: 1, max: 1 };

/// The number of the rules by which events are folded into a document.
pub const DOCUMENT: u32 = 1;
