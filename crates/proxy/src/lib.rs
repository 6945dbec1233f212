//! The proxy: any agent, no code change. It stands between an agent and its provider, recognises conversations by what
//! they say, and sends them on in a form that fits.
//!
//! Two halves. The server half reads requests, asks the keeper what to send, sends it on, and streams the answer back as
//! it comes. The [`session`] half knows conversations: it never speaks to the network about them, and whatever goes wrong in
//! it, the request goes out as it came.

pub mod settings;

pub mod session;

pub mod log;

pub mod metrics;

pub mod passing;

pub mod refusal;

pub mod route;

pub mod upstreams;

pub mod door;

pub mod serving;

pub mod headers;

mod framing;

mod line;

pub mod watch;

pub mod books;

pub mod upload;

pub mod refused;

pub mod outward;

pub mod recall;

pub mod offered;

pub mod exchange;

pub mod mcp;

mod dashboard;

mod own;

pub mod server;
