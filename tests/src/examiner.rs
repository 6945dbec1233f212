//! Models that are functions: one that answers probes from what it is shown, one that judges by a list, one that summarises
//! line by line. They stand behind a [`Server`](crate::server::Server), so that whole runs of the evaluation happen over sockets.
//!
//! The answering one knows the banks, and no more of a state than what it is shown: it gives every expected fact that stands
//! there, and a stale one where the current one does not. The judge sees what a judge sees: facts and answer.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;

use mainstay_eval::fixture::Exam;
use mainstay_eval::fixture::Probe;
use serde_json::Value;
use serde_json::json;

use crate::reply::Reply;
use crate::server::Received;
use crate::server::Script;
use crate::server::Server;

/// What the models are called in requests.
pub const SUMMARISER: &str = "scripted-writer";
/// The one that answers.
pub const ANSWERER: &str = "scripted-reader";
/// The one that judges.
pub const JUDGE: &str = "scripted-judge";

/// Models that are functions.
#[derive(Debug, Default)]
pub struct Examiner {
    probes: BTreeMap<String, Probe>,
    /// How far a score may be from what the list says, in halves.
    noise: u32,
    /// Every so many judgements are not JSON the first time; zero for none.
    garbled: usize,
    /// How often each request was made: the same words said again get other noise.
    seen: Mutex<BTreeMap<String, u64>>,
}

impl Examiner {
    /// Models that know these banks.
    pub fn new(exam: &Exam) -> Self {
        let probes = exam.subjects.iter().flat_map(|subject| subject.bank.probes.clone());
        Self {
            probes: probes.map(|probe| (probe.question.clone(), probe)).collect(),
            ..Self::default()
        }
    }

    /// The same with a judge whose scores are off by up to so many halves.
    pub fn noisy(mut self, halves: u32) -> Self {
        self.noise = halves;
        self
    }

    /// The same with a judge who gives no JSON for every so many requests, the first time they are made.
    pub fn garbled(mut self, every: usize) -> Self {
        self.garbled = every;
        self
    }

    /// A server that plays all three.
    pub fn serve(self) -> Server {
        Server::with(move |received| self.script(received))
    }

    /// What a request is answered with.
    pub fn script(&self, received: &Received) -> Script {
        let Ok(body) = serde_json::from_str::<Value>(&received.body) else {
            return Script::status(400, r#"{"error":{"message":"the body is no JSON"}}"#);
        };
        let (text, input) = self.reply(&body);
        let output = (text.len() / 4) as u64;
        Script::answer(Reply::new(&text).costing(input, output))
    }

    /// The answer to a request's body, and the tokens of its prompt.
    pub fn reply(&self, body: &Value) -> (String, u64) {
        let prompt = words(body);
        let text = match body["model"].as_str().unwrap_or("") {
            ANSWERER => self.answer(&prompt),
            JUDGE => self.judgement(&prompt),
            _ => summary(&prompt),
        };
        (text, (prompt.len() / 4) as u64)
    }

    fn times(&self, prompt: &str) -> u64 {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let times = seen.entry(prompt.to_owned()).or_default();
        *times += 1;
        *times
    }

    fn answer(&self, prompt: &str) -> String {
        let question = prompt.rsplit("Question: ").next().unwrap_or("");
        let question = question
            .split("\n\nWhat was cut from the history")
            .next()
            .unwrap_or("")
            .trim();
        let Some(probe) = self.probes.get(question) else {
            return "I do not know this question.".to_owned();
        };
        let shown = between(prompt, "history-").to_lowercase() + &between(prompt, "found-history-").to_lowercase();
        let stands = |fact: &str| probe.forms_of(fact).any(|form| shown.contains(&form.to_lowercase()));
        let known: Vec<&str> = probe
            .expected_facts
            .iter()
            .map(String::as_str)
            .filter(|fact| stands(fact))
            .collect();
        let is_whole = known.len() == probe.expected_facts.len();
        if prompt.contains("can be searched, once") {
            return match is_whole {
                true => json!({ "answer": known.join("; ") }).to_string(),
                false => json!({ "search": question }).to_string(),
            };
        }
        let stale = probe
            .stale_facts
            .iter()
            .map(String::as_str)
            .filter(|fact| !is_whole && stands(fact));
        let facts: Vec<&str> = known.iter().copied().chain(stale).collect();
        match facts.is_empty() {
            true => "That does not stand in what I have.".to_owned(),
            false => facts.join("; "),
        }
    }

    fn judgement(&self, prompt: &str) -> String {
        let times = self.times(prompt);
        let hash = hash(prompt);
        if self.garbled > 0 && times == 1 && hash.is_multiple_of(self.garbled as u64) {
            return "A fine answer, I would say four out of five.".to_owned();
        }
        let case = Case::read(prompt);
        if prompt.contains("Choose exactly one outcome") {
            return json!({ "reason": case.reason(), "outcome": case.outcome() }).to_string();
        }
        let mut dice = hash ^ times.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut score = |exact: f64| {
            dice = dice
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            let span = u64::from(self.noise) * 2 + 1;
            let off = ((dice >> 33) % span) as f64 - f64::from(self.noise);
            ((exact + off / 2.0).clamp(0.0, 5.0) * 2.0).round() / 2.0
        };
        json!({
            "reason": case.reason(),
            "accuracy": score(5.0 * case.share(|fact| fact.contains(|c: char| c.is_ascii_digit() || matches!(c, '/' | '.' | '_')))),
            "context_awareness": score(if case.stale.is_empty() { 5.0 } else { 0.0 }),
            "artifact_trail": score(if case.kind == "artifact" { 5.0 * case.share(|_| true) } else { 5.0 }),
            "completeness": score(5.0 * case.share(|_| true)),
            "continuity": score(if case.kind == "continuation" { 5.0 * case.share(|_| true) } else { 5.0 }),
            "instruction_following": score(5.0),
        })
        .to_string()
    }
}

/// What a judge is given.
struct Case {
    kind: String,
    /// Expected facts, and whether the answer has them.
    facts: Vec<(String, bool)>,
    /// Stale facts that the answer has.
    stale: Vec<String>,
}

impl Case {
    fn read(prompt: &str) -> Self {
        let answer = between(prompt, "answer-").to_lowercase();
        let case = prompt.rsplit("Question (").next().unwrap_or("");
        let list = |head: &str| -> Vec<String> {
            let list = case.split(head).nth(1).unwrap_or("");
            let lines = list.trim_start().lines().take_while(|line| line.starts_with("- "));
            let facts = lines.map(|line| line[2..].to_owned());
            facts.filter(|fact| fact != "none").collect()
        };
        let stands = |line: &str| {
            let (fact, others) = line.split_once(" (also: ").unwrap_or((line, ""));
            let others = others
                .trim_end_matches(')')
                .split("; ")
                .filter(|other| !other.is_empty());
            std::iter::once(fact)
                .chain(others)
                .any(|form| answer.contains(&form.to_lowercase()))
        };
        let facts = list("Facts that a right answer has:\n").into_iter();
        let stale = list("Facts that are no longer true and must not be given as current:\n").into_iter();
        Self {
            kind: case.split(')').next().unwrap_or("").to_owned(),
            facts: facts
                .map(|fact| {
                    let found = stands(&fact);
                    (fact, found)
                })
                .collect(),
            stale: stale.filter(|fact| stands(fact)).collect(),
        }
    }

    /// The share of facts of a kind that the answer has; of all facts where there are none of the kind.
    fn share(&self, of: impl Fn(&str) -> bool) -> f64 {
        let mut facts: Vec<bool> = self
            .facts
            .iter()
            .filter(|(fact, _)| of(fact))
            .map(|(_, found)| *found)
            .collect();
        if facts.is_empty() {
            facts = self.facts.iter().map(|(_, found)| *found).collect();
        }
        facts.iter().filter(|found| **found).count() as f64 / facts.len().max(1) as f64
    }

    /// What a scorer of A/B replay says of it.
    fn outcome(&self) -> &'static str {
        match (self.share(|_| true) >= 1.0, self.stale.is_empty()) {
            (true, true) => "correct",
            (true, false) => "ambiguous",
            (false, true) => "missing",
            (false, false) => "stale",
        }
    }

    fn reason(&self) -> String {
        let missing: Vec<&str> = self
            .facts
            .iter()
            .filter(|(_, found)| !found)
            .map(|(fact, _)| fact.as_str())
            .collect();
        match (missing.is_empty(), self.stale.is_empty()) {
            (true, true) => "everything that was expected is there".to_owned(),
            (false, true) => format!("dropped {}", missing.join(", ")),
            (_, false) => format!(
                "gives {} as current; dropped {}",
                self.stale.join(", "),
                missing.join(", ")
            ),
        }
    }
}

/// A summary with the sections that are asked for: the lines of the records that hold values, shortest first.
fn summary(prompt: &str) -> String {
    let is_value = |line: &&str| line.contains(|c: char| c.is_ascii_digit() || matches!(c, '/' | '_'));
    let mut lines: Vec<&str> = prompt
        .lines()
        .filter(is_value)
        .filter(|line| (8..160).contains(&line.len()))
        .collect();
    lines.sort_by_key(|line| line.len());
    lines.dedup();
    let headings: Vec<&str> = prompt.lines().filter(|line| line.starts_with("## ")).collect();
    let mut text = String::new();
    for heading in headings {
        text.push_str(heading);
        text.push_str("\n- as the records show\n");
    }
    for line in lines.iter().take(40) {
        text.push_str(&format!("- {line}\n"));
    }
    text
}

/// All words of a request, instructions first.
pub fn words(body: &Value) -> String {
    let mut words = String::new();
    fn add(value: &Value, words: &mut String) {
        match value {
            Value::String(text) => {
                words.push_str(text);
                words.push('\n');
            }
            Value::Array(list) => list.iter().for_each(|value| add(value, words)),
            Value::Object(object) => {
                for key in ["content", "text"] {
                    if let Some(value) = object.get(key) {
                        add(value, words);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    for key in ["system", "instructions", "messages", "input"] {
        add(&body[key], &mut words);
    }
    words
}

/// What stands between the marks of a kind; empty where there are none.
fn between(prompt: &str, mark: &str) -> String {
    let Some((_, rest)) = prompt.split_once(&format!("<{mark}")) else {
        return String::new();
    };
    let Some((mark_end, rest)) = rest.split_once('>') else {
        return String::new();
    };
    let end = format!("</{mark}{mark_end}>");
    rest.split(&end).next().unwrap_or("").to_owned()
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
