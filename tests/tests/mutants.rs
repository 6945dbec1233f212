//! The evaluation itself is tested: engines that are broken in one way each are found out, and the right thing is named.
//!
//! Every mutant is the ledger with one fault. A run with it is compared with a run of the ledger as it is, both answered and
//! judged by scripted models over sockets.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use mainstay_engine::account::Family;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::SummaryPolicy;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_eval::compare::Comparison;
use mainstay_eval::compare::Options;
use mainstay_eval::compare::compare;
use mainstay_eval::fixture::Exam;
use mainstay_eval::fixture::Kind;
use mainstay_eval::fixture::Probe;
use mainstay_eval::record::Run;
use mainstay_eval::run::Ended;
use mainstay_eval::run::Plan;
use mainstay_eval::run::desk::Desk;
use mainstay_eval::run::desk::Mode;
use mainstay_eval::run::desk::Models;
use mainstay_eval::run::finish;
use mainstay_eval::run::folder::Folder;
use mainstay_eval::run::hold;
use mainstay_eval::run::journal::Journal;
use mainstay_eval::state::Arm;
use mainstay_eval::state::Change;
use mainstay_eval::state::Setting;
use mainstay_eval::state::State;
use mainstay_eval::state::Target;
use mainstay_llm::chain::Chain;
use mainstay_llm::client::Client;
use mainstay_llm::model::Endpoint;
use mainstay_llm::model::Model;
use mainstay_tests::examiner::ANSWERER;
use mainstay_tests::examiner::Examiner;
use mainstay_tests::examiner::JUDGE;
use mainstay_tests::server::Server;
use mainstay_wire::reading::WireForm;

/// A run of the ledger, changed or not, on these fixtures, in a directory of its own.
fn run(exam: &Exam, change: Option<Change>, server: &Server, directory: &Path) -> Run {
    let client = Arc::new(Client::new());
    let chain = |id: &str| {
        let endpoint = Endpoint::new("scripted", &server.url(), WireForm::Chat);
        let mut model = Model::new(id, id, endpoint, 200_000, 16_000);
        model.streams = false;
        Some(Chain::new(Arc::clone(&client), vec![model], 1))
    };
    let models = Models {
        summarise: None,
        answer: chain(ANSWERER),
        judge: chain(JUDGE),
        ..Models::default()
    };
    let mut arm = Arm::engine(Engine::Ledger);
    arm.change = change;
    let plan = Plan {
        label: directory.file_name().unwrap().to_string_lossy().into_owned(),
        created: 0,
        program: "test".to_owned(),
        exam: exam.clone(),
        arms: vec![arm],
        setting: Setting {
            family: Family::O200k,
            target: Target::Share(0.25),
            focus: None,
            summary: SummaryPolicy::default(),
            prompts: Prompts::default(),
            writers: None,
        },
        repeats: 1,
        seed: 1,
    };
    let folder = Arc::new(Folder::create(directory, &plan.manifest(&models), exam).unwrap());
    let journal = Journal::open(&directory.join("calls.jsonl")).unwrap();
    let desk = Arc::new(Desk::new(models, journal, Mode::Live, None));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let held = runtime.block_on(hold(&plan, Arc::clone(&desk), Arc::clone(&folder), Arc::new(|_| {})));
    assert_eq!(held.unwrap(), Ended::Whole);
    finish(&folder, &desk.spent()).unwrap();
    Run::read(directory).unwrap()
}

/// What is broken, and the names by which it may be found; all that is found must be among them or follow from them.
struct Mutant {
    name: &'static str,
    /// One of these has to be named.
    found_by: &'static [&'static str],
    change: Option<Change>,
    exam: Option<Exam>,
}

fn mutant(
    name: &'static str,
    found_by: &'static [&'static str],
    change: impl Fn(State) -> State + Send + Sync + 'static,
) -> Mutant {
    Mutant {
        name,
        found_by,
        change: Some(Arc::new(change)),
        exam: None,
    }
}

/// Every text of a state, calls aside, changed.
fn every_text(mut state: State, change: &dyn Fn(&str) -> String) -> State {
    for part in state.messages.iter_mut().flat_map(|message| &mut message.parts) {
        match part {
            Part::Text(text) => *text = change(text).into(),
            Part::Result(result) => {
                for content in &mut result.content {
                    if let Content::Text(text) = content {
                        *text = change(text).into();
                    }
                }
            }
            Part::Call(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
        }
    }
    state
}

/// The block that stands for what was replaced, changed.
fn block(mut state: State, change: &dyn Fn(&str) -> String) -> State {
    for (message, origin) in state.messages.iter_mut().zip(&state.origins) {
        if let (None, [Part::Text(text), ..]) = (origin, &mut message.parts[..]) {
            *text = change(text).into();
        }
    }
    state
}

/// Words for which a test holds are left out.
fn without_words(text: &str, is_dropped: impl Fn(&str) -> bool) -> String {
    let lines = text.split('\n').map(|line| {
        let words = line.split(' ').map(|word| if is_dropped(word) { "it" } else { word });
        words.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn without_lines(text: &str, is_dropped: impl Fn(&str) -> bool) -> String {
    let lines = text.split('\n').filter(|line| !is_dropped(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// All forms of the expected facts of some probes, in lower case.
fn facts(exam: &Exam, of: impl Fn(&Probe) -> bool) -> Vec<String> {
    let probes = exam.subjects.iter().flat_map(|subject| &subject.bank.probes);
    let probes: Vec<&Probe> = probes.filter(|probe| of(probe)).collect();
    let facts = probes.iter().flat_map(|probe| {
        let forms = probe.expected_facts.iter().flat_map(|fact| probe.forms_of(fact));
        forms.map(str::to_lowercase).collect::<Vec<_>>()
    });
    facts.collect()
}

fn mutants(exam: &Exam) -> Vec<Mutant> {
    let has_digit = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    let corrected: Vec<(String, String)> = exam
        .subjects
        .iter()
        .flat_map(|subject| &subject.bank.probes)
        .filter_map(|probe| Some((probe, probe.stale_facts.first()?)))
        .flat_map(|(probe, stale)| {
            probe
                .expected_facts
                .iter()
                .map(move |fact| (fact.clone(), stale.clone()))
        })
        .collect();
    let owed = facts(exam, |probe| probe.kind == Kind::Continuation);
    let decided = facts(exam, |probe| probe.kind == Kind::Decision);
    let secrets: Vec<String> = exam
        .subjects
        .iter()
        .flat_map(|subject| subject.bank.secrets.clone())
        .collect();
    let names_one = |facts: &[String], line: &str| {
        let line = line.to_lowercase();
        facts.iter().any(|fact| line.contains(fact.as_str()))
    };
    let mut first_span_lost = exam.clone();
    for subject in &mut first_span_lost.subjects {
        if let Some(cut) = subject.head.chain.first().copied() {
            let is_instruction = |message: &Message| matches!(message.role, Role::System | Role::Developer);
            let head = subject
                .messages
                .iter()
                .take_while(|message| is_instruction(message))
                .count();
            subject.messages.drain(head..cut);
            subject.head.chain = subject.head.chain[1..]
                .iter()
                .map(|later| later - (cut - head))
                .collect();
        }
    }
    vec![
        mutant("drops paths", &["artifact_trail", "accuracy"], |state| {
            every_text(state, &|text| without_words(text, |word| word.contains('/')))
        }),
        mutant("drops numbers", &["accuracy"], move |state| {
            every_text(state, &|text| without_words(text, has_digit))
        }),
        mutant(
            "keeps stale values",
            &["context_awareness", "state_stale", "answer_stale"],
            move |state| {
                every_text(state, &|text| {
                    corrected.iter().fold(text.to_owned(), |text, (fact, stale)| {
                        text.replace(fact.as_str(), stale)
                    })
                })
            },
        ),
        mutant("loses obligations", &["continuity"], move |state| {
            block(state, &|text| without_lines(text, |line| names_one(&owed, line)))
        }),
        mutant(
            "loses decisions",
            &["completeness", "answer_recall", "state_recall"],
            move |state| block(state, &|text| without_lines(text, |line| names_one(&decided, line))),
        ),
        mutant("forgets the last user turn", &["flaws"], |mut state| {
            let last = state
                .messages
                .iter()
                .rposition(|message| message.role == Role::User)
                .unwrap();
            state.messages.remove(last);
            state.origins.remove(last);
            state
        }),
        Mutant {
            name: "loses the first span of the chain",
            found_by: &["collapsed"],
            change: None,
            exam: Some(first_span_lost),
        },
        mutant("leaks a secret", &["state_leaks"], move |state| {
            let added = secrets.join("\n- the password is ");
            block(state, &|text| format!("{text}\n- the password is {added}"))
        }),
        mutant("splits a pair", &["flaws"], |mut state| {
            if let Some(result) = state.messages.iter().rposition(|message| message.role == Role::Tool) {
                state.messages.remove(result);
                state.origins.remove(result);
            }
            state
        }),
        mutant("inflates", &["flaws"], |state| {
            block(state, &|text| format!("{text}\n").repeat(10))
        }),
        mutant("invents a file", &["flaws"], |state| {
            block(state, &|text| {
                format!("{text}\n- [assistant] created src/imagined/module_that_is_not.rs\n")
            })
        }),
        mutant(
            "drops the block",
            &["state_recall", "completeness", "collapsed"],
            |state| block(state, &|_| String::new()),
        ),
    ]
}

fn named(comparison: &Comparison) -> BTreeSet<&'static str> {
    comparison
        .regressions
        .iter()
        .map(|worse| worse.measure.name())
        .collect()
}

#[test]
fn every_mutant_of_the_engine_is_found_out_by_name_and_the_engine_itself_is_not() {
    let exam = Exam::built_in().unwrap();
    let server = Examiner::new(&exam).serve();
    let folder = tempfile::tempdir().unwrap();
    let base = run(&exam, None, &server, &folder.path().join("base"));
    let again = run(&exam, None, &server, &folder.path().join("again"));
    let same = compare(&base, &again, &Options::default()).unwrap();
    assert_eq!(named(&same), BTreeSet::new(), "the engine differs from itself");
    let mut wrong = Vec::new();
    let mutants = mutants(&exam);
    assert!(mutants.len() >= 10);
    for mutant in mutants {
        let subject = mutant.exam.as_ref().unwrap_or(&exam);
        let run = run(
            subject,
            mutant.change.clone(),
            &server,
            &folder.path().join(mutant.name),
        );
        let comparison = compare(&base, &run, &Options::default()).unwrap();
        let found = named(&comparison);
        if !mutant.found_by.iter().any(|name| found.contains(name)) {
            wrong.push(format!(
                "{}: {found:?} without any of {:?}",
                mutant.name, mutant.found_by
            ));
        }
        assert!(!found.contains("instruction_following"), "{}: {found:?}", mutant.name);
        let words: Vec<&String> = comparison.regressions.iter().flat_map(|worse| &worse.new).collect();
        let says = |part: &str| words.iter().any(|word| word.contains(part));
        let is_said = match mutant.name {
            "forgets the last user turn" => says("lost-request"),
            "inflates" => says("inflated"),
            "invents a file" => says("invented-file"),
            "loses the first span of the chain" => says("from before its first compaction"),
            _ => true,
        };
        if !is_said {
            wrong.push(format!("{}: {words:?}", mutant.name));
        }
        println!("{}: {found:?}", mutant.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn equal_runs_with_a_wavering_judge_raise_no_alarm_beyond_the_stated_rate() {
    let exam = Exam::built_in().unwrap();
    // Off by up to a whole point either way, another way every time.
    let server = Examiner::new(&exam).noisy(2).serve();
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<Run> = (0..7)
        .map(|index| run(&exam, None, &server, &folder.path().join(format!("same-{index}"))))
        .collect();
    let (mut pairs, mut wavering, mut alarms) = (0, 0, Vec::new());
    for (index, a) in runs.iter().enumerate() {
        for b in &runs[index + 1..] {
            let comparison = compare(a, b, &Options::default()).unwrap();
            let figures = comparison.slices.iter().flat_map(|slice| &slice.figures);
            wavering += usize::from(figures.into_iter().any(|figure| figure.difference.abs() > 0.0));
            pairs += 1;
            if !comparison.regressions.is_empty() {
                alarms.push(named(&comparison));
            }
        }
    }
    assert_eq!((pairs, wavering), (21, 21), "the judge has to waver");
    // One family in twenty may raise an alarm, and each pair has two families with a model in them.
    assert!(alarms.len() <= 2, "{alarms:?}");
}
