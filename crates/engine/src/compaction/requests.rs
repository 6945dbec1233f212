//! What a model is asked, in words: prompts filled with records, drafts and what was told before. Nothing secret goes out.

use crate::compaction::Compactor;
use crate::compaction::PassInput;
use crate::compaction::Pending;
use crate::compaction::asking::count_in;
use crate::compaction::review::Review;
use crate::decide::Way;
use crate::summary::Request;
use crate::summary::prompts::Name;
use crate::summary::prompts::Prompts;
use crate::summary::records::guarded;
use crate::summary::records::guarded_summary;
use crate::summary::records::without_tags;

/// Models count words better than tokens. Technical English with paths and numbers in it has three words in five tokens.
const WORDS_IN_TOKENS: (u64, u64) = (3, 5);

impl Pending {
    /// The request for one chunk, going on from what was told before it.
    pub(super) fn request_for(
        &self,
        compactor: &Compactor,
        chunk: usize,
        prompts: &Prompts,
        input: &PassInput<'_>,
    ) -> Request {
        let records = self.chunks[chunk].as_str();
        let user = match &self.told {
            Some(told) => {
                let told = guarded_summary(told);
                self.fill(
                    compactor,
                    input,
                    prompts,
                    Name::Update,
                    &[("previous", &*told), ("records", records)],
                )
            }
            None => self.fill(compactor, input, prompts, Name::First, &[("records", records)]),
        };
        self.auxiliary(user, prompts)
    }

    pub(super) fn repair_request(
        &self,
        compactor: &Compactor,
        input: &PassInput<'_>,
        prompts: &Prompts,
        review: &Review,
    ) -> Request {
        let count = |text: &str| count_in(compactor, text);
        let problems = review.problems();
        let problems = guarded(&problems);
        let ledger = review.lost_lines(self.writing.tokens, &count);
        let ledger = without_tags(&ledger);
        let draft = guarded_summary(&review.clean);
        let values = [("problems", &*problems), ("draft", &*draft), ("ledger", &*ledger)];
        let user = self.fill(compactor, input, prompts, Name::Repair, &values);
        let scribe = compactor.scribe.as_ref();
        let user = scribe.and_then(|scribe| scribe.hide(&user)).unwrap_or(user);
        self.auxiliary(user, prompts)
    }

    fn auxiliary(&self, user: String, prompts: &Prompts) -> Request {
        Request {
            way: Way::Auxiliary,
            system: prompts.text(Name::System).to_owned(),
            user,
            most_tokens: self.writing.tokens,
            ..Request::default()
        }
    }

    /// A prompt with what every one of them may ask for, and these values.
    pub(super) fn fill(
        &self,
        compactor: &Compactor,
        input: &PassInput<'_>,
        prompts: &Prompts,
        name: Name,
        values: &[(&str, &str)],
    ) -> String {
        let scribe = compactor.scribe.as_ref();
        // The person types a topic, and may type a secret into it.
        let hidden = |topic: &str| scribe.and_then(|scribe| scribe.hide(topic)).unwrap_or(topic.to_owned());
        let topic = input.policy.focus.as_deref().map(hidden);
        let topic = topic.as_deref().map(guarded);
        let focus = topic.map(|topic| prompts.fill(Name::Focus, &[("topic", &*topic)]) + "\n");
        let tokens = self.writing.tokens.to_string();
        let words = (self.writing.tokens * WORDS_IN_TOKENS.0 / WORDS_IN_TOKENS.1).to_string();
        let length = [("tokens", &*tokens), ("words", &*words)];
        let (beside, sections) = match self.writing.is_brief() {
            true => (Name::BriefBeside, Name::BriefSections),
            false => (Name::Beside, Name::Sections),
        };
        // What the block shows anyway is not worth the writer's words.
        let (beside, at_most) = match self.writing.has_ledger {
            true => (prompts.fill(beside, &length) + "\n", String::new()),
            false => (String::new(), prompts.fill(Name::Length, &length)),
        };
        let shared = [
            ("beside", &*beside),
            ("focus", focus.as_deref().unwrap_or_default()),
            ("length", &*at_most),
            ("sections", prompts.text(sections)),
        ];
        let shared = [&shared[..], &length].concat();
        prompts.fill(name, &[values, &shared[..]].concat())
    }
}
