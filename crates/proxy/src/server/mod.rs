//! The server: takes requests, asks the session what to send, sends it on, and streams the answer back as it comes.

mod forwarding;
mod proxy_server;

pub use proxy_server::Controls;
pub use proxy_server::Server;
pub use proxy_server::Stage;
pub use proxy_server::StartError;
