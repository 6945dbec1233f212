//! What the model's words become: proposals, its own decisions, promises, questions to the person. Nothing of it is the person's until
//! they agree.

use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::ledger::facts::Facts;
use crate::ledger::statements::Choice;
use crate::ledger::statements::Pending;
use crate::ledger::statements::Statements;
use crate::ledger::statements::patterns::Says;
use crate::ledger::statements::sentence::Sentence;
use crate::ledger::statements::value::shown;
use crate::transcript::Author;

/// Options that can be chosen by number: more is a report, not a choice.
const MOST_OPTIONS: usize = 12;

/// An option is shown with so many characters.
const LONGEST_OPTION: usize = 200;

/// A message that puts more forward than this explains something; the last ones are what is asked.
const MOST_PROPOSALS: usize = 3;

/// "Proceed?" renews a proposal that is at most so many messages old.
const RENEWED: u32 = 6;

/// A question for consent without content is short.
const LONGEST_CONFIRMATION: usize = 8;

impl Statements {
    /// Takes in a message of the model. While it calls tools nothing waits for the person.
    pub(super) fn fold_model(&mut self, index: u32, spoken: &[Sentence<'_>], calls: bool, facts: &mut Facts) {
        if spoken.is_empty() {
            if calls {
                self.pending = Pending::default();
            }
            return;
        }
        self.answer(index, spoken, Author::User);
        self.pending = Pending {
            message: index,
            ..Pending::default()
        };
        for sentence in spoken {
            self.take_model(index, sentence, calls, facts);
        }
        if calls {
            self.pending = Pending {
                message: index,
                ..Pending::default()
            };
        }
    }

    fn take_model(&mut self, index: u32, sentence: &Sentence<'_>, calls: bool, facts: &mut Facts) {
        if sentence.says(Says::Report) {
            return;
        }
        if let Some(label) = sentence.label.filter(|label| !label.is_empty())
            && self.pending.options.len() < MOST_OPTIONS
        {
            let text = shown(sentence.words.text, LONGEST_OPTION);
            self.pending.options.push(Choice {
                label: label.to_lowercase().into(),
                text: text.into(),
            });
        }
        if sentence.question {
            if !calls {
                self.ask(index, sentence);
            }
            return;
        }
        if sentence.says(Says::Decide) && !sentence.says(Says::Hedge) {
            self.decide(index, sentence, Author::Assistant);
        } else if sentence.says(Says::Propose) && !calls {
            self.put_forward(index, sentence);
        } else if sentence.says(Says::Promise) || sentence.hits(Says::Todo).next().is_some() {
            self.add(index, sentence, Kind::Obligation, Status::Open, Author::Assistant);
        } else if sentence.says(Says::Done) {
            self.finish(index, sentence);
        }
        if !sentence.says(Says::Hedge) {
            self.take_values(index, sentence, Author::Assistant, facts);
        }
    }

    /// A question to the person: for consent, with an offer, or for something that only they know.
    fn ask(&mut self, index: u32, sentence: &Sentence<'_>) {
        let confirms = sentence.says(Says::Confirm) && sentence.words.len() <= LONGEST_CONFIRMATION;
        if confirms && self.pending.proposals.is_empty() {
            let renewed = self.book.live(Kind::Decision).find(|(_, item)| {
                let proposed = item.entry.status == Status::Proposed && item.entry.author == Author::Assistant;
                proposed && item.entry.last + RENEWED >= index
            });
            self.pending.proposals.extend(renewed.map(|(id, _)| id));
        }
        if confirms && (!self.pending.proposals.is_empty() || sentence.stems().is_empty()) {
            return;
        }
        if sentence.says(Says::Propose) || confirms {
            self.put_forward(index, sentence);
        } else if sentence.closing && sentence.words.len() >= 2 {
            let id = self.add(index, sentence, Kind::Question, Status::Open, Author::Assistant);
            self.pending.questions.push(id);
        }
    }

    fn put_forward(&mut self, index: u32, sentence: &Sentence<'_>) {
        if sentence.stems().is_empty() {
            return;
        }
        let id = self.add(index, sentence, Kind::Decision, Status::Proposed, Author::Assistant);
        self.pending.proposals.push(id);
        if self.pending.proposals.len() > MOST_PROPOSALS {
            self.pending.proposals.remove(0);
        }
    }
}
