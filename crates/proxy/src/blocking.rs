//! Work that computes, waits for locks or reads files, on threads that serve no sockets.
//!
//! The panic wall of the proxy stands here and nowhere else: only [`run`] turns a panic into a value, [`Panicked`]. A session that
//! panics, a page that cannot be rendered and a recall that breaks all end there, and cost one request each. Work must be ready
//! for it: what it has marked as under way it marks with a guard that is dropped on the way out.

use tokio::runtime::Handle;

/// The work panicked, or the runtime ended before it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

/// Runs work on a thread for blocking work. Who stops waiting for it does not stop the work.
pub async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Panicked> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Panicked)
}

/// Starts work on such a thread that is not waited for. Outside of a runtime it is dropped instead: a stream may end after the
/// runtime did.
pub fn start(work: impl FnOnce() + Send + 'static) {
    if let Ok(handle) = Handle::try_current() {
        // A panic ends this work and nothing else.
        drop(handle.spawn_blocking(work));
    }
}
