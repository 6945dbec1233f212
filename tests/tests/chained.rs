//! Compaction after compaction, with a summariser that is honest and forgets half of what it reads: beside the ledger
//! nothing that matters is lost, alone it visibly is.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use mainstay_engine::decide::Engine;
use mainstay_engine::summary::Request;
use mainstay_engine::transcript::Message;
use mainstay_eval::preflight::Fact;
use mainstay_eval::preflight::Sheet;
use mainstay_eval::preflight::State;
use mainstay_eval::preflight::Teller;
use mainstay_eval::preflight::Trace;
use mainstay_eval::preflight::planted;
use mainstay_tests::cycles::Cycles;
use mainstay_tests::cycles::forgetful;
use mainstay_tests::cycles::references;
use mainstay_tests::cycles::words;
use mainstay_tests::scripted;
use mainstay_wire::format;
use mainstay_wire::reading::Request as Reading;
use mainstay_wire::source::Source;
use serde_json::Value;

/// What is left of a conversation after three passes.
fn chain(
    messages: &[Message],
    engine: Engine,
    target: u64,
    seed: u64,
    modes: &mut BTreeMap<&'static str, usize>,
) -> String {
    let mut keeps = forgetful(seed);
    let model = &mut |request: &Request, _: &[Message]| scripted::answer(scripted::summary(request, &mut keeps));
    let (left, outcomes) = Cycles::new(engine, target).walk(messages, model);
    for outcome in outcomes {
        *modes.entry(outcome.mode().name()).or_default() += 1;
    }
    words(&left)
}

fn data(place: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/data")
        .join(place)
}

fn read(path: &Path) -> Vec<Message> {
    let source = Source::open(path).unwrap();
    let document = format::read(&source, None, &Reading::default()).unwrap();
    document.transcript.messages().to_vec()
}

/// How many of what must be there are.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    kept: usize,
    of: usize,
}

impl Share {
    fn add(&mut self, wanted: usize, lost: usize) {
        self.kept += wanted - lost;
        self.of += wanted;
    }

    fn percent(self) -> usize {
        self.kept * 100 / self.of.max(1)
    }
}

/// What is left of conversations in the hands of one engine.
#[derive(Debug, Default)]
struct Tally {
    critical: Share,
    /// Of all references, those that do not decide among them.
    all: Share,
    probed: Share,
    /// What must not be lost and is.
    lost: Vec<String>,
    /// How the passes ended.
    modes: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn hold(&mut self, messages: &[Message], left: &str, facts: &[String]) {
        let references = references(messages);
        let missing: BTreeSet<&str> = references.missing(left).iter().map(|one| &*one.text).collect();
        let critical = references.critical();
        let lost: Vec<_> = critical.iter().filter(|one| missing.contains(&*one.text)).collect();
        self.critical.add(critical.len(), lost.len());
        self.all.add(references.list().len(), missing.len());
        self.lost.extend(lost.iter().map(|one| one.text.to_string()));
        let left = left.to_lowercase();
        let unsaid = facts.iter().filter(|fact| !left.contains(fact.as_str()));
        self.probed.add(facts.len(), unsaid.count());
    }
}

#[test]
fn beside_the_ledger_nothing_critical_of_real_sessions_is_lost_and_alone_it_is() {
    let fixtures = data("hermes-eval/fixtures");
    let Ok(listed) = std::fs::read_dir(&fixtures) else {
        eprintln!("skipped: {} is not there", fixtures.display());
        return;
    };
    let mut paths: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut tallies = [Tally::default(), Tally::default()];
    for path in paths {
        let messages = read(&path);
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let facts = probed(&name, &words(&messages).to_lowercase());
        for seed in 0..3 {
            for (tally, engine) in tallies.iter_mut().zip([Engine::Hybrid, Engine::Summary]) {
                let left = chain(&messages, engine, 10_000, seed, &mut tally.modes);
                tally.hold(&messages, &left, &facts);
            }
        }
    }
    let [beside, alone] = tallies;
    eprintln!("hybrid {beside:?}\nsummary {alone:?}");
    assert!(beside.lost.is_empty(), "{:?}", beside.lost);
    assert!(beside.all.percent() >= 97, "{:?}", beside.all);
    // Prose that nothing marks as important is the story's to tell; the scripted one tells names only.
    assert!(beside.probed.percent() >= 92, "{:?}", beside.probed);
    // What decides is asked for again when an answer forgot it, so that little of it goes even so.
    assert!(!alone.lost.is_empty(), "{:?}", alone.critical);
    // Some passes of the summary alone end in the ledger, so it is the difference that counts.
    assert!(alone.all.percent() + 15 <= beside.all.percent(), "{:?}", alone.all);
    assert!(
        alone.probed.percent() + 12 <= beside.probed.percent(),
        "{:?}",
        alone.probed
    );
}

/// The facts that a fixture's probes ask for and that the conversation has in the same words.
fn probed(name: &str, whole: &str) -> Vec<String> {
    let path = data(&format!("hermes-eval/probes/{name}.probes.json"));
    let bank: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let probes = bank["probes"].as_array().unwrap().iter();
    let facts = probes.flat_map(|probe| probe["expected_facts"].as_array().unwrap());
    let mut facts: Vec<String> = facts
        .filter_map(|fact| Some(fact.as_str()?.to_lowercase()))
        .filter(|fact| whole.contains(fact.as_str()))
        .collect();
    facts.sort();
    facts.dedup();
    facts
}

#[test]
fn beside_the_ledger_everything_on_an_answer_sheet_is_kept() {
    let mut tallies = [Tally::default(), Tally::default()];
    for seed in 0..12 {
        let conversation = planted(seed);
        let messages = conversation.transcript.messages();
        let needles = needles(&conversation.sheet);
        for (tally, engine) in tallies.iter_mut().zip([Engine::Hybrid, Engine::Summary]) {
            let left = chain(messages, engine, 8_000, seed, &mut tally.modes);
            let gone: Vec<&String> = needles
                .iter()
                .filter(|needle| !left.contains(needle.as_str()))
                .collect();
            tally.critical.add(needles.len(), gone.len());
            let named = gone.iter().map(|needle| format!("{}: {needle}", conversation.name));
            tally.lost.extend(named);
        }
    }
    let [beside, alone] = tallies;
    eprintln!("hybrid {:?} {:?}", beside.critical, beside.modes);
    eprintln!("summary {:?} {:?}", alone.critical, alone.modes);
    assert!(beside.lost.is_empty(), "{:?}", beside.lost);
    // An answer that forgot most of what decides is refused, and the ledger stands alone.
    assert!(beside.modes["hybrid"] >= 24, "{:?}", beside.modes);
    assert!(alone.critical.percent() <= 85, "{:?}", alone.critical);
}

/// What an answer sheet says holds.
fn needles(sheet: &Sheet) -> Vec<String> {
    // A file that was only read can be read again, with the setting in it that is named after it.
    let read: Vec<String> = sheet
        .files
        .iter()
        .filter(|file| file.trace == Trace::Read)
        .map(|file| file.path.replace('-', "_"))
        .collect();
    let is_on_disk = |fact: &&Fact| {
        let name = fact.subject.trim_start_matches("limit_");
        fact.teller == Teller::Tool && read.iter().any(|path| path.contains(name))
    };
    let facts = sheet.facts.iter().filter(|fact| !is_on_disk(fact));
    let mut needles: Vec<String> = facts.map(|fact| fact.current.clone()).collect();
    let open = sheet.obligations.iter().filter(|one| one.state == State::Open);
    needles.extend(open.map(|one| one.needle.clone()));
    let open = sheet.questions.iter().filter(|one| one.state == State::Open);
    needles.extend(open.map(|one| one.needle.clone()));
    for decision in &sheet.decisions {
        needles.push(decision.needle.clone());
        needles.extend(decision.reason.clone());
    }
    needles.extend(sheet.constraints.clone());
    let changed = sheet.files.iter().filter(|file| file.trace != Trace::Read);
    needles.extend(changed.map(|file| file.path.clone()));
    needles
}
