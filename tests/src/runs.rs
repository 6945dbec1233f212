//! Runs of the probe evaluation, made up: with any scores, in memory or as a directory.
//!
//! A [`Plan`] says how large a run is and what it is called; a function says what every sample is like. The fixtures are small
//! conversations and every probe expects three facts, so a directory that was written reads back like a real one.

use std::path::Path;
use std::path::PathBuf;

use mainstay_eval::fixture::Kind;
use mainstay_eval::grade::FactGrade;
use mainstay_eval::grade::Grade;
use mainstay_eval::record::ArmUsed;
use mainstay_eval::record::Fate;
use mainstay_eval::record::FixtureUsed;
use mainstay_eval::record::Judgement;
use mainstay_eval::record::Manifest;
use mainstay_eval::record::ModelUsed;
use mainstay_eval::record::PassRecord;
use mainstay_eval::record::Run;
use mainstay_eval::record::Sample;
use mainstay_eval::record::Scores;
use mainstay_eval::record::Shown;
use mainstay_eval::record::StateRecord;
use serde_json::json;

/// How large a run is, and what it was made with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What it is called.
    pub label: String,
    /// How many probes each fixture has.
    pub probes: Vec<usize>,
    /// Its arms; one that is called `uncompacted` or `keep-last` is a control.
    pub arms: Vec<String>,
    /// How often everything is done.
    pub repeats: u32,
    /// The judge's name, where there is one; the answerer is always `answerer-1`, where there is a judge.
    pub judge: Option<String>,
    /// The version of the program.
    pub program: String,
}

impl Default for Plan {
    /// Eleven fixtures of eight to twelve probes, one arm, three repeats, a judge.
    fn default() -> Self {
        Self {
            label: "made".to_owned(),
            probes: (0..11).map(|fixture| 8 + fixture % 5).collect(),
            arms: vec!["ledger".to_owned()],
            repeats: 3,
            judge: Some("judge-1".to_owned()),
            program: "0.1.0".to_owned(),
        }
    }
}

impl Plan {
    /// The same under another name.
    pub fn called(&self, label: &str) -> Self {
        Self {
            label: label.to_owned(),
            ..self.clone()
        }
    }
}

/// Where a sample stands in a run.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The fixture, from 0 on.
    pub fixture: usize,
    /// The arm.
    pub arm: &'a str,
    /// The repeat, from 1 on.
    pub repeat: u32,
    /// The probe, from 0 on.
    pub probe: usize,
    /// What it asks for.
    pub kind: Kind,
}

/// What a sample is like.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The judge's scores, in the order of the dimensions.
    pub scores: [f64; 6],
    /// The judge's words.
    pub reason: String,
    /// How many of the three expected facts are in the answer.
    pub facts: usize,
    /// How many are in the state.
    pub state_facts: usize,
    /// Whether the answer gives the stale fact as current.
    pub is_stale: bool,
    /// Whether the state shows the bank's secret.
    pub leaks: bool,
    /// Why it counts in no score.
    pub excluded: Option<String>,
}

impl Cell {
    /// A good answer with the same score on every dimension.
    pub fn scored(score: f64) -> Self {
        Self {
            scores: [score; 6],
            reason: format!("worth {score}"),
            facts: 3,
            state_facts: 3,
            ..Self::default()
        }
    }
}

/// A run in memory, without states.
pub fn run(plan: &Plan, mut cell: impl FnMut(&Place<'_>) -> Cell) -> Run {
    let mut samples = Vec::new();
    for (fixture, probes) in plan.probes.iter().enumerate() {
        for arm in &plan.arms {
            for repeat in 1..=plan.repeats {
                for probe in 0..*probes {
                    let kind = Kind::ALL[probe % Kind::ALL.len()];
                    let place = Place {
                        fixture,
                        arm,
                        repeat,
                        probe,
                        kind,
                    };
                    samples.push(sample(plan, &place, cell(&place)));
                }
            }
        }
    }
    Run {
        directory: PathBuf::from("/nowhere"),
        manifest: manifest(plan),
        samples,
        is_complete: true,
    }
}

/// Writes a run's directory with fixtures, samples and states; `flaws` says what is wrong with a fixture's state of an arm.
///
/// # Errors
///
/// Where the directory cannot be written.
pub fn write(run: &Run, directory: &Path, flaws: impl Fn(usize, &str) -> Vec<String>) -> std::io::Result<()> {
    let exam = directory.join("exam");
    for folder in [exam.join("fixtures"), exam.join("probes")] {
        std::fs::create_dir_all(folder)?;
    }
    let pretty = |value: &serde_json::Value| format!("{value:#}\n");
    for (index, fixture) in run.manifest.fixtures.iter().enumerate() {
        let name = &fixture.name;
        let conversation = exam.join("fixtures").join(format!("{name}.json"));
        std::fs::write(conversation, pretty(&conversation_of(index, name)))?;
        let bank = exam.join("probes").join(format!("{name}.probes.json"));
        std::fs::write(bank, pretty(&bank_of(index, name, fixture.probes)))?;
        for arm in &run.manifest.arms {
            for repeat in 1..=run.manifest.repeats {
                let path = Run::state_path(directory, name, &arm.name, repeat);
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                let state = state(index, name, &arm.name, repeat, flaws(index, &arm.name));
                std::fs::write(path, serde_json::to_string(&state)?)?;
            }
        }
    }
    let mut lines = String::new();
    for sample in &run.samples {
        lines.push_str(&serde_json::to_string(sample)?);
        lines.push('\n');
    }
    std::fs::write(directory.join("samples.jsonl"), lines)?;
    std::fs::write(
        directory.join("manifest.json"),
        serde_json::to_string_pretty(&run.manifest)?,
    )?;
    if run.is_complete {
        std::fs::write(directory.join("report.json"), "{}\n")?;
    }
    Ok(())
}

fn fixture_name(index: usize) -> String {
    format!("fixture-{index:02}")
}

fn fact(fixture: usize, probe: usize, fact: usize) -> String {
    format!("value-{fixture}-{probe}-{fact}")
}

fn secret(fixture: usize) -> String {
    format!("made-up-secret-{fixture}")
}

fn sample(plan: &Plan, place: &Place<'_>, cell: Cell) -> Sample {
    let grade = |found: usize, is_stale: bool, leaks: bool| Grade {
        facts: (0..3)
            .map(|index| FactGrade {
                fact: fact(place.fixture, place.probe, index),
                found: index < found,
            })
            .collect(),
        stale: is_stale.then(|| format!("old-{}", place.probe)).into_iter().collect(),
        leaks: leaks.then(|| "secret 1 of the bank".to_owned()).into_iter().collect(),
    };
    let answers: Vec<String> = (0..cell.facts)
        .map(|index| fact(place.fixture, place.probe, index))
        .collect();
    let scores = cell.scores;
    let judgement = Judgement {
        scores: Scores {
            accuracy: scores[0],
            context_awareness: scores[1],
            artifact_trail: scores[2],
            completeness: scores[3],
            continuity: scores[4],
            instruction_following: scores[5],
        },
        reason: cell.reason,
    };
    let is_judged = plan.judge.is_some();
    Sample {
        fixture: fixture_name(place.fixture),
        arm: place.arm.to_owned(),
        repeat: place.repeat,
        probe: format!("{}-{:02}", place.kind.name(), place.probe),
        kind: place.kind,
        state: grade(cell.state_facts, false, cell.leaks),
        searched: None,
        found: None,
        answer: is_judged.then(|| format!("It is {}.", answers.join(", "))),
        graded: is_judged.then(|| grade(cell.facts, cell.is_stale, false)),
        judged: (is_judged && cell.excluded.is_none()).then_some(judgement),
        excluded: cell.excluded,
    }
}

fn manifest(plan: &Plan) -> Manifest {
    let model = |id: &str| ModelUsed {
        name: id.to_owned(),
        id: id.to_owned(),
        url: "http://127.0.0.1:9/v1".to_owned(),
        window: 100_000,
        rates: None,
    };
    let arm = |name: &String| ArmUsed {
        name: name.clone(),
        spec: name.clone(),
        is_control: matches!(name.as_str(), "uncompacted" | "keep-last"),
        has_recall: false,
        digest: format!("digest of {name}"),
    };
    Manifest {
        version: Run::VERSION,
        label: plan.label.clone(),
        created: 1_700_000_000_000,
        program: plan.program.clone(),
        fixtures: plan
            .probes
            .iter()
            .enumerate()
            .map(|(index, probes)| FixtureUsed {
                name: fixture_name(index),
                digest: format!("digest {index}"),
                probes_digest: format!("digest {index} of {probes}"),
                probes: *probes,
                messages: 4,
                tokens: 1000,
            })
            .collect(),
        arms: plan.arms.iter().map(arm).collect(),
        repeats: plan.repeats,
        tokenizer: "o200k".to_owned(),
        target: "0.3".to_owned(),
        focus: None,
        summarisers: Vec::new(),
        answerer: plan.judge.as_ref().map(|_| model("answerer-1")),
        judge: plan.judge.as_deref().map(model),
        prompts: vec![
            ("answer".to_owned(), "a1".to_owned()),
            ("judge".to_owned(), "j1".to_owned()),
        ],
        seed: 1,
        scored_from: None,
    }
}

fn conversation_of(index: usize, name: &str) -> serde_json::Value {
    json!({"name": name, "description": "made up", "messages": [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": format!("Look after service {index}; its key is {}.", secret(index))},
        {"role": "assistant", "content": format!("I will; I start with {}.", fact(index, 0, 0))},
        {"role": "user", "content": "Go on."},
    ]})
}

fn bank_of(index: usize, name: &str, probes: usize) -> serde_json::Value {
    let probe = |probe: usize| {
        let kind = Kind::ALL[probe % Kind::ALL.len()].name();
        let facts: Vec<String> = (0..3).map(|number| fact(index, probe, number)).collect();
        json!({"id": format!("{kind}-{probe:02}"), "type": kind, "question": format!("What is value {probe}?"),
            "expected_facts": facts, "stale_facts": [format!("old-{probe}")]})
    };
    let probes: Vec<_> = (0..probes).map(probe).collect();
    json!({"fixture": name, "secrets": [secret(index)], "probes": probes})
}

fn state(index: usize, name: &str, arm: &str, repeat: u32, flaws: Vec<String>) -> StateRecord {
    let shown = |role: &str, text: &str, from: Option<usize>| Shown {
        role: role.to_owned(),
        text: text.to_owned(),
        tokens: 10,
        from,
    };
    StateRecord {
        fixture: name.to_owned(),
        arm: arm.to_owned(),
        repeat,
        tokens_before: 1000,
        tokens_after: 300 + 10 * index as u64,
        passes: vec![PassRecord {
            messages: 4,
            tokens_before: 1000,
            tokens_after: 300 + 10 * index as u64,
            made: arm.to_owned(),
            remarks: Vec::new(),
        }],
        flaws,
        fates: vec![Fate::Kept, Fate::Dropped, Fate::Shortened, Fate::Kept],
        before: vec![
            shown("system", "You are an agent.", Some(0)),
            shown("user", "Look after the service.", Some(1)),
            shown("assistant", "I will, in many words.", Some(2)),
            shown("user", "Go on.", Some(3)),
        ],
        after: vec![
            shown("system", "You are an agent.", Some(0)),
            shown("system", "What happened so far.", None),
            shown("assistant", "I will.", Some(2)),
            shown("user", "Go on.", Some(3)),
        ],
    }
}
