//! HTTP as the fetcher needs it: one GET with redirects, credentials, repetitions and words for what went wrong.
//!
//! [`Http::fetch`] sends a [`Request`] and hands the body to a [`Sink`]. Clients, and the certificates they need, are
//! made when the first request needs them.

mod auth;
mod client;
mod fetch;
mod gate;
mod netrc;
mod range;
mod shown;
mod sink;
mod words;

pub(crate) use auth::Keyring;
pub(crate) use client::Clients;
pub(crate) use fetch::{Head, Http, Request};
pub(crate) use gate::Gates;
pub(crate) use range::{ContentRange, Range};
pub(crate) use shown::{shown, without_secrets};
pub(crate) use sink::{Buffer, HashSink, Refusal, Sink, Spool};
pub(crate) use words::NetworkError;
