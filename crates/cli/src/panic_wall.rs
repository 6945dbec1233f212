//! The one place where this program catches its own panics: a bug ends in an error that says where it is.
//!
//! What was said in a panic is not shown, because it may quote the conversation; the place in the source is enough to find the
//! bug. The proxy has a wall of its own for requests, behind which it goes on serving.

use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::panic::PanicHookInfo;
use std::panic::catch_unwind;
use std::panic::set_hook;
use std::sync::Mutex;
use std::sync::PoisonError;

/// Where the newest panic was.
static PLACE: Mutex<Option<String>> = Mutex::new(None);

/// Does the work of a command; a panic in it becomes an error.
pub fn guarded(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    set_hook(Box::new(remember));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err(anyhow::anyhow!(
            "internal error at {}: the command broke off, and the session is as it was. This is a bug: please report this line \
             and the command",
            place.as_deref().unwrap_or("an unknown place")
        ))
    })
}

fn remember(panic: &PanicHookInfo<'_>) {
    let Some(location) = panic.location() else { return };
    let place = format!("{}:{}", location.file(), location.line());
    // Threads have walls of their own, which do not know the place.
    if std::thread::current().name() != Some("main") {
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "mainstay: internal error at {place}");
    }
    *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_that_names_the_place_and_quotes_nothing() {
        let before = std::panic::take_hook();
        let done = guarded(|| panic!("{} is in the conversation", "hunter2"));
        set_hook(before);
        let error = done.expect_err("it broke off").to_string();
        assert!(error.contains("panic_wall.rs:"), "{error}");
        assert!(error.contains("the session is as it was"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}
