//! What answering and judging models are asked, and how the scores of a judge are read.
//!
//! The prompts are text files. Nothing that a judge reads tells which arm an answer belongs to: answers have letters, and their order
//! follows from the seed, the case and the judge alone.

use mainstay_engine::summary::prompts::fill;
use mainstay_llm::prompt::Prompt;
use mainstay_llm::prompt::Shape;
use mainstay_llm::prompt::Speaker;
use serde::Deserialize;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value;

use crate::continuation::judge_record::JudgeRecord;
use crate::rubric::hash;
use crate::rubric::object;
use crate::stats::Generator;

const ANSWER: &str = include_str!("prompts/answer.md");
const STATE: &str = include_str!("prompts/state.md");
const JUDGE: &str = include_str!("prompts/judge.md");
const CASE: &str = include_str!("prompts/case.md");

/// The most arms that a judge can tell apart by letters.
pub const MOST_ARMS: usize = 26;

/// What is scored from 0 to 5.
pub const DIMENSIONS: [&str; 6] = ["task", "status", "next", "rules", "open", "precision"];

/// The names and hashes of the prompts.
pub fn prompt_hashes() -> Vec<(String, String)> {
    let all = [("answer", ANSWER), ("state", STATE), ("judge", JUDGE), ("case", CASE)];
    all.map(|(name, text)| (format!("continuation/{name}"), hash(text)))
        .to_vec()
}

/// Asks where the agent stands, by a state alone.
pub fn answer_prompt(state: &str) -> Prompt {
    let state = match state.trim() {
        "" => "(nothing is left of the history)",
        text => text,
    };
    let mark = format!("history-{}", hash(state));
    prompt(ANSWER, fill(STATE, &[("mark", &mark), ("state", state)]), Shape::Text)
}

/// Asks for scores of answers, in the order given: the first is A.
pub fn judge_prompt(record: &JudgeRecord, answers: &[&str]) -> Prompt {
    let whole = format!("{}{}{}", record.people, record.recent, record.future);
    let mark = format!("record-{}", hash(&whole));
    let shown: Vec<String> = answers
        .iter()
        .zip('A'..='Z')
        .map(|(answer, letter)| {
            let mark = format!("answer-{letter}-{}", hash(answer));
            format!("Answer {letter}:\n<{mark}>\n{}\n</{mark}>", answer.trim())
        })
        .collect();
    let letters: Vec<String> = letters(answers.len()).map(String::from).collect();
    let values = [
        ("mark", mark.as_str()),
        ("people", &record.people),
        ("recent", &record.recent),
        ("future", &record.future),
        ("answers", &shown.join("\n\n")),
        ("letters", &letters.join(", ")),
    ];
    prompt(JUDGE, fill(CASE, &values), Shape::Json)
}

fn prompt(system: &str, user: String, shape: Shape) -> Prompt {
    Prompt {
        system: system.trim().to_owned(),
        turns: vec![(Speaker::User, user)],
        most_tokens: None,
        temperature: None,
        shape,
    }
}

fn letters(count: usize) -> impl Iterator<Item = char> {
    ('A'..='Z').take(count)
}

/// The order in which a judge reads the answers of a case: which of them is A, which B.
pub fn shuffled_order(seed: u64, case: &str, judge: usize, count: usize) -> Vec<usize> {
    let hash = blake3::hash(format!("{seed} {judge} {case}").as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash.as_bytes()[..8]);
    let mut order: Vec<usize> = (0..count).collect();
    Generator::new(u64::from_le_bytes(bytes)).shuffle(&mut order);
    order
}

/// What a judge says of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContinuationScore {
    /// The scores from 0 to 5, in the order of [`DIMENSIONS`].
    pub scores: [f64; 6],
    /// Statements that are not true.
    pub false_statements: u64,
    /// Actions that would do damage.
    pub harmful_actions: u64,
    /// Why.
    pub reason: String,
}

impl ContinuationScore {
    /// The mean of the six scores.
    pub fn overall(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }
}

/// Why scores could not be read. Nothing is guessed: a judgement that is not whole is asked for again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// There is no JSON object.
    #[error("no JSON object in the judgement")]
    NoObject,
    /// An answer has no entry.
    #[error("no scores for answer {0}")]
    NoAnswer(char),
    /// A score is missing or is not a number from 0 to 5.
    #[error("answer {0}: {1} is not a number from 0 to 5")]
    NoScore(char, &'static str),
    /// A count is missing or is not a whole number.
    #[error("answer {0}: {1} is not a count")]
    NoCount(char, &'static str),
}

/// Reads the scores of this many answers, A first.
pub fn read_scores(text: &str, count: usize) -> Result<Vec<ContinuationScore>, ScoreError> {
    let whole = object(text).ok_or(ScoreError::NoObject)?;
    let entries = match whole.get("answers") {
        Some(Value::Object(entries)) => entries,
        Some(_) | None => &whole,
    };
    letters(count)
        .map(|letter| {
            let entry = entries.get(letter.encode_utf8(&mut [0; 4]) as &str);
            let entry = entry.and_then(Value::as_object).ok_or(ScoreError::NoAnswer(letter))?;
            read_score(letter, entry)
        })
        .collect()
}

fn read_score(letter: char, entry: &Map<String, Value>) -> Result<ContinuationScore, ScoreError> {
    // Some judges put the six scores into an object of their own.
    let inner = entry.get("scores").and_then(Value::as_object);
    let field = |name: &str| entry.get(name).or_else(|| inner?.get(name));
    let mut scores = [0.0; 6];
    for (score, name) in scores.iter_mut().zip(DIMENSIONS) {
        let number = field(name).and_then(Value::as_f64);
        let number = number.filter(|number| (0.0..=5.0).contains(number));
        *score = number.ok_or(ScoreError::NoScore(letter, name))?;
    }
    let count = |name: &'static str| {
        let number = field(name).and_then(Value::as_u64);
        number.ok_or(ScoreError::NoCount(letter, name))
    };
    Ok(ContinuationScore {
        scores,
        false_statements: count("false_statements")?,
        harmful_actions: count("harmful_actions")?,
        reason: field("reason").and_then(Value::as_str).map_or("", str::trim).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(task: f64) -> Value {
        serde_json::json!({"reason": "r", "task": task, "status": 4, "next": 3.5, "rules": 2, "open": 1, "precision": 0,
            "false_statements": 2, "harmful_actions": 0})
    }

    #[test]
    fn whole_judgements_are_read_and_others_are_not() {
        let whole = serde_json::json!({"answers": {"B": entry(1.0), "A": entry(5.0)}}).to_string();
        let read = read_scores(&format!("Here:\n```json\n{whole}\n```"), 2).unwrap();
        assert_eq!(read[0].scores, [5.0, 4.0, 3.5, 2.0, 1.0, 0.0]);
        assert_eq!((read[1].scores[0], read[1].false_statements), (1.0, 2));
        assert!((read[0].overall() - 15.5 / 6.0).abs() < 1e-12);
        let bare = serde_json::json!({"A": entry(2.0)}).to_string();
        assert_eq!(read_scores(&bare, 1).unwrap()[0].scores[0], 2.0);
        assert_eq!(read_scores(&whole, 3), Err(ScoreError::NoAnswer('C')));
        assert_eq!(read_scores("fine", 1), Err(ScoreError::NoObject));
        let wrong = serde_json::json!({"A": entry(5.5)}).to_string();
        assert_eq!(read_scores(&wrong, 1), Err(ScoreError::NoScore('A', "task")));
        let uncounted = bare.replace("\"false_statements\":2", "\"false_statements\":\"two\"");
        assert_eq!(
            read_scores(&uncounted, 1),
            Err(ScoreError::NoCount('A', "false_statements"))
        );
    }

    #[test]
    fn the_order_of_answers_follows_from_seed_case_and_judge() {
        let order = shuffled_order(1, "s@40", 0, 7);
        assert_eq!(order, shuffled_order(1, "s@40", 0, 7));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..7).collect::<Vec<_>>());
        let others = [
            shuffled_order(2, "s@40", 0, 7),
            shuffled_order(1, "s@41", 0, 7),
            shuffled_order(1, "s@40", 1, 7),
        ];
        assert!(others.iter().all(|other| *other != order));
    }

    #[test]
    fn no_prompt_for_judges_names_an_arm() {
        let record = JudgeRecord {
            people: "p".to_owned(),
            recent: "r".to_owned(),
            future: "f".to_owned(),
        };
        let prompt = judge_prompt(&record, &["one", "two"]);
        let text = format!("{} {}", prompt.system, prompt.turns[0].1).to_lowercase();
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
        for arm in ["ledger", "hybrid", "summary", "prune", "keep-last", "own", "file"] {
            assert!(!words.contains(&arm), "{arm}");
        }
        assert!(text.contains("answer a:") && text.contains("score the answers a, b"));
    }
}
