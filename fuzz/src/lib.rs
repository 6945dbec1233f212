//! What every fuzz target checks: whatever the bytes, a reader returns, and what it read can be written and read again.

mod summary;

use std::io::Write;
use std::sync::Arc;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::account::Tally;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::transcript::Draft;
use mainstay_session::Session;
use mainstay_session::SessionSettings;
use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

pub use summary::answer;
pub use summary::redact;

/// Reads bytes in a given format, in both views.
pub fn read(name: &str, data: &[u8]) {
    check_views(name, &Source::memory("fuzz", data.to_vec()));
}

/// Reads bytes as a database file.
pub fn read_database(name: &str, data: &[u8]) {
    let Ok(mut file) = tempfile::NamedTempFile::new() else {
        return;
    };
    if file.write_all(data).is_err() {
        return;
    }
    if let Ok(source) = Source::open(file.path()) {
        check_views(name, &source);
    }
}

/// Lets detection choose.
pub fn detect(data: &[u8]) {
    let source = Source::memory("fuzz", data.to_vec());
    if let Ok(document) = format::read(&source, None, &Request::default()) {
        check(&document);
    }
}

/// Counts text of all families.
pub fn count(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let exact = Family::O200k.count(&text, TextKind::Prose);
    assert!(exact as usize <= text.len());
    for family in Family::ALL {
        assert_eq!(family.count(&text, TextKind::Prose) == 0, text.is_empty());
    }
}

fn check_views(name: &str, source: &Source) {
    let format = format::by_name(name).expect("the target names a format");
    let _ = (format.list)(source);
    for history in [History::Live, History::Full] {
        let request = Request {
            history,
            ..Request::default()
        };
        if let Ok(document) = format::read(source, Some(format), &request) {
            check(&document);
        }
    }
}

/// A forced pass on anything that was read gives JSON that can be read, and no more tokens than before.
fn compact(document: &Document) {
    let policy = Policy {
        engine: Engine::Prune,
        recent_outputs: Some(0),
        tail: Some(10),
        tail_messages: 1,
        ..Policy::default()
    };
    let budget = Budget::new(&[ModelLimits::of("gpt-4o")], &policy.budget).expect("a known window has room");
    let settings = SessionSettings::with_budget(document.form(), Family::O200k, policy, budget).forced();
    let mut session = Session::of(settings, Arc::clone(&document.transcript));
    let outcome = session.pass();
    assert!(outcome.counted_after <= outcome.counted_before);
    let written = document.write_changed(session.changes());
    let form = format::by_name(document.form().name()).expect("every form is a format");
    let again = format::read(
        &Source::memory("again", written.into_bytes()),
        Some(form),
        &Request::default(),
    );
    let again = again.expect("what is written can be read");
    let calls = again.transcript.pairs().len();
    assert_eq!(calls, document.transcript.pairs().len(), "no call is lost");
}

/// What must hold of anything that was read.
fn check(document: &Document) {
    compact(document);
    let written = document.write();
    let parsed = serde_json::from_str::<&serde_json::value::RawValue>(written.trim_start_matches('\u{feff}'));
    assert!(parsed.is_ok(), "what is written is JSON");
    let form = format::by_name(document.form().name()).expect("every form is a format");
    let again = format::read(
        &Source::memory("again", written.into_bytes()),
        Some(form),
        &Request::default(),
    );
    assert!(again.is_ok(), "what is written can be read");
    let messages = document.transcript.messages();
    let mut tally = Tally::new(Family::O200k);
    tally.extend(messages);
    let settled = Draft {
        messages: messages.to_vec(),
        results_in_user_messages: document.form().name() == "anthropic",
        steps_span_messages: document.form().name() != "openai-chat",
        ..Draft::default()
    }
    .assemble();
    assert_eq!(
        settled.transcript.messages(),
        messages,
        "a transcript is already settled"
    );
}
