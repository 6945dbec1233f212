//! Tests of predictions, on sessions whose provider does exactly what its rules say.

use std::sync::Arc;

use mainstay_engine::account::Family;
use mainstay_engine::account::measure;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Thinking;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Trigger;
use mainstay_engine::transcript::Usage;

use super::*;

/// What every prompt begins with, and how much of it is everybody's.
const PREFACE: u64 = 6_000;
const SHARED: u64 = 4_000;
/// The size of every answer, and the reasoning in it.
const OUTPUT: u64 = 300;
const REASONING: u64 = 100;

/// A provider that reports what it does.
struct Provider {
    messages: Vec<Message>,
    /// The prompt up to here.
    prompt: u64,
    /// What the next request finds in the cache.
    cached: u64,
    now: i64,
}

impl Provider {
    fn new() -> Self {
        Self {
            messages: Vec::new(),
            prompt: PREFACE,
            cached: SHARED,
            now: 0,
        }
    }

    /// The user says something after so many seconds, and the model answers.
    fn turn(&mut self, seconds: i64) {
        let text = "tell me more about it ".repeat(100);
        self.now += seconds * 1000;
        let mut said = Message::new(Role::User, vec![Part::Text(text.into())]);
        said.at = Some(Timestamp(self.now));
        self.prompt += measure(&said, Family::O200k).total();
        let thinking = Thinking {
            text: "hm".into(),
            seal: Seal::Unsealed,
        };
        let parts = vec![Part::Thinking(Box::new(thinking)), Part::Text("Here it is.".into())];
        let mut answer = Message::new(Role::Assistant, parts);
        answer.at = Some(Timestamp(self.now + 900));
        answer.usage = Some(Box::new(Usage {
            input: self.prompt,
            cache_read: self.cached,
            cache_write: self.prompt - self.cached,
            output: OUTPUT,
            reasoning: REASONING,
            window: None,
        }));
        self.messages.extend([said, answer]);
        self.cached = self.prompt;
        self.prompt += OUTPUT;
    }

    fn recording(self, source: &str, compacted: Option<usize>) -> Recording {
        let events = compacted.map(|before| CompactionEvent {
            before,
            kind: CompactionKind::Summary,
            trigger: Trigger::Automatic,
            tokens_before: None,
            tokens_after: None,
            summary: None,
            at: None,
        });
        let draft = Draft {
            messages: self.messages,
            events: events.into_iter().collect(),
            results_in_user_messages: true,
            steps_span_messages: true,
        };
        Recording {
            name: "made".to_owned(),
            source: source.into(),
            model: Some("gpt-5".into()),
            transcript: Arc::new(draft.assemble().transcript),
            tools: None,
            started: None,
            restarts: Vec::new(),
        }
    }
}

/// The rules of each agent's usual model, whoever was asked: sizes are counted exactly here, and so by another family.
fn rules(recording: &Recording) -> Option<CacheRules> {
    let model = match &*recording.source {
        "claude-code" => "claude-opus-4-8",
        "codex" => "gpt-5.4",
        _ => return None,
    };
    agent_rules(&Recording {
        model: Some(model.into()),
        ..recording.clone()
    })
}

fn only(recording: Recording) -> AgentCheck {
    let mut found = check(&[recording], 1, rules);
    assert_eq!(found.agents.len(), 1);
    found.agents.remove(0)
}

#[test]
fn what_follows_the_rules_is_predicted_to_the_token() {
    let mut provider = Provider::new();
    for _ in 0..10 {
        provider.turn(60);
    }
    let agent = only(provider.recording("claude-code", None));
    assert_eq!((agent.sessions, agent.requests), (1, 9));
    let write = agent.cache_write.unwrap();
    for agreement in [agent.input, agent.cache_read, write] {
        assert_eq!(
            (agreement.error, agreement.median_distance),
            (0.0, 0.0),
            "{agreement:?}"
        );
    }
}

#[test]
fn after_the_life_of_an_entry_only_what_is_shared_is_found() {
    let mut provider = Provider::new();
    provider.turn(60);
    provider.turn(60);
    provider.cached = SHARED;
    provider.turn(2 * 3600);
    provider.turn(60);
    let agent = only(provider.recording("claude-code", None));
    assert_eq!(agent.cache_read.error, 0.0, "{:?}", agent.worst);
}

#[test]
fn a_miss_of_the_provider_is_told_as_one() {
    let mut provider = Provider::new();
    provider.turn(60);
    provider.turn(60);
    provider.cached = 0;
    provider.turn(60);
    let agent = only(provider.recording("claude-code", None));
    assert!(agent.cache_read.error > 0.1);
    let worst = &agent.worst[0];
    assert_eq!((worst.request, worst.reported, worst.reason), (2, 0, Reason::Missed));
}

#[test]
fn a_compaction_begins_anew() {
    let mut provider = Provider::new();
    for _ in 0..3 {
        provider.turn(60);
    }
    provider.prompt = PREFACE + 700;
    provider.cached = SHARED;
    for _ in 0..3 {
        provider.turn(60);
    }
    let agent = only(provider.recording("claude-code", Some(6)));
    assert_eq!(agent.requests, 4, "neither the first nor the one after the compaction");
    assert_eq!((agent.input.error, agent.cache_read.error), (0.0, 0.0));
}

#[test]
fn reasoning_of_finished_turns_leaves_the_prompt_where_the_provider_drops_it() {
    let mut provider = Provider::new();
    for _ in 0..10 {
        provider.turn(60);
        provider.prompt -= REASONING;
    }
    let agent = only(provider.recording("codex", None));
    assert_eq!(agent.input.error, 0.0, "{:?}", agent.input);
    let reads: Vec<_> = agent
        .by_session
        .iter()
        .map(|session| session.predicted.cache_read)
        .collect();
    assert!(
        reads[0] < agent.cache_read.reported,
        "answers are not found without their reasoning"
    );
}

#[test]
fn sessions_without_reports_or_rules_are_passed_over() {
    let mut provider = Provider::new();
    provider.turn(60);
    provider.turn(60);
    let messages = provider.messages.clone();
    let unknown = provider.recording("somebody", None);
    let mut silent = Provider::new();
    silent.messages = messages;
    silent.messages.iter_mut().for_each(|message| message.usage = None);
    let silent = silent.recording("codex", None);
    assert!(check(&[unknown, silent], 1, rules).agents.is_empty());
}
