//! `mainstay eval run` as a user meets it: whole runs against scripted models over sockets, broken off, batched, scored anew.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod batches;
mod breaking_off;
mod flow;
mod limits;
mod replaying;
mod stage;

#[path = "../home/mod.rs"]
mod home;
