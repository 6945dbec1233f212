//! The proxy over real sockets: who comes in, what goes on, what comes back, and what happens when any of it fails.
#![allow(clippy::unwrap_used)]

mod cancelling;
mod complaints;
mod faults;
mod framing;
mod hosts;
mod keeper;
mod keys;
mod limits;
mod redirecting;
mod stage;
mod stopping;
mod streaming;
