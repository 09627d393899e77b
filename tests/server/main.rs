//! End-to-end tests of a real server through REST, sockets and streams.

#[path = "../support/mod.rs"]
mod support;

mod agents;
mod bad_input;
mod behind_proxies;
mod call_pace;
mod calls;
mod chat;
mod checks;
mod comments;
mod errors;
mod expired;
mod files;
mod happening;
mod means;
mod oidc;
mod old_versions;
mod provider;
mod questions;
mod quotas;
mod refused;
mod rest;
mod restart;
mod revoked;
mod routes;
mod sharing;
mod slow;
mod socket;
mod streams;
mod subjects;
mod templates;
mod websocket;
mod working_files;
