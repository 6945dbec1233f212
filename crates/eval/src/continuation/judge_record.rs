//! What a judge is told about a case: the person's messages, the last steps before the cut, and what really happened afterwards.
//!
//! Every text goes through the redactor. Long texts are shortened in the middle: beginnings say what something is, ends say how it
//! came out. The whole record is bounded, so that a session with long pastes still fits into a judge's window.

use mainstay_engine::redact::Redactor;
use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use serde::Deserialize;
use serde::Serialize;

/// Characters that all messages of the person may have together, some 15,000 tokens.
const PEOPLE_ROOM: usize = 60_000;
/// Characters of one message of the person, from generous to tight; the first that lets all messages fit is used.
const PERSON_LIMITS: [usize; 4] = [8_000, 3_000, 1_200, 400];
/// How many messages before the cut are shown as the last steps.
const RECENT_MESSAGES: usize = 24;
/// How many texts of the agent from before those are shown, so that turns without words in the last steps still have a report.
const EARLIER_TEXTS: usize = 6;
/// Characters of a text of the agent or the person in the last steps and afterwards.
const TEXT_LIMIT: usize = 2_000;
/// Characters of a tool call's arguments.
const CALL_LIMIT: usize = 600;
/// Characters of a tool result.
const RESULT_LIMIT: usize = 700;

/// What a judge is told about a case besides the answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeRecord {
    /// The person's messages before the cut.
    pub people: String,
    /// The last steps before the cut.
    pub recent: String,
    /// What happened after the cut.
    pub future: String,
}

impl JudgeRecord {
    /// The record of a session that is cut before the message at `at`, with this many messages of its future.
    ///
    /// Summaries of recorded compactions are left out of the future: one of the arms may be made of them.
    pub fn new(messages: &[Message], at: usize, horizon: usize, redactor: &Redactor) -> Self {
        let (before, after) = messages.split_at(at);
        let future = after.iter().enumerate().map(|(index, message)| (at + index, message));
        let future = future.filter(|(_, message)| message.author != Author::Summary);
        let future: Vec<String> = future
            .filter_map(|(index, message)| step(index, message, redactor))
            .take(horizon)
            .collect();
        Self {
            people: people(before, redactor),
            recent: recent(before, redactor),
            future: future.join("\n\n"),
        }
    }
}

/// Whether the agent did or said anything within the horizon: without that nothing tells whether an answer is right.
pub fn has_future(messages: &[Message], at: usize, horizon: usize) -> bool {
    let after = messages[at..]
        .iter()
        .filter(|message| message.author != Author::Summary);
    after.take(horizon).any(|message| message.author == Author::Assistant)
}

fn people(before: &[Message], redactor: &Redactor) -> String {
    let spoken = before.iter().enumerate();
    let spoken: Vec<(usize, String)> = spoken
        .filter(|(_, message)| message.author == Author::User)
        .map(|(index, message)| (index, hidden(&words(message), redactor)))
        .filter(|(_, text)| !text.trim().is_empty())
        .collect();
    let room = |limit: usize| spoken.iter().map(|(_, text)| text.len().min(limit) + 10).sum::<usize>();
    let tightest = PERSON_LIMITS[PERSON_LIMITS.len() - 1];
    let limit = PERSON_LIMITS.into_iter().find(|limit| room(*limit) <= PEOPLE_ROOM);
    let limit = limit.unwrap_or(tightest);
    let shown: Vec<String> = spoken
        .iter()
        .map(|(index, text)| format!("[m{index}] {}", shortened(text, limit)))
        .collect();
    // The first messages set the task, the newest say what holds now: what does not fit is left out between them.
    let most = PEOPLE_ROOM / (tightest + 10);
    if shown.len() <= most || room(limit) <= PEOPLE_ROOM {
        return shown.join("\n\n");
    }
    let first = most / 4;
    let last = shown.len() - (most - first);
    let gap = format!("[{} messages left out here]", last - first);
    [shown[..first].join("\n\n"), gap, shown[last..].join("\n\n")].join("\n\n")
}

fn recent(before: &[Message], redactor: &Redactor) -> String {
    let start = before.len().saturating_sub(RECENT_MESSAGES);
    let mut earlier: Vec<String> = before[..start]
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, message)| message.author == Author::Assistant && !words(message).trim().is_empty())
        .take(EARLIER_TEXTS)
        .map(|(index, message)| {
            let text = hidden(&words(message), redactor);
            format!("[m{index}] agent: {}", shortened(&text, TEXT_LIMIT))
        })
        .collect();
    earlier.reverse();
    let steps = before[start..].iter().enumerate();
    let steps = steps.filter(|(_, message)| message.author != Author::Summary);
    earlier.extend(steps.filter_map(|(index, message)| step(start + index, message, redactor)));
    earlier.join("\n\n")
}

/// One message in short; none where it holds nothing to show.
fn step(index: usize, message: &Message, redactor: &Redactor) -> Option<String> {
    let who = match message.author {
        Author::User => "person",
        Author::Assistant => "agent",
        Author::Tool => "tool",
        Author::Host => "host",
        Author::System | Author::Summary => return None,
    };
    let mut pieces = Vec::new();
    let text = words(message);
    if !text.trim().is_empty() {
        pieces.push(shortened(&hidden(&text, redactor), TEXT_LIMIT));
    }
    for call in message.calls() {
        let arguments = hidden(call.input.as_str(), redactor);
        pieces.push(format!("call {} {}", call.name, shortened(&arguments, CALL_LIMIT)));
    }
    for result in message.results() {
        let texts = result.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(&**text),
            Content::Media(_) | Content::Opaque(_) => None,
        });
        let output = hidden(&texts.collect::<Vec<_>>().join("\n"), redactor);
        pieces.push(format!("result {}", shortened(&output, RESULT_LIMIT)));
    }
    (!pieces.is_empty()).then(|| format!("[m{index}] {who}: {}", pieces.join("\n")))
}

/// The words of a message, without calls, results and reasoning.
fn words(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(&**text),
        Part::Call(_) | Part::Result(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn hidden(text: &str, redactor: &Redactor) -> String {
    redactor.redact(text).text
}

/// A text of at most about `limit` bytes: two thirds of its beginning and a third of its end.
pub fn shortened(text: &str, limit: usize) -> String {
    let text = text.trim();
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit * 2 / 3);
    let tail = text.ceil_char_boundary(text.len() - limit / 3);
    format!(
        "{} […{} characters…] {}",
        text[..head].trim_end(),
        text[head..tail].chars().count(),
        text[tail..].trim_start()
    )
}

#[cfg(test)]
mod tests {
    use mainstay_engine::transcript::Role;

    use super::*;
    use crate::forced::redactor;

    fn said(role: Role, text: &str) -> Message {
        Message::new(role, vec![Part::Text(text.into())])
    }

    #[test]
    fn a_judge_sees_the_past_and_the_future_without_secrets_and_recorded_summaries() {
        let mut messages = vec![
            said(Role::User, "fix the login"),
            said(Role::Assistant, "I use password=hunter2-Xk9qPz71Lm for now"),
            said(Role::User, "fine, but never touch the cron job"),
            said(Role::Assistant, "agreed"),
        ];
        let mut summary = said(Role::User, "everything in short");
        summary.author = Author::Summary;
        messages.push(summary);
        messages.extend((0..40).map(|number| said(Role::Assistant, &format!("step {number}"))));
        let record = JudgeRecord::new(&messages, 4, 30, &redactor());
        assert_eq!(
            record.people,
            "[m0] fix the login\n\n[m2] fine, but never touch the cron job"
        );
        assert!(!record.recent.contains("hunter2") && record.recent.contains("[m1] agent: I use"));
        assert!(record.future.starts_with("[m5] agent: step 0") && record.future.ends_with("step 29"));
        assert!(!record.future.contains("everything in short"));
        assert!(has_future(&messages, 4, 30) && !has_future(&messages, messages.len(), 30));
    }

    #[test]
    fn any_number_of_messages_of_any_length_fits() {
        let long = "ä".repeat(9_000);
        for count in [1, 40, 3_000] {
            let messages: Vec<Message> = (0..count).map(|_| said(Role::User, &long)).collect();
            let record = JudgeRecord::new(&messages, messages.len(), 30, &redactor());
            assert!(record.people.len() <= PEOPLE_ROOM * 3 / 2, "{}", record.people.len());
            assert!(record.people.starts_with("[m0]"));
            assert!(record.people.contains(&format!("[m{}]", count - 1)));
        }
    }
}
