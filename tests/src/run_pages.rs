//! Runs of the probe evaluation as they might have come out, to look at: rich, without models, cut short, hostile, large.
//!
//! Nothing is compacted or asked: what arms leave and models say is made up, by a seed.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use mainstay_eval::fixture::Kind;
use mainstay_eval::fixture::Probe;
use mainstay_eval::fixture::Stretch;
use mainstay_eval::grade;
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
use serde::Serialize;
use serde_json::json;

use crate::conversation::Random;
pub use crate::run_plans::Plan;
pub use crate::run_plans::cut_short;
pub use crate::run_plans::hostile;
pub use crate::run_plans::large;
pub use crate::run_plans::without_models;

/// The arms: name, whether a control, the share of facts and of tokens that it leaves.
const ARMS: &[(&str, bool, f64, f64)] = &[
    ("hybrid", false, 0.88, 0.14),
    ("ledger", false, 0.74, 0.11),
    ("hybrid+recall", false, 0.94, 0.15),
    ("uncompacted", true, 1.0, 1.0),
    ("keep-last", true, 0.31, 0.16),
];

const TOPICS: &[&str] = &[
    "feature-rate-limits",
    "feature-csv-export",
    "debug-login-401",
    "debug-flaky-checkout",
    "config-nightly-jobs",
    "config-alert-rules",
    "chained-schema-migration",
    "chained-mobile-release",
];

const PROBES: usize = 10;

/// Writes a run into a directory that is made for it.
pub fn build(directory: &Path, plan: &Plan) {
    for folder in ["exam/fixtures", "exam/probes", "states"] {
        std::fs::create_dir_all(directory.join(folder)).unwrap();
    }
    let mut random = Random(plan.seed);
    let mut samples = Vec::new();
    let mut fixtures = Vec::new();
    for number in 0..plan.fixtures {
        let fixture = Made::new(number, plan);
        fixture.write(directory);
        fixtures.push(fixture.used());
        for repeat in 1..=plan.repeats {
            for (place, arm) in ARMS.iter().enumerate() {
                // A run that was cut short has neither states nor samples of its last fixture.
                if !plan.is_complete && number + 1 == plan.fixtures && place > 1 {
                    continue;
                }
                let kept = fixture.kept(arm, plan, &mut random);
                let state = fixture.state(arm, repeat, &kept);
                let path = Run::state_path(directory, &fixture.name, arm.0, repeat);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                write_json(&path, &state);
                let shown: Vec<&str> = state.after.iter().map(|message| message.text.as_str()).collect();
                let shown = shown.join("\n");
                samples.extend(fixture.samples(arm, repeat, &shown, plan, &mut random));
            }
        }
    }
    write_json(&directory.join("manifest.json"), &manifest(plan, fixtures));
    let mut lines: String = samples
        .iter()
        .map(|sample| serde_json::to_string(sample).unwrap() + "\n")
        .collect();
    if plan.is_complete {
        write_json(&directory.join("report.json"), &json!({}));
    } else {
        lines.push_str("{\"fixture\": \"cut o");
    }
    std::fs::write(directory.join("samples.jsonl"), lines).unwrap();
}

fn write_json(path: &Path, value: &impl Serialize) {
    std::fs::write(path, serde_json::to_string_pretty(value).unwrap()).unwrap();
}

fn manifest(plan: &Plan, fixtures: Vec<FixtureUsed>) -> Manifest {
    let model = |name: &str| ModelUsed {
        name: name.to_owned(),
        id: format!("vendor/{name}-4.1{}", plan.planted),
        url: "https://models.example/v1".to_owned(),
        window: 200_000,
        rates: None,
    };
    Manifest {
        version: Run::VERSION,
        label: format!("{}{}", plan.label, plan.planted),
        created: 1_777_900_000_000,
        program: "0.1.0".to_owned(),
        fixtures,
        arms: ARMS
            .iter()
            .map(|(name, is_control, _, _)| ArmUsed {
                name: (*name).to_owned(),
                spec: (*name).to_owned(),
                is_control: *is_control,
                has_recall: name.ends_with("recall"),
                digest: format!("b3:{:016x}", Random(name.len() as u64).draw()),
            })
            .collect(),
        repeats: plan.repeats,
        tokenizer: "o200k".to_owned(),
        target: "15 %".to_owned(),
        focus: None,
        summarisers: plan.is_judged.then(|| model("writer")).into_iter().collect(),
        answerer: plan.is_judged.then(|| model("answerer")),
        judge: plan.is_judged.then(|| model("judge")),
        prompts: vec![
            ("answer".to_owned(), "b3:0b5c".to_owned()),
            ("judge".to_owned(), "b3:77f1".to_owned()),
        ],
        seed: plan.seed,
        scored_from: None,
    }
}

/// A made-up fixture: messages, and probes whose facts stand in them.
struct Made {
    name: String,
    messages: Vec<(String, String)>,
    probes: Vec<Probe>,
}

impl Made {
    fn new(number: usize, plan: &Plan) -> Self {
        let topic = TOPICS[number % TOPICS.len()];
        let name = match number / TOPICS.len() {
            0 => topic.to_owned(),
            round => format!("{topic}-{round}"),
        };
        let mut messages = vec![
            (
                "system".to_owned(),
                "You are a coding agent in a repository.".to_owned(),
            ),
            (
                "user".to_owned(),
                format!("Please work on {topic}.{} Keep notes of what you change.", plan.planted),
            ),
        ];
        let mut probes = Vec::new();
        for index in 0..PROBES {
            let kind = Kind::ALL[index % Kind::ALL.len()];
            let first = messages.len();
            let facts = [
                format!("src/{topic}/part_{index}.rs{}", plan.planted),
                format!("{}", 4100 + index * 37 + number),
            ];
            let stale = format!("{}", 9100 + index * 37 + number);
            messages.push((
                "assistant".to_owned(),
                format!("Reading {} to see what it does.", facts[0]),
            ));
            messages.push(("tool".to_owned(), tool_output(&facts[0], &stale, index)));
            messages.push((
                "user".to_owned(),
                format!("The limit is {} now, no longer {stale}.", facts[1]),
            ));
            messages.push((
                "assistant".to_owned(),
                format!("Changed {} accordingly; tests pass.", facts[0]),
            ));
            let spans = [
                (facts[0].clone(), Stretch(first, first + 1)),
                (facts[1].clone(), Stretch(first + 2, first + 2)),
            ];
            probes.push(Probe {
                id: format!("{}-{index}", kind.name()),
                kind,
                question: question(kind, index, &plan.planted),
                expected_facts: facts.to_vec(),
                stale_facts: if index % 3 == 0 { vec![stale] } else { Vec::new() },
                forms: [(facts[1].clone(), vec![format!("limit of {}", facts[1])])].into(),
                spans: spans.into(),
            });
        }
        if plan.has_endless_line {
            messages.push(("user".to_owned(), "endless".repeat((1 << 20) / 7)));
        }
        Self { name, messages, probes }
    }

    fn write(&self, directory: &Path) {
        let messages: Vec<_> = self
            .messages
            .iter()
            .map(|(role, text)| {
                let role = if role == "tool" { "user" } else { role };
                json!({"role": role, "content": text})
            })
            .collect();
        let fixture = json!({"name": self.name, "description": "Made up.", "messages": messages});
        write_json(&directory.join(format!("exam/fixtures/{}.json", self.name)), &fixture);
        let bank = json!({"fixture": self.name, "probes": self.probes});
        write_json(&directory.join(format!("exam/probes/{}.probes.json", self.name)), &bank);
    }

    fn used(&self) -> FixtureUsed {
        FixtureUsed {
            name: self.name.clone(),
            digest: format!("b3:{:016x}", Random(self.name.len() as u64).draw()),
            probes_digest: format!("b3:{:016x}", Random(self.messages.len() as u64).draw()),
            probes: self.probes.len(),
            messages: self.messages.len(),
            tokens: self.tokens(),
        }
    }

    fn tokens(&self) -> u64 {
        self.messages.iter().map(|(_, text)| tokens(text)).sum()
    }

    /// Which facts an arm leaves, by probe and fact.
    fn kept(&self, arm: &(&str, bool, f64, f64), plan: &Plan, random: &mut Random) -> Vec<[bool; 2]> {
        let loss = if arm.0.starts_with("hybrid") { plan.loss } else { 0.0 };
        let share = ((arm.2 - loss) * 1000.0) as usize;
        (0..self.probes.len())
            .map(|_| [random.below(1000) < share, random.below(1000) < share])
            .collect()
    }

    fn state(&self, arm: &(&str, bool, f64, f64), repeat: u32, kept: &[[bool; 2]]) -> StateRecord {
        let before: Vec<Shown> = self
            .messages
            .iter()
            .enumerate()
            .map(|(place, (role, text))| shown(role, text, Some(place)))
            .collect();
        let last = before.len() - 4;
        let is_whole = arm.3 == 1.0;
        let fates: Vec<Fate> = (0..before.len())
            .map(|place| match place {
                0 | 1 => Fate::Kept,
                _ if is_whole || place >= last => Fate::Kept,
                _ if arm.0 != "keep-last" && place % 9 == 3 => Fate::Shortened,
                _ => Fate::Dropped,
            })
            .collect();
        let mut after = Vec::new();
        for (place, message) in before.iter().enumerate() {
            match fates[place] {
                Fate::Kept => after.push(message.clone()),
                Fate::Shortened => after.push(shown(&message.role, "[shortened] test run, 214 passed", Some(place))),
                Fate::Dropped => {}
            }
            if place == 1 && !is_whole {
                let facts = self.probes.iter().zip(kept).flat_map(|(probe, kept)| {
                    let lines = probe.expected_facts.iter().zip(kept).filter(|(_, kept)| **kept);
                    lines.map(|(fact, _)| format!("- [tool m12] {fact}\n"))
                });
                let block: String = facts.collect();
                after.push(shown("user", &format!("## What was done\n{block}"), None));
            }
        }
        let tokens_before = self.tokens();
        let tokens_after = after.iter().map(|message| message.tokens).sum();
        let chained = self.name.starts_with("chained");
        let pass = |messages: usize, made: &str| PassRecord {
            messages,
            tokens_before,
            tokens_after,
            made: made.to_owned(),
            remarks: Vec::new(),
        };
        let half = chained.then(|| pass(before.len() / 2, arm.0));
        StateRecord {
            fixture: self.name.clone(),
            arm: arm.0.to_owned(),
            repeat,
            tokens_before,
            tokens_after,
            passes: half.into_iter().chain([pass(before.len(), arm.0)]).collect(),
            flaws: Vec::new(),
            fates,
            before,
            after,
        }
    }

    fn samples(
        &self,
        arm: &(&str, bool, f64, f64),
        repeat: u32,
        state: &str,
        plan: &Plan,
        random: &mut Random,
    ) -> Vec<Sample> {
        let sample = |probe: &Probe| {
            let graded = grade::grade(state, probe, &[]);
            let mut sample = Sample {
                fixture: self.name.clone(),
                arm: arm.0.to_owned(),
                repeat,
                probe: probe.id.clone(),
                kind: probe.kind,
                state: graded,
                searched: None,
                found: None,
                answer: None,
                graded: None,
                judged: None,
                excluded: None,
            };
            if plan.is_judged {
                answer(&mut sample, probe, plan, random);
            }
            sample
        };
        self.probes.iter().map(sample).collect()
    }
}

fn answer(sample: &mut Sample, probe: &Probe, plan: &Plan, random: &mut Random) {
    if random.below(120) == 0 {
        sample.excluded = Some(format!("the judge's answer is no JSON{}", plan.planted));
    }
    if sample.arm.ends_with("recall") {
        sample.searched = Some(format!("limit of part {}", plan.planted));
    }
    // A model uses most of what is there, and now and then gives the old for the new.
    let facts = sample
        .state
        .facts
        .iter()
        .filter(|fact| fact.found && random.below(20) > 0);
    let facts: Vec<&str> = facts.map(|fact| fact.fact.as_str()).collect();
    let mut text = match facts.len() {
        0 => "I have no record of that in what I was given.".to_owned(),
        _ => format!("From the notes: {}.{}", facts.join(" and "), plan.planted),
    };
    if let Some(stale) = probe.stale_facts.first().filter(|_| random.below(12) == 0) {
        text.push_str(&format!("\nThe limit stands at {stale}."));
    }
    text.push_str("\nThe next step is to run the tests again and to look at the output of the two that were slow.");
    let graded = grade::grade(&text, probe, &[]);
    let mut score = |weight: f64| {
        let value = 5.0 * graded.recall() * weight + 1.2 * (1.0 - weight) + random.below(100) as f64 / 100.0 - 0.6;
        value.round().clamp(0.0, 5.0)
    };
    let scores = Scores {
        accuracy: score(0.95),
        context_awareness: score(0.85),
        artifact_trail: score(0.8),
        completeness: score(0.9),
        continuity: score(0.85),
        instruction_following: score(0.98),
    };
    let reason = format!(
        "{:.0} % of what was expected is named.{}",
        graded.recall() * 100.0,
        plan.planted
    );
    if sample.excluded.is_none() {
        sample.judged = Some(Judgement { scores, reason });
    }
    sample.answer = Some(text);
    sample.graded = Some(graded);
}

fn question(kind: Kind, index: usize, planted: &str) -> String {
    let asked = match kind {
        Kind::Recall => "Which file holds it, and what is the limit now?",
        Kind::Artifact => "Which files were changed, and to which limit?",
        Kind::Continuation => "What has to be done next, and where?",
        Kind::Decision => "What was decided about the limit, and for which file?",
    };
    format!("About part {index}: {asked}{planted}")
}

fn tool_output(path: &str, stale: &str, index: usize) -> String {
    let mut text = format!("$ cat {path}\npub const LIMIT: u32 = {stale};\n");
    for line in 0..(12 + index * 9) {
        text.push_str(&format!(
            "test part_{index}::case_{line:03} ... ok ({} ms)\n",
            3 + (line * 7) % 41
        ));
    }
    text
}

fn tokens(text: &str) -> u64 {
    text.len() as u64 / 4 + 4
}

fn shown(role: &str, text: &str, from: Option<usize>) -> Shown {
    Shown {
        role: role.to_owned(),
        text: text.to_owned(),
        tokens: tokens(text),
        from,
    }
}
