//! Where a recorded session is cut, and how large a state may be there.

use std::fmt;
use std::str::FromStr;

use mainstay_engine::account::Family;
use mainstay_engine::decide::step_start;
use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Transcript;

use crate::state::Target;
use crate::state::tokens;

/// No cut before this many messages: there is nothing to continue yet.
const EARLIEST: usize = 4;

/// Where to cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CutRule {
    /// Where this share of the session's tokens has passed.
    Share(f64),
    /// Where the session itself was compacted.
    Recorded,
}

impl fmt::Display for CutRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CutRule::Share(share) => write!(formatter, "{share}"),
            CutRule::Recorded => formatter.write_str("recorded"),
        }
    }
}

impl FromStr for CutRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "recorded" {
            return Ok(CutRule::Recorded);
        }
        let share: Option<f64> = text.parse().ok();
        let share = share.filter(|share| *share > 0.0 && *share < 1.0);
        share
            .map(CutRule::Share)
            .ok_or_else(|| format!("{text:?} is not a cut: a share such as 0.8, or the word recorded"))
    }
}

/// How many tokens a state may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StateSize {
    /// A number of tokens, or a share of what stands before the cut.
    Given(Target),
    /// As many as the summary that the session recorded there.
    Own,
}

impl fmt::Display for StateSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateSize::Given(target) => target.fmt(formatter),
            StateSize::Own => formatter.write_str("own"),
        }
    }
}

impl FromStr for StateSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "own" => Ok(StateSize::Own),
            given => given.parse().map(StateSize::Given),
        }
    }
}

impl StateSize {
    /// The tokens, for a prefix and a recorded summary of these sizes; none where no summary was recorded.
    pub fn of(self, prefix: u64, own: Option<u64>) -> Option<u64> {
        match self {
            StateSize::Given(target) => Some(target.of(prefix)),
            StateSize::Own => own,
        }
    }
}

/// A place where a session is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutPoint {
    /// How many messages stand before it.
    pub at: usize,
    /// The message that holds the summary which the session recorded here.
    pub summary: Option<usize>,
    /// By which rule it was chosen.
    pub rule: CutRule,
}

/// The places where a session is cut, in order, each once. A place that two rules choose is the recorded one.
pub fn cut_points(transcript: &Transcript, rules: &[CutRule]) -> Vec<CutPoint> {
    let messages = transcript.messages();
    let mut points = Vec::new();
    for rule in rules {
        match rule {
            CutRule::Recorded => points.extend(transcript.events().iter().map(|event| CutPoint {
                at: step_start(messages, event.summary.map_or(event.before, |at| at.min(event.before))),
                summary: event.summary,
                rule: *rule,
            })),
            CutRule::Share(share) => points.extend(share_point(messages, *share).map(|at| CutPoint {
                at,
                summary: None,
                rule: *rule,
            })),
        }
    }
    points.retain(|point| (EARLIEST..messages.len()).contains(&point.at));
    points.sort_by_key(|point| (point.at, point.summary.is_none(), point.rule != CutRule::Recorded));
    points.dedup_by_key(|point| point.at);
    points
}

/// The first place by which this share of the tokens has passed, moved to where an agent could have been stopped: not between a call
/// and its result, and behind a message of the person rather than before it, since no state can know a request that comes later.
fn share_point(messages: &[Message], share: f64) -> Option<usize> {
    let wanted = tokens(messages, Family::O200k) as f64 * share;
    let mut passed = 0.0;
    let mut at = 0;
    while at < messages.len() && passed < wanted {
        passed += tokens(&messages[at..=at], Family::O200k) as f64;
        at += 1;
    }
    let mut at = step_start(messages, at);
    let is_awaited = |message: &Message| matches!(message.author, Author::User | Author::Host | Author::Summary);
    while at < messages.len() && is_awaited(&messages[at]) {
        at += 1;
    }
    (at < messages.len()).then_some(at)
}

#[cfg(test)]
mod tests {
    use mainstay_engine::transcript::CallId;
    use mainstay_engine::transcript::CompactionEvent;
    use mainstay_engine::transcript::CompactionKind;
    use mainstay_engine::transcript::Content;
    use mainstay_engine::transcript::Draft;
    use mainstay_engine::transcript::Input;
    use mainstay_engine::transcript::Part;
    use mainstay_engine::transcript::Role;
    use mainstay_engine::transcript::ToolCall;
    use mainstay_engine::transcript::ToolOutcome;
    use mainstay_engine::transcript::ToolResult;
    use mainstay_engine::transcript::Trigger;

    use super::*;

    fn said(role: Role, text: &str) -> Message {
        Message::new(role, vec![Part::Text(text.into())])
    }

    /// Rounds of request, call, result and report, each about as long as the others.
    fn rounds(count: usize, events: Vec<CompactionEvent>) -> Transcript {
        let mut messages = Vec::new();
        for round in 0..count {
            let id = CallId::new(format!("c{round}"));
            messages.push(said(Role::User, &"do the next part ".repeat(10)));
            messages.push(Message::new(
                Role::Assistant,
                vec![Part::Call(Box::new(ToolCall {
                    id: id.clone(),
                    name: "run".into(),
                    input: Input::Json(r#"{"command":"make"}"#.into()),
                }))],
            ));
            messages.push(Message::new(
                Role::Tool,
                vec![Part::Result(Box::new(ToolResult {
                    id,
                    name: None,
                    content: vec![Content::Text("all is well here ".repeat(10).into())],
                    outcome: ToolOutcome::Unstated,
                }))],
            ));
            messages.push(said(Role::Assistant, &"this part is done ".repeat(10)));
        }
        let draft = Draft {
            messages,
            events,
            ..Draft::default()
        };
        draft.assemble().transcript
    }

    #[test]
    fn a_share_is_cut_where_an_agent_could_have_been_stopped() {
        let transcript = rounds(10, Vec::new());
        let messages = transcript.messages();
        for percent in 15..95 {
            let points = cut_points(&transcript, &[CutRule::Share(f64::from(percent) / 100.0)]);
            assert_eq!(points.len(), 1, "{percent}");
            let at = points[0].at;
            // Not between a call and its result, and the person's newest request stands before the cut.
            assert_eq!(step_start(messages, at), at, "{percent}");
            assert_eq!(messages[at].author, Author::Assistant, "{percent}");
            let passed = tokens(&messages[..at], Family::O200k) as f64 / tokens(messages, Family::O200k) as f64;
            assert!(
                (passed - f64::from(percent) / 100.0).abs() < 0.06,
                "{percent}: {passed}"
            );
        }
    }

    #[test]
    fn recorded_compactions_are_cut_once_with_their_summary() {
        let event = CompactionEvent {
            before: 20,
            kind: CompactionKind::Summary,
            trigger: Trigger::Automatic,
            tokens_before: None,
            tokens_after: None,
            summary: Some(20),
            at: None,
        };
        let transcript = rounds(10, vec![event]);
        let points = cut_points(
            &transcript,
            &[CutRule::Share(0.9), CutRule::Recorded, CutRule::Recorded],
        );
        let places: Vec<(usize, Option<usize>)> = points.iter().map(|point| (point.at, point.summary)).collect();
        assert_eq!(places[0], (20, Some(20)));
        assert_eq!(places.len(), 2);
        assert!(cut_points(&rounds(10, Vec::new()), &[CutRule::Recorded]).is_empty());
    }

    #[test]
    fn rules_and_sizes_are_parsed_as_they_are_written() {
        for text in ["recorded", "0.5", "0.85"] {
            assert_eq!(text.parse::<CutRule>().unwrap().to_string(), text);
        }
        for text in ["1", "0", "half", "-0.1", "NaN"] {
            assert!(text.parse::<CutRule>().is_err(), "{text}");
        }
        for text in ["own", "3%", "4000"] {
            assert_eq!(text.parse::<StateSize>().unwrap().to_string(), text);
        }
        assert_eq!("3%".parse::<StateSize>().unwrap().of(10_000, None), Some(300));
        assert_eq!(StateSize::Own.of(10_000, Some(70)), Some(70));
        assert_eq!(StateSize::Own.of(10_000, None), None);
    }
}
