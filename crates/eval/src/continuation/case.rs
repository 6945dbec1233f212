//! Cases: recorded sessions, cut, with what stood before the cut and what a judge is told.

use std::collections::BTreeSet;

use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::redact::Redactor;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use serde::Deserialize;
use serde::Serialize;

use crate::continuation::cut_rule::CutRule;
use crate::continuation::cut_rule::StateSize;
use crate::continuation::cut_rule::cut_points;
use crate::continuation::judge_record::JudgeRecord;
use crate::continuation::judge_record::has_future;
use crate::fixture::Bank;
use crate::fixture::Head;
use crate::fixture::Subject;
use crate::forced::redactor;
use crate::parallel::each;
use crate::replay::Recording;
use crate::retention::render;
use crate::state::tokens;

/// A state must be smaller than this share of what it stands for: otherwise nothing is compacted.
const LARGEST_SHARE: f64 = 0.75;

/// One cut of a session at one size: what every arm makes a state of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContinuationCase {
    /// Its name in reports and file names.
    pub id: String,
    /// The session, as reports and file names call it. Cases of one session belong together when intervals are drawn.
    pub session: String,
    /// The format that the session was recorded in, or the collection it belongs to.
    pub source: String,
    /// The cut: session and number of messages before it. Cases of several sizes share it.
    pub prefix: String,
    /// How many messages stand before the cut.
    pub messages: usize,
    /// Their tokens.
    pub prefix_tokens: u64,
    /// `recorded`, or the share of the session's tokens at which it was cut.
    pub cut: String,
    /// The size as it was asked for.
    pub size: String,
    /// The size in tokens.
    pub size_tokens: u64,
    /// The tokens of the summary that the session recorded here, where it did.
    pub own_tokens: Option<u64>,
}

/// A session up to a cut.
#[derive(Debug)]
pub struct SessionPrefix {
    /// Session and number of messages.
    pub id: String,
    /// What stands before the cut, without instructions: those are sent with every request and never compacted.
    pub subject: Subject,
    /// The summary that the session recorded here, redacted.
    pub own: Option<String>,
    /// What a judge is told.
    pub record: JudgeRecord,
}

/// What decides which cases there are.
#[derive(Clone, Debug)]
pub struct CaseSettings {
    /// Where sessions are cut.
    pub cuts: Vec<CutRule>,
    /// How large states may be.
    pub sizes: Vec<StateSize>,
    /// How many messages of the future a judge is told.
    pub horizon: usize,
    /// How many threads work.
    pub jobs: usize,
}

/// Cases, and what they are made of.
#[derive(Debug, Default)]
pub struct PreparedCases {
    /// The cases, in the order of their sessions.
    pub cases: Vec<ContinuationCase>,
    /// The cuts they are made of.
    pub prefixes: Vec<SessionPrefix>,
    /// Sessions, cuts and sizes that make no case, and why.
    pub left_out: Vec<(String, String)>,
}

/// The tokens of a text, by the one tokenizer that is exact for many models and near for the others.
pub fn text_tokens(text: &str) -> u64 {
    Family::O200k.count(text, TextKind::Prose)
}

impl PreparedCases {
    /// Cuts recorded sessions.
    pub fn new(recordings: &[Recording], settings: &CaseSettings) -> Self {
        let mut names = BTreeSet::new();
        let named: Vec<(String, &Recording)> = recordings
            .iter()
            .map(|recording| (session_name(&recording.name, &mut names), recording))
            .collect();
        let redactor = redactor();
        let cut = each(&named, settings.jobs, |(name, recording)| {
            cut_session(name, recording, settings, &redactor)
        });
        let mut prepared = Self::default();
        for one in cut {
            prepared.cases.extend(one.cases);
            prepared.prefixes.extend(one.prefixes);
            prepared.left_out.extend(one.left_out);
        }
        prepared
    }
}

fn cut_session(name: &str, recording: &Recording, settings: &CaseSettings, redactor: &Redactor) -> PreparedCases {
    let mut prepared = PreparedCases::default();
    let messages = recording.transcript.messages();
    let points = cut_points(&recording.transcript, &settings.cuts);
    if points.is_empty() {
        let why = "it cannot be cut as asked: too short, or no recorded compaction";
        prepared.left_out.push((name.to_owned(), why.to_owned()));
    }
    for point in points {
        let id = format!("{name}@{}", point.at);
        if !has_future(messages, point.at, settings.horizon) {
            let why = "the agent did nothing afterwards";
            prepared.left_out.push((id, why.to_owned()));
            continue;
        }
        let own = point.summary.and_then(|index| messages.get(index));
        let own = own.map(|message| redactor.redact(&render(message)).text);
        let own_tokens = own.as_deref().map(text_tokens);
        let subject = subject(&id, &messages[..point.at], recording);
        let prefix_tokens = tokens(&subject.messages, Family::O200k);
        let mut has_cases = false;
        for size in &settings.sizes {
            let why = match size.of(prefix_tokens, own_tokens) {
                None => "no summary was recorded here, so there is no size of its own",
                Some(0) => "the size is zero tokens here",
                Some(target) if target as f64 > prefix_tokens as f64 * LARGEST_SHARE => {
                    "what stands before the cut is hardly larger than the state would be"
                }
                Some(target) => {
                    prepared.cases.push(ContinuationCase {
                        id: case_id(&id, *size, settings.sizes.len()),
                        session: name.to_owned(),
                        source: recording.source.to_string(),
                        prefix: id.clone(),
                        messages: point.at,
                        prefix_tokens,
                        cut: point.rule.to_string(),
                        size: size.to_string(),
                        size_tokens: target,
                        own_tokens,
                    });
                    has_cases = true;
                    continue;
                }
            };
            prepared.left_out.push((format!("{id} at {size}"), why.to_owned()));
        }
        if has_cases {
            prepared.prefixes.push(SessionPrefix {
                record: JudgeRecord::new(messages, point.at, settings.horizon, redactor),
                id,
                subject,
                own,
            });
        }
    }
    prepared
}

fn subject(name: &str, messages: &[Message], recording: &Recording) -> Subject {
    let is_spoken = |message: &&Message| !matches!(message.role, Role::System | Role::Developer);
    Subject {
        head: Head {
            name: name.to_owned(),
            model: recording.model.as_deref().map(str::to_owned),
            ..Head::default()
        },
        messages: messages.iter().filter(is_spoken).cloned().collect(),
        bank: Bank::default(),
        fixture_text: String::new(),
        bank_text: String::new(),
    }
}

fn case_id(prefix: &str, size: StateSize, sizes: usize) -> String {
    match sizes {
        1 => prefix.to_owned(),
        _ => format!("{prefix}-{}", size.to_string().replace('%', "pct")),
    }
}

/// A session's name as part of a file name, different from all others.
fn session_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    /// Ids of agents have 36 characters at most; longer names are paths, of which the end tells most.
    const LONGEST: usize = 40;
    let fit = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
        true => c,
        false => '-',
    };
    let fitted: Vec<char> = name.trim_end_matches(".jsonl").chars().map(fit).collect();
    let short: String = fitted[fitted.len().saturating_sub(LONGEST)..].iter().collect();
    let short = match short.trim_matches(['-', '.']) {
        "" => "session",
        trimmed => trimmed,
    };
    let numbered = (2..).map(|number| format!("{short}-{number}"));
    std::iter::once(short.to_owned())
        .chain(numbered)
        .find(|name| taken.insert(name.clone()))
        .expect("there are more numbers than sessions")
}
