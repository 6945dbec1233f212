//! The labelled texts with and without secrets, and how a redactor does on them.
//!
//! "Safe" means that of a secret no run longer than eight characters or a tenth of it is left. Any change to a text without
//! secrets is a false alarm.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use serde::Deserialize;

/// A secret or a datum of a person in a text.
#[derive(Clone, Debug, Deserialize)]
pub struct Planted {
    /// What it is.
    pub value: String,
    /// As it is spelled in the text, where that differs.
    #[serde(default)]
    pub raw: Option<String>,
}

/// A labelled text.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// Names the case.
    pub id: String,
    /// `pos`, `neg`, `tp` or `fp`.
    pub label: String,
    /// The kind of secret, or the rule it was written for.
    #[serde(default, alias = "rule")]
    pub kind: String,
    /// The notation around it, or where it comes from.
    #[serde(default, alias = "source")]
    pub context: String,
    /// The text.
    pub text: String,
    /// What is in it.
    #[serde(default, alias = "spans")]
    pub secrets: Vec<Planted>,
}

/// The cases of a compressed file, or `None` where it is absent.
pub fn load(file: &str) -> Option<Vec<Case>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/secrets");
    let packed = std::fs::File::open(root.join(file)).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).ok()?;
    let cases = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of the corpus is a case"));
    Some(cases.collect())
}

/// A redactor with a fixed key.
pub fn redactor(pii: bool) -> Redactor {
    Redactor::new(
        Key::new([7; 32]),
        Options {
            pii,
            ..Options::default()
        },
    )
}

/// Whether a secret is gone from a text: the longest run of it that is left is short.
pub fn is_safe(output: &str, secret: &Planted) -> bool {
    let spelled = secret.raw.as_deref().unwrap_or(&secret.value);
    [spelled, &secret.value].into_iter().all(|value| {
        let letters: Vec<char> = value.chars().collect();
        let allowed = 8.max(letters.len() / 10);
        letters.windows((allowed + 1).min(letters.len())).all(|window| {
            let run: String = window.iter().collect();
            letters.len() <= allowed && !output.contains(value) || letters.len() > allowed && !output.contains(&run)
        })
    })
}

/// Which half of the kinds a kind belongs to: rules were written looking at the first only.
pub fn is_first_half(kind: &str) -> bool {
    kind.bytes().map(u32::from).sum::<u32>() % 2 == 0
}

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How many.
    pub part: usize,
    /// Of how many.
    pub whole: usize,
}

impl Share {
    /// Counts one more.
    pub fn count(&mut self, hit: bool) {
        self.part += usize::from(hit);
        self.whole += 1;
    }

    /// The share, one for nothing.
    pub fn value(&self) -> f64 {
        if self.whole == 0 {
            1.0
        } else {
            self.part as f64 / self.whole as f64
        }
    }
}

/// What a run over labelled texts showed.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Secrets that are safe, in the kinds that were looked at.
    pub first: Share,
    /// Secrets that are safe, in the other kinds.
    pub second: Share,
    /// Texts without secrets that were changed.
    pub touched: Share,
    /// The same, of what providers want back byte for byte.
    pub protocol: Share,
    /// By kind and context: secrets that are not safe.
    pub missed: BTreeMap<(String, String), Vec<String>>,
    /// By kind: texts without secrets that were changed, and into what.
    pub alarms: Vec<(String, String, String)>,
}

impl Outcome {
    /// Secrets that are safe, in all kinds.
    pub fn safe(&self) -> Share {
        Share {
            part: self.first.part + self.second.part,
            whole: self.first.whole + self.second.whole,
        }
    }
}

/// Runs a redactor over labelled texts.
pub fn judge(redactor: &Redactor, cases: &[Case]) -> Outcome {
    let mut outcome = Outcome::default();
    for case in cases {
        let redacted = redactor.redact(&case.text);
        if case.label == "neg" {
            let changed = redacted.text != case.text;
            outcome.touched.count(changed);
            if case.kind.starts_with("agent_") {
                outcome.protocol.count(changed);
            }
            if changed {
                outcome
                    .alarms
                    .push((case.kind.clone(), case.text.clone(), redacted.text));
            }
            continue;
        }
        for secret in &case.secrets {
            let safe = is_safe(&redacted.text, secret);
            let half = if is_first_half(&case.kind) {
                &mut outcome.first
            } else {
                &mut outcome.second
            };
            half.count(safe);
            if !safe {
                let key = (case.kind.clone(), case.context.clone());
                outcome.missed.entry(key).or_default().push(case.text.clone());
            }
        }
    }
    outcome
}

/// Of the examples other people wrote for their rules: how many are flagged, by source and label.
pub fn flagged(redactor: &Redactor, cases: &[Case]) -> BTreeMap<(String, String), Share> {
    let mut shares: BTreeMap<(String, String), Share> = BTreeMap::new();
    for case in cases {
        let hit = !redactor.find(&case.text).is_empty();
        shares
            .entry((case.context.clone(), case.label.clone()))
            .or_default()
            .count(hit);
    }
    shares
}
