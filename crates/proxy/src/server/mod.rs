//! The server: takes requests, asks the session what to send, sends it on, and streams the answer back as it comes.

mod forwarding;
mod proxy_server;

pub use proxy_server::ProxyServer;
pub use proxy_server::ServerControls;
pub use proxy_server::ServerStage;
pub use proxy_server::StartError;
