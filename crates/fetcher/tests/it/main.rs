//! The fetcher against servers on the loopback interface that behave, well or badly, as real ones do.

mod cache;
mod local;
mod pages;
mod secrets;
mod sharing;
mod stored;
mod support;
mod troubles;
mod wheels;
