//! Compacts every recorded session at several windows and in every provider form, and prints what came of it.
//!
//!     cargo run --release -p mainstay-tests --bin corpus [FOLDER]
//!
//! Each row: how many conversations, how many were compacted, tokens before and after, and the figures that must be
//! zero: structural violations beyond those the conversation came with (judged by code that shares nothing with the engine), results that grew, originals that
//! the store did not give back byte for byte. Exits with 100 when one of them is not.
//!
//!     cargo run --release -p mainstay-tests --bin corpus -- --told [FOLDER]
//!
//! The same with a function that writes summaries: as recorded in every way, and every other form in one way each. Faults
//! are everything that [`mainstay_tests::told`] finds wrong.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use mainstay_engine::account::Budget;
use mainstay_engine::account::BudgetPolicy;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::transcript::Timestamp;
use mainstay_store::NewCheckpoint;
use mainstay_store::Store;
use mainstay_tests::conversation::Form;
use mainstay_tests::provider::violations;
use mainstay_tests::told::ARMS;
use mainstay_tests::told::Arm;
use mainstay_tests::told::compact;
use mainstay_tests::trial;
use mainstay_wire::document::Document;
use mainstay_wire::document::body_of;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

const WINDOWS: [u64; 3] = [32_000, 128_000, 200_000];

#[derive(Default)]
struct Row {
    conversations: u64,
    compacted: u64,
    tokens_before: u64,
    tokens_after: u64,
    inherited: u64,
    violations: u64,
    grown: u64,
    lost: u64,
}

fn main() -> ExitCode {
    let is_told = std::env::args().any(|word| word == "--told");
    let given = std::env::args()
        .skip(1)
        .find(|word| word != "--told")
        .map(PathBuf::from);
    let root = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"));
    let mut files = Vec::new();
    for folder in ["sessions", "trajectories"] {
        collect(&root.join(folder), &mut files);
    }
    if files.is_empty() {
        eprintln!("no sessions at {}", root.display());
        return ExitCode::from(1);
    }
    if is_told {
        return told(&files);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("kept/store.db")).unwrap();
    let mut rows: BTreeMap<(&str, &str, u64), Row> = BTreeMap::new();
    let mut conversations = 0;
    for file in &files {
        for document in documents(file) {
            conversations += 1;
            let own = Form::ALL
                .into_iter()
                .find(|form| form.name() == document.form().name())
                .unwrap();
            let mut bodies = vec![("as recorded", own, document.write())];
            bodies.extend(Form::ALL.map(|form| (form.name(), form, body_of(form.wire(), &document.transcript))));
            for ((name, form, body), window) in bodies.iter().flat_map(|body| WINDOWS.map(|window| (body, window))) {
                for engine in [Engine::Prune, Engine::Ledger] {
                    let row = rows.entry((engine.name(), *name, window)).or_default();
                    try_one(row, &mut store, *form, body, window, engine);
                }
            }
        }
        if conversations % 40 < 2 {
            eprintln!("{conversations} conversations");
        }
    }
    print(&rows)
}

#[derive(Default)]
struct ToldRow {
    conversations: u64,
    modes: BTreeMap<&'static str, u64>,
    before: u64,
    after: u64,
    asked: usize,
    inherited: usize,
    faults: usize,
}

/// Compacts every session with scripted summaries.
fn told(files: &[PathBuf]) -> ExitCode {
    let mut rows: BTreeMap<(&str, &str), ToldRow> = BTreeMap::new();
    let mut conversations = 0;
    for file in files {
        for document in documents(file) {
            conversations += 1;
            let own = Form::ALL.into_iter().find(|form| form.name() == document.form().name());
            let (own, body) = (own.unwrap(), document.write());
            for arm in ARMS {
                let row = rows.entry((arm.name, "as recorded")).or_default();
                tell(row, file, own, &body, arm);
            }
            for (place, form) in Form::ALL.into_iter().enumerate() {
                let arm = ARMS[(conversations + 2 * place) % ARMS.len()];
                let row = rows.entry((arm.name, form.name())).or_default();
                tell(row, file, form, &body_of(form.wire(), &document.transcript), arm);
            }
        }
        eprintln!("{conversations} conversations");
    }
    for ((arm, form), row) in &rows {
        println!(
            "{arm:<18}{form:<18}{:>5} conversations, {:>10} to {:>9} tokens, {:>5} requests, {:>4} inherited, {:>3} faults, {:?}",
            row.conversations, row.before, row.after, row.asked, row.inherited, row.faults, row.modes
        );
    }
    match rows.values().all(|row| row.faults == 0) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(100),
    }
}

fn tell(row: &mut ToldRow, file: &Path, form: Form, body: &str, arm: Arm) {
    let told = compact(form, body, arm);
    row.conversations += 1;
    *row.modes.entry(told.mode).or_default() += 1;
    row.before += told.before;
    row.after += told.after;
    row.asked += told.asked;
    row.inherited += told.inherited;
    row.faults += told.faults.len();
    for fault in told.faults.iter().take(3) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        eprintln!("{name} {} {}: {fault}", form.name(), arm.name);
    }
}

fn print(rows: &BTreeMap<(&str, &str, u64), Row>) -> ExitCode {
    println!(
        "{:<8}{:<18}{:>9}{:>15}{:>11}{:>14}{:>14}{:>11}{:>12}{:>8}{:>8}",
        "engine",
        "form",
        "window",
        "conversations",
        "compacted",
        "before",
        "after",
        "inherited",
        "violations",
        "grown",
        "lost"
    );
    let mut bad = 0;
    for ((engine, form, window), row) in rows {
        println!(
            "{engine:<8}{form:<18}{window:>9}{:>15}{:>11}{:>14}{:>14}{:>11}{:>12}{:>8}{:>8}",
            row.conversations,
            row.compacted,
            row.tokens_before,
            row.tokens_after,
            row.inherited,
            row.violations,
            row.grown,
            row.lost
        );
        bad += row.violations + row.grown + row.lost;
    }
    if bad == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(100)
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files)
        } else {
            files.push(path)
        }
    }
}

/// Every conversation of a file.
fn documents(path: &Path) -> Vec<Document> {
    let source = Source::open(path).unwrap();
    let Ok(format) = format::detect(&source) else {
        return Vec::new();
    };
    let ids: Vec<_> = (format.list)(&source)
        .unwrap_or_default()
        .into_iter()
        .map(|entry| Some(entry.id))
        .collect();
    let ids = if ids.is_empty() { vec![None] } else { ids };
    let read = |session: Option<String>| {
        let request = Request {
            session,
            ..Request::default()
        };
        format::read(&source, Some(format), &request).ok()
    };
    ids.into_iter().filter_map(read).collect()
}

/// A violation without its place, which moves when messages are replaced.
fn kind_of(violation: &str) -> &str {
    violation.split_once(": ").map_or(violation, |(_, kind)| kind)
}

fn try_one(row: &mut Row, store: &mut Store, form: Form, body: &str, window: u64, engine: Engine) {
    row.conversations += 1;
    let document = trial::read(form, body);
    // Pruning as far as it goes, wherever the conversation has grown past half of the threshold: the more changes,
    // the more there is to get wrong.
    let policy = Policy {
        engine,
        ..Policy::default()
    };
    let limits = ModelLimits {
        name: "any".to_owned(),
        window,
        output: window / 8,
    };
    let budget = Budget::new(&[limits], &BudgetPolicy::default()).unwrap();
    let half = budget.threshold / 2;
    let mut session = trial::session_in(form, &policy, budget);
    session.observe(Arc::clone(&document.transcript));
    session.settings_mut().is_forced = session.counted().0 > half;
    let outcome = session.pass();
    let written = document
        .compacted_chunks(session.changes(), outcome.block.as_ref())
        .concat();
    let value = serde_json::from_str(&written).unwrap();
    // What was wrong with a recorded conversation before is not the compaction's doing.
    let known = violations(&serde_json::from_str(body).unwrap(), form);
    row.inherited += known.len() as u64;
    let found: Vec<_> = violations(&value, form)
        .into_iter()
        .filter(|found| !known.iter().any(|known| kind_of(known) == kind_of(found)))
        .collect();
    if let Some(first) = found.first().filter(|_| row.violations == 0) {
        eprintln!("{} at {window}: {first}", form.name());
    }
    row.violations += found.len() as u64;
    row.tokens_before += outcome.counted_before.0;
    row.tokens_after += outcome.counted_after.0;
    if outcome.verdict != Verdict::Compacted {
        row.grown += u64::from(written.len() > body.len());
        return;
    }
    row.compacted += 1;
    row.grown += u64::from(written.len() >= body.len() || outcome.counted_after >= outcome.counted_before);
    let original: Vec<&[u8]> = document.original_chunks().into_iter().map(str::as_bytes).collect();
    let id = store
        .append(&NewCheckpoint {
            original: &original,
            result: &[written.as_bytes()],
            ..NewCheckpoint::new(&format!("{}-{window}-{}", form.name(), row.conversations), Timestamp(0))
        })
        .unwrap();
    row.lost += u64::from(store.original(&id).unwrap() != body.as_bytes());
}
