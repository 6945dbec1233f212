//! Recorded sessions of every agent, compacted with summaries by a function: what comes out is valid, small enough, keeps
//! what it must, and can be compacted again. The whole corpus is the business of the `corpus` binary; here are the smallest
//! sessions that are long enough.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use mainstay_tests::conversation::Form;
use mainstay_tests::told::ARMS;
use mainstay_tests::told::compact;
use mainstay_wire::document::Document;
use mainstay_wire::document::body_of;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::reading::WireForm;
use mainstay_wire::source::Source;

/// How many sessions of every folder.
const OF_EACH: usize = 3;
/// Smaller bodies have nothing to gain by a compaction; larger ones take too long here.
const SIZES: std::ops::Range<usize> = 40_000..250_000;

fn files(folder: &Path, found: &mut Vec<(u64, PathBuf)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => files(&entry.path(), found),
            Ok(metadata) => found.push((metadata.len(), entry.path())),
            Err(_) => {}
        }
    }
}

/// The first conversation of a file that has the right size.
fn document(path: &Path) -> Option<Document> {
    let source = Source::open(path).ok()?;
    let format = format::detect(&source).ok()?;
    let listed = (format.list)(&source).unwrap_or_default().into_iter();
    let mut ids: Vec<_> = listed.map(|entry| Some(entry.id)).take(40).collect();
    ids.push(None);
    ids.into_iter().find_map(|session| {
        let request = Request {
            session,
            ..Request::default()
        };
        let document = format::read(&source, Some(format), &request).ok()?;
        SIZES.contains(&document.write().len()).then_some(document)
    })
}

fn form_of(form: WireForm) -> Form {
    match form {
        WireForm::Chat => Form::Chat,
        WireForm::Responses => Form::Responses,
        WireForm::Anthropic => Form::Anthropic,
    }
}

#[test]
fn sessions_with_summaries_are_valid_small_and_can_be_compacted_again() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    if !root.is_dir() {
        eprintln!("skipped: no recorded sessions at {}", root.display());
        return;
    }
    let mut folders: Vec<PathBuf> = ["trajectories", "hermes-eval/fixtures"]
        .map(|place| root.join(place))
        .to_vec();
    for place in ["sessions", "samples"] {
        folders.extend(
            std::fs::read_dir(root.join(place))
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path()),
        );
    }
    folders.sort();
    let mut modes: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut faults, mut turn, mut read) = (Vec::new(), 0, BTreeMap::new());
    for folder in folders {
        let mut sized = Vec::new();
        files(&folder, &mut sized);
        sized.sort();
        let long = sized.iter().filter_map(|(_, path)| document(path)).take(OF_EACH);
        for document in long {
            *read.entry(folder.file_name().unwrap().to_owned()).or_insert(0) += 1;
            let other = [WireForm::Chat, WireForm::Responses, WireForm::Anthropic][turn % 3];
            let bodies = [
                (document.form(), document.write()),
                (other, body_of(other, &document.transcript)),
            ];
            for (form, body) in bodies {
                let arm = ARMS[turn % ARMS.len()];
                turn += 1;
                let told = compact(form_of(form), &body, arm);
                *modes.entry(told.mode).or_default() += 1;
                let place = format!("{}, {form:?}, {}", folder.display(), arm.name);
                faults.extend(told.faults.into_iter().map(|fault| format!("{place}: {fault}")));
            }
        }
    }
    eprintln!("{read:?} {modes:?}");
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(modes["hybrid"] >= 5 && modes["summary"] >= 5, "{modes:?}");
}
