//! Log lines on their way to standard error, written by a thread of their own: whoever reads them slowly holds up no request.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::thread::JoinHandle;

use jiff::Timestamp;
use mainstay_proxy::log::LogSink;

use crate::environment;

/// How many lines may wait; more are lost rather than waited for. A busy proxy writes so many in a second.
const MOST_WAITING: usize = 4_096;

/// The thread that writes.
pub struct Writer(JoinHandle<()>);

impl Writer {
    /// Waits until everything is written. Every log has to be dropped before.
    pub fn finish(self) {
        let _written = self.0.join();
    }
}

/// Starts writing; the sink takes lines.
pub fn start() -> (LogSink, Writer) {
    let (lines, waiting): (SyncSender<String>, _) = mpsc::sync_channel(MOST_WAITING);
    let thread = thread::spawn(move || {
        for line in waiting {
            let _written = std::io::stderr().lock().write_all(line.as_bytes());
        }
    });
    let sink = move |line: String| {
        let _or_lost = lines.try_send(stamped(&line));
    };
    (Arc::new(sink), Writer(thread))
}

/// A line with the time in it, as its style has it.
fn stamped(line: &str) -> String {
    let now = Timestamp::from_millisecond(environment::now().0).unwrap_or_default();
    let now = now.strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
    match line.strip_prefix('{') {
        Some(rest) => format!("{{\"time\":\"{now}\",{rest}\n"),
        None => format!("{now} {line}\n"),
    }
}
