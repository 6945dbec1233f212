//! What is sent after the provider has refused a request: shorter where it was too long, repaired where it was malformed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use bytes::BytesMut;
use mainstay_engine::account::Fit;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_wire::reading::WireForm;
use mainstay_wire::request::Glance;
use mainstay_wire::sameness::without_marks;

use crate::session::Deed;
use crate::session::Note;
use crate::session::Outgoing;
use crate::session::Ticket;
use crate::session::parsed_request::Taken;
use crate::session::pass_timing::Order;
use crate::session::prefix_replacement::Epoch;
use crate::session::prefix_replacement::compose;
use crate::session::session_cache::locked;
use crate::session::session_manager::Asked;
use crate::session::session_manager::Preface;
use crate::session::session_manager::Room;
use crate::session::worker::read;

/// The header, and what it has to name, for the provider to leave out reasoning that no longer belongs.
pub const DROPPING: (&str, &str) = ("anthropic-beta", "thinking-binding-controls-2026-08-01");
/// The setting that goes with it.
const DROP_BLOCK: &str = r#""block_binding":{"prefix_mismatch_behavior":"drop_block"}"#;
/// How long a pass may take when the request fails without it.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a prompt that did not fit comes down to, as a part of what fits, in hundredths: there has to be a runway.
const AIM: u64 = 60;
/// A shorter prompt that did not fit says nothing about a window.
const LEAST_BELIEVED: u64 = 8_000;
/// Smaller numbers in an error are not about windows.
const LEAST_WINDOW: u64 = 1_000;

/// What an error said about sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sizes {
    /// The window.
    window: Option<u64>,
    /// The prompt that did not fit.
    prompt: Option<u64>,
}

/// What stands right before the window in the words of providers, in lower case.
const BEFORE_WINDOW: [&str; 12] = [
    " > ",
    "maximum context length is",
    "maximum context length of",
    "maximum prompt length is",
    "maximum allowed input length of",
    "model's context length (",
    "context size is",
    "context size (",
    "tokens allowed (",
    "limit of",
    "token limit:",
    "too large for model with",
];

/// Reads the sizes out of an error's words. The prompt that did not fit is the first figure above the window.
fn sizes(words: &str) -> Sizes {
    let plain: String = words
        .to_lowercase()
        .chars()
        .filter(|c| *c != ',' && *c != '_')
        .collect();
    let numbers = |text: &str| -> Vec<u64> {
        let digits = text.split(|c: char| !c.is_ascii_digit());
        let numbers = digits.filter_map(|digits| digits.parse().ok());
        numbers.filter(|number| *number >= LEAST_WINDOW).collect()
    };
    let all = numbers(&plain);
    let behind = BEFORE_WINDOW.iter().find_map(|before| plain.split_once(before));
    let window = match behind {
        Some((_, rest)) => numbers(rest).first().copied(),
        // A window and what was held against it: more figures are about something else.
        None => all.iter().min().copied().filter(|_| all.len() <= 2),
    };
    let said = plain.split_once("in the messages").map(|(before, _)| numbers(before));
    let prompt = match said {
        Some(before) if plain.contains("in the completion") => before.last().copied(),
        _ => all
            .into_iter()
            .find(|number| window.is_some_and(|window| *number > window)),
    };
    Sizes { window, prompt }
}

impl Room {
    pub async fn after_overflow(self: &Arc<Self>, ticket: &Ticket, words: &str) -> Option<Outgoing> {
        let told = sizes(words);
        let known = self.models.of(&ticket.model, self.keeping.window, &self.desk);
        let believed = known.fit().apply(ticket.counted);
        // Who speaks of a window without saying how large it is says that it is smaller than what was sent. A server that only
        // finds a request too large may mean its bytes.
        let speaks = words.to_lowercase().contains("context");
        let unnamed = Some(believed).filter(|believed| speaks && *believed >= LEAST_BELIEVED);
        let window = told.window.filter(|window| *window < 2 * believed.max(LEAST_WINDOW));
        if let Some(window) = window.or(unnamed) {
            self.models.learn_window(&ticket.model, window);
        }
        // Where the answer that is asked for is what does not fit, a shorter prompt is no help.
        if let (Some(window), Some(prompt)) = (told.window, told.prompt)
            && prompt * 2 < window
        {
            return None;
        }
        let mut asked = self.again(ticket)?;
        if let Some(outgoing) = self.shorter_by_now(&asked, ticket) {
            return Some(outgoing);
        }
        // Where the provider finds more in the prompt than we do, its word counts.
        let real = told
            .prompt
            .unwrap_or_else(|| believed.max(asked.budget.window + asked.budget.window / 10));
        let fit = Fit {
            scale: (real as f64 / ticket.counted.max(1) as f64).max(known.fit().scale),
            fixed: 0.0,
        };
        asked.fit = Some(fit);
        let room = asked.budget.window - asked.budget.output;
        let order = Order {
            policy: Policy {
                engine: match self.keeping.policy.engine {
                    Engine::Prune => Engine::Prune,
                    _ => Engine::Ledger,
                },
                target: Some(room / 100 * AIM),
                fills_target: false,
                tail: None,
                ..self.keeping.policy.clone()
            },
            reason: "the provider found the prompt too long".to_owned(),
            trigger: "overflow",
            retention: None,
            is_must: true,
        };
        let mut note = Note {
            model: Some(asked.model.clone()),
            window: Some(asked.budget.window),
            ..Note::default()
        };
        self.pass_now(&asked, order, PATIENCE, &mut note).await;
        if note.deed != Deed::Compacted
            && let Some(outgoing) = self.shorter_by_now(&asked, ticket)
        {
            return Some(outgoing);
        }
        (note.deed == Deed::Compacted).then(|| self.send(asked, note, ticket.is_counting))
    }

    /// The request again where a pass that was under way has made it shorter meanwhile.
    fn shorter_by_now(&self, asked: &Asked, ticket: &Ticket) -> Option<Outgoing> {
        let counted = asked.preface.total() + locked(&asked.shared).counted();
        let room = asked.budget.window - asked.budget.output;
        if counted >= ticket.counted || asked.fit().apply(counted) > room {
            return None;
        }
        let note = Note {
            deed: Deed::Compacted,
            reason: Some("a pass that was under way is in force".to_owned()),
            model: Some(asked.model.clone()),
            window: Some(asked.budget.window),
            ..Note::default()
        };
        Some(self.send(self.again(ticket)?, note, ticket.is_counting))
    }

    /// The request of a ticket, to be sent again.
    fn again(&self, ticket: &Ticket) -> Option<Asked> {
        let known = self.models.of(&ticket.model, self.keeping.window, &self.desk);
        let budget = known.budget(&self.keeping.policy, ticket.taken.answer_limit()).ok()?;
        let preface: Preface = self.preface(&ticket.taken, known.family);
        Some(Asked {
            client: Room::client_of(&ticket.taken),
            taken: ticket.taken.clone(),
            shared: Arc::clone(&ticket.shared),
            model: ticket.model.clone(),
            known,
            budget,
            preface,
            fit: None,
        })
    }

    pub fn after_complaint(self: &Arc<Self>, ticket: &Ticket, words: &str) -> Option<Outgoing> {
        let asked = self.again(ticket)?;
        let mut note = Note {
            deed: Deed::Repaired,
            model: Some(asked.model.clone()),
            window: Some(asked.budget.window),
            ..Note::default()
        };
        let lower = words.to_lowercase();
        if lower.contains("signature") || lower.contains("thinking") {
            let mut conversation = locked(&ticket.shared);
            // Without a pass of ours, reasoning stands where the client has put it.
            if conversation.drops_blocks || conversation.epoch().is_none() {
                return None;
            }
            conversation.drops_blocks = true;
            drop(conversation);
            note.reason = Some("reasoning that no longer belongs is left out by the provider".to_owned());
        } else {
            self.repair(ticket)?;
            note.reason = Some("calls and results did not belong together".to_owned());
        }
        Some(self.send(asked, note, ticket.is_counting))
    }

    /// Puts the conversation as it is repaired in place of itself.
    fn repair(&self, ticket: &Ticket) -> Option<()> {
        let taken = &ticket.taken;
        let mut conversation = locked(&ticket.shared);
        let epoch = conversation.epoch().cloned();
        let body = compose(taken, epoch.as_deref(), &conversation.trims);
        let document = read(taken.form, &body).ok()?;
        if document.is_as_read() || taken.len() == 0 {
            return None;
        }
        let messages = document.transcript.messages();
        let elements = document.compacted_elements(&BTreeMap::new(), None, messages.len());
        let text: Vec<_> = elements
            .iter()
            .skip(taken.lead)
            .map(|element| without_marks(element))
            .collect();
        let checkpoint = epoch.map_or_else(String::new, |epoch| epoch.checkpoint.clone());
        let repaired = Epoch::repair(taken.len(), text.join(","), conversation.counted(), checkpoint);
        conversation.adopt(taken.keys[taken.len()], Arc::new(repaired));
        Some(())
    }
}

/// The body with the wish that reasoning which no longer belongs be left out; `None` where there is no reasoning, or the wish
/// stands there already.
pub fn told_to_drop(taken: &Taken, body: &Bytes) -> Option<Bytes> {
    if taken.form != WireForm::Anthropic {
        return None;
    }
    let thinking = Glance::of(taken.form, body)?.field(body, "thinking")?;
    let value = &body[thinking.clone()];
    if !value.ends_with(b"}") || memchr::memmem::find(value, b"block_binding").is_some() {
        return None;
    }
    let inside = value[1..value.len() - 1].trim_ascii();
    let mut out = BytesMut::with_capacity(body.len() + DROP_BLOCK.len() + 1);
    out.extend_from_slice(&body[..thinking.end - 1]);
    if !inside.is_empty() {
        out.extend_from_slice(b",");
    }
    out.extend_from_slice(DROP_BLOCK.as_bytes());
    out.extend_from_slice(&body[thinking.end - 1..]);
    Some(out.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_out_of_every_provider_s_words() {
        for (words, window, prompt) in [
            (
                "prompt is too long: 208310 tokens > 200000 maximum",
                Some(200_000),
                Some(208_310),
            ),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
                Some(200_000),
                None,
            ),
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
                Some(128_000),
                Some(130_001),
            ),
            (
                "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
                Some(1_200_000),
            ),
            (
                "the prompt has 9000 tokens, but the configured context size is 4096",
                Some(4_096),
                Some(9_000),
            ),
            (
                "This model's maximum context length is 32000 tokens. However, your messages resulted in 34606 tokens (4584 in the messages, 30022 in the functions).",
                Some(32_000),
                Some(34_606),
            ),
            (
                "maximum context length is 32768 tokens. However, you requested 40000 tokens (8000 in the messages, 32000 in the completion)",
                Some(32_768),
                Some(8_000),
            ),
            ("Your input exceeds the context window of this model.", None, None),
            ("Range of input length should be [1, 129024]", Some(129_024), None),
        ] {
            assert_eq!(sizes(words), Sizes { window, prompt }, "{words}");
        }
    }

    #[test]
    fn the_wish_is_put_where_it_belongs_and_once() {
        let told = |body: &'static str| {
            let body = Bytes::from_static(body.as_bytes());
            let taken = Taken::new(WireForm::Anthropic, body.clone(), "", None).unwrap();
            told_to_drop(&taken, &body)
        };
        let body = told(r#"{"thinking":{"type":"adaptive"},"messages":[]}"#).unwrap();
        assert_eq!(
            body,
            r#"{"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"messages":[]}"#
        );
        assert_eq!(told(r#"{"messages":[]}"#), None);
        assert_eq!(told(r#"{"thinking":{"block_binding":{}},"messages":[]}"#), None);
    }
}
